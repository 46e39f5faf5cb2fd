"""Follows channels that only move: images that are parts of others, joined, or shuffled.

Each channel of such an image is one of some source. So a chain of operators that move channels is
one map; they are moved once, where something else reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import same_shape
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Operator, Variable

Array = np.ndarray[Any, Any]


class Channels(NamedTuple):
    """Of each channel of an image: which source has it, and which of its channels it is.

    While channels are shuffled they lie along several axes, and so do both arrays.
    """

    sources: tuple[Variable, ...]
    which: Array
    places: Array

    @classmethod
    def of(cls, variable: Variable) -> Channels:
        """An image's own, in their order."""
        count = variable.tensor_type.shape[1]
        assert isinstance(count, int)
        return cls((variable,), np.zeros(count, np.int64), np.arange(count))

    def at(self, index: Any) -> Channels:
        """Some of them, as NumPy picks them."""
        return Channels(self.sources, self.which[index], self.places[index])

    def changed(self, change: Callable[[Array], Array]) -> Channels:
        """In another order."""
        return Channels(self.sources, change(self.which), change(self.places))


def is_join(channels: Channels) -> bool:
    """Whether all channels of some sources lie behind each other."""
    whole = [Channels.of(source) for source in channels.sources]
    which = [np.full(len(one.places), number) for number, one in enumerate(whole)]
    return np.array_equal(channels.which, np.concatenate(which)) and np.array_equal(
        channels.places, np.concatenate([one.places for one in whole])
    )


class Run(NamedTuple):
    """Channels of a source that lie side by side there, and `step` apart in the result."""

    source: int
    first: int
    size: int
    to: int
    step: int


def runs(channels: Channels) -> list[Run]:
    """All channels by runs that are as long as possible."""
    found: list[Run] = []
    # By source and place, so that neighbours in a source follow each other.
    for to in np.lexsort((channels.places, channels.which)):
        source, place, goes = int(channels.which[to]), int(channels.places[to]), int(to)
        is_next = bool(found)
        if found:
            run = found[-1]
            step = goes - run.to if run.size == 1 else run.step
            is_next = source == run.source and place == run.first + run.size
            is_next = is_next and step >= 1 and goes == run.to + step * run.size
        if is_next:
            found[-1] = Run(source, run.first, run.size + 1, run.to, step)
        else:
            found.append(Run(source, place, 1, goes, 1))
    return found


# -- what moves them -------------------------------------------------------------------------------


def moved(operator: Operator, operands: Sequence[Channels]) -> list[Channels]:
    """The channels of all results of an operator that moves those of its operands."""
    return _MOVES[operator.name](operator, *operands)


_MOVES: dict[str, Callable[..., list[Channels]]] = {}
_moves = entering(_MOVES)


@_moves("split")
def _split(operator: Operator, x: Channels) -> list[Channels]:
    ends = np.cumsum((0, *operator.attributes["sections"])).tolist()
    return [x.at(slice(start, end)) for start, end in pairwise(ends)]


@_moves("slice")
def _slice(operator: Operator, x: Channels) -> list[Channels]:
    return [x.at(_sliced(operator, len(x.places)))]


def _sliced(operator: Operator, count: int) -> Array:
    """Which channels are taken."""
    attributes = operator.attributes
    bounds = {name: attributes[name][1:2] for name in ("starts", "stops", "steps")}
    kernel = lookup("slice").kernel
    assert kernel is not None
    taken: Array = kernel(np.arange(count), **bounds, drop=())
    return taken


@_moves("concat")
def _concat(operator: Operator, *parts: Channels) -> list[Channels]:
    numbers: dict[Variable, int] = {}
    for source in (source for part in parts for source in part.sources):
        numbers.setdefault(source, len(numbers))
    which = [np.array([numbers[one] for one in part.sources])[part.which] for part in parts]
    places = np.concatenate([part.places for part in parts])
    return [Channels(tuple(numbers), np.concatenate(which), places)]


@_moves("reshape")
def _reshape(operator: Operator, x: Channels) -> list[Channels]:
    """Another number of axes of channels; those behind them stay."""
    shape, own = operator.results[0].tensor_type.shape, operator.operands[0].tensor_type.shape
    spatial = len(own) - 1 - x.places.ndim
    sizes = shape[1 : len(shape) - spatial]
    return [x.changed(lambda array: array.reshape(sizes))]


@_moves("transpose")
def _transpose(operator: Operator, x: Channels) -> list[Channels]:
    return [x.changed(lambda array: array.swapaxes(0, 1))]


def is_move(operator: Operator) -> bool:
    """Whether an operator of a region moves channels whose numbers are known."""
    values = (*operator.operands, *operator.results)
    return operator.name in _MOVES and all(
        isinstance(value.tensor_type.shape[1], int) for value in values
    )


def kernel_of(operator: Operator) -> Callable[[Array], Array] | None:
    """What moves channels of an array, for operators that are given sizes which only calls have."""
    if operator.name == "slice":
        return lambda x: np.ascontiguousarray(x[:, _sliced(operator, x.shape[1])])
    if operator.name == "reshape":
        return lambda x: x.reshape(_shape_of(operator, x.shape))
    return None


def _shape_of(operator: Operator, own: Sequence[int]) -> tuple[int, ...]:
    """The shape that a reshape gives: of a batch, of channels, and of the places of an image."""
    shape = operator.results[0].tensor_type.shape
    spatial = min(len(own), len(shape)) - 2
    channels = [size for size in shape[1 : len(shape) - spatial] if isinstance(size, int)]
    return (own[0], *channels, *own[len(own) - spatial :])


# -- what is taken ---------------------------------------------------------------------------------


def takes_split(operator: Operator, inside: Collection[Variable]) -> bool:
    """Whether parts of an image are some of its channels."""
    (x,), attributes = operator.operands, operator.attributes
    is_along = attributes["axis"] in (1, 1 - x.tensor_type.rank)
    return x in inside and 3 <= x.tensor_type.rank <= 5 and is_along and is_move(operator)


def takes_slice(operator: Operator, inside: Collection[Variable]) -> bool:
    """The same of a slice: of all other axes it has all."""
    (x,), attributes = operator.operands, operator.attributes
    if x not in inside or not 3 <= x.tensor_type.rank <= 5 or attributes["drop"]:
        return False
    bounds = zip(*(attributes[name] for name in ("starts", "stops", "steps")), strict=True)
    (first, channels, *rest), (batch, _, *spatial) = list(bounds), x.tensor_type.shape
    are_whole = (
        same_shape(bound, (0, size, 1)) is True
        for bound, size in zip((first, *rest), (batch, *spatial), strict=True)
    )
    are_numbers = all(isinstance(bound, int) for bound in channels)
    return are_numbers and is_move(operator) and all(are_whole)


def shuffles(
    operators: Iterable[Operator],
    readers: Mapping[Variable, Sequence[Operator]],
    yields: Collection[Variable],
) -> set[Operator]:
    """The operators that shuffle channels: split their axis, exchange both parts, and join them.

    Nobody else reads what is between the three.
    """
    found: set[Operator] = set()
    for first in operators:
        middle = _only_reader(first, readers, yields) if first.name == "reshape" else None
        last = _only_reader(middle, readers, yields) if middle is not None else None
        if middle is not None and last is not None and _is_shuffle(first, middle, last):
            found.update((first, middle, last))
    return found


def _only_reader(
    operator: Operator, readers: Mapping[Variable, Sequence[Operator]], yields: Collection[Variable]
) -> Operator | None:
    result, *_ = operator.results
    found = readers.get(result, ())
    return found[0] if len(found) == 1 and result not in yields else None


def _is_shuffle(first: Operator, middle: Operator, last: Operator) -> bool:
    if (middle.name, last.name) != ("transpose", "reshape"):
        return False
    x, parted = first.operands[0].tensor_type, first.results[0].tensor_type.shape
    if not 3 <= x.rank <= 5 or len(parted) != x.rank + 1 or not is_move(first):
        return False
    batch, groups, size, *spatial = parted
    is_whole = isinstance(groups, int) and isinstance(size, int)
    order = (0, 2, 1, *range(3, x.rank + 1))
    return (
        is_whole
        and tuple(axis % (x.rank + 1) for axis in middle.attributes["perm"]) == order
        and same_shape((batch, groups * size, *spatial), x.shape) is True
        and same_shape(last.results[0].tensor_type.shape, x.shape) is True
    )


__all__ = [
    "Channels",
    "Run",
    "is_join",
    "is_move",
    "kernel_of",
    "moved",
    "runs",
    "shuffles",
    "takes_slice",
    "takes_split",
]
