"""Objects of the user's classes where branches and loops meet."""

from __future__ import annotations

import enum
import operator
import time

import pytest

import dy2st
from dy2st import nn
from dy2st.convert.attributes import attributes_of, slots_of
from dy2st.convert.heap import reached
from dy2st.convert.objects import is_structure, made_like, put_together, taken_apart
from dy2st.errors import ConversionError, TensorAsPython
from dy2st.jit import to_static
from dy2st.jit.input_spec import InputSpec

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]


class Plain:
    def __init__(self, x, n=0):
        self.x, self.n = x, n

    def add(self, y):
        self.x = self.x + y
        self.n += 1


class Slots:
    __slots__ = ("unset", "x")

    def __init__(self, x):
        self.x = x


class Hidden(Slots):
    __slots__ = ()

    @property
    def x(self):
        raise AssertionError("no code of the class runs")


class Refusing:
    def __setattr__(self, name, value):
        raise AssertionError("no code of the class runs")


class Kind(enum.Enum):
    ONE = 1


class Items(list):
    pass


def both(function):
    """What one Program gives on the two inputs, and what Python gives."""
    static = to_static(function)
    found = [static(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]
    assert len(static.program_cache) == 1
    return found, [function(dy2st.to_tensor(v)).numpy().tolist() for v in (UP, DOWN)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Plain(1), True),
        (Slots(1), True),
        (Kind.ONE, False),
        (Items(), False),
        (nn.Linear(1, 1), False),
        (Plain, False),
        (ValueError("no"), False),
        ((1, 2), False),
        (InputSpec([1]), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_structure_is_nothing_but_its_attributes(value, expected):
    assert is_structure(value) is expected


def test_attributes_in_slots_are_found_where_they_are_set():
    assert attributes_of(Slots(3)) == {"x": 3}


def test_a_slot_behind_a_property_is_no_attribute():
    assert slots_of(Hidden) == ["unset"]


def test_no_code_of_the_class_makes_the_joined_object():
    made = made_like(Refusing(), {"x": 1})
    assert type(made) is Refusing and made.x == 1


def test_an_object_is_taken_apart_and_put_together():
    value = (Plain(Slots(1), 2), 3)
    again = put_together(taken_apart(value))
    assert type(again[0]) is Plain and type(again[0].x) is Slots
    assert (again[0].x.x, again[0].n, again[1]) == (1, 2, 3)


def nothing():
    """A function that reaches nothing."""


def test_what_was_reached_is_put_back():
    inner = Plain([1], {"a": 1})
    roots = [inner]
    heap = reached(nothing, [roots], hands_out=False)
    inner.x.append(2)
    inner.n["b"] = 2
    inner.n, inner.new = None, 1
    heap.put_back()
    assert vars(inner) == {"x": [1], "n": {"a": 1}} and roots == [inner]


def test_changed_attributes_are_told_and_set_back():
    one = Plain(1)
    heap = reached(nothing, [one])
    one.n = 5
    assert [*heap.changed_attributes()] == [(one, "n", 0, 5)] and one.n == 0


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


def test_an_object_that_a_list_holds_changes_where_it_was_chosen():
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


def test_a_chosen_object_is_no_key():
    def choose(x):
        first, second = Plain(x), Plain(x * 2)
        table = {first: x, second: x * 3}
        return table[first if x.sum() > 0 else second]

    with pytest.raises(TensorAsPython, match="one of several values is a key"):
        to_static(choose)(dy2st.to_tensor(UP))


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


def test_the_object_of_a_loop_without_turns_is_the_one_before():
    def count(x):
        first = one = Plain(x)
        while one.x.sum() > 0:
            one = Plain(one.x - 2, one.n + 1)
        one.n = one.n + 10
        return x * 0 + first.n * 100 + one.n + (one is first) * 1000

    found, expected = both(count)
    assert found == expected


def test_a_tensor_that_is_left_in_an_object_from_outside_is_refused():
    outer = Plain(None)

    def note(x):
        outer.x = x * 2
        return x

    with pytest.raises(ConversionError, match="is set to a tensor while the function is traced"):
        to_static(note)(dy2st.to_tensor(UP))


def test_a_tensor_that_is_left_in_a_list_from_outside_is_refused():
    history = []

    def note(x):
        history.append(x * 2)
        return x

    with pytest.raises(ConversionError, match="a list from outside gets a tensor"):
        to_static(note)(dy2st.to_tensor(UP))


def test_an_object_from_outside_changes_at_every_call_which_a_warning_calls_slow():
    outer = Plain(None)

    def count(x):
        outer.n += 1
        return x

    static = to_static(count)
    static(dy2st.to_tensor(UP))
    with pytest.warns(UserWarning, match="traced anew.*the attribute `n` of a Plain is set"):
        static(dy2st.to_tensor(UP))
    assert outer.n == Plain(None).n + 2


def test_lists_of_a_million_numbers_are_not_walked_slowly():
    many = list(range(1_000_000))
    start = time.process_time()  # other work of the machine does not count
    reached(nothing, [many])
    assert time.process_time() - start < 2


def test_a_trace_that_begins_anew_first_undoes_what_it_has_changed():
    log = []

    def call(x):
        log.append(1)
        return operator.methodcaller("choose_late")(Late(x)) * len(log)

    class Late(Plain):
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
