"""Keys that the Program computes: looked up among those that a dict or set has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st.heart.protocol.control import if_exp
from dy2st.heart.trace import Trace
from dy2st.heart.values.layout import number_kind
from dy2st.heart.values.special import Dynamic, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Tensor, user_location
from dy2st_runtime.ir.choice import Text


def is_traced_key(key: Any) -> bool:
    """Whether which key it is, is known only when the Program runs."""
    kind = type(key)
    if kind is tuple:
        return any(map(is_traced_key, key))
    if isinstance(key, Tensor):  # Python finds tensors by which object they are
        return number_kind(key) is not None
    return kind in (Union, Dynamic, Dim, Condition, Text)


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


def refuse_new_key(what: str) -> ConversionError:
    """For a dict or set that would get a key which a tensor decides."""
    return ConversionError(
        f"{what} gets a key that depends on a tensor",
        at=user_location(),
        why="which keys there are is part of the Program",
        hint="keep the values in a tensor or list, and index that; or make the key a number of "
        "Python",
    )


__all__ = ["is_among", "is_traced_key", "refuse_new_key", "value_at"]
