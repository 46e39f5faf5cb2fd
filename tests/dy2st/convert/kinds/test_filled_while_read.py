"""Containers that are filled from what reads them: each item sees those that came before."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([1.0, 3.0, 2.0], [-1.0, -2.0, -3.0], [0.0, 5.0, -6.0])


def extend(x: Any) -> Any:
    y = [x]
    y.extend(v + y[-1] for v in (1, 2, 3))
    return y


def extend_with_rows(x: Any) -> Any:
    y = [x[0]]
    y.extend(v + y[-1] for v in x)
    return y, len(y)


def extend_with_a_generator(x: Any) -> Any:
    y = [x]

    def more() -> Iterator[Any]:
        for _ in range(3):
            yield y[-1] * 2 + len(y)

    y.extend(more())
    return y


def extend_with_a_map(x: Any) -> Any:
    y = [x]
    y.extend(map(lambda v: v + y[-1], (1, 2)))
    n = [1]
    n.extend(filter(lambda v: len(n) < 3, (5, 6, 7, 8)))
    return y, n


def extend_with_pairs(x: Any) -> Any:
    y: list[Any] = [(x, 1)]
    y.extend(zip(map(lambda k: y[-1][0] + k, range(2)), map(lambda _: len(y), range(2))))
    y.extend(enumerate(y[-1][0] + k for k in range(2)))
    return y


def add_in_place(x: Any) -> Any:
    y = [x]
    y += (v + y[-1] for v in (1, 2, 3))
    return y


def in_a_branch(x: Any) -> Any:
    y = [x]
    if x.sum() > 0:
        y.extend(v + y[-1] for v in (1, 2))
    return y[-1]


def in_a_loop(x: Any) -> Any:
    y = [x[0]]
    for v in x:
        y.extend(v + y[-1] for _ in range(2))
    return y[-1], len(y)


def of_an_object(x: Any) -> Any:
    class Doubling:
        def __init__(self, of: list[Any]) -> None:
            self.of = of

        def __iter__(self) -> Iterator[Any]:
            for _ in range(2):
                yield self.of[-1] * 2

    y = [x]
    y.extend(Doubling(y))
    return y


def left(x: Any) -> Any:
    y = deque([x], maxlen=3)
    y.extendleft(v + y[0] for v in (1, 2, 3))
    y.extend(v + y[-1] for v in (1, 2))
    y += (v + y[0] for v in (1, 2))
    return list(y)


def update(x: Any) -> Any:
    d: dict[Any, Any] = {0: x}
    d.update((k, d[k - 1] + len(d)) for k in (1, 2))
    d |= ((k, d[k - 1] * 2) for k in (3, 4))
    return d


def update_ordered(x: Any) -> Any:
    d: Any = OrderedDict([(0, x)])
    d.update((k, d[k - 1] + len(d)) for k in (1, 2))
    e: Any = defaultdict(int, {0: x})
    e.update((k, e[k - 1] + e[7]) for k in (1, 2))
    return list(d.values()), list(e.values())


def update_of_a_mapping(x: Any) -> Any:
    class Next:
        def __init__(self, of: dict[Any, Any]) -> None:
            self.of = of

        def keys(self) -> Any:
            return [1, 2]

        def __getitem__(self, key: Any) -> Any:
            return self.of[key - 1] + key

    d: dict[Any, Any] = {0: x}
    d.update(Next(d))
    return d


def sets(x: Any) -> Any:
    s = {1}
    s.update(len(s) * 10 for _ in range(3))
    t = {1, 2, 3, 4}
    t.difference_update(len(t) for _ in range(3))
    n = 0
    if x.sum() > 0:
        s.update((len(s) * 100 for _ in range(2)), [5])
        n = len(s)
    return sorted(s), sorted(t), n


def counts(x: Any) -> Any:
    c = Counter(a=1)
    c.update("a" * c["a"] for _ in range(3))
    return list(c.items()), x


def sort(x: Any) -> Any:
    y, seen = [3, 1, 2], []

    def key(v: Any) -> Any:
        seen.append(len(y))
        return v * (1 if len(y) else -1)

    y.sort(key=key)
    return y, seen, x


FUNCTIONS: list[Callable[[Any], Any]] = [
    extend,
    extend_with_rows,
    extend_with_a_generator,
    extend_with_a_map,
    extend_with_pairs,
    add_in_place,
    in_a_branch,
    in_a_loop,
    of_an_object,
    left,
    update,
    update_ordered,
    update_of_a_mapping,
    sets,
    counts,
    sort,
]


@pytest.mark.parametrize("sizes", [[3], [None]], ids=["known", "unknown"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_each_item_sees_those_before(function: Callable[[Any], Any], sizes: Any) -> None:
    static = to_static(function, input_spec=[dy2st.static.InputSpec(sizes, "float32")])
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))
    assert len(static.program_cache) == 1


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.m = nn.LayerList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Any) -> Any:
        y = [x, x]
        y.extend(m(y[-1]) for m in self.m)
        return dy2st.concat(y)


def test_the_block_of_detectors_runs_each_layer_on_what_the_last_one_gave() -> None:
    block = Block()
    x = dy2st.ones([2, 4])
    expected = block(x).numpy()
    static = to_static(block, input_spec=[dy2st.static.InputSpec([None, 4], "float32")])
    assert (static(x).numpy() == expected).all()


def test_what_was_put_in_before_an_error_stays() -> None:
    def failing(x: Any) -> Any:
        y = [x]
        try:
            y.extend(v / (2 - v) for v in (1, 2, 3))
        except ZeroDivisionError:
            return y
        return x

    x = dy2st.to_tensor([1.0])
    assert comparable(to_static(failing)(x)) == comparable(failing(x))
