"""Functions that change the list that they are given: heapq, bisect, random.shuffle."""

from __future__ import annotations

import bisect
import heapq
from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import Dynamic
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import user_location


def _on_content(function: Any) -> None:
    @function_row(function)
    def row(trace: Trace, owner: Any, *args: Any, **options: Any) -> Any:
        content = trace.writable(owner) if type(owner) is list else owner
        if type(content) is Dynamic:
            raise ConversionError(
                f"{function.__name__}() of a list whose length depends on a tensor",
                at=user_location(),
                why="which elements change their places is known only when the Program runs",
                hint="append to the list, and sort it: items.sort(key=...)",
            )
        return function(content, *args, **options)


for _function in (
    *(heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace),
    *(bisect.insort_left, bisect.insort_right),
):
    _on_content(_function)


def _sorted_part(function: Any, is_largest: bool) -> None:
    @function_row(function)
    def row(trace: Trace, n: Any, iterable: Any, key: Any = None) -> Any:
        found = trace.call(sorted, iterable, key=key, reverse=is_largest)
        return trace.item(found, slice(None, n))


_sorted_part(heapq.nlargest, True)
_sorted_part(heapq.nsmallest, False)

__all__: list[str] = []
