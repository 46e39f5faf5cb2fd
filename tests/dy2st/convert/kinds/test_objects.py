"""Dataclasses, namedtuples and copies are in a trace what they are in Python."""

from __future__ import annotations

import copy
import dataclasses
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import same


@dataclass
class Box:
    low: Any
    high: Any = 1
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.width = self.high - self.low


@dataclass(frozen=True)
class Fixed:
    score: Any
    name: str = "a"


@dataclass(order=True)
class Ranked:
    rank: int
    value: Any = field(compare=False, default=None)


Point = namedtuple("Point", "x y", defaults=[2])


class Pair(NamedTuple):
    left: Any
    right: Any = 0


def dataclasses_made(x):
    box = Box(x, high=x * 2)
    box.parts.append(x)
    return box.width, box.parts, box.low, Box(1).width, Fixed(x).score


def dataclass_with_a_list_of_a_length(x):
    kept = [v for v in x if v > 0]
    box = Box(0, 1, kept)
    box.parts.append(x[0])
    return len(kept), box.parts


def dataclass_in_a_branch(x):
    best = Fixed(x[0], "first")
    for v in x:
        if v > best.score:
            best = Fixed(v, "first")
    return best.score, best.name


def frozen_stays(x):
    Fixed(x).score = 1


def compared(x):
    return (
        Fixed(1) == Fixed(1),
        Fixed(1) == Fixed(2),
        Ranked(1, x) < Ranked(2),
        sorted([Ranked(2), Ranked(1)])[0].rank,
    )


def shown(x):
    n = x.shape[0]
    return repr(Fixed(n)), f"{Fixed(1, 'b')}"


def replaced(x):
    one = Fixed(x, "a")
    two = dataclasses.replace(one, score=x * 2)
    return two.score, two.name, one.score, [f.name for f in dataclasses.fields(one)]


def as_dict_and_tuple(x):
    one = Fixed([x, 1], "a")
    return dataclasses.asdict(one), dataclasses.astuple(one)


def namedtuples(x):
    p = Point(x)
    q = p._replace(y=x * 3)
    a, b = q
    return p.x, p.y, q._asdict(), a, b, Pair(x).right, Point._make([1, 2]), q._fields


def namedtuple_in_a_branch(x):
    p = Point(x[0], 1)
    if x.sum() > 3:
        p = p._replace(x=x[0] * 2)
    return p


def namedtuple_of_a_list(x):
    kept = [v for v in x if v > 0]
    p = Point(kept, 1)
    p.x.append(x[0])
    return len(kept), p.x


def copies(x):
    rows = [[x], {"a": [x]}]
    shallow, deep = copy.copy(rows), copy.deepcopy(rows)
    rows[0].append(1)
    rows[1]["a"].append(2)
    return len(shallow[0]), len(deep[0]), deep[1], shallow[1]


def copies_of_objects(x):
    box = Box(x, 5)
    other, deep = copy.copy(box), copy.deepcopy(box)
    box.parts.append(1)
    other.low = 3
    return len(other.parts), len(deep.parts), box.low, deep.low


def copies_of_lists_of_a_length(x):
    kept = [v for v in x if v > 0]
    other = copy.deepcopy(kept)
    other.append(x[0])
    return kept, other, copy.copy(kept)


def copies_of_tensors(x):
    y = copy.copy(x)
    y[0] = 7.0
    z = copy.deepcopy(x)
    z[0] = 8.0
    return x + 0, y, z


def namespaces(x):
    out = SimpleNamespace(scores=x, best=x.max())
    out.count = x.shape[0]
    if x.sum() > 3:
        out.best = out.best * 2
    return out


FUNCTIONS = (
    *(dataclasses_made, dataclass_with_a_list_of_a_length, dataclass_in_a_branch, compared),
    *(shown, replaced, as_dict_and_tuple, namedtuples, namedtuple_in_a_branch, copies, namespaces),
    *(copies_of_objects, copies_of_lists_of_a_length, copies_of_tensors, namedtuple_of_a_list),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_object_is_in_a_trace_what_it_is_in_python(function):
    same(function)


def test_a_frozen_dataclass_stays_frozen():
    same(frozen_stays)


class Stats:
    def __init__(self):
        self.count, self.total, self.largest = 0, 0, None

    def add(self, value):
        self.count += 1
        self.total = self.total + value
        if self.largest is None or value > self.largest:
            self.largest = value


def test_an_object_that_a_loop_returns_early_may_be_another_behind_it():
    def f(x):
        for v in x:
            if v > 4 or not []:
                return Stats()
        stats = Stats()
        for v in x[::2]:
            if v > 1:
                stats.add(v)
        return stats

    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    for row in ([1.0, 5.0, 2.0], [0.0]):
        found, wanted = (vars(g(dy2st.to_tensor(row))) for g in (static, f))
        assert [None if v is None else float(v) for v in found.values()] == [*wanted.values()]


class Bound:
    def get(self):
        return self


def test_a_deep_copy_holds_methods_of_itself():
    def run():
        held = Bound()
        held.method = held.get
        copied = copy.deepcopy(held)
        return copied.method() is copied, copied.get == copied.method, copied is held

    assert to_static(run)() == run() == (True, True, False)
