"""Sizes that are too large for 64 bits are left to NumPy's engine, which says so."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.text.magnitudes import largest_symbol
from dy2st_runtime.ir import apply
from tests.recorded import program_of as traced

N, M = symbol("n"), symbol("m")


def pads(x):
    room = x.shape[0] * 2**61
    return apply("window_max", ops.reshape(x, [1, 1, -1]), kernel=(1,), strides=(1,), pads=((room, room),))  # fmt: skip


def found(x):
    count = ops.nonzero(x).shape[0]
    return ops.full([count * 2**31, 2**32], 1.0) * 2


FUNCTIONS = {
    "a product that wraps to 0": lambda x: (ops.full([x.shape[0] * 2**31, 2**32], 1.0) * 2).sum(),
    "numbers alone": lambda x: (ops.full([2**40, 2**40], 1.0) * 2).sum() + x,
    "a size that wraps": pads,
    "a size that data tells": found,
    "a condition that wraps": lambda x: x + ops.reshape(ops.full([x.shape[0] * 2**62], 1.0), [-1])[:1],
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_wraps_is_refused(name):
    executable = Executable(traced(FUNCTIONS[name], ("float32", ("n",))))
    x = np.ones(4, np.float32)
    for run in (executable.reference.run, executable.run):
        with pytest.raises((ValueError, MemoryError)):
            run([x], [])


def test_a_requirement_of_a_number_that_wraps_is_no_weaker():
    last = 2**63 - 1
    place = {"starts": (last,), "stops": (last,), "steps": (1,), "drop": (0,)}
    executable = Executable(traced(lambda x: apply("slice", x, **place) * 2, ("float32", ("n",))))
    for run in (executable.reference.run, executable.run):
        with pytest.raises(ValueError, match="922337203685477580"):
            run([np.ones(4, np.float32)], [])


def test_a_class_of_calls_is_known_to_be_small():
    assert largest_symbol({(N, M): 2.0**40}) == 2**19
    assert largest_symbol({(N * N // M - 3,): 2.0**40}) == 2**19
    assert largest_symbol({(2**50,): 2.0**40}) == 0


def test_large_sizes_that_are_not_too_large_are_computed():
    executable = Executable(
        traced(lambda x, y: x * 2 + y[:, :0].sum(), ("int8", ("n", "m")), ("int8", ("k", "m")))
    )
    x, y = np.ones((1, 2**26), np.int8), np.ones((0, 2**26), np.int8)
    (result,) = executable._function(x, y)
    assert result.shape == x.shape and (result == 2).all()
