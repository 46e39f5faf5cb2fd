"""Loops whose condition changes what it asks for: it takes, counts, or writes down."""

from __future__ import annotations

import dy2st
from tests.dy2st.catalogue.entry import on

PAIRS = ([3.0, 1.0], [1.0, 3.0], [3.0, 3.0], [2.0, 3.0])
EACH = [[None]]


class Budget:
    """What is left, and what was asked."""

    def __init__(self, left):
        self.left = left
        self.asked = []

    def allows(self, cost):
        self.left = self.left - 1
        self.asked.append(cost)
        return self.left > cost


@on(*PAIRS, unknown=EACH)
def items_are_taken_while_they_are_large(x):
    items = [0.0, x[0], x[1], x[0] + 1]
    count = 0
    while items.pop() > 2:
        count += 1
    return count, items


@on(*PAIRS, unknown=EACH)
def the_last_item_taken_has_a_name(x):
    items = [0.0, x[0], x[1], x[0] + 1]
    count = 0
    while (item := items.pop()) > 2:
        count += 1
    return count, items, item


@on(*PAIRS, unknown=EACH)
def items_are_taken_until_a_break_or_none_is_large(x):
    items = [0.0, x[0], x[1], x[0] + 1]
    count = 0
    while items.pop() > 2:
        if x[0] > 2.5:
            count += 5
            break
        count += 1
    else:
        count -= 1
    return count, items


@on([3.0, 1.0], [1.0, 3.0], [-3.0, 3.0], unknown=EACH)
def a_method_counts_down_in_a_loop_of_a_loop(x):
    budget = Budget(6.0)
    count = 0
    for cost in x:
        while budget.allows(cost):
            count += 1
    return count, budget.left, len(budget.asked)


@on([3.0, 1.0], [1.0, 3.0], [-3.0, 3.0], unknown=EACH)
def a_method_counts_down_in_a_branch(x):
    budget = Budget(6.0)
    count = 0
    if x[0] < 2:
        while budget.allows(x[1]):
            count += 1
    return count, budget.left, len(budget.asked)


@on(*PAIRS, unknown=EACH)
def a_tensor_grows_in_its_own_test(x):
    total = x + 0
    count = 0
    while total.add_(dy2st.ones([1])).sum() < 10:
        count += 1
    return count, total


@on(*PAIRS, unknown=EACH)
def an_element_grows_in_the_test(x):
    y = x + 0

    def grown():
        y[0] = y[0] + 1
        return y.sum() < 12

    count = 0
    while grown():
        count += 1
    return count, y


@on(*PAIRS, unknown=EACH)
def a_variable_of_the_function_counts_tests(x):
    tests = 0

    def more():
        nonlocal tests
        tests += 1
        return x[0] * tests < 12

    count = 0
    while more():
        count += 1
    return count, tests


@on(*PAIRS, unknown=EACH)
def an_entry_is_set_by_the_first_test(x):
    entries = {"a": x[0]}
    count = 0
    while entries.setdefault("b", x[1]) < 10:
        entries["b"] = entries["b"] + entries["a"]
        count += 1
    return count, entries


@on(*PAIRS, unknown=EACH)
def the_second_half_of_a_test_sees_what_the_first_has_changed(x):
    state = {"a": x[0], "tests": 0}

    def small():
        state["tests"] += 1
        return state["a"] < 10

    count = 0
    while small() and state["tests"] < 4:
        state["a"] = state["a"] * 2
        if state["a"] > 11:
            break
        count += 1
    return count, state


@on(*PAIRS, unknown=EACH)
def the_test_raises_where_nothing_is_left(x):
    items = [x[0], x[1]]
    count = 0
    try:
        while items.pop() < 5:
            count += 1
    except IndexError:
        count += 100
    return count, items


@on([3.0, 1.0], [1.0, 1.0])
def entries_of_entries_by_what_the_data_says(x):
    root = {}
    for start in range(2):
        node = root
        for value in x[start:]:
            node = node.setdefault(bool(value > 2), {})
    return len(root)
