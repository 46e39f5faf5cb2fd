"""Tensors made of nothing but numbers and sizes, and copies of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, Size, ceil_divide, maximum
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import (
    Effect,
    F,
    Kind,
    Sample,
    Scales,
    Tensor,
    TensorType,
    Variable,
    View,
    apply,
    define,
    method,
    public,
)
from dy2st_runtime.ir.arguments import (
    as_dtype,
    as_integers,
    as_shape,
    as_size,
    dtype_of,
    is_unknown,
    shape_of,
)
from dy2st_runtime.ir.attribute_kinds import (
    ARRAY,
    CONDITION,
    DTYPE,
    FLAG,
    INDEX,
    NUMBER,
    SIZE,
    SIZES,
    either,
)
from dy2st_runtime.ir.promotion import SCALAR_DTYPES, as_array
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ops.rules import broadcasting, created, fitted, of_sizes, same_type

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site

# A number that may be a size.
_VALUE = either(NUMBER, INDEX)


def _from_dim_kernel(value: Any, dtype: np.dtype[Any]) -> Any:
    try:
        return dtype.type(value)
    except OverflowError:
        raise ShapeError(f"a size of this call is {value}, too large for {dtype}") from None


def _cast_infer(x: TensorType, dtype: np.dtype[Any]) -> TensorType:
    if x.dtype.kind == "c" and dtype.kind != "c":
        raise DTypeError(
            f"cast: complex numbers do not fit into {dtype}: take real(x), imag(x) or abs(x)"
        )
    return x.with_dtype(dtype)


def _cast_kernel(x: Any, dtype: np.dtype[Any]) -> Any:
    if x.dtype.kind == "c":
        _cast_infer(TensorType(x.dtype, x.shape), dtype)
    return x.astype(dtype)


def _bitcast_infer(x: TensorType, dtype: np.dtype[Any]) -> TensorType:
    is_part = any(one.name.endswith(("int2", "int4", "e2m1fn")) for one in (x.dtype, dtype))
    if is_part or x.dtype.itemsize != dtype.itemsize or (dtype.kind == "b" != x.dtype.kind):
        raise DTypeError(f"bitcast: elements of {x.dtype} have not the bits of a {dtype}")
    return x.with_dtype(dtype)


def _cast_data(x: Any, dtype: np.dtype[Any]) -> Any:
    """Integers and bools of known values in another dtype; a size is true where it is not 0."""
    if not isinstance(x, np.ndarray):
        return None
    if dtype.kind == "b":
        return of_sizes(operator.ne)(x, np.zeros((), object))
    return None if any(isinstance(entry, Condition) for entry in x.flat) else x + 0


define(
    "constant",
    doc="A fixed value.",
    attributes={"value": ARRAY},
    infer=lambda value: TensorType(value.dtype, value.shape),
    kernel=lambda value: value,
    samples=(Sample((), {"value": np.arange(3.0)}),),
)
define(
    "from_dim",
    doc="The value of a symbolic size, or of a condition on sizes, as a 0-d tensor.",
    attributes={"value": either(INDEX, CONDITION), "dtype": np.dtype("int64")},
    infer=lambda value, dtype: TensorType(dtype, ()),
    kernel=_from_dim_kernel,
    samples=(Sample((), {"value": 3}), Sample((), {"value": True})),
)
define(
    "cast",
    cheap=True,
    takes_complex=True,
    doc="x in another dtype; floats lose their fraction on the way to integers.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"dtype": DTYPE},
    infer=_cast_infer,
    kernel=_cast_kernel,
    data=_cast_data,
    # What was real has a real gradient.
    gradient=lambda g, y, x, dtype: F.cast(
        F.real(g) if dtype.kind == "c" and x.dtype.kind != "c" else g, x.dtype
    ),
    samples=(
        Sample(((2, 3),), {"dtype": np.dtype("int64")}, low=0.2, high=0.8),
        Sample(((2, 3),), {"dtype": np.dtype("float64")}),
    ),
)
define(
    "bitcast",
    cheap=True,
    doc="The bits of x as elements of another dtype of the same width.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    attributes={"dtype": DTYPE},
    infer=_bitcast_infer,
    kernel=lambda x, dtype: x.view(dtype).copy(),
    samples=(
        Sample(((2, 3),), {"dtype": np.dtype("float32")}, ("int32",), 0, 3),
        Sample(((3,),), {"dtype": np.dtype("uint64")}, ("int64",)),
        Sample(((2, 3),), {"dtype": np.dtype("uint8")}, ("bool",)),
    ),
)
define(
    "assign",
    takes_complex=True,
    doc="The same value as a tensor of its own.",
    inputs="x",
    scales=Scales.ALL,
    kind=Kind.ELEMENTWISE,
    view=View.SAME,
    put_back=lambda x, y, place: y,
    infer=same_type,
    kernel=lambda x: x,
    data=True,
    gradient=lambda g, y, x: g,
    samples=(Sample(((2, 3),)),),
)
define(
    "detach",
    takes_complex=True,
    doc="The same value; gradients do not flow through.",
    inputs="x",
    scales=Scales.ALL,
    kind=Kind.ELEMENTWISE,
    view=View.SAME,
    put_back=lambda x, y, place: y,
    shares=True,
    infer=same_type,
    kernel=lambda x: x,
    data=True,
    samples=(Sample(((2, 3),), dtypes=("float32",)),),
)

define(
    "straight_through",
    takes_complex=True,
    doc="The elements of x; gradients flow to source, as if it had them.",
    inputs="x, source",
    kind=Kind.BROADCAST,
    view=View.UNSURE,
    infer=broadcasting("straight_through"),
    kernel=lambda x, source: x if x.shape == source.shape else np.broadcast_arrays(x, source)[0],
    gradient=lambda g, y, x, source: (None, F.sum_to(g, source.shape)),
    samples=(Sample(((2, 3), (2, 3)), dtypes=("float32", "float32")),),
)


define(
    SETTER,
    takes_complex=True,
    doc="The same tensor, with another stop_gradient: the tape goes by it from here on.",
    inputs="x",
    attributes={"value": FLAG},
    padding=lambda site: set(site.longer[0]),
    view=View.SAME,
    effect=Effect.VISIBLE,
    infer=lambda x, value: x,
    kernel=lambda x, value: x,
    samples=(Sample(((2, 3),), {"value": True}), Sample(((2, 3),), {"value": False})),
)


def filled_with(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of `full`; ArgumentError if it does not have the value."""
    if dtype.kind in "iu":
        if isinstance(value, float) and not math.isfinite(value):
            raise ArgumentError(f"full: {value} is no number of {dtype}")
        span = np.iinfo(dtype)
        if isinstance(value, int) and not span.min <= value <= span.max:
            raise ArgumentError(f"full: {value} is no number of {dtype}, {span.min} to {span.max}")
    return dtype


def _full_infer(shape: Any, value: Any, dtype: np.dtype[Any]) -> TensorType:
    return created("full", filled_with(value, dtype), shape)


define(
    "full",
    doc="Every element is `value`.",
    sizes=("shape",),
    padding=lambda site: site.made_longer(),
    attributes={"shape": SIZES, "value": _VALUE, "dtype": DTYPE},
    infer=_full_infer,
    kernel=lambda shape, value, dtype: np.full(shape, value, filled_with(value, dtype)),
    data=lambda shape, value, dtype: (
        None  # floats that are no integers or bools
        if isinstance(value, float) and not math.isfinite(value)
        else np.full(shape, value if isinstance(value, Dim) else int(value), object)
    ),
    samples=(Sample((), {"shape": (2, 3), "value": 1.5, "dtype": np.dtype("float32")}),),
)


def _arange_infer(start: Size, stop: Size, step: Any, dtype: np.dtype[Any]) -> TensorType:
    if isinstance(start, float) or isinstance(stop, float) or isinstance(step, float):
        # Python numbers alone: a Dim refuses to be a float.
        numbers = [float(value) if isinstance(value, Dim) else value for value in (start, stop)]
        # How many numbers `np.arange` gives, by its own formula: no array is made to count
        # them.
        first = numbers[0]
        last = numbers[1]
        span = last - first
        try:
            count = span / step
            # so small that it is lost: a part of one step
            if count == 0 and span:
                float_count = int(math.copysign(1, count) > 0)
            else:
                float_count = max(0, math.ceil(count))
        except (ArithmeticError, ValueError):
            raise ArgumentError(
                f"arange: no count of numbers from {first} to {last} by {step}"
            ) from None
        return TensorType(dtype, (float_count,))
    if isinstance(step, int) and step == 0:
        raise ArgumentError(f"arange: no count of numbers from {start} to {stop} by 0")
    return TensorType(dtype, (maximum(ceil_divide(stop - start, step), 0),))


def _arange_data(start: Any, stop: Any, step: Any, dtype: np.dtype[Any]) -> Any:
    """Counted from a size that is not known: n, n + 1, ..."""
    count = maximum(ceil_divide(stop - start, step), 0)
    if not isinstance(count, int):
        return None
    return np.array([start + step * place for place in range(count)] or [], object)


def _arange_padding(site: Site) -> Iterable[int]:
    """Where it ends says how many there are."""
    start, step = site.attributes["start"], site.attributes["step"]
    is_counting = isinstance(start, int) and isinstance(step, int) and (start, step) == (0, 1)
    return (site.places if is_counting else site.uneven)(site.made_longer())


def _linspace_kernel(start: float, stop: float, num: int, dtype: np.dtype[Any]) -> Any:
    """From both ends to the middle, as PaddlePaddle counts: so steps lie as far from either end."""
    places = np.arange(num, dtype=np.float64)
    step = (stop - start) / max(num - 1, 1)
    is_first = places < max(num // 2, 1)
    return np.where(is_first, start + step * places, stop - step * (num - 1 - places)).astype(dtype)


define(
    "arange",
    doc="start, start + step, ... before stop.",
    sizes=("stop",),
    padding=_arange_padding,
    attributes={
        "start": _VALUE.or_else(0),
        "stop": _VALUE,
        "step": _VALUE.or_else(1),
        "dtype": np.dtype("int64"),
    },
    infer=_arange_infer,
    kernel=lambda start, stop, step, dtype: np.arange(start, stop, step).astype(dtype),
    data=_arange_data,
    samples=(Sample((), {"start": 2, "stop": 9, "step": 3}),),
)
define(
    "linspace",
    doc="`num` numbers from start to stop at equal distances, both included.",
    attributes={"start": _VALUE, "stop": _VALUE, "num": SIZE, "dtype": DTYPE},
    infer=lambda start, stop, num, dtype: created("linspace", dtype, (num,)),
    kernel=_linspace_kernel,
    samples=(Sample((), {"start": 0.0, "stop": 1.0, "num": 5, "dtype": np.dtype("float32")}),),
)
define(
    "eye",
    doc="Ones on the diagonal, zeros elsewhere.",
    sizes=("rows", "columns"),
    padding=lambda site: site.uneven(site.made_longer()),
    attributes={"rows": SIZE, "columns": SIZE, "dtype": DTYPE},
    infer=lambda rows, columns, dtype: created("eye", dtype, (rows, columns)),
    kernel=lambda rows, columns, dtype: np.eye(rows, columns, dtype=dtype),
    samples=(Sample((), {"rows": 2, "columns": 3, "dtype": np.dtype("float32")}),),
)
define(
    "shape",
    takes_complex=True,
    doc="The sizes of x as an int64 tensor.",
    inputs="x",
    infer=lambda x: TensorType("int64", (x.rank,)),
    kernel=lambda x: np.array(x.shape, np.int64),
    data=lambda x: np.array(x.shape, object),
    samples=(Sample(((2, 3),), dtypes=("float32",)),),
)


# The dtype of tensors made without one.
_default_dtype = np.dtype("float32")
_default_name = "float32"


def set_default_dtype(d: Any) -> None:
    """Set the dtype of floats made without one: float16, float32 or float64.

    >>> dy2st.set_default_dtype("float64")
    >>> dy2st.zeros([1]).dtype
    dtype('float64')
    >>> dy2st.set_default_dtype("float32")
    """
    global _default_dtype, _default_name
    wanted = as_dtype(d)
    if wanted.kind != "f":
        raise ArgumentError(f"the default dtype is a float, not {wanted}")
    _default_dtype, _default_name = wanted, str(wanted)


def get_default_dtype() -> str:
    """The name of the dtype of floats made without one.

    >>> dy2st.get_default_dtype()
    'float32'
    """
    return _default_name


@public
def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of a shape whose elements are all `fill_value`, a number or a text such as "-inf".

    Numbers and tensors give the default dtype, bools give bool.

    >>> dy2st.full([2], 7.0).tolist(), dy2st.full([2], 7, dtype="int64").tolist()
    ([7.0, 7.0], [7, 7])
    """
    default: Any
    if isinstance(fill_value, Tensor):
        default = "bool" if getattr(fill_value, "number", None) is bool else _default_dtype
        value = fitted(fill_value, as_dtype(dtype, default))
        return F.broadcast_to(F.reshape(value, []) if value.ndim else value, shape)
    if isinstance(fill_value, complex):
        return _filled_complex(shape, fill_value, as_dtype(dtype, "complex64"))
    default = SCALAR_DTYPES.get(type(fill_value), _default_dtype)
    if isinstance(fill_value, (float, int)) and not isinstance(fill_value, bool):
        default = _default_dtype
    wanted = as_dtype(dtype, default)
    return _filled(shape, _plain(fill_value), wanted)


def _filled_complex(shape: Any, value: complex, dtype: np.dtype[Any]) -> Any:
    """The number as a constant, because attributes are real."""
    return F.broadcast_to(fitted(np.asarray(value), dtype), shape)


@public
def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of zeros, float32 by default (`set_default_dtype`).

    >>> dy2st.zeros([2]).tolist(), dy2st.zeros([2], dtype="int64").tolist()
    ([0.0, 0.0], [0, 0])
    """
    return _filled(shape, 0, as_dtype(dtype, _default_dtype))


@public
def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of ones, float32 by default (`set_default_dtype`).

    >>> dy2st.ones([2, 2]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return _filled(shape, 1, as_dtype(dtype, _default_dtype))


def _filled(shape: Any, value: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor of a shape, which may be a tensor of sizes that are known only at run time."""
    if is_unknown(shape):
        sizes, known = as_integers(shape)
        return F.dynamic("full", sizes, value=value, dtype=dtype, known=known)
    return apply("full", shape=as_shape(shape), value=value, dtype=dtype)


def _as_size(value: Any, what: str) -> Size:
    """A size; one that is known only at run time is that of a tensor of as many elements."""
    if is_unknown(value):
        return _filled([value], 0, np.dtype(bool)).shape[0]  # type: ignore[no-any-return]
    return as_size(value, what)


@public
def empty(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor whose elements do not matter: zeros.

    >>> dy2st.empty([2, 3]).shape
    [2, 3]
    """
    return zeros(shape, dtype)


@public
def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of the shape and dtype of x whose elements are all `fill_value`: (...,) -> (...,).

    >>> dy2st.full_like(dy2st.to_tensor([1, 2]), 7).tolist()
    [7, 7]
    """
    wanted = as_dtype(dtype, dtype_of(x))
    if isinstance(fill_value, Tensor):
        return full(shape_of(x), fill_value, wanted)
    if isinstance(fill_value, complex):
        return _filled_complex(shape_of(x), fill_value, wanted)
    return apply("full", shape=tuple(shape_of(x)), value=_plain(fill_value), dtype=wanted)


@public
def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros of the shape and dtype of x: (...,) -> (...,).

    >>> dy2st.zeros_like(dy2st.to_tensor([1, 2])).tolist()
    [0, 0]
    """
    return full_like(x, 0, dtype)


@public
def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones of the shape and dtype of x: (...,) -> (...,).

    >>> dy2st.ones_like(dy2st.to_tensor([1, 2]), dtype="float32").tolist()
    [1.0, 1.0]
    """
    return full_like(x, 1, dtype)


@public
def empty_like(x: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor of the shape and dtype of x whose elements do not matter: zeros.

    (...,) -> (...,).

    >>> dy2st.empty_like(dy2st.ones([2, 3])).shape
    [2, 3]
    """
    return full_like(x, 0, dtype)


@public
def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None
) -> Any:
    """start, start + step, ... before end; int64 for integers, float32 for floats.

    (ceil((end - start) / step),).

    >>> dy2st.arange(3).tolist(), dy2st.arange(1.0, 2.0, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    if end is None:
        start, end = 0, start
    if is_unknown((start, end, step)):
        common = np.result_type(*map(dtype_of, (start, end, step)))
        ends = [F.cast(value, common) for value in (start, end, step)]
        usual = _default_dtype if common.kind == "f" else "int64"
        return F.dynamic("arange", *ends, dtype=as_dtype(dtype, usual))
    values = [_number(value) for value in (start, end, step)]
    if not isinstance(values[2], Dim) and values[2] == 0:
        raise ArgumentError("arange: the step is 0")
    is_float = any(isinstance(value, float) for value in values)
    wanted = as_dtype(dtype, _default_dtype if is_float else "int64")
    if any(isinstance(value, Dim) for value in values):  # the count is a number of sizes
        values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    if wanted.kind in "iu":  # counted in integers, as PaddlePaddle does
        whole = [int(value) if isinstance(value, float) else value for value in values]
        values = whole if isinstance(whole[2], Dim) or whole[2] else values
    return apply("arange", start=values[0], stop=values[1], step=values[2], dtype=wanted)


@public
def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`num` numbers from start to stop at equal distances, both included; float32 by default.

    (num,).

    For a dtype of integers the ends are cut first, and then the numbers.

    >>> dy2st.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    wanted, count = as_dtype(dtype, _default_dtype), _as_size(num, "num")
    if is_unknown((start, stop)):
        # `linspace` between ends known only at run time, as the kernel has it; no gradient
        # flows.
        first, last = (F.detach(F.cast(end, "float64")).reshape([]) for end in (start, stop))
        if wanted.kind in "iu":
            first, last = F.trunc(first), F.trunc(last)
        places = F.cast(F.arange(count), "float64")
        step = (last - first) / F.cast(maximum(count - 1, 1), "float64")
        is_first = F.less_than(F.arange(count), maximum(count // 2, 1))
        spaced = F.where(is_first, places * step + first, last - (count - 1 - places) * step)
        return F.cast(spaced, wanted)
    cut = np.trunc if wanted.kind in "iu" else float
    ends = _number(start), _number(stop)
    first, last = (end if isinstance(end, Dim) else float(cut(end)) for end in ends)
    return apply("linspace", start=first, stop=last, num=count, dtype=wanted)


@public
def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """Ones on the diagonal of a matrix, zeros elsewhere; float32 by default.

    (num_rows, num_columns).

    >>> dy2st.eye(2, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = _as_size(num_rows, "a size")
    columns = rows if num_columns is None else _as_size(num_columns, "a size")
    return apply("eye", rows=rows, columns=columns, dtype=as_dtype(dtype, _default_dtype))


@method
def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype; the same tensor if it has the dtype already.

    (...,) -> (...,).

    Floats lose their fraction on the way to integers. Complex numbers become their real parts, or
    bools, true where they are not 0.

    >>> dy2st.cast(dy2st.to_tensor([1.9, -1.9]), "int64").tolist()
    [1, -1]
    >>> dy2st.cast(dy2st.to_tensor([1 + 2j, 3j]), "int64").tolist()
    [1, 0]
    """
    wanted = as_dtype(dtype)
    if isinstance(x, Tensor) and x.dtype == wanted and getattr(x, "number", None) is None:
        return x
    if wanted.kind != "c" and dtype_of(x).kind == "c":
        x = F.not_equal(x, 0) if wanted.kind == "b" else F.real(x)
    if _is_of_numbers(x):  # float32 and int64 would lose digits on the way
        exact = np.asarray(x)
        x = x if exact.dtype.kind == "O" else exact.astype(wanted)
    return apply("cast", x, dtype=wanted)


def _is_of_numbers(x: Any) -> bool:
    """Whether these are numbers of Python, in lists or alone."""
    if isinstance(x, (list, tuple)):
        return all(map(_is_of_numbers, x))
    return type(x) in (float, complex, int)


@method
def astype(x: Any, dtype: Any) -> Any:
    """x in another dtype: `cast` under another name.

    >>> dy2st.to_tensor([1.5, 0.0]).astype("bool").tolist()
    [True, False]
    """
    return cast(x, dtype)


@method
def assign(x: Any, output: Any = None) -> Any:
    """The same value as a tensor of its own; `output` is another tensor that becomes it.

    (...,) -> (...,).

    >>> x = dy2st.to_tensor([1.0])
    >>> y = dy2st.assign(x)
    >>> y is x, y.tolist()
    (False, [1.0])
    """
    return apply("assign", x) if output is None else output._inplace_assign(x)


@method
def clone(x: Any, name: str | None = None) -> Any:
    """The same value as a tensor of its own; gradients flow through.

    (...,) -> (...,).

    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> (x.clone() * 2).sum().backward()
    >>> x.grad.tolist()
    [2.0]
    """
    return apply("assign", x)


@method
def detach(x: Any, name: str | None = None) -> Any:
    """The same value; gradients do not flow through.

    (...,) -> (...,).

    >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
    >>> x.detach().stop_gradient
    True
    """
    return apply("detach", x)


@public
def shape(input: Any) -> Any:
    """The sizes of a tensor as an int64 tensor; `x.shape` is the list.

    (n, m) -> (2,).

    >>> dy2st.shape(dy2st.zeros([2, 3])).tolist()
    [2, 3]
    """
    return apply("shape", input)


@method
def numel(x: Any, name: str | None = None) -> Any:
    """The number of elements as a 0-d int64 tensor; `x.size` is the number.

    >>> dy2st.numel(dy2st.zeros([2, 3])).item()
    6
    """
    return F.prod(shape(x))


@method
def rank(input: Any) -> Any:
    """The number of axes as a 0-d int32 tensor; `x.ndim` is the number.

    >>> dy2st.rank(dy2st.zeros([2, 3])).item()
    2
    """
    return full([], input.ndim, "int32")


def _plain(value: Any) -> Any:
    """A Python number, also of a text, or a Dim."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ArgumentError(f"{value!r} is no number") from None
    return value if isinstance(value, (bool, int, float, Dim)) else as_array(value, None).item()


def _number(value: Any) -> Any:
    """A Python number or a Dim, also out of a 0-d tensor whose value is known."""
    if isinstance(value, (Dim, Variable)):
        return as_size(value, "an end of a range")
    return _plain(value)
