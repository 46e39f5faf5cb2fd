"""Dicts of all classes of Python's, and what shows them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence
from typing import Any

from dy2st.convert.types.containers import container, emptied
from dy2st.convert.types.row import by_name, row
from dy2st.convert.values.special import MISSING
from dy2st_runtime.nn.tables import Table


def _dict(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    pairs = zip(names, parts, strict=True)
    made.update({name: part for name, part in pairs if part is not MISSING})
    return made


def _give_row(kind: Any, **fields: Any) -> None:
    fields = {"family": "dict", "parts": by_name, "names": list, "make": _dict, **fields}
    container(kind, dict, kind.items, kind.__setitem__, **fields)


for _kind in (dict, OrderedDict, Table, Counter):
    _give_row(_kind)
_give_row(defaultdict, keeps_more=True, empty=lambda like: defaultdict(like.default_factory))

# Those of keys and items have the operators of sets; an OrderedDict has its own.
for _name, _family in (("keys", "keys"), ("items", "keys"), ("values", "values")):
    for _kind in (dict, OrderedDict):
        row(type(getattr(_kind(), _name)()), family=_family, is_view=True)
