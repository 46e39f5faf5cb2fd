"""Functions of heapq, bisect and itertools that compare what only the run knows."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
from types import SimpleNamespace

import pytest

from dy2st.convert import polyfills
from dy2st.convert.kinds.table import FUNCTIONS
from dy2st.convert.polyfills.registry import polyfill
from tests.dy2st.convert.kinds.same import VALUES, refused, same


def two_largest(x):
    heap = []
    for place, value in enumerate(x):
        heapq.heappush(heap, (value, place))
        if len(heap) > 2:
            heapq.heappop(heap)
    return heap, heap[0][1]


def made_a_heap(x):
    heap = [float(v) for v in x]
    heapq.heapify(heap)
    replaced = heapq.heapreplace(heap, 0.25)
    return heap, replaced, heapq.heappushpop(heap, 1.0)


def ties_in_order(x):
    tie, heap = itertools.count(), []
    for value in x:
        heapq.heappush(heap, (value.abs(), next(tie), x))
    places = []
    while heap:
        _, place, _ = heapq.heappop(heap)
        places.append(place)
    return places


def counted_under_a_tensor(x):
    count = itertools.count(2, 3)
    found = [next(count)]
    if x.sum() > 0:
        found.append(next(count))
    found.append(next(count))
    return found, [a for a, _ in zip(count, range(2))]


def runs(x):
    return [(key, len(list(group))) for key, group in itertools.groupby(x.tolist())]


def runs_by_a_key(x):
    return [(key, sum(group)) for key, group in itertools.groupby(x, key=lambda v: v > 0)]


def put_into_order(x):
    kept = []
    for value in x:
        bisect.insort(kept, float(value))
    return kept, bisect.bisect_left(kept, 1.0)


def buckets(x):
    return [bisect.bisect([0.0, 1.0, 2.0], value) for value in x]


def positive(x):
    return [v for v in x if v > 0]


def lists_of_tuples(x):
    kept = positive(x)
    return (
        list(itertools.product(kept, [1, 2])),
        list(itertools.product(kept, repeat=2)),
        list(itertools.combinations(kept, 2)),
        list(itertools.combinations_with_replacement(kept, 2)),
        list(itertools.permutations(kept, 2)),
        list(itertools.zip_longest(kept, [x[0], x[0]], fillvalue=x[0] * 0)),
    )


def again_and_again(x):
    kept = positive(x)
    first, second = itertools.tee(kept)
    turns = [a * b for a, b in zip(itertools.cycle(kept), x)]
    return list(first), sum(second), turns, list(itertools.repeat(x[0], len(kept)))


@pytest.mark.parametrize(
    "function",
    [
        lists_of_tuples,
        again_and_again,
        two_largest,
        made_a_heap,
        ties_in_order,
        counted_under_a_tensor,
        runs,
        runs_by_a_key,
        put_into_order,
        buckets,
    ],
)
def test_the_program_compares_as_python_does(function):
    same(function, *VALUES)


def test_what_python_knows_stays_pythons():
    def known(x):
        heap = [3, 1, 2]
        heapq.heapify(heap)
        total = x.sum()
        for key, group in itertools.groupby("aabbbc"):
            total = total + len(list(group)) * (key == "b")
        return total + heapq.heappop(heap) + bisect.bisect((1, 2, 3), 2)

    same(known, *VALUES)


def test_an_error_names_the_variable_of_a_polyfill_as_its_own():
    def f(x):
        return functools.reduce(lambda a, b: (a, b), positive(x), 0.0)

    refused(f, r"`initial` of reduce\(\) has another form")


def test_starmap_makes_an_item_when_it_is_asked_for():
    def f(x):
        made = []

        def total(a, b):
            made.append(a)
            return a + b

        first = next(itertools.starmap(total, [(x[0], 1), (x[0], 2)]))
        return first, len(made)

    same(f)


def batched_by_hand(iterable, n):
    items = list(iterable)
    return (tuple(items[place : place + n]) for place in range(0, len(items), n))


def test_the_example_for_newcomers_is_a_polyfill(tmp_path, monkeypatch):
    text = "\n".join(polyfills.__doc__.split("\n\n")[2].splitlines())
    path = tmp_path / "example.py"
    path.write_text("if True:\n" + text, encoding="utf-8")
    batched = getattr(itertools, "batched", batched_by_hand)
    names = {
        "__name__": f"{polyfills.__name__}.example",
        "itertools": SimpleNamespace(batched=batched),
        "polyfill": polyfill,
    }
    monkeypatch.setitem(FUNCTIONS, id(batched), None)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    same(lambda x: list(batched(positive(x), 2)), *VALUES)
    same(lambda x: [sum(one) for one in batched(x, 3)], *VALUES)
    same(lambda x: list(batched([1, 2, 3], 2)), *VALUES)
