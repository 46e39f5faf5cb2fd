"""Patterns of the traced form, matched by Python's own `match`."""

from __future__ import annotations

from typing import Any


class _Later:
    """What stands in a pattern, evaluated when Python comes to it."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def name(self, value: Any) -> str:
        """The dotted name of a value in the text of a pattern."""
        self._values.append(value)
        return f"later.v{len(self._values) - 1}"

    def __getattr__(self, name: str) -> Any:
        value = self._values[int(name[1:])]
        return value() if callable(value) else value


def match(subject: Any, pattern: tuple[Any, ...], names: tuple[str, ...], unset: Any) -> Any:
    """Whether a pattern fits, and what it binds to the names."""
    later = _Later()
    found = "".join(f"{name}, " for name in names)
    text = f"match subject:\n case {_text(pattern, later)}:\n  found = (True, {found})\n"
    space = {"subject": subject, "later": later}
    exec(text, space)
    return space.get("found", (False, *(unset for _ in names)))


def _text(pattern: tuple[Any, ...], later: _Later) -> str:
    kind, *parts = pattern
    inner = lambda group: [_text(part, later) for part in group]  # noqa: E731
    if kind == "value":
        return later.name(parts[0])
    if kind == "as":
        name, below = parts[1], parts[0]
        return name if below == ("any",) else f"({_text(below, later)} as {name})"
    if kind == "mapping":
        keys, values, rest = parts
        pairs = [f"{later.name(k)}: {v}" for k, v in zip(keys, inner(values), strict=True)]
        return "{" + ", ".join([*pairs, *([f"**{rest}"] if rest else [])]) + "}"
    if kind == "class":
        cls, names, values = parts
        given = inner(values)
        count = len(given) - len(names)
        named = [f"{n}={v}" for n, v in zip(names, given[count:], strict=True)]
        return f"{later.name(cls)}({', '.join([*given[:count], *named])})"
    return {
        "any": lambda: "_",
        "is": lambda: repr(parts[0]),
        "or": lambda: f"({' | '.join(inner(parts))})",
        "star": lambda: f"*{parts[0] or '_'}",
        "sequence": lambda: f"[{', '.join(inner(parts))}]",
    }[kind]()
