"""The largest and the smallest of a list, by heapq."""

from __future__ import annotations

import heapq
from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace


def _sorted_part(function: Any, is_largest: bool) -> None:
    @function_row(function)
    def row(trace: Trace, n: Any, iterable: Any, key: Any = None) -> Any:
        found = trace.call(sorted, iterable, key=key, reverse=is_largest)
        return trace.item(found, slice(None, n))


_sorted_part(heapq.nlargest, True)
_sorted_part(heapq.nsmallest, False)
