"""Random tensors. All draw from the one generator that `seed` starts anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.dims import Size, less_equal, require
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Effect, F, Sample, Tensor, TensorType, apply, define, public
from dy2st_runtime.ir.arguments import as_dtype, as_shape, as_size
from dy2st_runtime.ir.attribute_kinds import INDEX, SIZE, SIZES
from dy2st_runtime.ops.generator import generator
from dy2st_runtime.ops.rules import created

_F32 = np.dtype("float32")


def _define(
    name: str,
    doc: str,
    attributes: dict[str, Any],
    kernel: Callable[..., Any],
    sample: dict[str, Any],
) -> None:
    define(
        name,
        doc=doc,
        attributes={"shape": SIZES, **attributes, "dtype": _F32},
        infer=lambda shape, dtype, **_: created(name, dtype, shape),
        kernel=kernel,
        effect=Effect.RANDOM,
        samples=(Sample((), {"shape": (2, 3), **sample}),),
    )


def _randint_kernel(shape: Any, low: int, high: int, dtype: Any) -> Any:
    _require_integers(low, high)
    return generator().integers(low, high, shape).astype(dtype)


def _require_integers(low: Size, high: Size) -> None:
    if less_equal(high, low) is True:
        raise ArgumentError(f"randint: no integers from {low} to {high} - 1")


_define(
    "uniform",
    "Uniform in [low, high).",
    {"low": 0.0, "high": 1.0},
    lambda shape, low, high, dtype: np.asarray(generator().uniform(low, high, shape), dtype),
    {},
)
_define(
    "gaussian",
    "Normal with mean and std.",
    {"mean": 0.0, "std": 1.0},
    lambda shape, mean, std, dtype: np.asarray(generator().normal(mean, std, shape), dtype),
    {},
)
_define(
    "randint",
    "Integers from low to high - 1.",
    {"low": INDEX.or_else(0), "high": INDEX},
    _randint_kernel,
    {"high": 5, "dtype": np.dtype("int64")},
)


def _randperm_kernel(n: int, dtype: Any) -> Any:
    if n < 0:
        raise ArgumentError(f"randperm: {n} integers")
    return generator().permutation(n).astype(dtype)


define(
    "randperm",
    doc="The integers 0 to n - 1 in random order.",
    attributes={"n": SIZE, "dtype": np.dtype("int64")},
    infer=lambda n, dtype: created("randperm", dtype, (n,)),
    kernel=_randperm_kernel,
    effect=Effect.RANDOM,
    samples=(Sample((), {"n": 4}),),
)
define(
    "bernoulli",
    doc="1 with probability x, else 0.",
    inputs="x",
    infer=lambda x: x,
    kernel=lambda x: (generator().random(np.shape(x)) < x).astype(x.dtype),
    gradient=lambda g, y, x: None,
    effect=Effect.RANDOM,
    samples=(Sample(((2, 3),), low=0.0, high=1.0),),
)


def _multinomial_infer(x: TensorType, num_samples: int, replacement: bool) -> TensorType:
    require(x.shape[-1] > 0, "multinomial: there is nothing to draw from")
    return TensorType("int64", (*x.shape[:-1], num_samples))


def _multinomial_kernel(x: Any, num_samples: int, replacement: bool) -> Any:
    rows = np.reshape(x, (-1, x.shape[-1])).astype(np.float64)
    if not ((rows >= 0).all() and np.isfinite(rows).all() and (rows.sum(1) > 0).all()):
        raise ArgumentError("multinomial: probabilities are not negative, with a sum above 0")
    if not replacement and ((rows > 0).sum(1) < num_samples).any():
        raise ArgumentError(f"multinomial: fewer than {num_samples} probabilities are above 0")
    drawn = [
        generator().choice(len(row), num_samples, replacement, row / row.sum()) for row in rows
    ]
    return np.array(drawn, np.int64).reshape((*x.shape[:-1], num_samples))


define(
    "multinomial",
    doc="Indices drawn with probabilities in proportion to x.",
    inputs="x",
    attributes={"num_samples": SIZE.or_else(1), "replacement": False},
    infer=_multinomial_infer,
    kernel=_multinomial_kernel,
    effect=Effect.RANDOM,
    samples=(Sample(((2, 3),), low=0.1, high=1.0, dtypes=("float32",)),),
)


@public
def uniform(
    shape: Any,
    dtype: Any = None,
    min: float = 0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Uniform random numbers in [min, max); float32 by default.

    The numbers come from the one generator that `dy2st.seed` starts; `seed` says nothing.

    >>> x = dy2st.uniform([100], min=2.0, max=3.0)
    >>> x.shape, bool(((x >= 2) & (x < 3)).all())
    ([100], True)
    """
    wanted = as_dtype(dtype, _F32)
    return apply("uniform", shape=as_shape(shape), low=float(min), high=float(max), dtype=wanted)


@public
def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Uniform random numbers in [0, 1); float32 by default.

    >>> x = dy2st.rand([100])
    >>> x.shape, bool(((x >= 0) & (x < 1)).all())
    ([100], True)
    """
    return uniform(shape, dtype, 0.0, 1.0)


@public
def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None) -> Any:
    """Normal random numbers of a shape; float32, or the dtype and shape of tensors given.

    >>> dy2st.normal(10.0, 0.0, [2]).tolist()
    [10.0, 10.0]
    >>> dy2st.normal(dy2st.zeros([3]), dy2st.ones([3])).shape
    [3]
    """
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        pattern = F.zeros_like(mean + std)
        drawn = apply("gaussian", shape=tuple(pattern.shape), dtype=pattern.dtype)
        return drawn * std + mean
    shape = [] if shape is None else shape
    return apply("gaussian", shape=as_shape(shape), mean=float(mean), std=float(std))


@public
def randn(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal random numbers with mean 0 and standard deviation 1; float32 by default.

    >>> dy2st.seed(0)
    >>> x = dy2st.randn([2, 3])
    >>> dy2st.seed(0)
    >>> x.shape, bool((x == dy2st.randn([2, 3])).all())
    ([2, 3], True)
    """
    return apply("gaussian", shape=as_shape(shape), dtype=as_dtype(dtype, _F32))


@public
def randint(
    low: Any = 0,
    high: Any = None,
    shape: Any = [1],  # noqa: B006  nobody changes it
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Random integers from low to high - 1, or from 0 to low - 1; int64 by default.

    >>> x = dy2st.randint(1, 7, [100])
    >>> x.shape, bool(((x >= 1) & (x < 7)).all())
    ([100], True)
    """
    ends = (0, low) if high is None else (low, high)
    first, last = as_size(ends[0], "low"), as_size(ends[1], "high")
    _require_integers(first, last)
    wanted = as_dtype(dtype, "int64")
    return apply("randint", shape=as_shape(shape), low=first, high=last, dtype=wanted)


@public
def randperm(n: Any, dtype: Any = "int64", name: str | None = None) -> Any:
    """The integers 0 to n - 1 in random order: (n,).

    >>> dy2st.randperm(4).sort().tolist()
    [0, 1, 2, 3]
    """
    return apply("randperm", n=as_size(n), dtype=as_dtype(dtype))


@public
def bernoulli(x: Any, p: Any = None, name: str | None = None) -> Any:
    """1 with probability x, else 0, elementwise; with probability p in the shape of x if given.

    (...,) -> (...,).

    >>> dy2st.bernoulli(dy2st.to_tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    return apply("bernoulli", x if p is None else F.full_like(x, p))


@public
def multinomial(
    x: Any, num_samples: Any = 1, replacement: bool = False, name: str | None = None
) -> Any:
    """Indices drawn with probabilities in proportion to x: (..., n) -> (..., num_samples).

    Without `replacement` no index is drawn twice: ArgumentError if there are too few.

    >>> dy2st.multinomial(dy2st.to_tensor([0.0, 3.0, 0.0]), 4, replacement=True).tolist()
    [1, 1, 1, 1]
    """
    count = as_size(num_samples, "num_samples")
    return apply("multinomial", x, num_samples=count, replacement=bool(replacement))
