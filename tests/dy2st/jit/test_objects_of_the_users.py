"""Objects of the user's classes where branches and loops meet."""

from __future__ import annotations

import operator
from collections import deque

import dy2st
from dy2st.jit import to_static

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]


class Plain:
    def __init__(self, x, n=0):
        self.x, self.n = x, n

    def add(self, y):
        self.x = self.x + y
        self.n += 1


def both(function):
    """What one Program gives on the two inputs, and what Python gives."""
    static = to_static(function)
    found = [static(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]
    assert len(static.program_cache) == 1
    return found, [function(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]


def test_calls_in_both_branches_change_an_object_each_in_its_own_way():
    def choose(x):
        plain = Plain(x)
        if x.sum() > 0:
            plain.add(x)
        else:
            plain.add(x * 5)
            plain.add(x * 5)
        return plain.x * plain.n

    found, expected = both(choose)
    assert found == expected


def test_a_branch_that_raises_changes_nothing():
    def choose(x):
        plain = Plain(x)
        if x.sum() > 100:
            plain.add(x)
            raise ValueError("too much")
        return plain.x + plain.n

    found, expected = both(choose)
    assert found == expected


def test_an_attribute_of_one_branch_is_bound_after_the_if_where_it_was_taken():
    def choose(x):
        plain = Plain(x)

        def note():
            plain.noted = x * 2

        positive = x.sum() > 0
        if positive:
            note()
        return plain.noted if positive else x

    found, expected = both(choose)
    assert found == expected


def test_objects_with_different_attributes_are_chosen_as_they_are():
    def choose(x):
        one = Plain(x)
        if x.sum() > 0:
            one = Plain(x)
            one.more = 1
        return one.x * (2 if hasattr(one, "more") else 3)

    found, expected = both(choose)
    assert found == expected


def test_an_object_of_a_list_that_changes_where_it_was_chosen_is_read_there():
    def choose(x):
        held = [Plain(x)]
        one = held[0] if x.sum() > 0 else Plain(-x)
        one.add(x)
        return held[0].x * one.n

    found, expected = both(choose)
    assert found == expected


def test_a_chosen_object_is_itself():
    def choose(x):
        first, second = Plain(x), Plain(x * 2)
        one = first if x.sum() > 0 else second
        same = (one is first) * 1 + (one == second) * 2 + (one is one) * 4 + (one in [first]) * 8
        return x * same

    found, expected = both(choose)
    assert found == expected


def test_an_object_that_a_branch_makes_and_stores_is_one_object():
    def choose(x):
        held = {"one": Plain(x)}
        one = held["one"]
        if x.sum() > 0:
            one = Plain(x * 2)
            held["one"] = one
        one.n = one.n + 1
        return held["one"].x * held["one"].n

    found, expected = both(choose)
    assert found == expected


def test_the_object_before_a_loop_is_read_after_the_one_of_the_loop_has_changed():
    def count(x):
        first = one = Plain(x)
        while one.x.sum() > 0:
            one = Plain(one.x - 2, one.n + 1)
        one.n = one.n + 10
        return x * 0 + first.n * 100 + one.n + (one is first) * 1000

    found, expected = both(count)
    assert found == expected


def test_a_trace_that_begins_anew_first_undoes_what_it_has_changed():
    log = []

    def call(x):
        log.append(1)
        return operator.methodcaller("choose_late")(Lazy(x)) * len(log)

    class Lazy(Plain):
        def choose_late(self):
            return self.x if self.x.sum() > 0 else -self.x

    assert to_static(call)(dy2st.to_tensor(UP)).numpy().tolist() == UP
    assert log == [1]


def test_an_object_that_a_branch_of_a_loop_replaces_gets_attributes_there() -> None:
    def function(x):
        one = Plain(x)
        for _ in range(2):
            if x.sum() > 0:
                one = Plain(x + 1)
                one.x = one.x + x
        return one.x

    found, expected = both(function)
    assert found == expected


def test_an_object_in_an_object_that_a_tensor_chose_has_its_attributes():
    class Inner:
        def __init__(self, v):
            self.v = v

        def __call__(self):
            return self.v * 3

    class Outer:
        def __init__(self, v):
            self.inner = Inner(v)

    def run(x):
        kept = Outer(x)
        if x.sum() > 0:
            kept.inner = Inner(x + 1)
        if x.max() > 1:
            kept = Outer(x - 1)
        return kept.inner.v + kept.inner()

    static = dy2st.to_static(run)
    for values in ([1.0, 2.0], [0.5, 0.5], [-1.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert static(x).tolist() == run(x).tolist()


def test_a_full_deque_moves_its_objects_from_call_to_call():
    def calls(wrap):
        held = deque([Plain(0.0), Plain(0.0, 5)], maxlen=2)

        def step(x):
            held.append(held[0])
            held[0].n += 1
            return x * held[0].n

        function = wrap(step)
        return [function(dy2st.ones([1])).tolist() for _ in range(4)]

    assert calls(to_static) == calls(lambda function: function)
