"""A change of an object that a tensor has chosen is a branch like any other: nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dy2st
from dy2st.jit import to_static

INPUTS = ([1.0, 3.0, 2.0], [-1.0, -2.0, -3.0], [0.0, 5.0, -6.0])


class Node:
    def __init__(self, v: Any = 0) -> None:
        self.v, self.items = v, [v]

    def bump(self) -> None:
        self.v += 1
        self.items = [*self.items, self.v]


class Leaf(Node):
    def bump(self) -> None:
        super().bump()
        self.v *= 3


class Other:
    def __init__(self) -> None:
        self.v = 10

    def bump(self) -> Node:
        self.v = 4
        return Node(self.v)


def of_two_classes(x: Any) -> Any:
    s: Any = Node() if x.sum() > 0 else Other()
    s.v = 3
    return s.v


def added_to(x: Any) -> Any:
    s: Any = Node(x[0]) if x.sum() > 0 else Other()
    s.v += 3
    return s.v


def set_in_a_list_that_was_set(x: Any) -> Any:
    s: Any = Node(x[0]) if x.sum() > 0 else Other()
    s.v = [x[1], 4]
    if x[2] > 0:
        s.v[0] = x[2]
    s.v[1] += 1
    return s.v[0], s.v[1]


def set_in_a_dict_that_was_set(x: Any) -> Any:
    s: Any = Node(x[0]) if x.sum() > 0 else Other()
    s.v = {"a": x[1], "b": 2}
    if x[2] > 0:
        s.v["a"] = x[2]
    s.v["b"] *= 2
    return s.v["a"], s.v["b"]


def by_a_method_and_read_behind_isinstance(x: Any) -> Any:
    s: Any = Node(2) if x.sum() > 0 else Leaf(3)
    s.bump()
    return s.v * 2 if isinstance(s, Leaf) else s.v, len(s.items)


def best_of_a_loop(x: Any) -> Any:
    best: Any = None
    for v in x:
        found = Node(v)
        if best is None or found.v > best.v:
            best = found
    best.bump()
    return best.v, best.items


def replaced_by_what_a_method_gives(x: Any) -> Any:
    s: Any = Node(2) if x.sum() > 0 else Other()
    s = s.bump() or s
    return s.v, len(s.items)


def deleted(x: Any) -> Any:
    s: Any = Node(2) if x.sum() > 0 else Leaf(3)
    del s.v
    return hasattr(s, "v"), getattr(s, "v", -1)


def set_where_it_may_be_none(x: Any) -> Any:
    n: Any = None
    if x.sum() > 0:
        n = Node()
    n.v = 5
    return n.v


def with_a_new_attribute(x: Any) -> Any:
    s: Any = Node(2) if x.sum() > 0 else Other()
    s.extra = x[0]
    if x[1] > 0:
        s = Leaf(1)
        s.extra = x[1]
    return s.extra


def held_by_another(x: Any) -> Any:
    a, s = Node(), Node(4) if x.sum() > 0 else Other()
    a.v = s
    s.v = x[0]
    return a.v.v, [s, a][0].v


def returned(x: Any) -> Any:
    s: Any = Node(2) if x.sum() > 0 else Other()
    s.v = x[0]
    return s


def is_missing_in_an_element(x: Any) -> Any:
    s: Any = Node(4) if x[0] > 0 else Other()
    del s.v
    n = 0
    for _ in x:
        n = s.v
        s = Other()
    return n


FUNCTIONS: list[Callable[[Any], Any]] = [
    of_two_classes,
    added_to,
    set_in_a_list_that_was_set,
    set_in_a_dict_that_was_set,
    by_a_method_and_read_behind_isinstance,
    best_of_a_loop,
    replaced_by_what_a_method_gives,
    deleted,
    set_where_it_may_be_none,
    with_a_new_attribute,
    held_by_another,
    returned,
    is_missing_in_an_element,
]


def _plain(value: Any) -> Any:
    if isinstance(value, (dy2st.Tensor, int, float)):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return type(value).__name__, {name: _plain(one) for name, one in vars(value).items()}


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return _plain(function(*args))
    except AttributeError as error:
        return str(error)


@pytest.mark.parametrize("sizes", [None, [None]], ids=["known", "unknown"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_what_is_changed_is_read(function: Callable[[Any], Any], sizes: Any) -> None:
    spec = None if sizes is None else [dy2st.static.InputSpec(sizes, "float32")]
    static = to_static(function, input_spec=spec)
    for values in INPUTS:
        x = dy2st.to_tensor(values)
        assert _outcome(static, x) == _outcome(function, x)
    assert len(static.program_cache) == 1


def test_an_attribute_of_none_is_not_set_in_a_branch() -> None:
    def set_in_a_branch(x: Any) -> Any:
        n: Any = None
        if x.sum() > 0:
            n.v = 5
        return x

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'v'"):
        to_static(set_in_a_branch)(dy2st.to_tensor([1.0]))


def test_an_object_is_returned_with_what_its_other_form_was_changed_to() -> None:
    def both(x: Any) -> Any:
        b = Node(1)
        a = b if x.sum() > 0 else Node(2)
        a.v = 5
        return a, b

    for x in (dy2st.to_tensor([1.0]), dy2st.to_tensor([-1.0])):
        found, expected = to_static(both)(x), both(x)
        assert list(map(vars, found)) == list(map(vars, expected))
        assert (found[0] is found[1]) is (expected[0] is expected[1])


HELD = Node(7)


def _read(x: Any) -> Any:
    a = HELD if x.sum() > 0 else Node(2)
    return a.v, a.items[0]


def _read_list(x: Any) -> Any:
    return (HELD.items if x.sum() > 0 else [2])[0]


def _read_in_a_loop(x: Any) -> Any:
    a = HELD
    for v in x:
        a = Node(a.v + v)
    return a.v


@pytest.mark.filterwarnings("ignore:.*is traced the 5th time:UserWarning")
@pytest.mark.parametrize("function", [_read, _read_list, _read_in_a_loop])
def test_what_is_joined_with_an_object_from_outside_is_guarded(function: Any) -> None:
    static = to_static(function)
    for number in range(5):
        HELD.v, HELD.items[0] = number, number * 2
        for values in INPUTS:
            x = dy2st.to_tensor(values)
            assert _outcome(static, x) == _outcome(function, x)


def _set(x: Any) -> Any:
    a = HELD if x.sum() > 0 else Node(2)
    a.v = 5
    return x


def _append(x: Any) -> Any:
    a = HELD if x.sum() > 0 else Node(2)
    a.items.append(5)
    return x


def test_a_change_of_what_may_come_from_outside_is_seen_there() -> None:
    static = to_static(_set)
    for x in (1.0, -1.0, 2.0):
        HELD.v = 0
        static(dy2st.to_tensor([x]))
        assert HELD.v == (5 if x > 0 else 0)


def test_a_change_of_a_list_that_may_come_from_outside_is_seen_there() -> None:
    static, before = to_static(_append), HELD.items
    try:
        for x, held in ((1.0, [7, 5]), (-1.0, [7]), (2.0, [7, 5])):
            HELD.items = [7]
            static(dy2st.to_tensor([x]))
            assert HELD.items == held
    finally:
        HELD.items = before


def is_one(x, a, b):
    return a is b


def is_equal(x, a, b):
    return a == b


def is_another(x, a, b):
    return a != b


def is_in(x, a, b):
    return a in [b]


def is_one_behind_a_change(x, a, b):
    a.v = 5
    return a is b


@pytest.mark.parametrize("ask", [is_one, is_equal, is_another, is_in, is_one_behind_a_change])
def test_an_object_is_asked_whether_it_is_the_one_that_a_tensor_has_chosen(ask):
    class Held:
        def __init__(self, v):
            self.v = v

    def function(x):
        b = Held(x.sum())
        a = b if x[0] > 0 else Held(x.max())
        return ask(x, a, b)

    for values in ([1.0, 2.0], [-1.0, 3.0]):
        x = dy2st.to_tensor(values)
        assert bool(to_static(function)(x)) is function(x)


def test_what_no_branch_has_joined_is_told_apart():
    class Held:
        def __init__(self, v):
            self.v = v

    def function(x):
        b, d = Held(x.sum()), Held(x.max())
        a = b if x[0] > 0 else Held(x.max())
        return d is b, d == a, a is None, b is not None, a.v

    x = dy2st.to_tensor([1.0, 2.0])
    assert to_static(function)(x)[:4] == function(x)[:4]
