"""Warnings of functions that are traced again and again: what changes, and the way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from dy2st_runtime.ir.location import place_of, warn_user

_TRACES, _VALUES = 5, 10
"""The trace of one kind of call, and the value of one number, that are worth a warning."""

_MOST_KEYS = 1024


class Watch:
    """Counts the traces of one function."""

    def __init__(self) -> None:
        """Nothing was traced yet."""
        self._traces: Counter[Hashable] = Counter()
        self._values: dict[str, set[Any]] = {}

    def traced(
        self,
        name: str,
        function: Callable[..., Any],
        key: Hashable,
        arguments: Mapping[str, Any],
        again: str,
    ) -> None:
        """Note a trace: of calls of a key, with these arguments, since something has changed."""
        for argument, value in arguments.items():
            if type(value) in (int, float):
                self._note_value(name, function, argument, value)
        if not again:
            return
        if len(self._traces) > _MOST_KEYS:
            self._traces.clear()
        self._traces[key] += 1
        if self._traces[key] == _TRACES - 1:  # the first one had no reason
            warn_user(
                f"{name}() is traced the {_TRACES}th time for calls of one kind, which takes long, "
                f"since {again}. Keep what changes from call to call in a tensor, or give it to "
                "the function as one",
                place_of(function),
            )

    def _note_value(
        self, name: str, function: Callable[..., Any], argument: str, value: float
    ) -> None:
        seen = self._values.setdefault(argument, set())
        if len(seen) == _VALUES:
            return
        seen.add(value)
        if len(seen) == _VALUES:
            warn_user(
                f"{name}() has a Program for each of {_VALUES} values of its argument "
                f"`{argument}`, and each takes long to make. Give it the number as a tensor: "
                f"to_tensor({argument})",
                place_of(function),
            )
