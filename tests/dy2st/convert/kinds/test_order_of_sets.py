"""Sets of ints that the data decides are gone through as in Python, or refused."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.static import InputSpec
from tests.effort import effort


def is_near(one, other):
    return abs(one - other) < 4


STARTS = {
    "range": lambda n, ints: set(range(n)),
    "range from 1": lambda n, ints: set(range(1, n)),
    "ints": lambda n, ints: set(ints),
    "none": lambda n, ints: set(),
    "known": lambda n, ints: {0, 1, 2},
    "one": lambda n, ints: {ints[0]},
    "one that is known": lambda n, ints: {70},
}
STEPS = {
    "add": lambda s, v: s.add(v),
    "add 1": lambda s, v: s.add(1),
    "discard": lambda s, v: s.discard(v),
    "discard 1": lambda s, v: s.discard(1),
    "add some": lambda s, v: s.update([v, v + 9]),
    "add a set": lambda s, v: s.update({v, v + 8}),
    "take some": lambda s, v: s.difference_update([v, v + 1]),
    "take a set": lambda s, v: s.difference_update({v, 1}),
    "keep": lambda s, v: s.intersection_update({v, 1, 2, 3}),
    "change": lambda s, v: s.symmetric_difference_update({v, 1}),
    "clear": lambda s, v: s.clear(),
    "without": lambda s, v: s - {v},
    "without 1": lambda s, v: s - {1},
    "with": lambda s, v: s | {v},
    "common": lambda s, v: s & {0, 1, v},
    "copy": lambda s, v: s.copy(),
    "anew": lambda s, v: set(s),
    "some of it": lambda s, v: {one for one in s if one < v},
    "other ones": lambda s, v: {(one * v) % 70 - 9 for one in s},
    "called for": lambda s, v: {max(one, v) for one in s if is_near(one, v)},
    "pop": lambda s, v: s.discard(s.pop()) if s else None,
}


def history(start, steps, is_loop):
    """A function that does that to a set, and goes through it each time."""
    first, *others = (STARTS[start], *(STEPS[step] for step in steps))

    def made(x):
        ints = [int(v) for v in x]
        found, seen = first(len(x), ints), []
        for v in ints if is_loop else ints[:2]:
            for other in others:
                if v > 2:
                    new = other(found, v)
                    found = found if new is None else new
            seen.append([one * 2 for one in found])
        return seen

    return made


HISTORIES = [
    (start, steps, is_loop)
    for start in STARTS
    for steps in [*((one,) for one in STEPS), *combinations(STEPS, 2)]
    for is_loop in (True, False)
]


SOME = random.Random(5).sample(HISTORIES, effort(8, 400))


@pytest.mark.filterwarnings("ignore:.* unrolls the loop")
@pytest.mark.parametrize("sizes", ["known", "unknown"])
@pytest.mark.parametrize(("start", "steps", "is_loop"), SOME)
def test_any_history_of_a_set_gives_the_order_of_python_or_is_refused(start, steps, is_loop, sizes):
    function, draw = history(start, steps, is_loop), random.Random(repr((start, steps)))
    spec = [InputSpec([None])] if sizes == "unknown" else None
    static = dy2st.to_static(function, input_spec=spec)
    for size, most in ((1, 5), (4, 6), (7, 12), (25, 60))[: 4 if spec else 3]:
        x = dy2st.to_tensor([float(draw.randint(0, most)) for _ in range(size)])
        try:
            found = static(x)
        except ConversionError as error:
            assert "goes through a set" in str(error)
            return
        assert found == function(x)


def test_a_set_that_branches_have_put_known_ints_into_is_gone_through():
    def visited(x):
        found = set()
        for v in x.tolist():
            found.add(1) if v > 0 else found.add(64)
            if v > 1:
                found.add(-5)
        return [one * 2 for one in found]

    static = dy2st.to_static(visited)
    for values in ([1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [2.0, -1.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == visited(x)


def nearest(x):
    stops, at, order = {int(v) for v in x.tolist()}, 4, []
    while stops:
        at = min(stops, key=lambda one: (abs(one - at), one))
        stops.discard(at)
        order.append(at)
    return order, max(stops, key=lambda one: -one, default=-1)


def test_the_least_of_a_set_is_found_by_keys_that_tell_its_elements_apart():
    static = dy2st.to_static(nearest, input_spec=[InputSpec([None])])
    for values in ([3.0, 9.0, 3.0, 5.0, -2.0], [7.0], [1.0, 7.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == nearest(x)


def in_order(x):
    kept = {int(v) for v in x.tolist()}
    kept.discard(3)
    return sorted(kept, key=lambda one: one % 7), sorted(kept, key=abs, reverse=True)


def test_a_set_is_sorted_by_keys_that_tell_its_elements_apart():
    static = dy2st.to_static(in_order, input_spec=[InputSpec([None])])
    for values in ([3.0, 9.0, 4.0, 5.0], [3.0], [6.0, 1.0, 12.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == in_order(x)


@pytest.mark.parametrize("values", [[1.0, 8.0, 2.0], [2.0, -2.0]])
def test_equal_keys_of_elements_whose_order_nobody_knows_are_refused_in_the_run(values):
    static = dy2st.to_static(in_order, input_spec=[InputSpec([None])])
    with pytest.raises(ValueError, match="keys of elements of a set are equal"):
        static(dy2st.to_tensor(values))


def test_a_key_that_changes_something_is_not_asked_of_a_set():
    def least(x):
        kept, asked = {int(v) for v in x.tolist()}, []
        kept.discard(3)
        return min(kept, key=lambda one: asked.append(one) or one), len(asked)

    with pytest.raises(ConversionError, match="to compare them changes something else"):
        dy2st.to_static(least, input_spec=[InputSpec([None])])(dy2st.to_tensor([1.0, 2.0]))


def domains(x):
    """Values that fit to one of another set, through a function, as a constraint solver asks."""
    left, right = {int(v) for v in x.tolist()}, {int(v) * 2 for v in x.tolist()}
    right.discard(4)
    asked = 0
    while asked < 3 and (bad := {a for a in left if not any(is_near(a, b) for b in right)}):
        left -= bad
        right -= {b for b in right if all(a >= b for a in left)}
        asked += 1
    return sorted(left), sorted(right), sum(max(a, 2) for a in left)


def test_a_set_of_no_known_order_is_gone_through_by_what_nobody_sees():
    static = dy2st.to_static(domains, input_spec=[InputSpec([None])])
    for values in ([3.0, 9.0, 3.0, 5.0, -2.0], [7.0], [1.0, 7.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == domains(x)


KNOWN = {1: 3}


@pytest.mark.parametrize(
    "ask",
    [
        lambda found, seen: any(KNOWN[one] > 2 for one in found),  # stops before it raises, or not
        lambda found, seen: all(7 % one for one in found),
        lambda found, seen: sum(KNOWN[one] for one in found),  # an error that names one of them
        lambda found, seen: {seen.append(one) or one for one in found},
        lambda found, seen: len({print(one) for one in found}),
        lambda found, seen: [one for one in {max(one, 3) for one in found}],
        lambda found, seen: sum(one / 3 for one in found),  # in another order rounded otherwise
    ],
)
def test_what_tells_the_order_of_a_set_is_refused(ask):
    def f(x):
        found, seen = {int(v) for v in x.tolist()}, []
        found.discard(2)
        return ask(found, seen), seen

    with pytest.raises(ConversionError, match="goes through a set|shows text|prints"):
        dy2st.to_static(f)(dy2st.to_tensor([1.0, 5.0, 2.0]))
