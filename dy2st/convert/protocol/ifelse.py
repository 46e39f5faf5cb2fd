"""What a truth decides: `if`, `and`, `or`, `not`, conditional expressions, and `match`.

Python's where a value is known. A pattern of `match` is a tuple that begins with its kind. Parts
are looked at in Python's order, and what is in a pattern (classes, dotted names) is evaluated when
Python comes to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any, NoReturn

from dy2st.convert.kinds.side_effects import note_abstract
from dy2st.convert.kinds.traced_keys import check_sure, is_sure, presence
from dy2st.convert.protocol.calls import call
from dy2st.convert.stage.branch import facts_of, known, note_cases, stage_if, truth_of
from dy2st.convert.stage.checks import caught, map_cases
from dy2st.convert.trace import Test, Trace, special
from dy2st.convert.types import info
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.layout import Same, number_kind
from dy2st.convert.values.special import (
    MISSING,
    NOWHERE,
    UNBOUND,
    UNBOUND_LOCAL,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import F, Tensor, Variable


def test_of(trace: Trace, value: Any) -> Any:
    """The truth of a value: a bool of Python, or a 0-d bool of the Program."""
    kind = type(value)
    if info(kind).is_atom or kind is tuple:
        return bool(value)
    test = trace.origin(value, Test)
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
            return test_of(trace, trace.any_of(partial(presence, trace), content.values()))
        return bool(content)
    if isinstance(value, (Tensor, Dim, Condition)):
        return truth_of(trace, value)
    if info(kind).is_view or is_of_codes(value):
        return test_of(trace, call(trace, len, value))
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


def _either(
    trace: Trace, truth: Any, true: Callable[[], Any], false: Callable[[], Any], *words: str
) -> Any:
    """The value of one of two expressions. `words`: what both are called, and how they look."""
    if truth is True:
        return true()
    if truth is False:
        return false()
    name = f"the value of `{words[-1]}`"
    return stage_if(trace, truth, true, false, (), name, word=words[0])[0]


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
        known = [(trace.origin(one, Test) or Test(one)).truth for one in others]
        test = trace.origin(found, Test) or Test()
        trace.origins[id(found)] = found, test
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
    test = trace.origin(truth, Test)
    if test is not None:
        facts = {not side: facts for side, facts in test.facts.items()}
        trace.origins[id(result)] = result, Test(facts=facts)
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


Found = dict[str, Any]
Pattern = tuple[Any, ...]

# What `type.__flags__` says of classes that sequence and mapping patterns take, and of those whose
# single positional part is the value itself.
_SEQUENCE, _MAPPING, _MATCH_SELF = 1 << 5, 1 << 6, 1 << 22
# Patterns that ask more of a value than whether it equals another one.
_LOOKING = frozenset({"sequence", "mapping", "class"})


def match(trace: Trace, subject: Any, pattern: Pattern, names: Sequence[str]) -> tuple[Any, ...]:
    """Whether a pattern fits, and what it binds to the names."""
    matcher = _Matcher(trace)
    return matcher.bound(names, lambda found: matcher.match(subject, pattern, found))


class _Matcher:
    """Matches by the protocol of a trace."""

    def __init__(self, trace: Trace):
        self.trace = trace

    def match(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        """Whether a pattern fits; what it binds goes into `found`."""
        subject = known(self.trace, subject)
        if type(subject) is Union and pattern[0] in _LOOKING:
            # Whichever value it is, is matched.
            names = [*_names_in(pattern)]
            matched = lambda one: match(self.trace, one, pattern, names)  # noqa: E731
            return self._note(names, map_cases(self.trace, matched, subject), found)
        return getattr(self, f"_{pattern[0]}")(subject, pattern, found)

    def bound(self, names: Sequence[str], matched: Callable[[Found], Any]) -> tuple[Any, ...]:
        """Whether something fits, and what it binds to the names."""
        found: Found = {}
        hit = matched(found)
        return (hit, *(found.get(name, UNBOUND) for name in names))

    def _note(self, names: Sequence[str], either: Sequence[Any], found: Found) -> Any:
        """Note what a pattern binds; returns whether it fits."""
        hit, *values = either
        if hit is False:
            return False
        found.update(zip(names, values, strict=True))
        if isinstance(hit, Variable):
            # Where it fits, all names are bound.
            test = self.trace.origin(hit, Test) or Test()
            facts = [(one, one.places_without(UNBOUND)) for one in values if type(one) is Union]
            test.facts[True] = test.facts.get(True, []) + facts
            self.trace.origins[id(hit)] = hit, test
        return hit

    def _any(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        return True

    def _value(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        return self.trace.truth_value(self.trace.eq(subject, _now(pattern[1])))

    def _is(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        literal = pattern[1]
        is_traced_bool = number_kind(subject) is bool and type(subject) is not bool
        if literal is not None and is_traced_bool:
            return subject if literal else self.trace.not_(subject)
        return self.trace.is_(subject, literal)

    def _as(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        hit = self.match(subject, pattern[1], found)
        if hit is not False:
            found[pattern[2]] = subject
        return hit

    def _or(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        hit: Any = False
        for alternative in pattern[1:]:
            own: Found = {}
            fits = self.match(subject, alternative, own)
            if fits is False:
                continue
            for name, value in own.items():
                first = found.setdefault(name, value)
                if first is not value:
                    found[name] = if_exp(self.trace, hit, lambda: first, lambda: value)  # noqa: B023
            hit = fits if hit is False else or_(self.trace, hit, lambda fits=fits: fits)  # type: ignore[misc]
            if hit is True:
                break
        return hit

    def _sequence(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        parts, trace = pattern[1:], self.trace
        kind = subject.kind if type(subject) is SymbolicSequence else type(subject)
        if not self._is_a(kind, _SEQUENCE):
            return False
        if parts == (("star", None),):
            return True
        length, has_star = trace.call(len, subject), any(part[0] == "star" for part in parts)
        fits = trace.ge(length, len(parts) - 1) if has_star else trace.eq(length, len(parts))
        matched = partial(self._items, subject, length, parts)
        if isinstance(fits, bool):
            return fits and matched(found)
        names = [*_names_in(pattern)]
        there, missed = lambda: self.bound(names, matched), lambda: (False, *[UNBOUND] * len(names))
        return self._note(names, if_exp(trace, fits, there, missed), found)

    def _items(self, subject: Any, length: Any, parts: Sequence[Pattern], found: Found) -> Any:
        """Match a sequence that has an item for each part."""
        trace = self.trace
        star = next((k for k, part in enumerate(parts) if part[0] == "star"), len(parts))
        is_known = info(type(subject)).is_container or type(subject) in (tuple, SymbolicSequence)
        # Of a sequence of the user's Python asks for single items where nobody wants all the rest.
        is_wild = all(part[0] == "any" or part == ("star", None) for part in parts)
        if not is_known and (is_wild or ("star", None) in parts):
            count = len(parts)
            place = [k if k < star else trace.add(length, k - count) for k in range(count)]
            item: Callable[[int], Any] = lambda k: trace.item(subject, place[k])  # noqa: E731
        elif star < len(parts):
            item = trace.unpack_star(subject, star, len(parts) - star - 1).__getitem__
        else:
            item = trace.unpack(subject, len(parts)).__getitem__
        if star < len(parts) and parts[star][1] is not None:
            found[parts[star][1]] = item(star)
        # An item that fits in any case is not asked for.
        asked = [k for k, part in enumerate(parts) if part[0] not in ("any", "star")]
        return self._all(map(item, asked), [parts[k] for k in asked], found)

    def _is_a(self, kind: type, flag: int) -> bool:
        """Whether a class is a sequence, or a mapping: by its bases, or registered as one."""
        if kind.__flags__ & HEAP_TYPE:
            note_abstract(self.trace)
        return bool(kind.__flags__ & flag)

    def _all(self, items: Iterable[Any], parts: Sequence[Pattern], found: Found) -> Any:
        hit: Any = True
        for one, part in zip(items, parts, strict=True):
            hit = self._both(hit, self.match(one, part, found))
            if hit is False:
                return False
        return hit

    def _both(self, left: Any, right: Any) -> Any:
        if left is True or right is False:
            return right
        return left if right is True else and_(self.trace, left, lambda: right)

    def _mapping(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        _, keys, parts, rest = pattern
        if not self._is_a(type(subject), _MAPPING):
            return False
        wanted = [_now(key) for key in keys]
        # Refuse a dict of which the data decides whether it has the wanted keys; None: any
        needed = wanted if rest is None else None
        content = self.trace.content(subject) if info(type(subject)).is_container else None
        if type(content) is SymbolicSequence:
            raise ConversionError(
                "a mapping pattern is matched with a dict whose keys depend on a tensor",
                why="which of them it has is known only when the Program runs",
                hint="ask for the keys in an `if`: `if key in table:`",
            )
        if isinstance(content, dict) and not is_sure(self.trace, content):
            asked = content if needed is None else {k: content[k] for k in needed if k in content}
            check_sure(self.trace, asked)
        values = self._values(subject, wanted)
        if values is None:
            return False
        hit = self._all(values, parts, found)
        if hit is not False and rest is not None:
            others = [key for key in self.trace.listed(subject) if key not in wanted]
            found[rest] = self.trace.made({key: self.trace.item(subject, key) for key in others})
        return hit

    def _values(self, subject: Any, keys: list[Any]) -> list[Any] | None:
        values: list[Any] = []
        for place, key in enumerate(keys):
            if key in keys[:place]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            value = self.trace.method(subject, "get", key, MISSING)
            if value is MISSING:
                return None
            values.append(value)
        return values

    def _class(self, subject: Any, pattern: Pattern, found: Found) -> Any:
        _, later, names, parts = pattern
        kind = later()
        if not isinstance(kind, type):
            called = "class" if sys.version_info >= (3, 12) else "type"
            raise TypeError(f"called match pattern must be a {called}")
        if not call(self.trace, isinstance, subject, kind):
            return False
        count = len(parts) - len(names)
        attributes = _positional(kind, count) if count else []
        values: list[Any] = [] if attributes is not None else [subject]
        seen: set[object] = set()
        for name in (*(attributes or ()), *names):
            if not isinstance(name, str):
                text = type(name).__name__
                raise TypeError(f"__match_args__ elements must be strings (got {text})")
            if name in seen:
                text = f"multiple sub-patterns for attribute {name!r}"
                raise TypeError(f"{kind.__name__}() got {text}")
            seen.add(name)
            value = _attribute_of(self.trace, subject, name)
            if value is MISSING:
                return False
            values.append(value)
        return self._all(values, parts, found)


def _attribute_of(trace: Trace, subject: Any, name: str) -> Any:
    """An attribute, or MISSING; refused where a tensor decides whether it is there."""
    value = caught(trace, lambda: trace.attr(subject, name), AttributeError, lambda: MISSING)
    if type(value) is Union and value.places_that_are(MISSING):
        raise UnsupportedSyntax(
            f"a `case` asks for the attribute {name!r}, and a tensor decides whether it is there",
            why="whether the case matches is then known only when the Program runs",
            hint=f"ask for it before the `match`: getattr(value, {name!r}, None)",
        )
    return value


def _names_in(pattern: Pattern) -> Iterator[str]:
    kind, *parts = pattern
    if kind in ("as", "star", "mapping") and parts[-1] is not None:
        yield parts[-1]
    inner = {"mapping": 1, "class": 2}.get(kind)
    for part in parts if inner is None else parts[inner]:
        if isinstance(part, tuple):
            yield from _names_in(part)


def _positional(kind: type, count: int) -> list[Any] | None:
    """The attributes that stand for positional parts; None if the part is the value itself."""
    is_self = bool(kind.__flags__ & _MATCH_SELF)
    names = getattr(kind, "__match_args__", None)
    if names is None:
        if count == 1 and is_self:
            return None
        names, allowed = (), int(is_self)
    else:
        if type(names) is not tuple:
            text = type(names).__name__
            raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {text})")
        allowed = len(names)
    if count > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(
            f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)"
        )
    return list(names[:count])


def _now(value: Any) -> Any:
    """A literal, or what a lambda in the pattern gives."""
    return value() if callable(value) else value
