"""Syntax of Python 3.11: `except*`, and stars in indices."""

from __future__ import annotations

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct


@construct("`except*`", "Python splits the group")
def except_star(x):
    y, log = x, []
    try:
        raise ExceptionGroup("both", [ValueError("a"), KeyError("b")])
    except* ValueError as group:
        log += [str(error) for error in group.exceptions]
        y = y + 1
    except* KeyError:
        y = y * 2
    return y, log


@construct("tensor code inside `try` / `except*`", "staged where it stands")
def staged_in_except_star(x):
    y = x
    try:
        if x.sum() > 0:
            y = y * 2
        raise ExceptionGroup("one", [ValueError("a")])
    except* ValueError:
        while y.sum() < 20:
            y = y + 5
    else:
        y = -y
    finally:
        if y.sum() > 50:
            y = y + 1
    return y


@construct("`return` after `except*`", "as in Python")
def return_after_except_star(x):
    try:
        y = x * 2
    except* (ValueError, KeyError):
        y = x
    if y.sum() > 0:
        return y + 1
    return y


@construct("a loop around `except*`", "unrolled")
def loop_around_except_star(x):
    y = x
    for k in range(3):
        try:
            if k == 1:
                raise ExceptionGroup("odd", [ValueError(k)])
            y = y + k
        except* ValueError:
            y = y * 3
    return y


@construct("`x[*index]`", "as the tuple")
def star_in_an_index(x):
    rows = dy2st.stack([x, x + 1])
    index = (1, slice(0, 2))
    return rows[*index], rows[*(0,), 1]


@construct("`x[*index] = value`", "as the tuple, under tensor conditions too")
def star_in_an_assigned_index(x):
    rows = dy2st.stack([x, x + 1])
    index = (0, 1)
    if x.sum() > 0:
        rows[*index] = 7.0
    return rows


@construct("`def f(*args: *Types)`", "annotations have no effect")
def star_annotation(x):
    def scaled(v, *factors: *tuple[int, ...]):
        for factor in factors:
            if v.sum() > 0:
                v = v * factor
        return v

    return scaled(x, 2, 3)


@construct("async comprehensions inside comprehensions", "Python's")
def nested_async_comprehension(x):
    async def items(v):
        for k in range(2):
            yield v * k

    async def main():
        return [[item async for item in items(v)] for v in (x, x + 1)]

    try:
        main().send(None)
    except StopIteration as stop:
        return stop.value


@construct(
    "an ExceptionGroup raised under a tensor condition",
    "a group has no static form",
    refused=ConversionError,
    says="is raised with a ValueError in a branch",
)
def group_in_a_branch(x):
    y = x
    if x.max() > 100:
        raise ExceptionGroup("large", [ValueError("a")])
    return y
