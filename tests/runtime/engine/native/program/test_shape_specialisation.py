"""Operators whose sizes are values of tensors are code for usual numbers; else the kernel says all."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.program import calls
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.effort import effort
from tests.random_programs import Draw, random_program
from tests.recorded import program_of as traced
from tests.runtime.engine.native.random_runs import check

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def integers(*values):
    return np.array(values, np.int64)


def number(value, dtype="int64"):
    return np.array(value, dtype)


def floats(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


class Asked:
    """A Program as machine code, with a list of the kernels of NumPy that it has called."""

    def __init__(self, monkeypatch, function, *types):
        self.names = []
        made = calls.kernel_call

        def counted(operator, program, in_place):
            kernel = made(operator, program, in_place)

            def call(*values):
                self.names.append(operator.name)
                return kernel(*values)

            return call

        monkeypatch.setattr(calls, "kernel_call", counted)
        self.executable = Executable(traced(function, *types))
        assert self.executable.explain().splitlines()[-1] == "computed by NumPy: nothing"

    def check(self, *arrays):
        """What NumPy's engine gives, or the same error; how often a kernel was called."""
        self.names.clear()
        have, want = (outcome(one, arrays) for one in (self.executable, self.executable.reference))
        if isinstance(want, list):
            for left, right in zip(have, want, strict=True):
                assert (left.dtype, left.shape) == (right.dtype, right.shape)
                np.testing.assert_allclose(left, right, rtol=2e-5, atol=1e-6)
        else:
            assert have == want
        return self.names


def outcome(executable, arrays):
    """Copies of results; of an error its class, words and notes."""
    try:
        return [np.array(one) for one in executable.run([*arrays], [])]
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", [])


X, N = ("float32", ("n", "m")), ("int64", ())
PAIR = ("int64", (2,))

ROWS = {
    "reshape": (lambda x, s: ops.reshape(x, s), (X, PAIR)),
    "reshape to the rest": (lambda x, n: ops.reshape(x, [n, -1]), (X, N)),
    "reshape to a size": (lambda x, n: ops.reshape(x, [x.shape[1], n]), (X, N)),
    "squeeze": (lambda x, a: ops.squeeze(x, a), (("float32", ("n", "m", "k")), N)),
    "squeeze one": (lambda x, a: ops.squeeze(x, a), (("float32", ("n",)), ("int32", (1,)))),
    "unsqueeze": (lambda x, a: ops.unsqueeze(x, a), (X, N)),
    "unsqueeze a number": (lambda x, a: ops.unsqueeze(x, a), (("float32", ()), N)),
    "tile": (lambda x, t: ops.tile(x, t), (X, PAIR)),
    "broadcast": (lambda x, s: ops.broadcast_to(x, s), (X, PAIR)),
    "expand": (lambda x, n: ops.expand(x, [n, -1, -1]), (X, N)),
    "full": (lambda s: ops.full(s, 1.5, "float64"), (PAIR,)),
    "ones": (lambda n: ops.ones([2, n], "int32"), (N,)),
    "one_hot": (lambda x, n: ops.one_hot(x, n), (("int64", ("n",)), N)),
    "one_hot of all": (lambda x: ops.one_hot(x), (("int64", ("n",)),)),
    "pad": (lambda x, p: ops.pad(x, p), (X, ("int64", (4,)))),
    "mirror": (lambda x, p: ops.pad(x, p, mode="reflect"), (X, ("int64", (4,)))),
    "slice": (lambda x, s, e: ops.slice(x, [0], s, e), (X, ("int64", (1,)), ("int64", (1,)))),
    "steps": (
        lambda x, s, e, t: ops.strided_slice(x, [1], [s], [e], [t]),
        (X, N, ("int32", ()), N),
    ),
    "every second": (lambda x, s: ops.strided_slice(x, [1], [s], [-1], [2]), (X, N)),
    "arange": (lambda n: ops.arange(n), (N,)),
    "arange from": (lambda a, b: ops.arange(a, b), (N, ("int32", ()))),
    "arange by": (lambda a, b, c: ops.arange(a, b, c, "float32"), (N, N, N)),
    "arange down": (lambda a, b: ops.arange(a, b, -2), (N, N)),
    "scatter": (
        lambda i, u, n: ops.scatter_nd(i, u, [n, 2]),
        (("int64", ("k", 1)), ("float32", ("k", 2)), N),
    ),
    "topk": (lambda x, k: apply("dynamic_topk", x, k, axis=-1), (X, N)),
    "resize": (
        lambda x, s: ops.interpolate(x, s, mode="bilinear"),
        (("float32", (1, 2, "h", "w")), PAIR),
    ),
    "upsampling": (
        lambda x, f: ops.interpolate(x, scale_factor=f, mode="bilinear"),
        (("float32", (1, 2, "h", "w")), ("float32", (2,))),
    ),
    "upsampling of pixels": (
        lambda x, f: ops.interpolate(x, scale_factor=f),
        (("float32", (1, 2, "h", "w")), N),
    ),
    "bincount": (lambda x: ops.bincount(x), (("int64", ("n",)),)),
    "bincount of few": (lambda x: ops.bincount(x, minlength=4), (("int32", ("n",)),)),
    "bincount of weights": (
        lambda x, w: ops.bincount(x, w),
        (("uint8", ("n",)), ("float32", ("n",))),
    ),
    "bincount of whole weights": (
        lambda x, w: ops.bincount(x, w, 3),
        (("int64", ("n",)), ("int64", ("n",))),
    ),
}
# What code computes, and what it leaves to the kernel: other meanings, and what is refused.
USUAL = {
    "reshape": [(floats(2, 3), integers(3, 2)), (floats(1, 1), integers(1, 1))],
    "reshape to the rest": [(floats(2, 3), number(6)), (floats(0, 3), number(5))],
    "reshape to a size": [(floats(2, 3), number(2))],
    "squeeze": [(floats(1, 3, 2), number(0)), (floats(4, 3, 1), number(-1))],
    "squeeze one": [(floats(1), np.array([0], np.int32)), (floats(1), np.array([-1], np.int32))],
    "unsqueeze": [(floats(2, 3), number(a)) for a in (-3, -1, 0, 1, 2)],
    "unsqueeze a number": [(number(2.5, "float32"), number(0)), (number(2.5, "float32"), number(-1))],
    "tile": [(floats(2, 3), integers(*t)) for t in ((2, 1), (1, 1), (0, 3), (3, 4))],
    "broadcast": [(floats(1, 3), integers(4, 3)), (floats(1, 1), integers(0, 2)),
                  (floats(2, 3), integers(2, 3))],
    "expand": [(floats(2, 3), number(n)) for n in (0, 1, 4)],
    "full": [(integers(*s),) for s in ((0, 3), (1, 1), (4, 5))],
    "ones": [(number(n),) for n in (0, 1, 9)],
    "one_hot": [(integers(0, 2, 1), number(3)), (integers(), number(0)), (integers(4), number(9))],
    "one_hot of all": [(integers(0, 2, 1),), (integers(0),)],
    "pad": [(floats(2, 3), integers(*p)) for p in ((0, 0, 0, 0), (1, 0, 2, 3))],
    "mirror": [(floats(3, 4), integers(1, 2, 3, 0))],
    "slice": [(floats(5, 2), integers(a), integers(b)) for a in (0, 1, 5, 9) for b in (0, 3, 99)],
    "steps": [(floats(2, 5), number(1), number(9, "int32"), number(1))],
    "every second": [(floats(2, 5), number(a)) for a in (0, 1, 9)],
    "arange": [(number(n),) for n in (-3, 0, 1, 7)],
    "arange from": [(number(a), number(b, "int32")) for a in (-4, 0, 5) for b in (-1, 0, 7)],
    "arange by": [(number(a), number(9), number(c)) for a in (-4, 9, 8) for c in (1, 2, 3)],
    "arange down": [(number(a), number(b)) for a in (7, 0) for b in (-4, 0, 9)],
    "scatter": [(integers(0, 2, 0)[:, None], floats(3, 2), number(3)),
                (np.zeros((0, 1), np.int64), floats(0, 2), number(1))],
    "topk": [(floats(3, 4) % 5, number(k)) for k in (0, 1, 4)],
    "resize": [(floats(1, 2, 3, 4), integers(*s)) for s in ((1, 1), (3, 4), (0, 2))],
    "upsampling": [(floats(1, 2, 3, 4), np.array(f, np.float32))
                   for f in ((1, 1), (2, 2), (4, 0.5))],
    "upsampling of pixels": [(floats(1, 2, 3, 1), number(f)) for f in (1, 2, 4)],
    "bincount": [(integers(0, 3, 3, 1),), (integers(0),)],
    "bincount of few": [(np.array([1, 0, 1], np.int32),), (np.array([6], np.int32),)],
    "bincount of weights": [(np.array([4, 0, 4], np.uint8), floats(3))],
    "bincount of whole weights": [(integers(1, 1), integers(5, -2))],
}  # fmt: skip
ODD = {
    "reshape": [(floats(2, 3), integers(-1, 2)), (floats(2, 3), integers(0, 3)),
                (floats(2, 3), integers(4, 2)), (floats(2, 3), integers(-2, -3)),
                (floats(0, 3), integers(0, 5)), (floats(2, 3), integers(2**62, 2**62))],
    "reshape to the rest": [(floats(2, 3), number(0)), (floats(2, 3), number(4)),
                            (floats(2, 3), number(-1))],
    "reshape to a size": [(floats(2, 3), number(-1)), (floats(2, 3), number(3))],
    "squeeze": [(floats(2, 3, 1), number(0)), (floats(1, 1, 1), number(3)),
                (floats(1, 0, 1), number(1)), (floats(1, 1, 1), number(-4))],
    "squeeze one": [(floats(2), np.array([0], np.int32)), (floats(1), np.array([1], np.int32))],
    "unsqueeze": [(floats(2, 3), number(3)), (floats(2, 3), number(-4))],
    "unsqueeze a number": [(number(2.5, "float32"), number(1))],
    "tile": [(floats(2, 3), integers(-1, 1)), (floats(2, 3), integers(2**40, 2**40))],
    "broadcast": [(floats(1, 3), integers(4, -1)), (floats(2, 3), integers(4, 3))],
    "expand": [(floats(2, 3), number(-1)), (floats(2, 3), number(-2))],
    "full": [(integers(-1, 2),), (integers(2**62, 2),), (integers(2**31, 2**31),)],
    "ones": [(number(-1),)],
    "one_hot": [(integers(0, 3), number(3)), (integers(-1), number(3)), (integers(0), number(-1))],
    "one_hot of all": [(integers(0, -1),)],
    "pad": [(floats(2, 3), integers(*p)) for p in ((-1, 0, 0, 0), (-2, -1, 0, 0))],
    "mirror": [(floats(3, 4), integers(3, 0, 0, 0))],
    "slice": [(floats(5, 2), integers(-2), integers(5)), (floats(5, 2), integers(0), integers(-1))],
    "steps": [(floats(2, 5), number(4), number(0, "int32"), number(c)) for c in (-1, 2, 0)],
    "every second": [(floats(2, 5), number(-2))],
    "arange": [(number(2**62),)],
    "arange by": [(number(a), number(9), number(c)) for a in (12, 3) for c in (-2, 0)]
                 + [(number(-(2**63)), number(2**63 - 1), number(-1))],
    "scatter": [(integers(3)[:, None], floats(1, 2), number(3)),
                (integers(0)[:, None], floats(1, 2), number(-3))],
    "topk": [(floats(3, 4), number(k)) for k in (-1, 5)],
    "resize": [(floats(1, 2, 3, 4), integers(-1, 2)), (floats(1, 2, 0, 4), integers(2, 2))],
    "upsampling": [(floats(1, 2, 3, 4), np.array(f, np.float32))
                   for f in ((1.5, 2), (0.3, 2), (0.5, 1), (-1, 2), (np.nan, 1), (np.inf, 1))],
    "upsampling of pixels": [(floats(1, 2, 3, 1), number(0)), (floats(1, 2, 3, 1), number(-1)),
                             (floats(1, 2, 0, 1), number(2))],
    "bincount": [(integers(),), (integers(2, -1),)],
    "bincount of few": [(np.array([], np.int32),)],
    "bincount of weights": [(np.array([], np.uint8), floats(0))],
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_code_gives_what_numpys_engine_gives(monkeypatch, name):
    function, types = ROWS[name]
    asked = Asked(monkeypatch, function, *types)
    for arrays in USUAL[name]:
        assert asked.check(*arrays) == [], arrays
    for arrays in ODD.get(name, ()):
        assert len(asked.check(*arrays)) == 1, arrays


def test_a_loop_reads_other_numbers_at_each_iteration(monkeypatch):
    def function(count):
        def iteration(i, total):
            rows = ops.ones([i, 3])
            last = ops.reshape(rows, [-1, i])[-1]
            return i + 1, total + ops.sum(last * ops.cast(ops.arange(i), "float32"))

        zero = ops.full([], 0, "int64")
        return while_loop(lambda i, _: i < count, iteration, [zero + 1, ops.cast(zero, "float32")])[
            1
        ]

    asked = Asked(monkeypatch, function, N)
    for count in (0, 1, 2, 9):
        assert asked.check(number(count)) == []


def test_a_branch_reads_its_numbers_itself(monkeypatch):
    def function(x, n, wide):
        return cond(wide, lambda: [ops.reshape(x, [n, 1])], lambda: [ops.reshape(x * 2, [n, -1])])

    asked = Asked(monkeypatch, function, ("float32", ("k",)), N, ("bool", ()))
    for is_wide in (True, False):
        assert asked.check(floats(4), number(4), number(is_wide, "bool")) == []
        assert asked.check(floats(4), number(3), number(is_wide, "bool"))


def test_what_is_told_is_told_on(monkeypatch):
    def function(x, n):
        wide = ops.tile(x, [n, 1])
        flat = ops.reshape(wide, [n * 2, -1])
        return ops.bincount(ops.cast(ops.sum(flat, 1), "int64")), ops.arange(n), wide

    asked = Asked(monkeypatch, function, ("float32", (2, "m")), N)
    for n in (1, 3):
        assert asked.check(floats(2, 2), number(n)) == []
    assert asked.check(floats(2, 2), number(-1))


def test_numbers_that_only_the_data_tells_are_sizes_again(monkeypatch):
    def function(x):
        places = apply("nonzero", x)
        return ops.zeros([places.shape[0], ops.max(x)]) + 1

    asked = Asked(monkeypatch, function, ("int64", ("n",)))
    for x in ([0, 3, 1], [2], [0]):
        assert asked.check(integers(*x)) == []


def test_several_axes_are_left_to_numpy():
    program = traced(lambda x, a: ops.unsqueeze(x, a), X, PAIR)
    assert "dynamic_unsqueeze" in Executable(program).explain().splitlines()[-1]


class ToldDraw(Draw):
    """Values, of which some have sizes that other values tell, mostly such as fit."""

    def do_sized(self):
        x = self.value(1)
        n = F.remainder(F.cast(F.sum(F.cast(x, "bool")), "int64"), 5)
        ones = [1] * (x.ndim - 1)
        forms = [
            lambda: F.tile(x, [n, *ones]),
            lambda: F.tile(x, [1, *ones[:-1], n]) * 2,
            lambda: F.reshape(F.tile(x, [n + 1, *ones]), [n + 1, -1]),
            lambda: F.reshape(F.exp(x), [-1, n]),
            lambda: F.slice(x, [0], [n], [n + 2]),
            lambda: F.strided_slice(x, [0], [n - 1], [9], [n - 1]),
            lambda: F.unsqueeze(x, n - 1),
            lambda: F.expand(x, [n, *[-1] * x.ndim]),
            lambda: F.pad(x, [n, 1] + [0, 0] * (x.ndim - 1)),
            lambda: F.arange(n) + F.ones([2, n]),
            lambda: F.one_hot(F.arange(n - 1), n),
            lambda: F.bincount(F.arange(n), minlength=2),
        ]
        self.keep(self.one(forms)())

    do_sized_too = do_sized_again = do_sized


@pytest.mark.parametrize("block", range(effort(1, 12)))
def test_random_programs_with_sizes_that_are_values(block):
    for seed in range(block * 5, block * 5 + 5):
        check(random_program(seed, 14, ToldDraw))
