"""Comparisons, logic, and choice by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F, Kind, Sample, Tensor, TensorType, apply, define, method
from dy2st_runtime.ir.arguments import dtype_of
from dy2st_runtime.ops.rules import broadcast_shapes, broadcasting, of_sizes, require_dtype

_name: str
_doc: str
_kernel: Callable[..., Any]

_SAMPLES = (
    Sample(((2, 3), (3,)), dtypes=("int64", "int64"), low=0, high=3),
    Sample(((2, 1), (1, 3)), dtypes=("float32", "float32")),
    Sample(((0, 2), (2,))),
)

for _name, _doc, _kernel, _relation in (
    ("equal", "x == y.", np.equal, operator.eq),
    ("not_equal", "x != y.", np.not_equal, operator.ne),
    ("less_than", "x < y.", np.less, operator.lt),
    ("less_equal", "x <= y.", np.less_equal, operator.le),
    ("greater_than", "x > y.", np.greater, operator.gt),
    ("greater_equal", "x >= y.", np.greater_equal, operator.ge),
    ("logical_and", "Both are true (not 0).", np.logical_and, None),
    ("logical_or", "One or both are true (not 0).", np.logical_or, None),
    ("logical_xor", "Exactly one is true (not 0).", np.logical_xor, None),
):
    define(
        _name,
        cheap=True,
        doc=_doc,
        inputs="x, y",
        promote=True,
        infer=broadcasting(_name, "bool"),
        kernel=_kernel,
        data=None if _relation is None else of_sizes(_relation),
        kind=Kind.BROADCAST,
        takes_complex=_relation in (operator.eq, operator.ne, None),
        commutes=_relation in (operator.eq, operator.ne, None),
        samples=_SAMPLES,
    )


def _bitwise_rule(name: str) -> Callable[..., TensorType]:
    rule = broadcasting(name)

    def infer(*types: TensorType) -> TensorType:
        for type in types:
            require_dtype(name, type, "iub", "integers or bools")
        return rule(*types)

    return infer


for _name, _doc, _kernel in (
    ("bitwise_and", "The bits that both have; `and` of bools.", np.bitwise_and),
    ("bitwise_or", "The bits that one or both have; `or` of bools.", np.bitwise_or),
    ("bitwise_xor", "The bits that one has; unequal bools.", np.bitwise_xor),
):
    define(
        _name,
        cheap=True,
        doc=_doc,
        inputs="x, y",
        promote=True,
        infer=_bitwise_rule(_name),
        kernel=_kernel,
        kind=Kind.BROADCAST,
        commutes=True,
        samples=_SAMPLES[:1],
    )

define(
    "logical_not",
    cheap=True,
    doc="Whether x is false (0).",
    inputs="x",
    infer=lambda x: x.with_dtype("bool"),
    kernel=np.logical_not,
    takes_complex=True,
    kind=Kind.ELEMENTWISE,
    samples=(Sample(((2, 3),)),),
    promote=True,
)
define(
    "bitwise_not",
    cheap=True,
    doc="All bits changed; `not` of bools.",
    inputs="x",
    infer=_bitwise_rule("bitwise_not"),
    kernel=np.invert,
    kind=Kind.ELEMENTWISE,
    samples=(Sample(((2, 3),), dtypes=("int64",), low=-9, high=9),),
)

for _name, _doc, _kernel in (
    ("isnan", "Whether x is not a number.", np.isnan),
    ("isinf", "Whether x is infinite.", np.isinf),
    ("isfinite", "Whether x is neither infinite nor NaN.", np.isfinite),
):
    define(
        _name,
        cheap=True,
        doc=_doc,
        inputs="x",
        infer=lambda x: x.with_dtype("bool"),
        kernel=_kernel,
        takes_complex=True,
        kind=Kind.ELEMENTWISE,
        samples=(Sample(((2, 3),)), Sample(((0,),))),
    )


def _where_infer(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    _check_condition(condition)
    return x.with_shape(broadcast_shapes("where", condition.shape, x.shape, y.shape))


def _check_condition(condition: Any) -> None:
    if condition.dtype.kind != "b":
        raise DTypeError(f"where: the condition is bool, not {condition.dtype}: compare it first")


def _where_kernel(condition: Any, x: Any, y: Any) -> Any:
    """NumPy's, which would take any numbers as conditions."""
    _check_condition(condition)
    return np.where(condition, x, y)


def _where_data(condition: Any, x: Any, y: Any) -> Any:
    """Where every condition is decided, the entries that it picks."""
    if not all(isinstance(value, np.ndarray) for value in (condition, x, y)):
        return None
    if not all(isinstance(entry, bool) for entry in condition.flat):
        return None
    return np.where(condition.astype(bool), x, y)


define(
    "where",
    cheap=True,
    takes_complex=True,
    doc="x where the condition holds, else y.",
    inputs="condition, x, y",
    promote=(1, 2),
    infer=_where_infer,
    kernel=_where_kernel,
    kind=Kind.BROADCAST,
    data=_where_data,
    gradient=lambda g, z, condition, x, y: (
        None,
        lambda: F.sum_to(F.where(condition, g, F.cast(0.0, g.dtype)), x.shape),
        lambda: F.sum_to(F.where(condition, F.cast(0.0, g.dtype), g), y.shape),
    ),
    samples=(
        Sample(((2, 3), (2, 3), (3,)), dtypes=("bool", "float64", "float64")),
        Sample(((3,), (2, 1), ()), dtypes=("bool", "float64", "float64")),
    ),
)


@method
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x == y, elementwise with broadcasting: bools.

    >>> dy2st.equal(dy2st.to_tensor([1, 2]), dy2st.to_tensor([1, 3])).tolist()
    [True, False]
    """
    return apply("equal", x, y)  # type: ignore[no-any-return]


@method
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x != y, elementwise with broadcasting: bools.

    >>> dy2st.not_equal(dy2st.to_tensor([1, 2]), dy2st.to_tensor([1, 3])).tolist()
    [False, True]
    """
    return apply("not_equal", x, y)  # type: ignore[no-any-return]


@method
def less_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x < y, elementwise with broadcasting: bools.

    >>> dy2st.less_than(dy2st.to_tensor([1, 2, 3]), 2).tolist()
    [True, False, False]
    """
    return apply("less_than", x, y)  # type: ignore[no-any-return]


@method
def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x <= y, elementwise with broadcasting: bools.

    >>> dy2st.less_equal(dy2st.to_tensor([1, 2, 3]), 2).tolist()
    [True, True, False]
    """
    return apply("less_equal", x, y)  # type: ignore[no-any-return]


@method
def greater_than(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x > y, elementwise with broadcasting: bools.

    >>> dy2st.greater_than(dy2st.to_tensor([1, 2, 3]), 2).tolist()
    [False, False, True]
    """
    return apply("greater_than", x, y)  # type: ignore[no-any-return]


@method
def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x >= y, elementwise with broadcasting: bools.

    >>> dy2st.greater_equal(dy2st.to_tensor([1, 2, 3]), 2).tolist()
    [False, True, True]
    """
    return apply("greater_equal", x, y)  # type: ignore[no-any-return]


@method
def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether both are true (not 0), elementwise with broadcasting.

    >>> dy2st.logical_and(dy2st.to_tensor([0, 1, 2]), dy2st.to_tensor([1, 0, 3])).tolist()
    [False, False, True]
    """
    return apply("logical_and", x, y)  # type: ignore[no-any-return]


@method
def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether one or both are true (not 0), elementwise with broadcasting.

    >>> dy2st.logical_or(dy2st.to_tensor([0, 1, 0]), dy2st.to_tensor([0, 0, 3])).tolist()
    [False, True, True]
    """
    return apply("logical_or", x, y)  # type: ignore[no-any-return]


@method
def logical_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether exactly one is true (not 0), elementwise with broadcasting.

    >>> dy2st.logical_xor(dy2st.to_tensor([0, 1, 2]), dy2st.to_tensor([0, 0, 3])).tolist()
    [False, True, False]
    """
    return apply("logical_xor", x, y)  # type: ignore[no-any-return]


@method
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """Whether x is false (0), elementwise: bools.

    >>> dy2st.logical_not(dy2st.to_tensor([0, 1, 2])).tolist()
    [True, False, False]
    """
    return apply("logical_not", x)  # type: ignore[no-any-return]


@method
def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that both integers have, elementwise with broadcasting; `and` of bools.

    >>> dy2st.bitwise_and(dy2st.to_tensor([0b1100]), 0b1010).item() == 0b1000
    True
    """
    return apply("bitwise_and", x, y)  # type: ignore[no-any-return]


@method
def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that one or both integers have, elementwise with broadcasting; `or` of bools.

    >>> dy2st.bitwise_or(dy2st.to_tensor([0b1100]), 0b1010).item() == 0b1110
    True
    """
    return apply("bitwise_or", x, y)  # type: ignore[no-any-return]


@method
def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits that one of two integers has, elementwise with broadcasting; unequal bools.

    >>> dy2st.bitwise_xor(dy2st.to_tensor([0b1100]), 0b1010).item() == 0b0110
    True
    """
    return apply("bitwise_xor", x, y)  # type: ignore[no-any-return]


@method
def bitwise_not(x: Any, name: str | None = None) -> Tensor:
    """All bits of an integer changed, elementwise, -x - 1 if it has a sign; `not` of bools.

    >>> dy2st.bitwise_not(dy2st.to_tensor([0, 5])).tolist()
    [-1, -6]
    """
    return apply("bitwise_not", x)  # type: ignore[no-any-return]


@method
def isnan(x: Any, name: str | None = None) -> Tensor:
    """Whether x is not a number, elementwise: bools.

    >>> dy2st.isnan(dy2st.to_tensor([1.0, np.nan, np.inf])).tolist()
    [False, True, False]
    """
    return apply("isnan", x)  # type: ignore[no-any-return]


@method
def isinf(x: Any, name: str | None = None) -> Tensor:
    """Whether x is infinite, elementwise: bools.

    >>> dy2st.isinf(dy2st.to_tensor([1.0, np.nan, -np.inf])).tolist()
    [False, False, True]
    """
    return apply("isinf", x)  # type: ignore[no-any-return]


@method
def isfinite(x: Any, name: str | None = None) -> Tensor:
    """Whether x is neither infinite nor NaN, elementwise: bools.

    >>> dy2st.isfinite(dy2st.to_tensor([1.0, np.nan, np.inf])).tolist()
    [True, False, False]
    """
    return apply("isfinite", x)  # type: ignore[no-any-return]


@method
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where the condition holds, else y, with broadcasting: (...,), (...,), (...,) -> (...,).

    With the condition alone: one index tensor an axis, as `nonzero(condition, as_tuple=True)`.

    >>> x = dy2st.to_tensor([-1.0, 2.0])
    >>> dy2st.where(x > 0, x, 0.0).tolist()
    [0.0, 2.0]
    >>> [place.tolist() for place in dy2st.where(x > 0)]
    [[1]]
    """
    if x is None and y is None:
        return F.nonzero(condition, as_tuple=True)
    return apply("where", condition, x, y)


@method
def isclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """|x - y| <= atol + rtol * |y|, elementwise; an infinity is close to itself alone.

    >>> dy2st.isclose(dy2st.to_tensor([1.0, 1.0]), dy2st.to_tensor([1.000001, 1.1])).tolist()
    [True, False]
    """
    x, y = (F.cast(z, "int64") if dtype_of(z).kind == "b" else z for z in (x, y))
    near = F.less_equal(F.abs(F.subtract(x, y)), F.abs(y) * rtol + atol)
    close = F.logical_or(F.equal(x, y), F.logical_and(near, F.isfinite(y)))
    if equal_nan:
        close = F.logical_or(close, F.logical_and(F.isnan(x), F.isnan(y)))
    return close


@method
def allclose(
    x: Any,
    y: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """Whether `isclose` holds for every element: a 0-d bool.

    >>> dy2st.allclose(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([1.0, 2.00001])).item()
    True
    """
    return F.all(isclose(x, y, rtol, atol, equal_nan))
