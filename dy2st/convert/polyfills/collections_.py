"""Counter: its methods are Python's own, which are written in Python and traced as they are."""

from __future__ import annotations

import collections
from collections import Counter
from types import FunctionType
from typing import Any

from dy2st.convert.kinds import containers, dicts  # noqa: F401  whose rows are taken away here
from dy2st.convert.kinds.table import operator_row
from dy2st.convert.polyfills.registry import polyfill
from dy2st.convert.trace import Trace
from dy2st.convert.types import info

_OPERATORS = {
    **{"add": "__add__", "sub": "__sub__", "or_bits": "__or__", "and_bits": "__and__"},
    **{name: f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


@polyfill(getattr(collections, "_count_elements"))  # noqa: B009  private, of C
def _count_elements(mapping: Any, iterable: Any) -> None:
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1


def _as_written(name: str, method: FunctionType) -> None:
    @operator_row(name, Counter)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        return trace.call(method, left, right)


for _name, _method in vars(Counter).items():
    info(Counter).methods.pop(_name, None)
for _name, _special in _OPERATORS.items():
    _as_written(_name, vars(Counter)[_special])
