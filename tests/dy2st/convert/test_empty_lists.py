"""Lists with nothing in them where the data decides about places, ends and iterations."""

from __future__ import annotations

import pytest

import dy2st as P
from dy2st import to_static
from dy2st.static import InputSpec

SPECS = [InputSpec([None]), InputSpec([], "int64")]
HISTORY: list = []


def looped_over(x, n):
    total = x.sum() * 0
    for one in HISTORY[:n]:
        total = total + one
    for one in ()[:n]:
        total = total + one
    return total


def summed(x, n):
    return sum([][:n]), sum(()[n:]), max([][:n], default=3)


def reversed_and_counted(x, n):
    return list(reversed([][:n])), list(enumerate([][:n])), list(zip([][:n], x))


def looked_at(x, n):
    part = [][:n]
    return part, len(part), bool(part), part == [], part + [x], part * 2, [*part], 3 in part


def copied(x, n):
    part = [][:n]
    return (
        sorted(part),
        part.copy(),
        part.count(1),
        list(map(abs, part)),
        tuple(part),
        "".join(part),
    )


def appended_to(x, n):
    part = [][:n]
    part.append(x)
    return part


def read_in_a_loop(x, n):
    total = x.sum() * 0
    for place in range(n):
        total += HISTORY[place]
    return total


def put_in_a_loop(x, n):
    made = []
    for place in range(n):
        made.append(HISTORY[place] * x)
    return len(made)


def keys_in_a_loop(x, n):
    known = {}
    for place in range(n):
        x = x + known[place]
    return x


def raised_in_a_loop(x, n):
    while n > 0:
        raise ValueError("there is one")
    return x


def caught_around_the_loop(x, n):
    try:
        for place in range(n):
            x = x + HISTORY[place]
    except IndexError:
        return x - 1
    return x


FUNCTIONS = [
    looped_over,
    summed,
    reversed_and_counted,
    looked_at,
    copied,
    appended_to,
    read_in_a_loop,
    put_in_a_loop,
    keys_in_a_loop,
    raised_in_a_loop,
    caught_around_the_loop,
]


def outcome(function, *args):
    try:
        return str(function(*args))
    except (IndexError, KeyError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_it_is_as_in_python(function):
    static = to_static(function, input_spec=SPECS)
    for count in (0, 1, 2):
        given = P.to_tensor([1.0, 2.0]), P.to_tensor(count)
        assert outcome(static, *given) == outcome(function, *given)


def test_a_list_outside_that_is_empty_no_more_is_seen():
    held = []

    def f(x, n):
        for one in held[:n]:
            x = x + one
        return x

    static = to_static(f)
    given = P.to_tensor([1.0]), P.to_tensor(2)
    assert static(*given).tolist() == [1]
    held.append(5.0)
    assert static(*given).tolist() == [6]
