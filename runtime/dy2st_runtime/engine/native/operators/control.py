"""Writes branches and loops as code.

A branch writes what it yields into the places of the operator's results. A loop has two places for
each of its values: an iteration reads the one and writes the other; then they change their roles.
"""

from __future__ import annotations

from collections.abc import Sequence

from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.composites import made_of_others
from dy2st_runtime.engine.native.program.lifetimes import Kind, is_alias
from dy2st_runtime.engine.native.program.places import Place
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, Writer, writer
from dy2st_runtime.engine.native.text.lanes import INT64, Lanes
from dy2st_runtime.ir.program import Operator, Variable


@writer(lambda operator: operator.name == "cond")
def _branch(body: Body, step: Step, operator: Operator) -> None:
    function = body.function
    for result in operator.results:
        # The places of results are there before either branch, which both write to them.
        body.places.make(result)
    labels = [function.label("then"), function.label("else")]
    after = function.label("after")
    function.branch(body.places.truth(operator.operands[0]), *labels)
    for label, planned in zip(labels, step.inner, strict=True):
        function.begin(label)
        with body.constraints.inside():
            body.block(planned)
            for variable, result in zip(planned.block.yields, operator.results, strict=True):
                _yield(body, variable, body.places.of(result), result)
            _number(body, operator.results, planned.block.yields)
        function.jump(after)
    function.begin(after)


def _yield(body: Body, variable: Variable, place: Place, result: Variable) -> None:
    """Put a value where it is to be, unless it was made there."""
    places = body.places
    if place.kind is Kind.OBJECT:
        made = places.owned(variable)
        body.calls.check_made(made)
        places.replace(place.name, made)
    elif place.kind is Kind.SCALAR:
        type = stored(result.dtype)
        body.function.line(f"store {type} {places.load(variable)}, ptr {place.name}")
    elif places.of(variable) != place:
        places.copy(places.target(place), places.address(variable), variable.tensor_type)


def _number(body: Body, results: Sequence[Variable], values: Sequence[Variable]) -> None:
    """Note which argument of the call each value is; all at once, as they change places."""
    numbers = []
    for result, value in zip(results, values, strict=False):
        if result in body.numbers:
            value = body.identity.of(value)
            number = str(body.identity.number(value))
            if value in body.numbers:
                number = body.function.let(f"load i32, ptr {body.numbers[value]}")
            numbers.append((number, body.numbers[result]))
    for number, slot in numbers:
        body.function.line(f"store i32 {number}, ptr {slot}")


# -- loops -----------------------------------------------------------------------------------------


@writer(lambda operator: operator.name == "while")
def _loop(body: Body, step: Step, operator: Operator) -> None:
    results = operator.results
    for number, (given, result) in enumerate(zip(operator.operands, results, strict=False)):
        place = body.places.carried(result)
        _yield(body, given, place, result)
        # The loop changes the list in place, and the caller still has it.
        if (operator, number) in body.calls.lists.copied:
            object = body.function.let(f"load ptr, ptr {place.name}")
            made = body.calls.call(body.module.object(list, "list"), [object])
            body.places.replace(place.name, made)
    for one in step.inner[1].steps:
        if one.ahead is not None:
            body.products.begin_ahead(one.ahead)
    _number(body, results, operator.operands)
    # A loop without Python lets other threads run Python meanwhile.
    with body.lock.without(None if _asks_python(body, step) else "true"):
        function = body.function
        head, inside, after = (function.label(stem) for stem in ("head", "body", "after"))
        condition, iteration = step.inner
        function.jump(head)
        function.begin(head)
        with body.constraints.inside():
            body.constraints.bind_all(condition.block.parameters[: len(results)])
            body.block(condition)
            function.branch(body.places.truth(condition.block.yields[0]), inside, after)
            function.begin(inside)
            # Or Ctrl-C would be noticed only when the loop ends.
            body.lock.let_signals_in()
            body.constraints.bind_all(iteration.block.parameters[: len(results)])
            body.block(iteration)
            # Let the next iteration read what this one yields; all at once, since values change
            # places.
            root, yields = body.places.found.root, iteration.block.yields
            changed = [(y, r) for y, r in zip(yields, results, strict=True) if root(y) is not r]
            for variable, result in changed:
                _yield(body, variable, body.places.following(result), result)
            for _, result in changed:
                now, following = body.places.of(result), body.places.following(result)
                function = body.function
                if now.kind is Kind.ARENA:
                    # Two addresses change places, instead of all elements.
                    first = function.let(f"load ptr, ptr {now.name}")
                    second = function.let(f"load ptr, ptr {following.name}")
                    function.line(f"store ptr {second}, ptr {now.name}")
                    function.line(f"store ptr {first}, ptr {following.name}")
                elif now.kind is Kind.OBJECT:
                    object = function.let(f"load ptr, ptr {following.name}")
                    # One slot owns the object: the reference moves, and is not counted twice.
                    function.line(f"store ptr null, ptr {following.name}")
                    body.places.replace(now.name, object)
                else:
                    body.places.copy(now.name, following.name, result.tensor_type)
            _number(body, results, yields)
            function.jump(head)
            function.begin(after)


def _asks_python(body: Body, step: Step) -> bool:
    """Whether a step calls Python, makes or holds objects, or may raise."""
    operator = step.operator
    if step.region is not None:
        return True
    if operator is not None:
        writer = body.writer_of(step)
        is_code = is_alias(operator) or (writer is not None and not writer.holds)
        if not is_code or not body.constraints.is_early(operator):
            return True
    kinds = body.places.found.kinds
    if any(kinds.get(variable) is Kind.OBJECT for variable in step.results):
        return True
    return any(_asks_python(body, one) for planned in step.inner for one in planned.steps)


# -- operators that are made of others -------------------------------------------------------------


@writer(lambda operator: made_of_others(operator) is not None)
def _others(body: Body, step: Step, operator: Operator) -> None:
    body.block(step.inner[0])


# -- operators whose sizes are values of tensors --------------------------------------------------


def _as_specialised(body: Body, step: Step, operator: Operator) -> None:
    """The static form where the numbers allow it, else what the kernel of NumPy says."""
    function, form = body.function, step.specialised
    assert form is not None
    for result in operator.results:
        body.places.make(result)
    other, after = function.label("other"), function.label("after")
    sources, static = step.inner
    with body.constraints.inside(), body.standing_for(operator):
        body.constraints.leave_unless(form.sources.required, other)
        body.block(sources)
        for symbol, (variable, place) in form.numbers.items():
            type, first = stored(variable.dtype), body.places.address(variable)
            address = body.function.let(f"getelementptr {type}, ptr {first}, i64 {place}")
            lanes = Lanes(body.function, 1)
            element = lanes.load(address, variable.dtype)
            body.constraints.give(symbol, lanes.cast(element, INT64).text)
        body.constraints.leave_unless(form.static.required, other)
        body.block(static)
        for variable, result in zip(static.block.yields, operator.results, strict=True):
            _yield(body, variable, body.places.of(result), result)
        for one in static.steps:
            body.release(one.results)
    function.jump(after)
    function.begin(other)
    body.calls.call_back(operator)
    function.jump(after)
    function.begin(after)


SPECIALISED = Writer(lambda operator: False, _as_specialised, holds=True)
"""Of steps that are specialised, whatever their operator."""

CONTROL = (
    _branch,
    _loop,
    _others,
)

__all__ = ["CONTROL", "SPECIALISED"]
