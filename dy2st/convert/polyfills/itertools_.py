"""What goes through items, of itertools, functools and builtins: each is made when asked for."""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from dy2st.convert.polyfills.registry import polyfill
from dy2st.convert.values.special import Special

_NOTHING = object()
# `iter(made)`, called with a list, and with what its items were made of at once, and may change.
made_of: Any = Special("an iterator over items that were made at once")


@polyfill(filter)
def _filter(function: Any, iterable: Any, /) -> Iterator[Any]:
    for item in iterable:
        if item if function is None else function(item):
            yield item


@polyfill(itertools.takewhile)
def _takewhile(predicate: Any, iterable: Any, /) -> Iterator[Any]:
    for item in iterable:
        if not predicate(item):
            break
        yield item


@polyfill(itertools.dropwhile, restarts=False)
def _dropwhile(predicate: Any, iterable: Any, /) -> Iterator[Any]:
    is_dropping = True
    for item in iterable:
        is_dropping = is_dropping and predicate(item)
        if not is_dropping:
            yield item


@polyfill(itertools.filterfalse)
def _filterfalse(function: Any, iterable: Any, /) -> Any:
    return filter(lambda item: not (item if function is None else function(item)), iterable)


@polyfill(itertools.starmap)
def _starmap(function: Any, iterable: Any, /) -> Any:
    return map(lambda item: function(*item), iterable)


@polyfill(itertools.groupby)
def groupby(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby`; each group is gathered before it is given."""
    found: Any = []
    for item in iterable:
        its_key = item if key is None else key(item)
        if found and found[-1][0] == its_key:
            found[-1][1].append(item)
        else:
            found.append((its_key, [item]))
    return map(lambda pair: (pair[0], (item for item in pair[1])), made_of(found, iterable))


def chained(iterable: Any) -> Iterator[Any]:
    """`itertools.chain.from_iterable`."""
    for one in iterable:
        yield from one


@polyfill(itertools.compress)
def _compress(data: Any, selectors: Any) -> Any:
    return map(itemgetter(0), filter(itemgetter(1), zip(data, selectors)))


@polyfill(itertools.tee, moves=1)
def tee(iterable: Any, n: int = 2, /) -> Any:
    """`itertools.tee`: of a length that only the run knows all items are made with the first."""
    items = list(iterable)
    return tuple(made_of(items, iterable) for _ in range(n))


@polyfill(itertools.cycle, moves=1)
def _cycle(iterable: Any, /) -> Any:
    items = list(iterable)
    places = made_of(range(len(items) << 40), iterable)
    return map(lambda place: items[place % len(items)], places)


# -- lists of tuples, as long as the run decides ----------------------------------------------


@polyfill(itertools.zip_longest, moves=-1)
def _zip_longest(*iterables: Any, fillvalue: Any = None) -> Any:
    lists = [list(one) for one in iterables]
    places = range(max([len(one) for one in lists], default=0))
    rows = [tuple(one[at] if at < len(one) else fillvalue for one in lists) for at in places]
    return made_of(rows, iterables)


@polyfill(itertools.product, moves=-1)
def _product(*iterables: Any, repeat: int = 1) -> Any:
    found: Any = [()]
    for pool in [list(one) for one in iterables] * repeat:
        found = [(*before, item) for before in found for item in pool]
    return iter(found)


@polyfill(itertools.combinations, moves=1)
def _combinations(iterable: Any, r: int) -> Any:
    return _chosen(list(iterable), r, 1)


@polyfill(itertools.combinations_with_replacement, moves=1)
def _combinations_with_replacement(iterable: Any, r: int) -> Any:
    return _chosen(list(iterable), r, 0)


@polyfill(itertools.permutations, moves=1)
def _permutations(iterable: Any, r: int | None = None) -> Any:
    pool = list(iterable)
    return _chosen(pool, len(pool) if r is None else r, None)


def _chosen(pool: Any, r: int, step: int | None) -> Any:
    """All choices of `r` items; the place of the next is `step` or more behind the last, or new."""
    if r < 0:
        raise ValueError("r must be non-negative")
    found: Any = [((), ())]
    for _ in range(r):
        found = [
            ((*before, pool[at]), (*places, at))
            for before, places in found
            for at in range(0 if step is None or not places else places[-1] + step, len(pool))
            if step is not None or at not in places
        ]
    return iter([chosen for chosen, _ in found])


# -- one value of all items ---------------------------------------------------------------------


@polyfill(functools.reduce)
def _reduce(function: Any, iterable: Any, initial: Any = _NOTHING, /) -> Any:
    iterator = iter(iterable)
    if initial is _NOTHING:
        try:
            initial = next(iterator)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for item in iterator:
        initial = function(initial, item)
    return initial


@polyfill(getattr(collections, "_count_elements"))  # noqa: B009  private, of C
def _count_elements(mapping: Any, iterable: Any) -> None:
    for item in iterable:
        mapping[item] = mapping.get(item, 0) + 1
