"""Where the state is read: in branches, loops, helpers, comprehensions, handlers, hooks.

Each place stands for five readers: an attribute, an entry of a dict, a number of a list, a cell, and
an attribute by a computed name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dy2st
from dy2st import nn
from tests.dy2st.jit.outside.scenario import Box, change


def by_attribute():
    held = Box(scale=2.0)
    return lambda: held.scale, lambda: setattr(held, "scale", 9.0)


def by_entry():
    held = {"scale": 2.0}
    return lambda: held["scale"], lambda: held.update(scale=9.0)


def by_index():
    held = [2.0]
    return lambda: held[0], lambda: held.__setitem__(0, 9.0)


def by_cell():
    level = 2.0

    def turn():
        nonlocal level
        level = 9.0

    return lambda: level, turn


def by_name():
    held, names = Box(scale=2.0), ["scale"]
    return lambda: getattr(held, names[-1]), lambda: setattr(held, "scale", 9.0)


def by_length():
    held = [1, 1]
    return lambda: len(held), lambda: held.extend(range(7))


READERS = (by_attribute, by_entry, by_index, by_cell, by_name, by_length)


def place(use: Callable[[Any, Callable[[], float]], Any]) -> None:
    """Register a scenario for each reader."""
    for reader in READERS:

        def make(reader: Any = reader) -> Any:
            read, turn = reader()
            return lambda x: use(x, read), turn

        make.__name__ = f"{use.__name__}_{reader.__name__}"
        change(make)


@place
def in_a_branch_that_a_tensor_decides(x, read):
    if x.sum() > 0:
        return x * read()
    return x


@place
def in_a_branch_that_the_input_does_not_take(x, read):
    y = x
    if x.sum() > 100:
        y = x * 0
    else:
        y = x + read()
    return y


@place
def in_a_loop_that_a_tensor_decides(x, read):
    while x.sum() < 50:
        x = x * read()
    return x


@place
def in_a_loop_over_a_tensor(x, read):
    total = x.sum() * 0
    for value in x:
        total = total + value * read()
    return total


@place
def in_the_condition_of_a_loop(x, read):
    i = 0
    while i < read():
        x = x + 1
        i += 1
    return x


@place
def in_a_range(x, read):
    for i in range(int(read())):
        x = x + i
    return x


@place
def in_a_comprehension(x, read):
    return dy2st.stack([x * read() for _ in range(2)])


@place
def in_a_handler(x, read):
    try:
        raise ValueError(str(read()))
    except ValueError as error:
        return x * float(str(error))


@place
def in_a_finally(x, read):
    y = x
    try:
        y = x + 1
    finally:
        y = y * read()
    return y


@place
def in_a_method(x, read):
    class Local:
        def scale(self, x):
            return x * read()

    return Local().scale(x)


@place
def in_a_layer_made_inside(x, read):
    class Local(nn.Layer):
        def forward(self, x):
            return x * read()

    return Local()(x)


@place
def in_an_assertion(x, read):
    assert read() < 5, f"level {read()}"
    return x


@place
def in_a_shape(x, read):
    return dy2st.ones([int(read()), 2]) * x


@place
def in_a_default_of_a_nested_function(x, read):
    def inner(x, by=read()):
        return x * by

    return inner(x)


@place
def in_a_generator_expression(x, read):
    return x * sum(read() for _ in range(3))


@place
def behind_and(x, read):
    return x * 2 if x.ndim == 1 and read() > 5 else x * 3
