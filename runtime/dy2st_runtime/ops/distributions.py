"""Random tensors of distributions that few models draw from, and in the likeness of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Effect, F, Sample, TensorType, apply, define, method, public
from dy2st_runtime.ir.arguments import as_dtype, shape_of
from dy2st_runtime.ops.generator import generator
from dy2st_runtime.ops.rules import broadcast_shapes, with_floats


def _define(name: str, doc: str, draw: Callable[..., Any], low: float, high: float) -> None:
    def kernel(x: Any) -> Any:
        if not (x >= 0).all():
            raise ArgumentError(f"{name}: a parameter is negative")
        return np.asarray(draw(x)).astype(x.dtype)

    define(
        name,
        doc=doc,
        inputs="x",
        infer=lambda x: x,
        kernel=kernel,
        gradient=lambda g, y, x: F.zeros_like(x),
        effect=Effect.RANDOM,
        samples=(Sample(((2, 3),), low=low, high=high, dtypes=("float32",)),),
    )


_define("poisson", "Counts with the mean x.", lambda x: generator().poisson(x), 0.0, 5.0)
_define(
    "standard_gamma",
    "Drawn from gamma distributions of shape x and scale 1.",
    lambda x: generator().standard_gamma(x),
    0.5,
    5.0,
)


def _binomial_kernel(count: Any, prob: Any) -> Any:
    if not ((prob >= 0) & (prob <= 1)).all() or not (count >= 0).all():
        raise ArgumentError("binomial: counts are not negative, probabilities from 0 to 1")
    return np.asarray(generator().binomial(count.astype(np.int64), prob), np.int64)


define(
    "binomial",
    doc="How many of `count` tries succeed, each with a probability.",
    inputs="count, prob",
    infer=lambda count, prob: TensorType(
        "int64", broadcast_shapes("binomial", count.shape, prob.shape)
    ),
    kernel=_binomial_kernel,
    effect=Effect.RANDOM,
    samples=(Sample(((2, 3), (3,)), dtypes=("float32", "float32"), low=0.0, high=1.0),),
)


@public
def poisson(x: Any, name: str | None = None) -> Any:
    """Counts with the mean x, elementwise, in the dtype of x: (...,) -> (...,).

    >>> dy2st.poisson(dy2st.to_tensor([0.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    return apply("poisson", with_floats(x))


@public
def standard_gamma(x: Any, name: str | None = None) -> Any:
    """Drawn from gamma distributions of shape x and scale 1, elementwise: (...,) -> (...,).

    >>> x = dy2st.standard_gamma(dy2st.full([100], 2.0))
    >>> x.shape, bool((x > 0).all())
    ([100], True)
    """
    return apply("standard_gamma", with_floats(x))


@public
def binomial(count: Any, prob: Any, name: str | None = None) -> Any:
    """How many of `count` tries succeed, each with probability `prob`: int64.

    (...,), (...,) -> (...,).

    >>> dy2st.binomial(dy2st.to_tensor([10, 10]), dy2st.to_tensor([0.0, 1.0])).tolist()
    [0, 10]
    """
    return apply("binomial", count, prob)


@public
def standard_normal(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal random numbers with mean 0 and standard deviation 1.

    >>> dy2st.standard_normal([2, 3]).shape
    [2, 3]
    """
    return F.randn(shape, dtype)


@public
def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> Any:
    """exp of normal random numbers of that mean and standard deviation.

    >>> dy2st.log_normal(0.0, 0.0, [2]).tolist()
    [1.0, 1.0]
    """
    return F.exp(F.normal(mean, std, shape))


def _dtype(x: Any, dtype: Any) -> Any:
    return x.dtype if dtype is None else as_dtype(dtype)


@public
def rand_like(input: Any, name: str | None = None, dtype: Any = None) -> Any:
    """Uniform random numbers in [0, 1) in the shape and dtype of a tensor: (...,) -> (...,).

    >>> x = dy2st.rand_like(dy2st.zeros([2, 3]))
    >>> x.shape, bool(((x >= 0) & (x < 1)).all())
    ([2, 3], True)
    """
    return F.rand(shape_of(input), _dtype(input, dtype))


@public
def randn_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal random numbers in the shape and dtype of a tensor: (...,) -> (...,).

    >>> dy2st.randn_like(dy2st.zeros([2, 3], "float64")).dtype
    dtype('float64')
    """
    return F.randn(shape_of(x), _dtype(x, dtype))


@public
def randint_like(
    x: Any, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> Any:
    """Random integers from low to high - 1 (or 0 to low - 1) in the shape and dtype of a tensor.

    (...,) -> (...,).

    >>> x = dy2st.randint_like(dy2st.zeros([2, 3]), 1, 7)
    >>> x.shape, bool(((x >= 1) & (x < 7)).all())
    ([2, 3], True)
    """
    return F.cast(F.randint(low, high, shape_of(x)), _dtype(x, dtype))


@public
def logspace(
    start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None
) -> Any:
    """`num` powers of `base` with evenly spaced exponents from start to stop: (num,).

    For a dtype of integers the ends and the base are cut first, and then the powers.

    >>> print(dy2st.logspace(0, 2, 3), dy2st.logspace(0, 3, 4, base=2.0))
    [  1.  10. 100.] [1. 2. 4. 8.]
    """
    wanted = as_dtype(dtype, "float32")
    given = (start, stop, base)
    if wanted.kind in "iu":
        given = tuple(F.trunc(F.cast(value, "float64")) for value in given)
    first, last, root = given
    made = F.pow(F.cast(root, "float64"), F.linspace(first, last, num, "float64"))
    return F.cast(made, wanted)


@method
def random_(x: Any, from_: int = 0, to: int | None = None, generator: Any = None) -> Any:
    """Random integers from `from_` to to - 1 in place; by default all that the dtype has from 0.

    >>> x = dy2st.zeros([100])
    >>> y = x.random_(1, 7)
    >>> y is x, bool(((x >= 1) & (x < 7)).all())
    (True, True)
    """
    kind = x.dtype
    if to is None:
        limit = 2 ** (np.finfo(kind).nmant + 1) if kind.kind == "f" else np.iinfo(kind).max
        to = int(min(limit, 2**63 - 1))
    drawn = F.cast(F.randint(from_, to, shape_of(x)), kind)
    x.replace(lambda old: F.where(True, drawn, old))
    return x
