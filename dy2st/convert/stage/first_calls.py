"""The first call of a function, which was recorded in place, becomes a call as well.

That it is the first of several is known only when the second one comes; and the values that it has
made are those of the code behind it. So this is done when the trace has ended, where nothing but
the results is used elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_

from dy2st.convert.call_context import Recorded
from dy2st.convert.trace import Trace
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir import Block, Operator, TensorType, Tracer, Variable
from dy2st_runtime.ir.functions import CALL


def replace_first_calls(trace: Trace) -> None:
    """Let calls stand for what was recorded in place before there was a function."""
    blocks: dict[Block, list[Recorded]] = {}
    # What was recorded in another call was noted before that: outer ones first.
    for _, _, first in reversed(trace.repeats.called):
        made = first.function
        if (
            made is not None
            and first.operators
            and trace.tracer.program.functions.get(made.name) is made.block
        ):
            blocks.setdefault(first.operators[0].block, []).append(first)
    for block, firsts in blocks.items():
        replace_in_block(trace.tracer, block, firsts)


def replace_in_block(tracer: Tracer, block: Block, firsts: Sequence[Recorded]) -> None:
    places = {operator: place for place, operator in enumerate(block.operators)}
    ends: dict[int, tuple[int, Recorded]] = {}
    owners: dict[Variable, int] = {}
    taken = [False] * len(block.operators)
    for first in firsts:
        start = places.get(first.operators[0], len(taken))
        end = start + len(first.operators)
        is_there = end <= len(taken) and all(map(is_, block.operators[start:end], first.operators))
        if is_there and not any(taken[start:end]):
            taken[start:end] = [True] * len(first.operators)
            ends[start] = end, first
            owners |= {one: start for o in first.operators for one in o.results}
    calls = {start: call_for(tracer, block, first) for start, (_, first) in ends.items()}
    # What other operators use has to be among the results.
    for place, operator in enumerate([*block.operators, None]):
        for one in block.yields if operator is None else operator.operands:
            start = owners.get(one, place)
            call = calls.get(start)
            is_outside = start in ends and not start <= place < ends[start][0]
            if call is not None and is_outside and not any(one is v for v in call.results):
                calls[start] = None
    operators: list[Operator] = []
    place = 0
    while place < len(taken):
        call = calls.get(place)
        operators.append(block.operators[place] if call is None else call)
        if call is not None:
            for one in call.results:
                one.maker = call
        place = place + 1 if call is None else ends[place][0]
    block.operators = operators


def call_for(tracer: Tracer, block: Block, first: Recorded) -> Operator | None:
    """The call that stands for the first one; None if that differs from what was recorded later."""
    made, inside = first.function, {one for o in first.operators for one in o.results}
    assert made is not None
    given = [*first.arguments, *first.captured]
    operands = [seen_in(tracer, block, one) for one in given]
    if len(first.leaves) != len(made.leaves) or any(one is None for one in operands):
        return None
    found = dict(zip(made.leaves, first.leaves, strict=True))
    results = [found[len(first.arguments) + place] for place in range(len(made.types))]
    sizes = {size for one in given for size in symbols_of(one)}
    if (
        not inside.issuperset(results)
        or len({*results}) < len(results)
        or [one.type for one in results] != [*made.types]
        or any(found[leaf] is not one for leaf, one in zip(made.leaves, first.leaves, strict=True))
        # A size that the data decide inside may be named in what the Program requires.
        or any(size not in sizes for one in inside for size in symbols_of(one))
    ):
        return None
    known = [one for one in operands if one is not None]
    call = Operator(CALL, known, {"function": made.name}, block)
    call.results, call.location = results, first.location
    return call


def symbols_of(variable: Variable) -> Sequence[Dim]:
    """The symbols in the shape of a value."""
    return symbols(variable.type.shape) if isinstance(variable.type, TensorType) else ()


def seen_in(tracer: Tracer, block: Block, variable: Variable) -> Variable | None:
    """A value of a Block around as a finished Block has it; None if it does not read that."""
    if variable.block is block:
        return variable
    if block.parent is None:
        return None
    outer = seen_in(tracer, block.parent, variable)
    known: Mapping[Variable, Variable] = tracer.captured_by(block)
    return None if outer is None else known.get(outer)


__all__ = ["replace_first_calls"]
