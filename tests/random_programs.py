"""Random Programs full of views, shared values, branches, loops and lists, for tests of engines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st_runtime import ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, DivisionByZero, DTypeError, ShapeError
from dy2st_runtime.ir import ArrayType, F, Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import call, cond, function, while_loop
from dy2st_runtime.ops.tensor_array import (
    array_append,
    array_concat,
    array_of,
    array_pop,
    array_read,
    array_stack,
    array_write,
)

DTYPES = ("float32", "float32", "float32", "float64", "float16", "int64", "int8", "uint8", "bool")
SIZES = ("n", "n", 3, 20, 1, 4)
UNARY = (
    *("relu", "exp", "tanh", "neg", "abs", "square", "sign", "floor", "round", "trunc", "sqrt"),
    *("logical_not", "bitwise_not", "isnan", "sin", "sigmoid", "rsqrt", "reciprocal", "erf"),
    *("gelu", "silu", "leaky_relu", "softplus", "log_softmax", "softmax", "relu", "exp", "neg"),
)
BINARY = (
    *("add", "subtract", "multiply", "maximum", "minimum", "divide", "add", "subtract"),
    *("less_than", "equal", "logical_and", "bitwise_xor", "multiply", "remainder"),
)
REFUSED = (ArgumentError, DTypeError, DivisionByZero, ShapeError, OverflowError, IndexError)


@dataclass
class Made:
    """A Program, and arrays for its inputs and its state."""

    program: Program
    inputs: list[np.ndarray]
    state: dict[str, np.ndarray] = field(default_factory=dict)


def same(left: Any, right: Any) -> bool:
    """Whether two shapes are the same, as far as it is known."""
    if len(left) != len(right):
        return False
    return all(
        a is b or (a == b if type(a) is type(b) is int else False) for a, b in zip(left, right)
    )


class Draw:
    """Values so far, and steps that make others of them; recent ones are taken more often."""

    def __init__(self, rng: np.random.Generator, values: list[Any], depth: int = 0):
        self.rng, self.values, self.depth, self.lists = rng, list(values), depth, []

    def one(self, of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def value(self, rank: int = 0) -> Any:
        fit = [v for v in self.values if v.ndim >= rank]
        if not fit:
            return F.broadcast_to(self.values[0], [4] * rank)
        return self.one(fit[-4:] if self.rng.random() < 0.7 else fit)

    def keep(self, *values: Any) -> None:
        self.values += values

    def run(self, steps: int) -> None:
        moves = [name for name in dir(self) if name.startswith("do_")]
        for _ in range(steps):
            try:
                getattr(self, self.one(moves))()
            except REFUSED:  # not every operator takes every dtype and shape
                continue

    def number(self) -> Any:
        return self.one([0.5, 2.0, -1.0, 0.0, 3, -2, True])

    # -- what reads every element once ---------------------------------------------------------

    def do_unary(self) -> None:
        self.keep(getattr(F, self.one(UNARY))(self.value()))

    do_unary_too = do_unary_again = do_unary

    def do_binary(self) -> None:
        x, fit = self.value(), []
        for y in self.values:
            if y.ndim <= x.ndim and same(y.shape, x.shape[x.ndim - y.ndim :]):
                fit.append(y)
        y = self.one(fit[-5:])
        x, y = (x, y) if self.rng.random() < 0.5 else (y, x)
        self.keep(getattr(F, self.one(BINARY))(x, y))

    do_binary_too = do_binary_again = do_binary

    def do_number(self) -> None:
        self.keep(getattr(F, self.one(BINARY))(self.value(), self.number()))

    def do_constant(self) -> None:
        x = self.value()
        shape = [s if isinstance(s, int) else 1 for s in x.shape]
        array = self.rng.standard_normal(shape).astype("float32")
        self.keep(F.cast(F.assign(array), x.dtype))

    def do_where(self) -> None:
        x = self.value()
        alike = [v for v in self.values if same(v.shape, x.shape)]
        self.keep(F.where(F.cast(self.one(alike), "bool"), x, F.cast(self.one(alike), x.dtype)))

    def do_cast(self) -> None:
        self.keep(F.cast(self.value(), self.one(DTYPES)))

    def do_together(self) -> None:
        """Two values of one dtype and shape, so that more may be written over."""
        x = self.value(1)
        self.keep(F.exp(x), F.neg(F.cast(x, "float32")), F.square(x))

    # -- views ---------------------------------------------------------------------------------

    def do_flat(self) -> None:
        x = self.value()
        self.keep(F.reshape(x, [x.size]))

    def do_transpose(self) -> None:
        x = self.value(1)
        self.keep(F.transpose(x, [int(i) for i in self.rng.permutation(x.ndim)]))

    def do_slice(self) -> None:
        x = self.value(1)
        index = self.one([0, slice(1, None), slice(None, None, 2), slice(None, -1), slice(0, 1)])
        places = [slice(None)] * int(self.rng.integers(x.ndim)) + [index]
        self.keep(x[tuple(places)])

    def do_reversed(self) -> None:
        x = self.value(1)
        self.keep(F.flip(x, int(self.rng.integers(x.ndim))), x[::-1])

    def do_broadcast(self) -> None:
        x = self.value()
        self.keep(F.broadcast_to(x, [2, *x.shape]))

    def do_axes(self) -> None:
        x = self.value()
        self.keep(F.unsqueeze(x, int(self.rng.integers(x.ndim + 1))), F.detach(x))

    def do_split(self) -> None:
        x = self.value(1)
        axes = [i for i, size in enumerate(x.shape) if isinstance(size, int) and size in (4, 20)]
        if axes:
            self.keep(*F.split(x, 2, self.one(axes)))

    def do_sum_to(self) -> None:
        x = self.value(1)
        lead = int(self.rng.integers(x.ndim))
        shape = [s if self.rng.random() < 0.7 else 1 for s in x.shape[lead:]]
        self.keep(apply("sum_to", x, shape=tuple(shape)))

    # -- everything else -----------------------------------------------------------------------

    def do_reduce(self) -> None:
        x = self.value(1)
        axis = self.one([None, int(self.rng.integers(x.ndim))])
        keepdim = bool(self.rng.random() < 0.7)
        self.keep(
            getattr(F, self.one(["sum", "mean", "any", "cumsum", "sum"]))(x, axis, keepdim)
        ) if self.rng.random() < 0.9 else self.keep(F.cumsum(x, 0))

    def do_product(self) -> None:
        x = self.value(2)
        perm = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
        self.keep(F.matmul(x, F.transpose(x, perm)))

    def do_concat(self) -> None:
        x = self.value(1)
        alike = [v for v in self.values if same(v.shape, x.shape) and v.dtype == x.dtype]
        axis = int(self.rng.integers(x.ndim))
        self.keep(F.concat([x, self.one(alike)], axis), F.stack([self.one(alike), x], axis))

    def do_norm(self) -> None:
        x = self.value(2)
        if isinstance(x.shape[-1], int):
            self.keep(F.layer_norm(x, [x.shape[-1]]))

    def do_batch_norm(self) -> None:
        x = self.value(2)
        if isinstance(x.shape[1], int):
            c = np.linspace(0.5, 2, x.shape[1]).astype("float32")
            self.keep(apply("batch_norm", x, c, c, -c, c, axis=1, epsilon=1e-5))

    def do_setitem(self) -> None:
        x = self.value(1)
        self.keep(F.setitem(x, 0, self.number()), F.setitem(x, slice(None, None, 2), x[::2] * 2))

    def do_pad(self) -> None:
        x = self.value(1)
        pads = tuple((int(self.rng.integers(2)), 0) for _ in x.shape)
        self.keep(apply("pad", x, pads=pads, value=0), F.roll(x, 1, 0))

    def do_sizes(self) -> None:
        x = self.value(1)
        self.keep(F.full_like(x, 2) * x.shape[0], x + x.shape[-1])

    def do_conv(self) -> None:
        x = self.value(2)
        if isinstance(x.shape[1], int) and x.ndim == 3:
            w = self.rng.standard_normal((2, x.shape[1], 1)).astype(x.dtype)
            self.keep(F.conv1d(x, w), F.max_pool1d(x, 1))

    # -- branches, loops and lists -------------------------------------------------------------

    def inner(self, values: list[Any]) -> Draw:
        draw = type(self)(self.rng, values, self.depth + 1)
        draw.run(int(self.rng.integers(1, 5)))
        return draw

    def do_cond(self) -> None:
        if self.depth > 1:
            return
        x, own = self.value(), self.values[-8:]
        truth = F.greater_than(F.sum(F.cast(x, "float32")), 0.0)
        dtype, shape = x.dtype, x.shape

        def branch() -> list[Any]:
            values = self.inner(own).values
            fit = [v for v in values if same(v.shape, shape) and v.dtype == dtype]
            return [self.one(fit or [x]), fit[-1] if fit else x]

        self.keep(*cond(truth, branch, branch))

    def do_given_back(self) -> None:
        """What a branch or loop gives back as it was, before its operand is read last."""
        if self.depth > 1:
            return
        x, zero = self.value(1), ops.zeros([], "int64")
        y = F.exp(F.cast(x, "float32"))
        (z,) = cond(F.sum(y) > 9.0, lambda: [y], lambda: [F.flip(y, 0)])
        turns = int(self.rng.integers(3))
        _, u = while_loop(lambda i, v: i < turns, lambda i, v: [i + 1, v[::-1]], [zero, y])
        self.keep(z, u, F.neg(y))

    def do_loop(self) -> None:
        if self.depth > 1:
            return
        x, y = self.value(), self.value()
        own, turns = self.values[-6:], int(self.rng.integers(0, 4))

        def body(i: Any, a: Any, b: Any) -> list[Any]:
            values = self.inner([*own, b, a]).values
            kept = [
                self.one([v for v in values if same(v.shape, t.shape) and v.dtype == t.dtype][-4:])
                for t in (a, b)
            ]
            return [i + 1, *kept]

        zero = ops.zeros([], "int64")
        self.keep(*while_loop(lambda i, a, b: i < turns, body, [zero, x, y])[1:])

    def do_swap(self) -> None:
        if self.depth > 1:
            return
        x = self.value(1)
        a, b = F.exp(F.cast(x, "float32")), F.cast(x, "float32")
        body = self.one(
            [
                lambda i, a, b: [i + 1, b, a],
                lambda i, a, b: [i + 1, b, b[::-1]],
                lambda i, a, b: [i + 1, F.neg(b), F.reshape(a, a.shape)],
                lambda i, a, b: [i + 1, a[::-1] * 2.0, a],
            ]
        )
        zero = ops.zeros([], "int32")
        self.keep(*while_loop(lambda i, a, b: i < 3, body, [zero, a, b])[1:])

    def do_list(self) -> None:
        x = self.value()
        alike = [v for v in self.values if same(v.shape, x.shape) and v.dtype == x.dtype]
        held = array_append(array_of([x, self.one(alike)]), self.one(alike))
        if self.rng.random() < 0.5:
            held = array_write(held, 1, self.one(alike))
        self.lists.append(held)
        self.keep(array_read(held, int(self.rng.integers(3))))

    def do_more_list(self) -> None:
        if self.lists:
            held, popped = array_pop(self.one(self.lists), self.one([0, -1]))
            self.keep(popped, array_stack(held), *([array_concat(held)] if popped.ndim else []))

    def do_lists_of_lists(self) -> None:
        if not self.lists:
            return
        held = self.one(self.lists)
        changes = [
            lambda a: F.array_extend(a, held),
            lambda a: F.array_repeat(a, self.one([1, 2])),
            lambda a: F.array_slice(a, self.one([None, 0, -2]), None, self.one([None, -1])),
            lambda a: F.array_gather(a, self.one([[1, 0], [0, -1, 0]])),
            lambda a: F.array_insert(a, self.one([-9, 1, 9]), F.array_read(a, 0)),
            lambda a: F.array_delete(a, self.one([0, -1])),
        ]
        row = self.one(changes)(held)
        table = F.array_write(F.array_of([held, row, held]), self.one([0, -1]), row)
        start = [ops.zeros([], "int32"), table]
        turn = lambda i, t: [i + 1, F.array_append(t, F.array_extend(t[-1], row))]  # noqa: E731
        _, table = while_loop(lambda i, t: i < 2, turn, start)
        self.keep(F.array_length(table), F.array_read(table[self.one([0, 1, -1])], 0))
        self.lists.append(F.array_read(table, self.one([0, 1, 2])))


class Calling(Draw):
    """Draws functions and calls of them, too."""

    def do_call(self) -> None:
        if self.depth > 1:
            return
        x, name = self.value(), f"f{self.rng.integers(1 << 40)}"

        def body(v: Any) -> list[Any]:
            values = self.inner([v]).values
            return [self.one(values), values[-1]]

        operands = function(name, body, [x])
        self.keep(*call(name, operands), *call(name, operands))

    do_call_too = do_call_again = do_call


def random_program(seed: int, steps: int = 12, kind: type[Draw] = Draw) -> Made:
    """A Program and arrays for it: the same for the same seed."""
    rng = np.random.default_rng(seed)
    program, n = Program(f"seed {seed}"), int(rng.choice([0, 1, 2, 5, 20]))
    inputs, arrays = [], []
    for index in range(int(rng.integers(1, 4))):
        sizes = [SIZES[i] for i in rng.integers(0, len(SIZES), int(rng.integers(0, 4)))]
        dtype = DTYPES[rng.integers(len(DTYPES))]
        shape = [symbol("n") if size == "n" else size for size in sizes]
        inputs.append(program.block.add_parameter(TensorType(dtype, shape), f"x{index}"))
        arrays.append(array_of_type(rng, dtype, [n if size == "n" else size for size in sizes]))
    program.inputs = inputs
    state = _with_state(program, rng)
    with Tracer(program).tracing():
        draw = kind(rng, program.block.parameters)
        draw.run(steps)
        _yield_some(program, draw, rng)
    return Made(verify(program), arrays, state)


def _with_state(program: Program, rng: np.random.Generator) -> dict[str, np.ndarray]:
    for name, known in (("w", program.parameters), ("b", program.buffers)):
        known[name] = program.block.add_parameter(TensorType("float32", (20, 4)), name)
        program.trainable[name] = name == "w"
    return {name: array_of_type(rng, "float32", [20, 4]) for name in ("w", "b")}


def _yield_some(program: Program, draw: Draw, rng: np.random.Generator) -> None:
    """Lazy values for the most part, some of them twice, and what the caller has given."""
    pool = [*draw.values[-6:], *draw.values[-6:], *draw.lists[-1:], draw.one(draw.values)]
    picked = [pool[i] for i in rng.integers(0, len(pool), int(rng.integers(1, 6)))]
    new = [v for v in draw.values if same(v.shape, [20, 4]) and v.dtype == np.float32]
    program.updates = ["b"]
    program.block.yields = [*picked, draw.one(new)]


def array_of_type(rng: np.random.Generator, dtype: str, shape: list[int]) -> np.ndarray:
    """Numbers with what is awkward among them, in one of two orders of memory."""
    numbers = rng.standard_normal(shape) * 2
    awkward = rng.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], shape)
    if np.dtype(dtype).kind == "f" and rng.random() < 0.3:
        numbers = np.where(rng.random(shape) < 0.2, awkward, numbers)
    if np.dtype(dtype).kind == "u":
        numbers = np.abs(numbers)
    return np.asarray(numbers).astype(dtype, order="F" if rng.random() < 0.2 else "C")


__all__ = ["ArrayType", "Calling", "Draw", "Made", "random_program"]
