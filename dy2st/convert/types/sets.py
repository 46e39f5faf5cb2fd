"""Sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.convert.types.containers import container
from dy2st.convert.types.row import row, same


def _set(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    return kind(parts)


def _same(left: Any, right: Any) -> bool:
    is_there = (any(same(one, other) for other in right) for one in left)
    return len(left) == len(right) and all(is_there)


_SET: dict[str, Any] = {
    "family": "set",
    "parts": lambda held, names: list(held),
    "names": lambda held: (),
    "make": _set,
}
container(set, set, set.__iter__, set.add, **_SET)
row(frozenset, **_SET, is_atom=True, is_unchanging=True, same=_same)
