"""What goes through a container sees what it holds then, or is refused, never what it held."""

from collections import deque
from itertools import cycle, groupby, tee, zip_longest

import numpy as np
import pytest

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static

UP, DOWN = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([-1.0, 2.0])


class Stats:
    """An object from outside."""

    def __init__(self):
        self.counts = {"a": 1, "b": 2}
        self.recent = deque([1, 2, 3])
        self.values = self.counts.values()


def items_of_a_dict_from_outside(x, stats):
    seen = []
    for name, count in stats.counts.items():
        seen.append(count)
        stats.counts["b"] = count + 5
        if x[0] > 5:
            break
    return seen


def values_that_a_tensor_changes(x, stats):
    seen = []
    for count in stats.counts.values():
        seen.append(count)
        if x[0] > 0:
            stats.counts["b"] = count + 5
    return seen


def a_dict_of_the_call_in_a_branch(x, stats):
    counts, seen = {"a": 1, "b": 2}, []
    if x[0] > 0:
        for _, count in counts.items():
            seen.append(count)
            counts["b"] = count + 5
    return [*seen, *counts.values()]


def an_element_that_leaves_before_a_break(x, stats):
    numbers = {1, 2, 3}
    for number in numbers:
        if number > 1 and x[0] > 0:
            numbers.remove(number)
            break
    return sorted(numbers)


def a_view_from_outside(x, stats):
    seen = []
    for count in stats.values:
        seen.append(count)
        stats.counts["b"] = count + 5
    return seen


def an_iterator_over_a_view_from_outside(x, stats):
    items = iter(stats.values)
    next(items)
    if x[0] > 0:
        stats.counts["b"] = 7
    return list(items), max(stats.values), len(stats.values)


def a_deque_whose_places_are_set(x, stats):
    for place, number in enumerate(stats.recent):
        stats.recent[place] = number + 1
    return list(stats.recent)


def a_deque_that_grows(x, stats):
    try:
        for number in stats.recent:
            stats.recent.append(number)
    except RuntimeError as error:
        return [str(error)]
    return list(stats.recent)


def an_iterator_over_a_list_that_grows(x, stats):
    kept = [row for row in x if row > 0]
    items = iter(kept)
    kept.append(x[1])
    return [float(item) for item in items]


def a_cycle_of_a_list_whose_items_are_set(x, stats):
    numbers = [1, 2, 3]
    items = cycle(numbers)
    numbers[1] = 7
    return [next(items) for _ in range(5)]


@pytest.mark.parametrize(
    "function",
    [
        items_of_a_dict_from_outside,
        values_that_a_tensor_changes,
        a_dict_of_the_call_in_a_branch,
        an_element_that_leaves_before_a_break,
        a_view_from_outside,
        an_iterator_over_a_view_from_outside,
        a_deque_whose_places_are_set,
        a_deque_that_grows,
        an_iterator_over_a_list_that_grows,
        a_cycle_of_a_list_whose_items_are_set,
    ],
    ids=lambda function: function.__name__,
)
def test_what_a_container_holds_is_asked_item_by_item(function):
    ours, pythons = Stats(), Stats()
    static = to_static(function)
    for x in (UP, DOWN, UP):
        assert static(x, ours) == function(x, pythons)
        assert (ours.counts, ours.recent) == (pythons.counts, pythons.recent)


WHOLE = np.zeros(3)
PART = WHOLE[1:]


def test_an_array_shows_what_was_written_into_a_view_of_it():
    def function(x):
        PART[0] += 1
        return WHOLE.tolist(), float(x[0] * WHOLE.sum())

    static = to_static(function)
    assert [static(UP), static(UP)] == [([0, 1, 0], 1), ([0, 2, 0], 2)]


def an_entry_that_a_tensor_puts_in(x):
    counts = {"a": 1, "b": 2}
    for _ in counts:
        if x[0] > 0:
            counts["c"] = 3
    return counts


def an_element_that_a_tensor_puts_in(x):
    numbers = {1, 2}
    for _ in numbers:
        if x[0] > 0:
            numbers.add(7)
    return numbers


@pytest.mark.parametrize(
    "function", [an_entry_that_a_tensor_puts_in, an_element_that_a_tensor_puts_in]
)
def test_a_loop_over_a_container_that_a_tensor_makes_longer_is_refused(function):
    with pytest.raises(Dy2stError, match="a loop over a (dict|set) changes its length"):
        to_static(function)(DOWN)


@pytest.mark.parametrize(
    "tool",
    [
        lambda items: tee(items)[0],
        lambda items: (item for item, _ in zip(cycle(items), range(4))),  # noqa: B905
        lambda items: (key for key, _ in groupby(items)),
        lambda items: (one for one, _ in zip_longest(items, [1])),
    ],
    ids=["tee", "cycle", "groupby", "zip_longest"],
)
@pytest.mark.parametrize("is_decided", [False, True])
def test_a_tool_does_not_give_items_of_before_a_change(tool, is_decided):
    def function(x):
        kept = [float(row) for row in x if row > 0] if is_decided else [1.0, 2.0]
        items = tool(kept)
        if x[1] > 0:
            kept.append(5.0)
        return list(items)

    with pytest.raises(Dy2stError):
        to_static(function)(UP)
