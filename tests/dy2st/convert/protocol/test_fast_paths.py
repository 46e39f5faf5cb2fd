"""What is answered at once is what the long way gives: code that changes it while it is traced."""

from __future__ import annotations

import linecache
import sys

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


class Counter:
    step = 1

    def __init__(self):
        self.count = 0

    def add(self):
        self.count = self.count + self.step
        return self.count


class Sub(Counter):
    pass


limit = 3


def check(function):
    """Both branches of the tensor, against Python; and the same again."""
    static = to_static(function)
    for x in (X, -X, X, -X):
        np.testing.assert_array_equal(static(x).numpy(), function(x).numpy())


def test_attribute_of_an_object_changed_in_a_branch():
    def f(x):
        c = Counter()
        c.add()
        if x.sum() > 0:
            c.count = 10
        c.add()
        return x * c.count

    check(f)


def test_class_attribute_hidden_in_a_branch():
    def f(x):
        c = Counter()
        c.add()
        if x.sum() > 0:
            c.step = 5
        c.add()
        return x * c.add()

    check(f)


def test_method_hidden_by_an_attribute_of_the_object():
    def f(x):
        c = Counter()
        c.add()
        if x.sum() > 0:
            c.add = lambda: 7
        return x * c.add()

    check(f)


def test_attribute_set_in_the_dict_of_the_object():
    def f(x):
        c = Counter()
        c.add()
        vars(c)["count"] = 4
        if x.sum() > 0:
            vars(c)["count"] = 9
        return x * c.add()

    check(f)


def test_class_attribute_set_by_the_code():
    def f(x):
        c = Sub()
        c.add()
        Sub.step = 4
        try:
            return x * c.add()
        finally:
            del Sub.step

    check(f)


def test_global_set_by_the_code():
    def f(x):
        global limit
        first = limit
        limit = first + 1
        second = limit
        limit = first
        return x * first + second

    check(f)


def test_global_set_in_a_branch():
    def f(x):
        global limit
        before = limit
        if x.sum() > 0:
            limit = 8
        x = x * limit
        limit = before
        return x * limit

    check(f)


def test_global_set_by_the_module():
    def f(x):
        module = sys.modules[__name__]
        module.limit = 8
        x = x * limit
        if x.sum() > 0:
            module.limit = 5
        x = x + limit + module.limit
        module.limit = 3
        return x * limit

    check(f)


def test_list_made_before_a_branch_and_changed_in_it():
    def f(x):
        items = [1, 2]
        items[0] = 3
        if x.sum() > 0:
            items[0] = 5
            items[1] = items[0] + 1
        return x * items[0] + items[1]

    check(f)


def test_dict_made_before_a_branch_and_changed_in_it():
    def f(x):
        held = {"a": 1}
        if x.sum() > 0:
            held["a"] = 2
            held["b"] = held["a"]
        if "b" in held:
            x = x * held["b"]
        return x * held["a"]

    check(f)


def test_two_lists_joined_to_one():
    def f(x):
        first, second = [1], [2]
        chosen = first if x.sum() > 0 else second
        second[0] = 5
        return x * chosen[0]

    check(f)


def test_plain_loop_beside_a_tensor():
    def f(x):
        total = 0
        for i in range(4):
            if i == 1:
                continue
            total += i
            if total > 4:
                break
        while total < 20:
            total = total * 2
        for i in range(2):
            for j in range(i + 1):
                x = x + total * j
        return x * total + i + j

    check(f)


def test_loop_over_numbers_that_a_tensor_takes_part_in():
    def f(x):
        total = 0
        for i in range(3):
            total = total + i * x
        return total

    check(f)


def test_variable_of_a_plain_loop_that_does_not_run():
    def f(x):
        n = 0
        for i in range(n):
            n += i
        return x * i

    with pytest.raises(UnboundLocalError):
        to_static(f)(X)


def test_range_that_is_the_users_own():
    text = (
        "def f(x):\n    n = 0\n    while n < 5:\n        for j in range(3):\n            n += j\n"
    )
    text += "    return x * n\n"
    linecache.cache["<own range>.py"] = (len(text), None, text.splitlines(True), "<own range>.py")
    namespace = {"range": lambda n: [5] * n}
    exec(compile(text, "<own range>.py", "exec"), namespace)
    check(namespace["f"])
