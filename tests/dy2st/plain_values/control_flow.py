"""Control flow over values of Python."""
# ruff: noqa: B007, B012, F821, F841, SIM102, SIM107, SIM108 - the code compared is meant

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.dy2st.catalogue.entry import on_values

LOG: list[Any] = []


def note(value: Any, *more: Any) -> Any:
    LOG.append((value, *more))
    return value


@on_values(1, 0)
def if_with_and_without_else(x):
    y = 0
    if x:
        y = 5
    if y > 3:
        z = "large"
    else:
        z = "small"
    return y, z


@on_values(-1, 0, 7, 70)
def elif_chain(x):
    if x < 0:
        kind = "negative"
    elif x == 0:
        kind = "zero"
    elif x < 10:
        kind = "small"
    else:
        kind = "large"
    return kind


@on_values(0, 1)
def variable_of_one_branch_is_unbound_in_the_other(x):
    if x:
        y = 1
    return y


@on_values(0, 1)
def variable_of_one_branch_that_nobody_reads(x):
    if x:
        y = 1
    return x


@on_values(0, 1, 2, 3)
def early_returns_in_a_row(x):
    if x == 0:
        return "zero"
    if x == 1:
        return "one"
    y = x * 2
    if y == 4:
        return y
    return "many"


@on_values(0, 1)
def implicit_return_of_none(x):
    if x:
        return 1


@on_values((0, 0), (0, 1), (1, 0), (1, 1))
def nested_return_that_only_sometimes_happens(a, b):
    if a:
        if b:
            return "both"
        a = 10
    else:
        b = 20
    return a, b


@on_values([1, 2, 3], [5, -1, 3], [])
def return_in_for(xs):
    for x in xs:
        if x < 0:
            return x
    return "none"


@on_values(3, 100)
def return_in_while(n):
    while True:
        n += 1
        if n % 7 == 0:
            return n


@on_values([[1, 2], [3, 0]], [[1], [2]], [])
def return_in_nested_loops(rows):
    for row in rows:
        for x in row:
            if x == 0:
                return row
        else:
            note("row done")
    return None


@on_values([1, 2, 3, 4], [3], [])
def loop_variable_after_break(xs):
    for x in xs:
        if x == 3:
            break
    return x


@on_values(0, 3)
def loop_variable_after_the_loop(n):
    i = "before"
    for i in range(n):
        pass
    return i


@on_values(5)
def loop_variable_assigned_in_the_body(n):
    seen = []
    for i in range(n):
        i = i * 10
        seen.append(i)
    return seen, i


@on_values((0, 10, 3), (10, 0, -3), (0, 0, 1), (0, 5, 0), (0, "x", 1))
def range_with_variable_step(start, stop, step):
    seen = []
    for i in range(start, stop, step):
        seen.append(i)
    return seen


@on_values(3)
def huge_range(n):
    total = 0
    for i in range(10**30):
        total += i
        if i == n:
            break
    return total


@on_values(4)
def inner_break_on_every_entry(n):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            total += 1
    return total


@on_values([1, 2, 3, 4, 5, 6])
def break_and_continue_in_one_loop(xs):
    out = []
    for x in xs:
        if x == 2:
            continue
        if x == 5:
            break
        out.append(x)
    return out


@on_values(3, 8)
def continue_in_while_and_code_after_it(n):
    out = []
    i = 0
    while i < n:
        i += 1
        if i % 2:
            if i % 3:
                continue
            out.append(-i)
        out.append(i)
    return out


@on_values([1, 2], [2, 3], [])
def for_else(xs):
    for x in xs:
        if x == 3:
            break
    else:
        return "no break"
    return "break"


@on_values(3, 7)
def while_else(n):
    i = 0
    while i < 5:
        i += 1
        if i == n:
            break
    else:
        i = 100
    return i


@on_values([1, 2, 3])
def break_in_the_else_of_an_inner_loop(xs):
    out = []
    for x in xs:
        for y in xs:
            out.append((x, y))
        else:
            if x == 2:
                break
        out.append("turn")
    return out


@on_values(3)
def infinite_generator(n):
    total = 0
    for i in itertools.count():
        if i > n:
            break
        total += i
    return total


@on_values(3)
def generator_is_not_read_ahead(n):
    def produce():
        for i in range(10):
            note("made", i)
            yield i

    for i in produce():
        note("got", i)
        if i == n:
            break
    return i


@on_values([(1, (2, 3)), (4, (5, 6))])
def nested_tuple_targets(pairs):
    total = 0
    for i, (a, (b, c)) in enumerate(pairs):
        total += i * a + b * c
    return total, a, b, c


@on_values([[1, 2, 3], [4, 5]])
def starred_target(rows):
    out = []
    for first, *rest in rows:
        out.append((first, rest))
    return out, rest


@on_values([1, 2])
def attribute_and_item_as_loop_target(xs):
    box = [0, 0]
    for box[0] in xs:
        box[1] += box[0]
    return box


@on_values(0, 1, 5)
def walrus_in_while(n):
    out = []
    while (n := n - 1) > 0:
        out.append(n)
    return out, n


@on_values(0, 3)
def walrus_in_if(x):
    if (y := x + 1) > 2:
        return y
    return -y


@on_values("text", b"ab", 3, [1, 2], [3], {"k": 5}, None)
def match_with_returns(x):
    match x:
        case str() as s:
            return "str", s
        case [a, b]:
            return a + b
        case {"k": value}:
            return value
        case int() if x > 2:
            kind = "int"
        case _:
            kind = "other"
    return kind


@on_values([1, 0, 2], [0])
def finally_swallows_with_break(xs):
    done = []
    for x in xs:
        try:
            done.append(1 // x)
        finally:
            break
    return done


@on_values([1, 0, 2])
def continue_in_finally(xs):
    done = []
    for x in xs:
        try:
            done.append(1 // x)
        finally:
            continue
    return done


@on_values(0, 1)
def return_in_finally(x):
    try:
        return 1 // x
    finally:
        return "swallowed"


@on_values(0, 1, "a")
def try_except_else_finally_with_if(x):
    trace = []
    try:
        y = 10 // x
    except ZeroDivisionError:
        if x == 0:
            trace.append("zero")
        y = -1
    except TypeError as error:
        if trace:
            trace.append("never")
        trace.append(str(error))
        return trace
    else:
        if y > 5:
            trace.append("large")
    finally:
        if not trace:
            trace.append("end")
    return trace, y


@on_values(0, 1)
def return_in_except_with_later_code(x):
    try:
        y = 1 // x
    except ZeroDivisionError:
        return 10
    return y + 100


@on_values(0, 2)
def branch_half_way_done_when_it_raises(x):
    y = 1
    try:
        if x == 0:
            y = 2
            y = 3 // x
        else:
            y = 9
    except ZeroDivisionError:
        return "caught", y
    return y


@on_values([2, 1, 0, 5])
def loop_half_way_done_when_it_raises(xs):
    total = count = 0
    with suppress(ZeroDivisionError):
        for x in xs:
            count += 1
            total += 2 // x
            count += 10
    return total, count


@on_values(0, 1)
def exception_name_is_unbound_after(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        note(type(error))
    return error


@contextmanager
def logged(name: str) -> Iterator[str]:
    note("enter", name)
    try:
        yield name
    finally:
        note("leave", name)


@on_values(0, 1)
def return_inside_with(x):
    with logged("a") as a, logged("b") as b:
        if x:
            return a, b
        note("after")
    return "end"


@on_values([1, 2, 3])
def break_inside_with(xs):
    for x in xs:
        with logged("turn"):
            if x == 2:
                break
            note(x)
    return x


@on_values(0, 1)
def delete_in_a_branch(x):
    y = 1
    if x:
        del y
    return y


@on_values(2)
def delete_in_a_loop(n):
    for i in range(n):
        y = i
        del y
    return y


@on_values(5)
def recursion(n):
    if n < 2:
        return n
    return recursion(n - 1) + recursion(n - 2)


@on_values(-1, 1)
def raise_in_a_branch(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x


@on_values((1, 0), (3, 2))
def assertion_with_lazy_message(x, y):
    assert x > 2, note("message", x)
    assert y
    return x


@on_values(0)
def dead_code_keeps_names_local(x):
    if x == 0:
        return late
    return 1
    late = 2


@on_values(0, 1)
def empty_and_docstring_branches(x):
    """A docstring."""
    if x:
        pass
    else:
        ...
    return x


@on_values(0)
def only_a_docstring(x):
    """Nothing else."""


@on_values(300)
def long_while(n):
    a, x = 1, 0
    while a < n:
        x = x + a
        a += 1
    return x


@on_values(30)
def deep_nesting_is_left(n):
    if n > 0:
        if n > 1:
            if n > 2:
                if n > 3:
                    for i in range(n):
                        while i > 3:
                            if i > 7:
                                return i
                            i -= 1
    return n


@on_values([3, 1, 2])
def list_changes_in_control_flow(xs):
    same = xs
    for x in list(xs):
        if x > 1:
            xs.append(x * 10)
        else:
            first = xs.pop(0)
    xs[0] = "changed"
    xs[1:3] = ["a", "b", "c"]
    xs[note(-1)] += note(5)
    return same is xs, xs, first


class Stack:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def append(self, item: Any) -> str:
        self.items.insert(0, item)
        return "ignored"

    def pop(self, *arguments: Any) -> Any:
        return ("popped", *arguments)


@on_values(3)
def append_and_pop_of_other_objects(n):
    stack = Stack()
    for i in range(n):
        stack.append(i)
        top = stack.pop(i, "x")
        stack.pop()
    return stack.items, top


@on_values(0)
def append_without_such_a_method(n):
    for _ in [1]:
        n.append(1)


@on_values((0, 3), (1, 3))
def nested_functions_with_returns(x, y):
    def inner(a):
        if a:
            return "yes"
        for i in range(3):
            if i == y:
                return i
        return "no"

    if x:
        return inner(x)
    return inner(0), inner(1)
