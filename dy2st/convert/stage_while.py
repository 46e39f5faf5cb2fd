"""A tensor-dependent loop as the operator `while`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

from dy2st.convert.aliasing import check_iterations, mark_changed, note_iterations
from dy2st.convert.carried import Function, Loop, OtherObject, Retrace
from dy2st.convert.guards import passed_on
from dy2st.convert.objects import is_structure, put_together, taken_apart, without_objects
from dy2st.convert.outer import write
from dy2st.convert.regions import Region, finish
from dy2st.convert.stage_if import truth
from dy2st.convert.write_back import Others, written_back
from dy2st_runtime.errors import LoopMismatch
from dy2st_runtime.ir import F, Tracer, Variable
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.join import facts_of_turns, renewed
from dy2st_runtime.ops.control_flow import close_blocks

_ROUNDS = 12


def stage_loop(
    condition: Function,
    body: Function,
    values: Sequence[Any],
    names: Sequence[str],
    guarded: frozenset[str],
    tracer: Tracer,
) -> tuple[Any, ...]:
    """Append a `while`: `condition(*values)` is the test, `body(*values)` gives the next values."""
    apart: set[int] = set()  # the variables to which a turn gives a new object
    while True:
        known = len(tracer.program.constraints)
        try:
            if apart:
                return _with_objects(condition, body, values, names, guarded, tracer, apart)
            return _staged(condition, body, values, names, guarded, tracer)
        except OtherObject as found:
            if found.index >= len(values) or found.index in apart:
                raise found.refusal() from None
            del tracer.program.constraints[known:]
            apart.add(found.index)


def _with_objects(
    condition: Function,
    body: Function,
    values: Sequence[Any],
    names: Sequence[str],
    guarded: frozenset[str],
    tracer: Tracer,
    apart: set[int],
) -> tuple[Any, ...]:
    """A loop that replaces objects: afterwards they are those from before, or new ones."""
    parts = [taken_apart(v) if i in apart else v for i, v in enumerate(values)]
    whole, tested = without_objects(body, apart), without_objects(condition, ())

    @wraps(body, assigned=(), updated=())
    def turn(*given: Any) -> tuple[Any, ...]:
        return *whole(*given[:-1]), True

    @wraps(condition, assigned=(), updated=())
    def more(*given: Any) -> Any:
        return tested(*given[:-1])

    names = (*names, "whether there was a turn")
    *after, tag = _staged(more, turn, (*parts, False), names, guarded, tracer)
    tag = F.cast(tag, "int64")
    tag.number = int
    return tuple(
        _one_of(tag, before, put_together(now)) if index in apart else now
        for index, (before, now) in enumerate(zip(values, after, strict=True))
    )


def _one_of(tag: Variable, before: Any, after: Any) -> Any:
    if type(before) is tuple:
        return tuple(_one_of(tag, a, b) for a, b in zip(before, after, strict=True))
    return Choice(tag, (before, after)) if is_structure(before) else after


def _staged(
    condition: Function,
    body: Function,
    values: Sequence[Any],
    names: Sequence[str],
    guarded: frozenset[str],
    tracer: Tracer,
) -> tuple[Any, ...]:
    loop = Loop(tracer, names, guarded, values)
    tested, turned = _settle(loop, condition, body)
    overwritten = set(turned.overwritten)
    blocks = (tested.block, turned.block)
    written = [c for c in loop.carried if c.parameter in overwritten]
    captured = close_blocks(tracer, blocks, own=len(loop.carried))
    with passed_on(*(carried.initial for carried in loop.carried)):
        initial = [tracer.local(carried.initial) for carried in loop.carried]
    types = [renewed(carried.type, loop.free) for carried in loop.carried]
    operands = [*initial, *captured]
    check_iterations(
        tracer, turned.block, operands, len(initial), frozenset(overwritten), loop.place
    )
    results = finish(tracer, "while", operands, types, blocks)
    turns = zip(loop.carried, results, turned.block.parameters, turned.block.yields, strict=False)
    for carried, result, start, end in turns:
        facts = facts_of_turns(result.type, carried.initial.type, start.type, end.type)
        tracer.learn(facts, "the size after any number of turns")
    for carried, result in zip(loop.carried, results, strict=True):
        result.number, result.mixed = carried.number, carried.mixed
        carried.result = result
    for tensor, carried in loop.states.values():
        assert carried.result is not None
        tracer.assign(tensor, carried.result)
    for carried in written:
        tracer.overwrite(carried.initial)
    mark_changed(tracer, turned.block, captured, turned.overwritten, loop.place)
    note_iterations(tracer, turned.block, operands, results)
    others = Others(loop.initial, [change.place for change in loop.places], turned.heap)
    settle = written_back(
        tracer, turned, lambda value: loop.is_changed(value, turned.block), others
    )
    after = [loop.after(value) for value in loop.values]
    left = [*turned.results, *loop.ended]
    rows = zip(loop.initial, after, loop.given, left, loop.values, strict=True)
    settled = [settle(*row) for row in rows]
    for change in loop.places[::-1]:
        put = write if change.is_announced else type(change.place).put
        put(change.place, settled.pop())  # type: ignore[arg-type]
    return tuple(settled)


def _settle(loop: Loop, condition: Function, body: Function) -> tuple[Region, Region]:
    """Trace condition and body until the types that were assumed hold."""
    constraints = loop.tracer.program.constraints

    @wraps(condition, assigned=(), updated=())
    def test(*values: Any) -> Any:
        # Here the objects that it asks hold what they hold in a turn.
        return truth(loop.tracer, condition(*values))

    for _ in range(_ROUNDS):
        known = len(constraints)
        try:
            tested = loop.trace(test)
            loop.pure(tested)
            with loop.tracer.inside(tested.block):
                tested.block.yields = [truth(loop.tracer, tested.results[0])]
            turned = loop.trace(body)
            loop.take_turn(turned)
        except Retrace:
            del constraints[known:]
            continue
        return tested, turned
    names = ", ".join(f"`{name}`" for name in loop.names if " (outside)" not in name)
    raise LoopMismatch(
        f"one of the variables {names} has another form after every turn",
        at=loop.place,
        why="the loop depends on a tensor, so one Program must serve every turn: none was found in "
        f"{_ROUNDS} attempts",
        hint="let each turn leave the variables in the form that they have before the loop: a list "
        "may get longer by append(), a tuple or a list in a list may not grow",
    )


__all__ = ["stage_loop"]
