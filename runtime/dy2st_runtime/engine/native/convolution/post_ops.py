"""Decides which operators a region takes, by what it makes already: what oneDNN can be given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import Dim, Size, product, same_shape
from dy2st_runtime.engine.native.convolution.channels import takes_slice, takes_split
from dy2st_runtime.engine.native.convolution.transposed_sizes import has_sizes
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType

_SIZES = ("sizes",)


class PostOp(NamedTuple):
    """What is done to a result, element by element; with another tensor, if there is one."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    other: Variable | None = None


Inside = Collection[Variable]
"""The values that a region makes."""


def can_start_region(operator: Operator) -> bool:
    """Whether a region may begin here: it is worth to ask the library."""
    return operator.name in (*CONVOLUTIONS, "conv_weight", *WINDOWS)


def is_light(operator: Operator) -> bool:
    """Whether a loop nest computes it as fast, if no primitive does it by the way."""
    return operator.name in (*FUNCTIONS, *PAIRS, "batch_norm", *_MOVES, *WINDOWS)


def is_part(operator: Operator) -> bool:
    """Whether a primitive that makes what it reads may compute it too."""
    return operator.name not in _MOVES


def is_readable(operator: Operator) -> bool:
    """Whether others of its region may read what it makes: no gradient of filters."""
    return operator.name != "conv_weight"


def takes(operator: Operator, inside: Inside, is_read: Callable[[Variable], bool]) -> bool:
    """Whether a region that makes these values can make this operator's too."""
    takes = _TAKES.get(operator.name)
    if takes is None:
        return False
    made = operator.results[: 1 if operator.name in WINDOWS else None]
    places = operator.results[len(made) :]  # of the largest elements
    images = operator.operands[:1] if operator.name == "index" else operator.operands
    are_float = all(
        isinstance(one.type, TensorType) and one.dtype == np.float32 for one in (*images, *made)
    )
    return not any(map(is_read, places)) and are_float and takes(operator, inside)


def _is_image(variable: Variable) -> bool:
    return 3 <= variable.tensor_type.rank <= 5


def _are_outside(variables: Sequence[Variable], inside: Inside) -> bool:
    return not any(variable in inside for variable in variables)


def _has_numbers(operator: Operator) -> bool:
    """Whether all its attributes are known, but for sizes that follow from what is read."""
    attributes = operator.attributes
    return not any(_has_formula(attributes[name]) for name in attributes if name not in _SIZES)


def _has_formula(value: Any) -> bool:
    return any(map(_has_formula, value)) if isinstance(value, tuple) else isinstance(value, Dim)


CONVOLUTIONS = {"conv": "conv", "conv_transpose": "transposed"}
WINDOWS = ("max_pool", "window_max", "window_sum")
_MOVES = ("index", "split", "slice", "reshape", "transpose")
SYMMETRIC = ("add", "multiply", "maximum", "minimum")
PAIRS = (*SYMMETRIC, "subtract", "divide")

FUNCTIONS: dict[str, Callable[[Operator], PostOp]] = {
    "relu": lambda operator: PostOp("relu"),
    "relu6": lambda operator: PostOp("clip", 0.0, 6.0),
    "leaky_relu": lambda operator: PostOp("relu", float(operator.attributes["negative_slope"])),
    "sigmoid": lambda operator: PostOp("sigmoid"),
    "silu": lambda operator: PostOp("swish", 1.0),
    "tanh": lambda operator: PostOp("tanh"),
    "clip": lambda operator: _clip(operator),
    "hardtanh": lambda operator: _clip(operator),
}


def _clip(operator: Operator) -> PostOp:
    low, high = operator.attributes["min"], operator.attributes["max"]
    return PostOp("clip", float(low), float(high))


_TAKES: dict[str, Callable[[Operator, Inside], bool]] = {
    "split": takes_split,
    "slice": takes_slice,
}
_taken = entering(_TAKES)


@_taken(*CONVOLUTIONS)
def _takes_conv(operator: Operator, inside: Inside) -> bool:
    pads = operator.attributes["pads"]
    # Filters are laid out before a region runs, and once for many calls: it cannot make them.
    return (
        _has_numbers(operator)
        and _is_image(operator.operands[0])
        and min(min(pair) for pair in pads) >= 0
        and all(isinstance(size, int) for size in operator.operands[1].tensor_type.shape)
        and (operator.name != "conv_transpose" or has_sizes(operator))
        and _are_outside(operator.operands[1:], inside)
    )


@_taken("conv_weight")
def _takes_filters_gradient(operator: Operator, inside: Inside) -> bool:
    pads = operator.attributes["pads"]
    x, gradient = operator.operands
    return (
        _has_numbers(operator)
        and _is_image(x)
        and min(min(pair) for pair in pads) >= 0
        and isinstance(x.tensor_type.shape[1], int)
        and isinstance(gradient.tensor_type.shape[1], int)
    )


@_taken(*WINDOWS)
def _takes_window(operator: Operator, inside: Inside) -> bool:
    if not _has_numbers(operator) or not _is_image(operator.operands[0]):
        return False
    attributes = operator.attributes
    pairs = zip(attributes["kernel"], attributes["pads"], strict=True)
    # Of a window that lies in the padding alone the library has the lowest number, NumPy infinity.
    return all(min(pads) >= 0 and max(pads) < size for size, pads in pairs)


@_taken("batch_norm")
def _takes_norm(operator: Operator, inside: Inside) -> bool:
    x, *others = operator.operands
    return (
        x in inside
        and operator.attributes["axis"] in (1, 1 - x.tensor_type.rank)
        and _are_outside(others, inside)
        and isinstance(x.tensor_type.shape[1], int)
    )


@_taken("mean")
def _takes_mean(operator: Operator, inside: Inside) -> bool:
    """What is left is an image, or has no spatial axes: others would read it by other axes."""
    x, axes = operator.operands[0], set(mean_axes(operator))
    spatial = set(range(2, x.tensor_type.rank))
    is_whole = operator.attributes["keepdim"] or axes == spatial
    return x in inside and _is_image(x) and bool(axes) and axes <= spatial and is_whole


def mean_axes(operator: Operator) -> list[int]:
    """The axes along which there is one mean."""
    rank, axes = operator.operands[0].tensor_type.rank, operator.attributes["axis"]
    listed = axes if isinstance(axes, (list, tuple)) else range(rank) if axes is None else [axes]
    return [axis % rank for axis in listed]


@_taken(*FUNCTIONS)
def _takes_function(operator: Operator, inside: Inside) -> bool:
    return operator.operands[0] in inside and function_of(operator) is not None


@_taken(*PAIRS)
def _takes_pair(operator: Operator, inside: Inside) -> bool:
    shape = operator.results[0].tensor_type.shape
    # The operand that is changed by the other one: one that the region makes.
    left, right = operator.operands
    listed = [left, right] if operator.name in SYMMETRIC else [left]
    full = [one for one in listed if one.tensor_type.shape and is_of(one, shape)]
    first = next((one for one in full if one in inside), None)
    return (
        first is not None
        and len(shape) >= 3
        and same_shape(first.tensor_type.shape, shape) is True
        and _fits(second_of(operator, first), shape)
    )


def second_of(operator: Operator, first: Variable) -> Variable:
    """The other operand."""
    left, right = operator.operands
    return right if first is left else left


def is_of(variable: Variable, shape: Any) -> bool:
    """Whether a tensor surely has a shape."""
    return same_shape(variable.tensor_type.shape, shape) is True


def _fits(variable: Variable, shape: Sequence[Any]) -> bool:
    """Whether it has no axes but those of the whole, or of size 1."""
    own = variable.tensor_type.shape
    padded = [*[1] * (len(shape) - len(own)), *own]
    return all(
        (isinstance(size, int) and size == 1) or same_shape((size,), (whole,)) is True
        for size, whole in zip(padded, shape, strict=True)
    )


@_taken("concat")
def _takes_concat(operator: Operator, inside: Inside) -> bool:
    rank = operator.results[0].tensor_type.rank
    return (
        3 <= rank <= 5
        and operator.attributes["axis"] in (1, 1 - rank)
        and len(set(operator.operands)) == len(operator.operands)
        and sum(operand in inside for operand in operator.operands) > 0
    )


@_taken("index")
def _takes_index(operator: Operator, inside: Inside) -> bool:
    """The rows or columns of an image that is resized: places that are there for certain."""
    (x, places, *_), (axis, *more) = operator.operands, operator.attributes["axes"]
    is_spatial = not more and 2 <= axis < x.tensor_type.rank
    is_vector = places.tensor_type.rank == 1 and places.dtype == np.int64
    is_taken = x in inside and _is_image(x) and is_spatial and is_vector
    return is_taken and _are_inside(places, x.tensor_type.shape[axis])


def _are_inside(places: Variable, size: Size) -> bool:
    """Whether places are max(min(any, size - 1), 0)."""
    low, limited = _operands(places, "maximum"), None
    if low is not None and _whole(low[1]) == 0:
        limited = _operands(low[0], "minimum")
    last = _whole(limited[1]) if limited is not None else None
    return last is not None and same_shape((last,), (size - 1,)) is True


def _operands(variable: Variable, name: str) -> Sequence[Variable] | None:
    """What an operator of this name makes a value of."""
    maker = variable.maker
    is_such = isinstance(maker, Operator) and maker.name == name
    return maker.operands if isinstance(maker, Operator) and is_such else None


def _whole(variable: Variable) -> Size | None:
    """The whole number that a tensor is, known or a size."""
    maker = variable.maker
    if isinstance(maker, Block) or variable.dtype != np.int64:
        return None
    if maker.name == "cast":
        return _whole(maker.operands[0])
    if maker.name == "from_dim":
        value: Size = maker.attributes["value"]
        return value
    is_number = maker.name == "constant" and maker.attributes["value"].size == 1
    return int(maker.attributes["value"].item()) if is_number else None


def number_of(variable: Variable) -> float | None:
    """The number that a constant is, unless it is 0."""
    maker = variable.maker
    if isinstance(maker, Block) or maker.name != "constant":
        return None
    value = maker.attributes["value"]
    return float(value.reshape(-1)[0]) if value.size == 1 and value.all() else None


def function_of(operator: Operator) -> PostOp | None:
    """What an operator does to each element; None if that is not known before."""
    attributes = operator.attributes
    if operator.name in ("clip", "hardtanh"):
        limits = (attributes["min"], attributes["max"])
        if not all(isinstance(limit, (int, float)) for limit in limits):
            return None
    return FUNCTIONS[operator.name](operator)


def vector_of(variable: Variable) -> Variable:
    """What a tensor is another shape of: a bias is reshaped so that it lies along the channels."""
    maker = variable.maker
    if isinstance(maker, Block) or maker.name != "reshape":
        return variable
    return maker.operands[0]


def is_by_channel(variable: Variable, rank: int) -> bool:
    """Whether it has an element for each channel of an image, and is there before the region."""
    shape, maker = variable.tensor_type.shape, vector_of(variable).maker
    if len(shape) < rank - 1 or not all(isinstance(size, int) for size in shape):
        return False
    is_long = shape[1 - rank] != 1 and product(shape) == shape[1 - rank]
    return bool(is_long) and (isinstance(maker, Block) or maker.name == "constant")


def hard_swishes(
    operators: Sequence[Operator], reads: Mapping[Variable, int]
) -> dict[Operator, list[Operator]]:
    """The products x * relu6(x + 3), or x * (relu6(x + 3) / 6), with what they hold.

    reads    how often each value is read.
    """
    found = {}
    makers = {operator.results[0]: operator for operator in operators}
    for operator in operators:
        if operator.name != "multiply":
            continue
        x, other = operator.operands
        held = [makers.get(other)]
        if held[0] is not None and held[0].name == "divide":
            is_sixth = number_of(held[0].operands[1]) == 6
            held.append(makers.get(held[0].operands[0]) if is_sixth else None)
        limit = held[-1]
        is_limit = limit is not None and limit.name == "relu6"
        held.append(makers.get(limit.operands[0]) if limit and is_limit else None)
        inner = [one for one in held if one is not None]
        if len(inner) < len(held):
            continue
        is_single = all(reads[one.results[0]] == 1 for one in inner)
        last = inner[-1]
        is_shift = last.name == "add" and last.operands[0] is x  # x + 3
        if is_single and is_shift and number_of(last.operands[-1]) == 3.0:
            found[operator] = inner
    return found


__all__ = [
    "CONVOLUTIONS",
    "FUNCTIONS",
    "PAIRS",
    "SYMMETRIC",
    "WINDOWS",
    "PostOp",
    "can_start_region",
    "function_of",
    "hard_swishes",
    "is_by_channel",
    "is_light",
    "is_of",
    "is_part",
    "is_readable",
    "mean_axes",
    "number_of",
    "second_of",
    "takes",
    "vector_of",
]
