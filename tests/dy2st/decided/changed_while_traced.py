"""What is answered at once is what the long way gives: code that changes it while it is traced."""

from __future__ import annotations

import sys

from tests.dy2st.catalogue.entry import on

alike = on([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0])
alike_made = on([1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0], makes=True)


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


@alike
def attribute_of_an_object_changed_in_a_branch(x):
    c = Counter()
    c.add()
    if x.sum() > 0:
        c.count = 10
    c.add()
    return x * c.count


@alike
def class_attribute_hidden_in_a_branch(x):
    c = Counter()
    c.add()
    if x.sum() > 0:
        c.step = 5
    c.add()
    return x * c.add()


@alike
def method_hidden_by_an_attribute_of_the_object(x):
    c = Counter()
    c.add()
    if x.sum() > 0:
        c.add = lambda: 7
    return x * c.add()


@alike
def attribute_set_in_the_dict_of_the_object(x):
    c = Counter()
    c.add()
    vars(c)["count"] = 4
    if x.sum() > 0:
        vars(c)["count"] = 9
    return x * c.add()


@alike
def class_attribute_set_by_the_code(x):
    c = Sub()
    c.add()
    Sub.step = 4
    try:
        return x * c.add()
    finally:
        del Sub.step


@alike
def global_set_by_the_code(x):
    global limit
    first = limit
    limit = first + 1
    second = limit
    limit = first
    return x * first + second


@alike
def global_set_in_a_branch(x):
    global limit
    before = limit
    if x.sum() > 0:
        limit = 8
    x = x * limit
    limit = before
    return x * limit


@alike
def global_set_by_the_module(x):
    module = sys.modules[__name__]
    module.limit = 8
    x = x * limit
    if x.sum() > 0:
        module.limit = 5
    x = x + limit + module.limit
    module.limit = 3
    return x * limit


@alike
def list_made_before_a_branch_and_changed_in_it(x):
    items = [1, 2]
    items[0] = 3
    if x.sum() > 0:
        items[0] = 5
        items[1] = items[0] + 1
    return x * items[0] + items[1]


@alike
def dict_made_before_a_branch_and_changed_in_it(x):
    held = {"a": 1}
    if x.sum() > 0:
        held["a"] = 2
        held["b"] = held["a"]
    if "b" in held:
        x = x * held["b"]
    return x * held["a"]


@alike
def two_lists_joined_to_one(x):
    first, second = [1], [2]
    chosen = first if x.sum() > 0 else second
    second[0] = 5
    return x * chosen[0]


@alike
def plain_loop_beside_a_tensor(x):
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


@alike
def loop_over_numbers_that_a_tensor_takes_part_in(x):
    total = 0
    for i in range(3):
        total = total + i * x
    return total
