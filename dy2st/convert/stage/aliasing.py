"""Tensors that branches and iterations hand on as they are: two names for one tensor of the user.

Where one of two such names is changed in place, Python changes both. A Program does not, so the
other name must not be read afterwards; what cannot be told that way is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dy2st_runtime.errors import EscapedVariable, Location
from dy2st_runtime.ir import Block, Tracer, Variable


def note_handed_on(
    tracer: Tracer, block: Block, operands: Sequence[Variable], results: Sequence[Variable]
) -> None:
    """The results of an operator may be the tensors that a Block of it yields, and so outer ones.

    To be called when those that it changes in place are marked: their names hold the results.
    """
    outer = dict(zip(block.parameters, operands, strict=False))
    for result, inner in zip(results, block.yields, strict=True):
        if inner in outer:
            _note(tracer, result, outer[inner])
        else:
            tracer.aliases.note(result, inner)
    _note_pairs(tracer, block.yields, results)


def _note_pairs(tracer: Tracer, inner: Sequence[Variable], results: Sequence[Variable]) -> None:
    """What is one tensor at the end of a Block is so behind it."""
    holders: dict[int, tuple[list[Variable], Variable]] = {}  # by group, which is held
    for variable, result in zip(inner, results, strict=True):
        _, holder = holders.get(id(tracer.aliases.group(variable)), (None, None))
        if holder is not None:
            tracer.aliases.note(result, holder)
        group = tracer.aliases.group(variable)
        holders[id(group)] = group, result


def note_iterations(
    tracer: Tracer, block: Block, operands: Sequence[Variable], results: Sequence[Variable]
) -> None:
    """The results of a loop may also be what the loop began with."""
    note_handed_on(tracer, block, operands, results)
    for result, start in zip(results, operands, strict=False):
        _note(tracer, result, start)


def _note(tracer: Tracer, result: Variable, outer: Variable) -> None:
    if tracer.aliases.origin(outer).overwritten is None:
        tracer.aliases.note(result, outer)


def check_iterations(
    tracer: Tracer,
    block: Block,
    operands: Sequence[Variable],
    count: int,
    written: frozenset[Variable],
    place: Location | None,
) -> None:
    """Refuse a loop that changes a carried tensor in place that may have another name.

    `operands` are the starts of the `count` carried tensors, and what else the loop reads;
    `written` the parameters that the body changes in place.
    """

    def same(variable: Variable) -> frozenset[Variable]:
        return frozenset(tracer.aliases.of(tracer.aliases.origin(variable)))

    starts = [same(variable) for variable in operands]
    outside = frozenset(block.parameters[count:])
    if any(tracer.aliases.origin(end) in written for end in block.yields[:count]):
        raise _two_names(place)
    for index, parameter in enumerate(block.parameters[:count]):
        if parameter not in written:
            continue
        others = [k for k in range(len(operands)) if k != index]
        begins_shared = any(starts[k] & starts[index] for k in others)
        end = block.yields[index]
        others_end = [same(block.yields[k]) if k < count else starts[k] for k in others]
        ends_shared = end in outside or any(same(end) & other for other in others_end)
        if begins_shared or ends_shared:
            raise _two_names(place)


def mark_changed(
    tracer: Tracer,
    block: Block,
    captured: Sequence[Variable],
    changed: Sequence[Variable],
    place: Location | None,
) -> None:
    """What an iteration changes in place without carrying it is out of date after the loop.

    If the loop also reads it, the next iteration would read the old value: that is refused.
    """
    own = frozenset(block.parameters)
    read = frozenset(map(tracer.aliases.origin, captured))
    for variable in changed:
        if variable in own:
            continue
        if tracer.aliases.origin(variable) in read:
            raise _two_names(place)
        tracer.overwrite(variable)


def _two_names(place: Location | None) -> EscapedVariable:
    return EscapedVariable(
        "a tensor that may have another name, too, is changed in place in a loop that depends on a "
        "tensor",
        at=place,
        why="it has two names, or the names change places, as by `a, b = b, a`: Python changes it "
        "under each of them, a Program under one",
        hint="clone() what is changed where it gets its other name: a, b = b.clone(), a",
    )
