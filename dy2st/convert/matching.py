"""`match` patterns on values of which some are known only when the Program runs.

A pattern is a tuple that begins with its kind. Parts are looked at in Python's order, and what is
in a pattern (classes, dotted names) is evaluated when Python comes to it.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import EnumMeta
from typing import Any

from dy2st.convert.builtins_ import BUILTINS
from dy2st.convert.choices import loop_over_cases
from dy2st.convert.compare import convert_is
from dy2st.convert.ifelse import convert_ifexp
from dy2st.convert.logical import convert_and, convert_not, convert_or
from dy2st.convert.staging import is_staged_list, stage_cast
from dy2st.convert.stale import check_fresh
from dy2st.convert.traced import PLAIN_TYPES, is_traced
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import UnsupportedSyntax
from dy2st_runtime.ir import current_tracer, user_location
from dy2st_runtime.ir.choice import Choice

Found = dict[str, Any]

# What `type.__flags__` says of classes that sequence and mapping patterns take, and of those whose
# single positional part is the value itself.
_SEQUENCE, _MAPPING, _MATCH_SELF = 1 << 5, 1 << 6, 1 << 22
_MISSING = object()
_ASKED = ("__eq__", "__getattribute__")
_ITEMS = frozenset({dict, list, tuple})
# Objects of these types hold no others.
PLAIN_SUBJECTS = frozenset(PLAIN_TYPES) - {dict, frozenset, list, set, slice, tuple}


def convert_match(
    subject: Any, pattern: tuple[Any, ...], names: tuple[str, ...]
) -> tuple[Any, ...]:
    """Whether a pattern fits, and what it binds to the names.

    >>> convert_match((1, 2), ("sequence", ("value", 1), ("as", ("any",), "x")), ("x",))
    (True, 2)
    """
    found: Found = {}
    hit = _match(subject, pattern, found)
    return (hit, *(found.get(name) for name in names))


def is_plain_subject(
    subject: Any,
    depth: int,
    names: tuple[str, ...],
    enums: Callable[[], tuple[Any, ...]] | None = None,
) -> bool:
    """Whether Python itself can match patterns of this depth that look at these attributes.

    `enums` gives the variables whose members are compared with what is matched.

    >>> is_plain_subject([1, {"a": "b"}], 2, ())
    True
    """
    if current_tracer() is None:  # no Program is made of what lies deeper
        return not is_traced(subject)
    return _is_plain(subject, depth, names) and (enums is None or _are_enums(enums))


def _is_plain(subject: Any, depth: int, names: tuple[str, ...]) -> bool:
    kind = type(subject)
    if kind in PLAIN_SUBJECTS:
        return True
    if kind in _ITEMS:
        check_fresh(subject)
        items = subject.values() if kind is dict else subject
        if depth == 0 or PLAIN_SUBJECTS.issuperset(map(type, items)):
            return True
        return all(_is_plain(item, depth - 1, names) for item in items)
    if is_traced(subject) or is_staged_list(subject):
        return False
    return _is_plain_object(subject, kind, depth, names)


def _are_enums(later: Callable[[], tuple[Any, ...]]) -> bool:
    """Whether variables hold enumerations, whose members no Program decides on."""
    try:
        return all(isinstance(kind, EnumMeta) for kind in later())
    except NameError:  # Python says so only if it comes to that case
        return False


def _is_plain_object(subject: Any, kind: type, depth: int, names: tuple[str, ...]) -> bool:
    """An object whose attributes are what its `__dict__` says, and compares by identity."""
    if isinstance(kind, EnumMeta):
        return True
    if any(getattr(kind, name) is not getattr(object, name) for name in _ASKED):
        return False
    if kind.__flags__ & (_SEQUENCE | _MAPPING) or hasattr(kind, "__getattr__"):
        return False
    own = getattr(subject, "__dict__", {})
    looked_at = (*names, *getattr(kind, "__match_args__", ()))
    if any(name in own and hasattr(kind, name) for name in looked_at):
        return False
    if not all(name in own or not hasattr(kind, name) for name in looked_at):
        return False
    return depth == 0 or all(_is_plain(own[n], depth - 1, names) for n in own)


def _match(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    if type(subject) is Choice and pattern[0] in _LOOKING:
        return _match_cases(subject, pattern, found)
    return _KINDS[pattern[0]](subject, pattern, found)


def _match_cases(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    """Whichever value it is, is matched; the names are bound where it fits."""
    names = [*_names_in(pattern)]

    def run(case: Any) -> tuple[Any, ...]:
        own: Found = {}
        hit = _match(case, pattern, own)
        return (hit, *(own.get(name, Undefined(name)) for name in names))

    hit, *values = loop_over_cases(subject, run, (), ("whether a pattern fits", *names))
    if hit is not False:
        found.update(zip(names, values, strict=True))
    return hit


def _names_in(pattern: tuple[Any, ...]) -> Iterator[str]:
    kind, *parts = pattern
    if kind in ("as", "star"):
        yield from (parts[-1],) if parts[-1] is not None else ()
    if kind == "mapping":
        yield from (parts[2],) if parts[2] is not None else ()
    inner = {"mapping": 1, "class": 2}.get(kind)
    for part in parts if inner is None else parts[inner]:
        if isinstance(part, tuple):
            yield from _names_in(part)


def _any(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    return True


def _value(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    return _truth(subject == _now(pattern[1]))


def _is(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    literal = pattern[1]
    if type(subject) is Choice:
        return convert_is(subject, literal)
    if literal is not None and is_traced(subject) and BUILTINS[id(type)](subject) is bool:
        return subject if literal else convert_not(subject)
    return subject is literal


def _as(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    hit = _match(subject, pattern[1], found)
    if hit is not False:
        found[pattern[2]] = subject
    return hit


def _or(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    hit: Any = False
    for alternative in pattern[1:]:
        own: Found = {}
        fits = _match(subject, alternative, own)
        if fits is False:
            continue
        for name, value in own.items():
            found[name] = value if hit is False else _either(hit, found[name], value)
        hit = fits if hit is False else convert_or(hit, lambda: fits)  # noqa: B023
        if hit is True:
            break
    return hit


def _either(hit: Any, first: Any, second: Any) -> Any:
    return first if first is second else convert_ifexp(hit, lambda: first, lambda: second)


def _sequence(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    parts = pattern[1:]
    _refuse_staged(subject)
    if not type(subject).__flags__ & _SEQUENCE:
        return False
    star = next((k for k, part in enumerate(parts) if part[0] == "star"), None)
    if star is None:
        if len(subject) != len(parts):
            return False
    elif len(parts) > 1 and len(subject) < len(parts) - 1:
        return False
    if all(part[0] == "any" or part == ("star", None) for part in parts):
        return True
    if star is None:
        return _all_of(list(subject), parts, found)
    if parts[star][1] is None:
        return _by_index(subject, parts, star, found)
    return _with_star(list(subject), parts, star, found)


def _by_index(subject: Any, parts: Sequence[Any], star: int, found: Found) -> Any:
    """Python takes only the items it needs where `*_` hides the others."""
    hit: Any = True
    for k, part in enumerate(parts):
        if k == star or part[0] == "any":
            continue
        item = subject[k if k < star else len(subject) - (len(parts) - k)]
        hit = _both(hit, _match(item, part, found))
        if hit is False:
            return False
    return hit


def _with_star(items: list[Any], parts: Sequence[Any], star: int, found: Found) -> Any:
    behind = len(parts) - star - 1
    end = len(items) - behind
    hit = _all_of(items[:star], parts[:star], found)
    if hit is False:
        return False
    found[parts[star][1]] = items[star:end]
    return _both(hit, _all_of(items[end:], parts[star + 1 :], found))


def _all_of(items: Sequence[Any], parts: Sequence[Any], found: Found) -> Any:
    hit: Any = True
    for item, part in zip(items, parts, strict=True):
        hit = _both(hit, _match(item, part, found))
        if hit is False:
            return False
    return hit


def _mapping(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    _, keys, parts, rest = pattern
    if not type(subject).__flags__ & _MAPPING:
        return False
    if keys and len(subject) < len(keys):
        return False
    known = [_now(key) for key in keys]
    values = _values_of(subject, known)
    if values is None:
        return False
    hit = _all_of(values, parts, found)
    if hit is not False and rest is not None:
        others: dict[Any, Any] = {}
        others.update(subject)
        for key in known:
            del others[key]
        found[rest] = others
    return hit


def _values_of(subject: Any, keys: list[Any]) -> list[Any] | None:
    if not keys:  # then Python does not ask for the method
        return []
    values: list[Any] = []
    get = subject.get
    seen: set[Any] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = get(key, _MISSING)
        if value is _MISSING:
            return None
        values.append(value)
    return values


def _class(subject: Any, pattern: tuple[Any, ...], found: Found) -> Any:
    _, later, names, parts = pattern
    kind = later()
    if not isinstance(kind, type):
        called = "class" if sys.version_info >= (3, 12) else "type"
        raise TypeError(f"called match pattern must be a {called}")
    if not BUILTINS[id(builtins.isinstance)](subject, kind):
        return False
    count = len(parts) - len(names)
    values: list[Any] = []
    seen: set[object] = set()
    attributes = _positional(kind, count) if count else []
    if attributes is None:
        values.append(subject)
        attributes = []
    for name in (*attributes, *names):
        if not isinstance(name, str):
            text = type(name).__name__
            raise TypeError(f"__match_args__ elements must be strings (got {text})")
        if name in seen:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return False
    return _all_of(values, parts, found)


def _positional(kind: type, count: int) -> list[Any] | None:
    """The attributes that stand for positional parts; None if the part is the value itself."""
    try:
        names = kind.__match_args__  # type: ignore[attr-defined]
    except AttributeError:
        if count == 1 and kind.__flags__ & _MATCH_SELF:
            return None
        names = ()
        allowed = 1 if kind.__flags__ & _MATCH_SELF else 0
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


def _refuse_staged(subject: Any) -> None:
    if is_staged_list(subject):
        raise UnsupportedSyntax(
            "a sequence pattern is matched against a list whose length depends on a tensor",
            at=user_location(),
            why="how many items the list has is known only when the Program runs",
            hint="compare len(...) of the list with an `if`, and take its items by index",
        )


def _both(left: Any, right: Any) -> Any:
    if left is True or right is False:
        return right
    return left if right is True else convert_and(left, lambda: right)


def _now(value: Any) -> Any:
    """A literal, or what a lambda in the pattern gives."""
    return value() if callable(value) else value


def _truth(value: Any) -> Any:
    return stage_cast(bool, value) if is_traced(value) else bool(value)


# Patterns that ask more of a value than whether it equals another one.
_LOOKING = frozenset({"sequence", "mapping", "class"})
_KINDS = {
    "any": _any,
    "value": _value,
    "is": _is,
    "as": _as,
    "or": _or,
    "sequence": _sequence,
    "mapping": _mapping,
    "class": _class,
}
