"""`if`, `while`, `and`, `or`, `not`, conditional expressions: Python's where a value is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NoReturn

from dy2st.convert.kinds.code_texts import is_of_codes, length_of_text
from dy2st.convert.kinds.entries import is_sure, presence
from dy2st.convert.kinds.views import length
from dy2st.convert.protocol.calls import call
from dy2st.convert.stage.branch import stage_if
from dy2st.convert.stage.cases import facts_of, known, note_cases, truth_of
from dy2st.convert.stage.checks import map_cases
from dy2st.convert.stage.outcome import staging
from dy2st.convert.trace import Test, Trace, special
from dy2st.convert.types import info
from dy2st.convert.values.layout import Same, number_kind
from dy2st.convert.values.special import NOWHERE, UNBOUND, UNBOUND_LOCAL, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.ir import F, Tensor, Variable


def test_of(trace: Trace, value: Any) -> Any:
    """The truth of a value: a bool of Python, or a 0-d bool of the Program."""
    kind = type(value)
    if info(kind).is_atom or kind is tuple:
        return bool(value)
    test = trace.tests.get(id(value))
    if test is not None and test.truth is not ...:
        return test.truth
    if kind is Union:
        value = known(trace, value)
        if type(value) is Union:
            return truth_of(trace, map_cases(trace, lambda one: _number(trace, one), value))
        return test_of(trace, value)
    if info(kind).is_container or kind is SymbolicSequence:
        if kind is not SymbolicSequence:
            trace.read_length(value)
        content = value if kind is SymbolicSequence else trace.content(value)
        if type(content) is SymbolicSequence:
            return _has_items(trace, content)
        if isinstance(content, dict) and not is_sure(trace, content):
            # It is true if one of the entries that may be missing is there.
            found: Any = False
            for value in content.values():
                found = or_(trace, found, lambda value=value: presence(trace, value))  # type: ignore[misc]
            return test_of(trace, found)
        return bool(content)
    if isinstance(value, (Tensor, Dim, Condition)):
        return truth_of(trace, value)
    if info(kind).is_view:
        return test_of(trace, length(trace, value))
    if is_of_codes(value):
        return test_of(trace, length_of_text(trace, value))
    for name in ("__bool__", "__len__"):
        method = special(trace, value, name)
        if type(method) is FunctionType:
            found = known(trace, call(trace, method, value))
            if name == "__bool__" and type(found) is not Union and number_kind(found) is not bool:
                word = call(trace, type, found).__name__
                raise TypeError(f"__bool__ should return bool, returned {word}")
            return test_of(trace, found)
        if method is not None:
            break
    return bool(value)


def _has_items(trace: Trace, content: SymbolicSequence) -> Any:
    """Whether there are elements; in a branch on it that is known."""
    choice = Union(content.arrays[0], [Same(False, NOWHERE), Same(True, NOWHERE)], [[], []])
    cases = trace.cases_of(choice)
    if len(cases) == 1:
        return cases[0] == 1
    found = F.greater_than(F.array_length(trace.tracer.local(choice.tag)), 0)
    note_cases(trace, found, choice, frozenset({1}))
    return found


def _number(trace: Trace, value: Any) -> Any:
    """The truth of one case as a value that joins with those of others."""
    truth = test_of(trace, value)
    if isinstance(truth, Variable):
        truth.number = bool
    return truth


def is_plain(trace: Trace, *values: Any) -> bool:
    """Whether what is computed of some values is Python's alone: numbers, texts, ranges."""
    kinds = (type(value) for value in values if value is not range)
    return all(info(kind).is_plain or kind is range for kind in kinds)


def if_(
    trace: Trace,
    test: Any,
    true: Callable[..., Sequence[Any]],
    false: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    names: Sequence[str],
) -> Sequence[Any]:
    """What the variables hold after one of two branches."""
    truth = test if type(test) is bool else test_of(trace, test)
    if truth is True:
        return true(*state)
    if truth is False:
        return false(*state)
    with staging(trace, "if"):
        return stage_if(trace, truth, true, false, state, names)


def _either(
    trace: Trace, truth: Any, true: Callable[[], Any], false: Callable[[], Any], *words: str
) -> Any:
    """The value of one of two expressions. `words`: what both are called, and how they look."""
    if truth is True:
        return true()
    if truth is False:
        return false()
    names = (f"the value of `{words[-1]}`",)
    with staging(trace, words[0]):
        return stage_if(trace, truth, lambda: (true(),), lambda: (false(),), (), names)[0]


def if_exp(trace: Trace, test: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
    """`a if test else b`."""
    truth = test_of(trace, test)
    return _either(trace, truth, true, false, "if expression", "... if ... else ...")


def and_(trace: Trace, left: Any, right: Callable[[], Any]) -> Any:
    """`left and right()`."""
    return _decided_by(trace, left, right, False, "and")


def or_(trace: Trace, left: Any, right: Callable[[], Any]) -> Any:
    """`left or right()`."""
    return _decided_by(trace, left, right, True, "or")


def _decided_by(trace: Trace, left: Any, right: Callable[[], Any], decided: bool, word: str) -> Any:
    """The value of an `and` or `or`, whose truth is known if a constant on the right decides it.

    An `and` that is true tells what both sides tell, and so does an `or` that is false.
    """
    truth = test_of(trace, left)
    others: list[Any] = []

    def other() -> Any:
        others.append(right())
        return others[-1]

    sides = (lambda: left, other) if decided else (other, lambda: left)
    found = _either(trace, truth, *sides, word)
    if others and found is not left and isinstance(found, (Variable, Union)):
        facts = [fact for one in (truth, *others) for fact in facts_of(trace, one, not decided)]
        known = [trace.tests.get(id(one), Test(one, one)).truth for one in others]
        test = trace.tests.setdefault(id(found), Test(found))
        test.facts[not decided] = facts
        known = [one for one in known if one is not ... and info(type(one)).is_plain]
        if len(known) == len(others) and all(bool(one) is decided for one in known):
            test.truth = decided
    return found


def not_(trace: Trace, value: Any) -> Any:
    """`not value`."""
    truth = test_of(trace, value)
    if isinstance(truth, bool):
        return not truth
    result = F.logical_not(truth)
    result.number = bool
    # What a test says of values it says in its `else`.
    test = trace.tests.get(id(truth))
    if test is not None:
        facts = {not side: facts for side, facts in test.facts.items()}
        trace.tests[id(result)] = Test(result, facts=facts)
    return result


def truth(trace: Trace, value: Any) -> bool:
    """The truth for a statement that stays Python's own; a traced one is refused by `bool`."""
    found = test_of(trace, value)
    return found if isinstance(found, bool) else bool(found)


def assert_(trace: Trace, test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""

    def fail(*said: Any) -> NoReturn:
        raise AssertionError(*said)

    # Python evaluates the message of an assertion that fails alone.
    def fails() -> tuple[()]:
        trace.map_cases(fail, *(() if message is None else (message(),)))
        return ()

    truth = test_of(trace, test)
    if truth is False:
        fails()
    if truth is not True:
        stage_if(trace, truth, lambda: (), fails, (), ())


def bound(trace: Trace, value: Any, name: str) -> Any:
    """A variable that may be unbound, where it is read."""
    if value is UNBOUND:
        raise UnboundLocalError(UNBOUND_LOCAL.format(repr(name)))
    if type(value) is not Union or not any(
        getattr(case, "value", None) is UNBOUND for case in value.layouts
    ):
        return value
    value.name = value.name or name
    return map_cases(trace, lambda one: bound(trace, one, name), value)
