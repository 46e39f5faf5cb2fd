"""Finds what is behind operators that only say where elements lie: their readers read that.

A reader of `transpose(x)` reads x along other axes; one of `x[2:]` begins two elements later. So
nothing is moved where the reader is a loop nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dy2st_runtime.dims import Dim, Size, product
from dy2st_runtime.engine.native.nests.axes import Axis, Places, Use, is_one, is_same, repeated
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.engine.native.text.squares import LINE
from dy2st_runtime.ir.aliasing import view_of
from dy2st_runtime.ir.definition import DEFINITIONS, Effect, View
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.types import TensorType


class Run(NamedTuple):
    """How one axis of a tensor runs: from `start` in steps along an axis of the nest, or stays."""

    place: Axis | None
    start: Size = 0
    step: Size = 1


Runs = Sequence[Run]
_STILL = Run(None)


def seen(
    variable: Variable, places: Places, steps: Sequence[Size] | None = None, is_made: bool = False
) -> Use:
    """A tensor that is read along axes of a nest, in steps if asked for, or the one behind it.

    `is_made`: the tensor itself is made there, so it is the one behind it in any case.
    """
    runs: Runs = [Run(place) for place in places]
    if steps is not None:
        runs = [Run(place, 0, step) for place, step in zip(places, steps, strict=True)]
    is_whole = steps is None
    while is_view(variable) and (is_made or not is_transposed(variable)):
        maker, is_made = variable.maker, False
        assert isinstance(maker, Operator)
        rule = _VIEWS.get(maker.name, _reshaped)
        number = next(i for i, result in enumerate(maker.results) if result is variable)
        runs = rule(maker, number, runs)
        variable = maker.operands[0]
        is_whole = is_whole and rule in _WHOLE and not any(isinstance(r.step, Dim) for r in runs)
    if is_whole or not runs:
        return Use(variable, tuple(run.place for run in runs))
    place, start, step = zip(*runs, strict=True)
    return Use(variable, place, start, step)


def is_view(variable: Variable) -> bool:
    """Whether a value only says where elements of another one lie."""
    maker = variable.maker
    return isinstance(maker, Operator) and is_view_operator(maker)


def is_view_operator(operator: Operator) -> bool:
    """Whether an operator only says where elements of its operand lie."""
    if operator.name not in _VIEWS:
        return is_alias(operator) and _kept_axes(operator) is not None
    return isinstance(operator.operands[0].type, TensorType)


def is_transposed(variable: Variable) -> bool:
    """Whether it is a transposition that is better made: rows and columns of many elements.

    Its readers would find each element in another line of the cache.
    """
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != "transpose":
        return False
    axis, sizes = maker.attributes["perm"][-1], maker.operands[0].tensor_type.shape
    if axis == len(sizes) - 1 or variable.dtype.itemsize not in (4, 8):
        return False
    side = LINE // variable.dtype.itemsize
    return all(not isinstance(size, int) or size >= side for size in (sizes[axis], sizes[-1]))


def is_alias(operator: Operator) -> bool:
    """Whether the result is the operand's memory, all elements in their order."""
    definition = DEFINITIONS[operator.name]
    if view_of(operator) is not View.SAME or definition.kernel is None:
        return False
    given, made = operator.operands[0].type, operator.results[0].type
    if not isinstance(given, TensorType) or not isinstance(made, TensorType):
        return False
    # What the tape makes of a tensor, no run can know.
    is_silent = definition.effect is Effect.PURE or operator.name == SETTER
    return is_silent and given.dtype == made.dtype


_VIEWS: dict[str, Callable[[Operator, int, Runs], Runs]] = {}
_view = entering(_VIEWS)


@_view("transpose")
def _transposed(operator: Operator, index: int, runs: Runs) -> Runs:
    order = operator.attributes["perm"]
    return [runs[order.index(axis)] for axis in range(len(order))]


@_view("broadcast_to")
def _broadcast(operator: Operator, index: int, runs: Runs) -> Runs:
    own, whole = operator.operands[0].tensor_type.shape, operator.results[0].tensor_type.shape
    lead, found = len(whole) - len(own), []
    for size, wanted, run in zip(own, whole[lead:], runs[lead:], strict=True):
        step = repeated(size, wanted)
        start, step = product([step, run.start]), product([step, run.step])
        # Where only the run knows a size, the step is a formula, 0 or 1 there: see `repeated`.
        found.append(_STILL if is_one(size) else Run(run.place, start, step))
    return found


def _kept_axes(operator: Operator) -> list[int | None] | None:
    """For each axis of the operand its axis of the result; None if others than of size 1 change."""
    own, new = operator.operands[0].tensor_type.shape, operator.results[0].tensor_type.shape
    left = [axis for axis, size in enumerate(new) if not is_one(size)]
    found: list[int | None] = []
    for size in own:
        if is_one(size):
            found.append(None)
        elif left and is_same(size, new[left[0]]):
            found.append(left.pop(0))
        else:
            return None
    return None if left else found


def _reshaped(operator: Operator, index: int, runs: Runs) -> Runs:
    return [_STILL if axis is None else runs[axis] for axis in _kept_axes(operator) or ()]


@_view("slice")
def _sliced(operator: Operator, index: int, runs: Runs) -> Runs:
    attributes, rest, found = operator.attributes, iter(runs), []
    for axis, start in enumerate(attributes["starts"]):
        if axis in attributes["drop"]:
            found.append(Run(None, start))
            continue
        run, step = next(rest), attributes["steps"][axis]
        found.append(Run(run.place, start + product([step, run.start]), product([step, run.step])))
    return found


@_view("flip")
def _flipped(operator: Operator, index: int, runs: Runs) -> Runs:
    found = list(runs)
    shape = operator.operands[0].tensor_type.shape
    for axis in operator.attributes["axis"]:
        run = found[axis]
        found[axis] = Run(run.place, shape[axis] - 1 - run.start, product([-1, run.step]))
    return found


@_view("split")
def _split(operator: Operator, index: int, runs: Runs) -> Runs:
    axis, before, found = operator.attributes["axis"], 0, list(runs)
    for result in operator.results[:index]:
        before = before + result.tensor_type.shape[axis]
    run = found[axis]
    found[axis] = Run(run.place, before + run.start, run.step)
    return found


_WHOLE = (_transposed, _broadcast, _reshaped)
"""Those that show all elements."""

__all__ = ["is_alias", "is_transposed", "is_view", "is_view_operator", "seen"]
