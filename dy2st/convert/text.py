"""Texts with tensors in them: f-strings, str(), format(), `%`, join."""

from __future__ import annotations

import builtins
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from dy2st.convert.record import note_whole
from dy2st.convert.staging import stage_format, stage_percent
from dy2st.convert.traced import is_traced
from dy2st_runtime.ir.choice import CONVERSIONS, Choice, Text, joined
from dy2st_runtime.ir.structure import is_container


def holds_traced(value: Any) -> bool:
    """Whether a value, or what its lists, tuples and dicts hold, is traced."""
    if is_traced(value):
        return True
    seen: dict[int, Any] = {}  # a list may hold itself
    waiting = [value] if is_container(value) else []
    while waiting:
        container = waiting.pop()
        if id(container) in seen:
            continue
        seen[id(container)] = container
        for entry in container.values() if isinstance(container, dict) else container:
            if is_traced(entry):
                return True
            if is_container(entry):
                waiting.append(entry)
    return False


def convert_text(*parts: Any) -> Any:
    """The parts of an f-string in one.

    >>> convert_text("a", "b")
    'ab'
    """
    for part in parts:
        if type(part) is not str:
            return joined(list(parts))
    return "".join(parts)


def convert_format(value: Any, conversion: str = "", spec: Any = "") -> Any:
    """A value in an f-string; traced ones are formatted when the Program runs.

    >>> convert_format("a", "r", ">5")
    "  'a'"
    """
    note_whole(value)
    if holds_traced(value) or type(spec) is Text:
        return stage_format(value, conversion, spec)
    if conversion:
        value = CONVERSIONS[conversion](value)
    return format(value, spec)


_FIELD = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)(?P<kind>.)"
)


def convert_percent(template: str, values: Any) -> Any:
    """`template % values`.

    >>> convert_percent("%d of %s", (1, "a"))
    '1 of a'
    """
    note_whole(values)
    if not holds_traced(values):
        return template % values
    given = iter(values if isinstance(values, tuple) else (values,))
    parts: list[Any] = []
    end = 0
    for match in _FIELD.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        parts.append(_percent_field(match, given, values))
    parts.append(template[end:])
    return joined(parts)


def _percent_field(match: re.Match[str], given: Any, values: Any) -> Any:
    if match["kind"] == "%":
        return "%"
    if "*" in match["spec"]:
        return stage_percent(None, match.group())
    value = values[match["key"]] if match["key"] is not None else next(given, _MISSING)
    if value is _MISSING:
        raise TypeError("not enough arguments for format string")
    spec = f"%{match['spec']}{match['kind']}"
    return stage_percent(value, spec) if holds_traced(value) else spec % (value,)


_MISSING = object()
_len = len  # a program may put a function of its own in its place


def _of_one(conversion: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """`str`, `repr` and `ascii`."""

    def convert(*arguments: Any, **options: Any) -> Any:
        note_whole(*arguments)
        if _len(arguments) == 1 and not options and holds_traced(arguments[0]):
            return stage_format(arguments[0], conversion, "")
        return function(*arguments, **options)

    return convert


def _format(*arguments: Any) -> Any:
    """`format(value, spec)`."""
    note_whole(*arguments)
    if _len(arguments) in (1, 2) and holds_traced(arguments[0]):
        return stage_format(arguments[0], "", *(arguments[1:] or ("",)))
    return format(*arguments)


def _format_method(template: str) -> Callable[..., Any]:
    """`template.format(...)`."""

    def convert(*arguments: Any, **named: Any) -> Any:
        note_whole(*arguments, *named.values())
        if not holds_traced([*arguments, *named.values()]):
            return template.format(*arguments, **named)
        return joined(_formatted(template, arguments, named))

    return convert


def _formatted(template: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
    parts: list[Any] = []
    formatter, count = string.Formatter(), 0
    for literal, field, spec, conversion in formatter.parse(template):
        parts.append(literal)
        if field is None:
            continue
        if not field or field[0] in ".[":
            field, count = f"{count}{field}", count + 1
        value, _ = formatter.get_field(field, arguments, named)
        if spec and "{" in spec:
            spec = convert_text(*_formatted(spec, arguments, named))
        parts.append(convert_format(value, conversion or "", spec or ""))
    return parts


def _of_choice(text: Any) -> Any:
    """One of several texts as a text of its own."""
    if type(text) is Choice and all(isinstance(case, (str, Text)) for case in text.cases):
        return convert_format(text)
    return text


def _join_method(separator: str) -> Callable[..., Any]:
    """`separator.join(texts)`."""

    def convert(texts: Any) -> Any:
        given = [_of_choice(text) for text in texts]
        if not any(type(text) is Text for text in given):
            return separator.join(given)
        parts = [part for text in given for part in (separator, text)]
        return joined(parts[1:])

    return convert


_METHODS: dict[str, Callable[[str], Callable[..., Any]]] = {
    "format": _format_method,
    "join": _join_method,
}


def text_method(function: Any) -> Any:
    """What to call for a method of a str that may meet traced values; None for all others."""
    owner = getattr(function, "__self__", None)
    if type(owner) is not str:
        return None
    make = _METHODS.get(function.__name__)
    return None if make is None else make(owner)


TEXT_BUILTINS: dict[int, Callable[..., Any]] = {
    id(builtins.str): _of_one("s", str),
    id(builtins.repr): _of_one("r", repr),
    id(builtins.ascii): _of_one("a", ascii),
    id(builtins.format): _format,
}
