"""Keys that the Program computes: looked up among those that a dict or set has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st.convert.protocol.control import if_exp
from dy2st.convert.trace import Trace


def is_among(trace: Trace, key: Any, keys: Iterable[Any]) -> Any:
    """Whether a traced key is one of those that there are."""
    return trace.any_of(lambda one: trace.equals(one, key), list(keys))


def value_at(trace: Trace, content: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`content[key]` for a traced key; a default is called where there is none."""
    keys = list(content)

    def pick(place: int) -> Any:
        if place == len(keys):
            if default is None:
                raise KeyError(key)
            return default()
        here = trace.equals(keys[place], key)
        return if_exp(trace, here, lambda: content[keys[place]], lambda: pick(place + 1))

    return pick(0)


__all__ = ["is_among", "value_at"]
