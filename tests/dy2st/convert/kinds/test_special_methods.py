"""Special methods of containers do by their names what the operators do."""

from __future__ import annotations

from collections import deque

import pytest

from tests.dy2st.convert.kinds.same import same


def of_a_list(x):
    items = [1]
    if x.sum() > 0:
        items.append(2)
    size, there, joined = items.__len__(), items.__contains__(2), items.__add__([5])
    equal = items.__eq__([1, 2]), items.__ne__([1]), items.__lt__([1, 1]), items.__ge__([1, 2])
    each = list(items.__iter__()), list(items.__reversed__()), items.__mul__(2)
    return size, there, joined, equal, each


def of_a_dict(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    asked = d.__len__(), d.__contains__("b"), d.__eq__({"a": 1}), sorted(d.__iter__())
    return asked, d.__or__({"c": 3}), d.keys().__len__(), sorted(d.keys().__iter__())


def of_a_set(x):
    s = {1}
    if x.sum() > 0:
        s.add(2)
    asked = s.__len__(), s.__contains__(2), s.__eq__({1, 2}), s.__le__({1})
    s.__ior__({3})
    return asked, sorted(s.__and__({2, 3})), sorted(s)


def of_a_deque(x):
    queue = deque([1], maxlen=3)
    if x.sum() > 0:
        queue.append(2)
    return queue.__len__(), queue.__contains__(2), list(queue.__iter__())


def of_a_class(x):
    items = [1]
    if x.sum() > 0:
        items.append(2)
    return list.__len__(items), list.__contains__(items, 2), list.__eq__(items, [1, 2])


def as_a_function(x):
    items = [1]
    if x.sum() > 0:
        items.append(2)
    size = items.__len__
    items.append(4)
    return size(), sorted([items, [7]], key=list.__len__)


def of_nothing_alike(x):
    answers = [1].__eq__(3), {}.__or__(3), {1}.__and__([1]), (1,).__lt__([2])
    return [one is NotImplemented for one in answers]


def of_a_wrong_kind(x):
    return [1].__add__(5)


FUNCTIONS = {
    one.__name__: one
    for one in (
        *(of_a_list, of_a_dict, of_a_set, of_a_deque, of_a_class),
        *(as_a_function, of_nothing_alike, of_a_wrong_kind),
    )
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_special_method_does_what_its_operator_does(name):
    same(FUNCTIONS[name])
