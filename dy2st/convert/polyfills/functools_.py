"""functools: reduce, and what lru_cache keeps."""

from __future__ import annotations

import functools
from typing import Any

from dy2st.convert.polyfills.registry import polyfill

_NOTHING = object()


@polyfill(functools.reduce)
def reduce(function: Any, iterable: Any, initial: Any = _NOTHING, /) -> Any:
    """`functools.reduce`."""
    iterator = iter(iterable)
    if initial is _NOTHING:
        try:
            initial = next(iterator)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for item in iterator:
        initial = function(initial, item)
    return initial


def memoised(memo: Any, key: Any, function: Any, args: Any, options: dict[str, Any]) -> Any:
    """What a function under lru_cache gives; `memo` has what it has given."""
    results, counts, maxsize, _ = memo
    if maxsize != 0 and key in results:
        counts[0] += 1
        found = results[key] = results.pop(key)
        return found
    counts[1] += 1
    found = function(*args, **options)
    if maxsize == 0 or key in results:
        return found
    if maxsize is not None and len(results) >= maxsize:
        del results[next(iter(results))]
    results[key] = found
    return found


def cleared(memo: Any) -> None:
    """`cache_clear()`."""
    memo.results.clear()
    memo.counts[:] = 0, 0
