"""A `match` of plain values is Python's own; values of the Program find the staged form."""

from __future__ import annotations

import enum

import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.transpiler.same import traced


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pair:
    __match_args__ = ("first", "second")

    def __init__(self, first, second):
        self.first, self.second = first, second


class Doubled:
    def __init__(self, value):
        self.value = value

    @property
    def double(self):
        return self.value * 2


class Limits:
    low = 1
    high = None


def kind_of(value):
    match value:
        case [1, other]:
            found = ("one", other)
        case {"a": inner, **rest}:
            found = (inner, rest)
        case Pair(0, second=second) | Pair(second, 0):
            found = ("pair", second)
        case Pair(first=[1, *_]):
            found = "nested"
        case Colour.RED:
            found = "red"
        case (Colour.BLUE, *others):
            found = others
        case str() | int() as text:
            found = text
        case _:
            found = None
    return found


PLAIN = [
    [1, 2],
    (1, "x"),
    {"a": 1, "b": 2},
    Pair(0, 5),
    Pair(6, 0),
    Pair([1, 2], 3),
    Colour.RED,
    (Colour.BLUE, 1),
    "s",
    7,
    None,
    [],
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_plain_values_match_in_a_trace_as_in_python(value):
    found = []

    def run(x):
        found.append(kind_of(value))
        return x + 1

    to_static(run)(dy2st.to_tensor([1.0]))
    assert found[0] == kind_of(value)


def with_tensors(x, y):
    match [x, y]:
        case [0, _]:
            y = y - 1
        case [_, [0, part]]:
            y = y + part
        case [1, other] if other.sum() > 3:
            y = other * 2
        case _:
            y = y * 5
    match Doubled(x.sum()):
        case Doubled(double=8):
            y = y + 100
        case Doubled(value=1):
            y = y + 1000
    return y


def traced_limit(x, n):
    limits = Limits()
    limits.high = x.sum()
    match n:
        case [3]:
            return x * 2
        case limits.low:
            return x + 1
        case limits.high:
            return x + 2
    return x


VALUES = ([0.0], [1.0], [4.0], [2.0])


@pytest.mark.parametrize("y", [[1.0, 1.0], [3.0, 4.0]])
def test_tensors_inside_the_subject_take_every_case_of_one_program(y):
    static = to_static(lambda x, y: with_tensors(x.sum(), y))
    for value in VALUES:
        x, tensor = dy2st.to_tensor(value), dy2st.to_tensor(y)
        assert static(x, tensor).tolist() == with_tensors(x.sum(), tensor).tolist()


@pytest.mark.parametrize("n", [0, 1, 4, 2])
def test_a_plain_subject_may_meet_a_tensor_in_a_pattern(n):
    static = to_static(traced_limit)
    for value in VALUES:
        x = dy2st.to_tensor(value)
        assert static(x, n).tolist() == traced_limit(x, n).tolist()


def late_name(value):
    match value:
        case [1]:
            return "one"
        case NoSuchName.member:  # noqa: F821
            return "never"


def test_an_unknown_name_is_an_error_only_when_it_is_reached():
    assert traced(late_name)([1]) == "one"
    with pytest.raises(NameError, match="NoSuchName"):
        traced(late_name)([2])
    static = to_static(lambda x: (late_name([1]), x + 1)[1])
    assert static(dy2st.to_tensor([1.0])).tolist() == [2.0]


def in_a_loop(values):
    found = []
    for value in values:
        match value:
            case [_, "stop"]:
                break
            case [_, n] if n < 0:
                continue
            case [name, n]:
                for _ in range(n):
                    found.append(name)
            case other:
                found.append(other)
    return found


def test_jumps_leave_a_match_of_plain_values():
    values = [["a", 2], ["b", -1], 3, ["c", "stop"], 4]
    assert traced(in_a_loop)(values) == in_a_loop(values) == ["a", "a", 3]
