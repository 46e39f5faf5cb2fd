"""heapq, bisect, operator, dataclasses: as Python has them, before C takes their places."""

from __future__ import annotations

import bisect
import dataclasses
import heapq
import operator
from types import FunctionType
from typing import Any

from dy2st.convert.kinds.table import row_of_function
from dy2st.convert.polyfills.registry import polyfill, pure

_CHANGING = ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")
_OF_HEAPQ, _OF_BISECT = pure(heapq, "_heapq"), pure(bisect, "_bisect")

for _name in _CHANGING:
    polyfill(getattr(heapq, _name))(_OF_HEAPQ[_name])
for _name in ("bisect_left", "bisect_right", "insort_left", "insort_right"):
    polyfill(getattr(bisect, _name))(_OF_BISECT[_name])
for _name, _written in pure(operator, "_operator").items():
    _function = getattr(operator, _name, None)
    if type(_written) is FunctionType and row_of_function(_function) is None:
        polyfill(_function)(_written)

_OF_DATACLASSES = (
    *("asdict", "astuple", "fields", "replace", "_replace"),
    *("_asdict_inner", "_astuple_inner", "_is_dataclass_instance"),
)
for _name in _OF_DATACLASSES:
    if hasattr(dataclasses, _name):  # `_replace` is there since Python 3.13
        _function = getattr(dataclasses, _name)
        polyfill(_function)(_function)


@polyfill(heapq.nlargest)
def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    """`heapq.nlargest`."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@polyfill(heapq.nsmallest)
def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """`heapq.nsmallest`."""
    return sorted(iterable, key=key)[: max(n, 0)]
