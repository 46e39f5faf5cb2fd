"""Tensors that branches and iterations hand on as they are: two names for one tensor of the user.

Where one of two such names is changed in place, Python changes both. A Program does not, so the
other name must not be read afterwards; what cannot be decided that way is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dy2st_runtime.errors import EscapedVariable, Location
from dy2st_runtime.ir import Block, Tracer, Variable


def note_passed_on(
    tracer: Tracer, blocks: Sequence[Block], operands: Sequence[Variable], results: list[Variable]
) -> None:
    """The results of a branch may be the tensors that its Blocks yield, and so outer ones.

    To be called when those that it changes in place are marked: their names hold the results.
    """
    alone = zip(*(tracer.aliases.alone(block.yields) for block in blocks), strict=True)
    rows = zip(results, alone, strict=True)
    tracer.aliases.note_apart(result for result, paths in rows if all(paths))
    for block in blocks:
        outer = dict(zip(block.parameters, operands, strict=False))
        for result, inner in zip(results, block.yields, strict=True):
            _note_end(tracer, result, inner, outer)
        _note_pairs(tracer, block.yields, results)


def note_iterations(
    tracer: Tracer, block: Block, operands: Sequence[Variable], results: list[Variable]
) -> None:
    """The results of a loop may be what an iteration yields, and what the loop began with.

    They may be that of others, too, if names change places.
    """
    count, ends = len(results), block.yields
    came_from = _came_from(tracer, block, count)
    # Names that only change places among each other are names of several tensors for ever.
    aliases = tracer.aliases
    outside = {aliases.origin(one) for one in block.parameters[count:]}
    origins = [aliases.of(aliases.origin(end)) for end in block.yields]
    is_new = [outside.isdisjoint(end) for end in origins]
    rows = zip(aliases.alone(operands[:count]), aliases.alone(block.yields), is_new, strict=True)
    fit = [all(row) for row in rows]
    aliases.note_apart(
        result
        for result, places in zip(results, came_from, strict=True)
        if all(fit[place] for place in places)
    )
    outer = dict(zip(block.parameters[count:], operands[count:], strict=True))
    own = set(block.parameters[:count])
    for result, places in zip(results, came_from, strict=True):
        for place in places:
            _note(tracer, result, operands[place])
            if ends[place] not in own:
                _note_end(tracer, result, ends[place], outer)
    _note_pairs(tracer, ends, results)


def _note_end(
    tracer: Tracer, result: Variable, inner: Variable, outer: Mapping[Variable, Variable]
) -> None:
    if inner in outer:
        _note(tracer, result, outer[inner])
    else:
        tracer.aliases.note(result, inner)


def _came_from(tracer: Tracer, block: Block, count: int) -> list[list[int]]:
    """For each carried tensor those that it may be by some iterations; itself stands first."""
    places = {one: place for place, one in enumerate(block.parameters[:count])}
    before = [
        [places[one] for one in tracer.aliases.of(tracer.aliases.origin(end)) if one in places]
        for end in block.yields[:count]
    ]
    found = []
    for place in range(count):
        # A transitive closure: what one iteration passes to another name, the next ones pass on.
        own = {place: None}
        waiting = [place]
        while waiting:
            new = [one for one in before[waiting.pop()] if one not in own]
            own.update(dict.fromkeys(new))
            waiting += new
        found.append([*own])
    return found


def _note_pairs(tracer: Tracer, inner: Sequence[Variable], results: Sequence[Variable]) -> None:
    """What may be one tensor at the end of a Block may be so behind it."""
    met: dict[Variable, Variable] = {}
    for variable, result in zip(inner, results, strict=True):
        variable = tracer.aliases.origin(variable)
        for one, earlier in met.items():
            if tracer.aliases.may_be_one(variable, one):
                tracer.aliases.note(result, earlier)
        met[variable] = result


def _note(tracer: Tracer, result: Variable, outer: Variable) -> None:
    if tracer.aliases.origin(outer).overwritten is None:
        tracer.aliases.note(result, outer)


def written_by_iterations(
    tracer: Tracer, block: Block, count: int, overwritten: Sequence[Variable]
) -> list[int]:
    """Which of the `count` carried tensors iterations change in place, under any name.

    What changes names goes on under the other one: `a, b = b, a` lets both be changed.
    """
    changed = frozenset(overwritten)
    written = [place for place in range(count) if block.parameters[place] in changed]
    came_from = _came_from(tracer, block, count) if written else []
    return sorted({one for place in written for one in came_from[place]})


def check_iterations(
    tracer: Tracer,
    block: Block,
    operands: Sequence[Variable],
    counts: tuple[int, int],
    written: Sequence[int],
    overwritten: Sequence[Variable],
    place: Location | None,
) -> None:
    """Refuse a loop that changes a carried tensor in place that may have another name.

    `operands` are the starts of what is carried, and what else the loop reads; `counts` how many of
    them are starts, and how many of these are what variables hold, which stand first; `written` the
    places of those that iterations change in place, `overwritten` what is out of date behind one.
    """
    count, of_variables = counts
    changed = frozenset(overwritten)
    outside = frozenset(block.parameters[count:])
    ends = [*block.yields[:count], *operands[count:]]
    # An iteration that yields what is out of date has changed the tensor under another name.
    if any(tracer.aliases.origin(end) in changed for end in ends[:count]):
        raise _two_names(place)
    for index in written:
        if (
            ends[index] in outside
            or _is_shared(tracer, operands, index, index < of_variables)
            or _is_shared(tracer, ends, index, index < of_variables)
        ):
            raise _two_names(place)


def _is_shared(tracer: Tracer, variables: Sequence[Variable], index: int, has_views: bool) -> bool:
    """Whether one of several Variables may be another one of them.

    `has_views`: or what another one is a view of, of which a variable's new tensor knows nothing.
    """
    origins = [tracer.aliases.origin(one) for one in variables]
    found = [_looked_into(tracer, one) if has_views else [one] for one in origins]
    return any(
        tracer.aliases.may_be_one(origins[index], other)
        for place, others in enumerate(found)
        if place != index
        for other in others
    )


def _looked_into(tracer: Tracer, variable: Variable) -> list[Variable]:
    """A Variable, as the user's name has it, and the bases of which it may be a view."""
    bases = map(tracer.views.base_of_view, tracer.aliases.of(variable))
    return [variable, *(base for base in bases if base is not None)]


def mark_changed(
    tracer: Tracer,
    block: Block,
    captured: Sequence[Variable],
    changed: Sequence[Variable],
    carried: frozenset[Variable],
    place: Location | None,
) -> None:
    """What an iteration changes in place without carrying it is out of date after the loop.

    If the loop also reads it, or a view of it, the next iteration would read the old value: that is
    refused. Views of what is `carried` are made anew.
    """
    own = frozenset(block.parameters)
    outside = [variable for variable in changed if variable not in own]
    if not outside:
        return
    origins = frozenset(map(tracer.aliases.origin, captured))
    bases = (one for variable in origins for one in _looked_into(tracer, variable))
    read = origins.union(bases) - (carried - origins)
    for variable in outside:
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
