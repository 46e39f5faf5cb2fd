"""Random networks: convolutions of every kind between scales that are awkward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, Program, TensorType, Tracer, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond, while_loop

REFUSED = (ArgumentError, DTypeError, ShapeError, TypeError)
MILD = (1.0, 2.0, 0.5, -1.0, 0.75, -3.0, 0.1, 0.0)
WILD = (*MILD, -0.0, 1e-30, 1e30, 3e-39, 1e-7, np.inf, np.nan, 6e4)


@dataclass
class Network:
    """A Program, the arrays of its parameters, and an input."""

    program: Program
    state: dict[str, np.ndarray]
    inputs: list[np.ndarray]


class Draw:
    """Images so far, each with its layout, and steps that make others of them."""

    def __init__(self, rng: Any, program: Program, images: list[Any], wild: bool):
        self.rng, self.program, self.wild = rng, program, wild
        self.images = [(image, "NCHW") for image in images]
        self.rows: list[Any] = []
        self.state: dict[str, np.ndarray] = {}

    def one(self, of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def image(self) -> tuple[Any, str]:
        return self.one(self.images[-3:])

    def channels(self, x: Any, layout: str) -> int:
        return x.shape[1 if layout == "NCHW" else 3]

    def values(self, dtype: Any, *shape: int) -> np.ndarray:
        with np.errstate(all="ignore"):
            return (self.rng.standard_normal(shape) * 0.6).astype(dtype)

    def weight(self, dtype: Any, *shape: int) -> Any:
        """A parameter, a constant, or what is computed of one."""
        array = self.values(dtype, *shape)
        if self.rng.random() < 0.5:
            return array
        name = f"w{len(self.state)}"
        known = self.program.block.add_parameter(TensorType(dtype, shape), name)
        self.program.parameters[name], self.state[name] = known, array
        self.program.trainable[name] = True
        return known * 2.0 if self.rng.random() < 0.2 else known

    def scale(self, x: Any, layout: str) -> Any:
        """One number, or one a channel, for a value in some layout."""
        numbers = WILD if self.wild and self.rng.random() < 0.3 else MILD
        count = self.channels(x, layout) if self.rng.random() < 0.7 else 1
        array = np.array([self.one(numbers) for _ in range(count)])
        array = np.abs(array) if self.rng.random() < 0.4 else array
        shape = [count, 1, 1] if layout == "NCHW" else [count]
        shape = [1] * int(self.rng.integers(2)) + shape if layout == "NCHW" else shape
        with np.errstate(all="ignore"):
            return array.astype(x.dtype).reshape(shape)

    def run(self, steps: int) -> None:
        moves = [name for name in dir(self) if name.startswith("do_")]
        for _ in range(steps):
            try:
                getattr(self, self.one(moves))()
            except REFUSED:
                continue

    def keep(self, x: Any, layout: str) -> None:
        if all(not isinstance(size, int) or 0 < size <= 40 for size in x.shape):
            self.images.append((x, layout))

    # -- convolutions --------------------------------------------------------------------------

    def do_conv(self) -> None:
        x, layout = self.image()
        c = self.channels(x, layout)
        groups = self.one([g for g in (1, 1, 2, c) if c % g == 0])
        out = groups * int(self.rng.integers(1, 4))
        k = int(self.rng.integers(1, 4))
        bias = self.weight(x.dtype, out) if self.rng.random() < 0.4 else None
        y = F.conv2d(
            x,
            self.weight(x.dtype, out, c // groups, k, k),
            bias,
            stride=self.one([1, 1, 2]),
            padding=self.one([0, 1, k // 2, "SAME"]),
            dilation=self.one([1, 1, 2]),
            groups=groups,
            data_format=layout,
        )
        self.keep(y, layout)

    do_conv_too = do_conv_again = do_conv

    def do_conv_transpose(self) -> None:
        x, layout = self.image()
        c = self.channels(x, layout)
        groups = self.one([g for g in (1, 2) if c % g == 0])
        w = self.weight(x.dtype, c, int(self.rng.integers(1, 3)), 2, 2)
        stride = self.one([1, 2])
        self.keep(
            F.conv2d_transpose(x, w, stride=stride, groups=groups, data_format=layout), layout
        )

    def do_parallel(self) -> None:
        x, layout = self.image()
        c = self.channels(x, layout)
        parts = [
            F.conv2d(x, self.weight(x.dtype, n, c, 1, 1), data_format=layout) for n in (1, 2, 3)
        ]
        parts = [p * self.scale(p, layout) + self.scale(p, layout) for p in parts]
        self.keep(F.concat(parts, axis=1 if layout == "NCHW" else 3), layout)

    # -- scales and what they pass -------------------------------------------------------------

    def do_scale(self) -> None:
        x, layout = self.image()
        name = self.one(["multiply", "multiply", "multiply", "divide", "add", "subtract"])
        pair = [x, self.scale(x, layout)]
        pair = pair[::-1] if self.rng.random() < 0.3 else pair
        self.keep(getattr(F, name)(*pair), layout)

    do_scale_too = do_scale_again = do_scale

    def do_activation(self) -> None:
        x, layout = self.image()
        name = self.one(["relu", "neg", "abs", "tanh", "sigmoid", "relu", "square"])
        self.keep(getattr(F, name)(x), layout)

    def do_leaky(self) -> None:
        x, layout = self.image()
        self.keep(self.one([F.leaky_relu, F.maximum, F.minimum])(x, self.one([0.1, 0.5])), layout)

    def do_norm(self) -> None:
        x, layout = self.image()
        c = self.channels(x, layout)
        mean, weight, bias = (self.values("float32", c) for _ in range(3))
        variance = np.abs(self.values("float32", c)) + self.one([0.0, 1e-3, 1.0])
        kind = "float32" if x.dtype.kind == "i" else x.dtype
        args = [a.astype(kind) for a in (mean, variance, weight, bias)]
        axis = 1 if layout == "NCHW" else 3
        self.keep(
            apply("batch_norm", x, *args[: self.one([2, 4])], axis=axis, epsilon=1e-5), layout
        )

    def do_residual(self) -> None:
        x, layout = self.image()
        for y, other in self.images[::-1]:
            same = other == layout and y is not x
            if same and self.channels(y, layout) == self.channels(x, layout):
                self.keep(x + y * self.one([1.0, 2.0, -1.0]), layout)
                return

    def do_pool(self) -> None:
        x, layout = self.image()
        pool = self.one([F.max_pool2d, F.avg_pool2d])
        self.keep(pool(x, 2, 1, self.one([0, 1]), data_format=layout), layout)

    def do_concat(self) -> None:
        x, layout = self.image()
        other = F.relu(x) if self.rng.random() < 0.5 else x
        self.keep(F.concat([x, other], axis=1 if layout == "NCHW" else 3), layout)

    def do_slice(self) -> None:
        x, layout = self.image()
        self.keep(x[:, :2] if layout == "NCHW" else x[..., :2], layout)

    def do_layout(self) -> None:
        x, layout = self.image()
        perm, other = ([0, 2, 3, 1], "NHWC") if layout == "NCHW" else ([0, 3, 1, 2], "NCHW")
        self.keep(F.transpose(x, perm), other)

    do_layout_too = do_layout

    def do_pad(self) -> None:
        x, layout = self.image()
        pads = ((0, 0), (0, 0), (1, 0), (0, 1))
        pads = pads if layout == "NCHW" else (pads[0], *pads[2:], pads[1])
        self.keep(apply("pad", x, pads=pads, value=self.one([0, 0, 1.0])), layout)

    def do_cast(self) -> None:
        x, layout = self.image()
        self.keep(F.cast(F.cast(x, "float64"), x.dtype), layout)

    def do_dense(self) -> None:
        x, layout = self.image()
        y = F.mean(x, axis=[2, 3] if layout == "NCHW" else [1, 2])
        for n in (3, 2):
            y = F.matmul(y, self.weight(x.dtype, y.shape[1], n)) * self.one(MILD)
            y = F.relu(y + self.values(x.dtype, n))
        self.rows.append(y)

    # -- control flow --------------------------------------------------------------------------

    def do_branch(self) -> None:
        x, layout = self.image()
        s, r = self.scale(x, layout), self.scale(x, layout)
        truth = F.greater_than(F.sum(F.cast(x, "float64")), 0.0)
        self.keep(cond(truth, lambda: [F.relu(x * s) * r], lambda: [(x + s) * r])[0], layout)

    def do_loop(self) -> None:
        x, layout = self.image()
        s = self.scale(x, layout)
        zero = F.full([], 0, "int64")
        iteration = lambda i, y: [i + 1, F.relu(y * s) * s + x]  # noqa: E731
        self.keep(while_loop(lambda i, y: i < 2, iteration, [zero, x])[1], layout)


def random_network(
    seed: int, dtype: str = "float32", wild: bool = False, steps: int = 8
) -> Network:
    """The same for the same seed."""
    rng = np.random.default_rng(seed)
    program, c = Program("main"), int(rng.choice([2, 4]))
    shape = [symbol("n") if rng.random() < 0.5 else 2, c, 6, 6]
    x = program.block.add_parameter(TensorType(dtype, shape), "x")
    program.inputs = [x]
    tracer = Tracer(program)
    with tracer.tracing():
        draw = Draw(rng, program, [x], wild)
        draw.run(steps)
        found = [draw.images[-1][0], draw.image()[0], *draw.rows[-1:]]
        program.block.yields = [tracer.variable(value) for value in found]
    image = rng.standard_normal((2, c, 6, 6)) * (20 if dtype == "int8" else 1)
    return Network(verify(program), draw.state, [image.astype(dtype)])
