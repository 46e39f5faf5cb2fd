# ruff: noqa
"""Branches, loops and jumps."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on_values


@on_values((3,), (1,), (-1,))
def if_elif_else(x):
    y = 0
    if x > 2:
        y = "big"
    elif x > 0:
        z = x * 2
        y = z + 1
    else:
        y = -x
    return y


@on_values((1, True), (1, False))
def a_branch_that_reads_what_it_assigns(x, flag):
    total = x
    if flag:
        total = total + 1
        total += 1
    return total


@on_values((1,), (0,))
def a_variable_that_nobody_reads_after_the_branch(x):
    t = 1
    if x:
        t = t + x
        y = t
    else:
        y = 0
    return y


@on_values((1,), (-1,))
def a_walrus_in_the_test_is_there_in_the_branch(x):
    if (y := x + 1) > 1:
        y = y * 2
        z = y
    else:
        y = y - 1
        z = y
    return z


@on_values((4,), (0,))
def a_while_loop(n):
    total = i = 0
    while i < n:
        total += i
        i += 1
    else:
        total += 100
    return total, i


@on_values((6, 4), (6, 5), (0, 0))
def a_while_loop_with_break_continue_and_else(n, stop):
    i, out = 0, []
    while i < n:
        i += 1
        if i % 2:
            continue
        if i == stop:
            break
        out.append(i)
    else:
        out.append("else")
    return out, i


@on_values((2,), (6,))
def while_true(n):
    while True:
        n -= 1
        if n < 0:
            break
        if n == 3:
            return "three"
    return n


@on_values(([1, 2],), ([],))
def a_for_loop_keeps_its_variable(x):
    i = "before"
    for i in x:
        pass
    return i


@on_values(([(1, 2, 3), (4,)],), ([],), ([()],))
def a_for_loop_over_pairs(x):
    out = []
    for k, (a, *b) in enumerate(x):
        out.append((k, a, b))
    return out, k, a, b


@on_values(([1, 2],), ([],))
def a_for_loop_into_a_captured_variable(x):
    get = lambda: i
    out = []
    for i in x:
        out.append(get())
    return out, i


@on_values(([1, 0, 2],), ([1, -1, 2],), ([],))
def a_for_loop_with_break_continue_and_else(x):
    out = []
    for v in x:
        if v == 0:
            continue
        if v < 0:
            break
        out.append(v)
    else:
        out.append("else")
    return out, v


@on_values()
def a_for_loop_over_an_iterator_takes_no_item_after_a_break():
    it = iter(range(10))
    for v in it:
        if v == 3:
            break
    return next(it)


@on_values()
def the_iterable_is_evaluated_once():
    seen = []

    def note(x):
        seen.append("it")
        return x

    for v in note([1, 2]):
        seen.append(v)
    return seen


@on_values(([0],))
def a_list_that_grows_while_it_is_iterated(x):
    for v in x:
        if v < 3:
            x.append(v + 1)
    return x


@on_values((3,), (6,))
def nested_loops_with_jumps(n):
    out = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            if i * j == 12:
                return out, "done"
            out.append((i, j))
        else:
            out.append(("else", i))
            continue
        out.append(("broke", i))
    return out


@on_values((5,), (2,), (0,))
def a_break_in_the_else_of_an_inner_loop(n):
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
        else:
            if i == 2:
                break
            continue
        return "inner", i, j
    else:
        return "no break"
    return "outer", i


@on_values((11,), (5,), (4,), (3,), (-1,))
def returns_everywhere(x):
    if x > 10:
        return "big"
    for i in range(x):
        if i == 4:
            return i
        while i > 2:
            i -= 1
            if i == 2 and x == 4:
                return "two", i
    if x < 0:
        return
    return x


@on_values((0,), (1,), (2,), (4,), (5,))
def returns_in_with_and_try(x):
    import contextlib

    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            try:
                if i == x:
                    return 1 // (i - 1), i
            finally:
                if x == 5:
                    return "finally"
    return "end"


@on_values(([],))
def statements_after_a_return_are_not_run(x):
    return x
    x.append(1)
    if x:
        return 2


@on_values((3,), (0,))
def a_deleted_variable_in_a_loop(n):
    x = 0
    for i in range(n):
        y = x + i
        x = y
        del y
    try:
        return y
    except UnboundLocalError:
        return x


@on_values((4,))
def a_variable_of_a_branch_that_is_unbound_in_the_next_turn(n):
    out = []
    for i in range(n):
        if i % 2:
            v = i
            out.append(v)
            del v
        else:
            try:
                out.append(v)
            except UnboundLocalError:
                out.append("unbound")
    return out


@on_values(*[(n,) for n in range(7)])
def many_branches_inside_each_other(n):
    if n > 0:
        if n > 1:
            if n > 2:
                if n > 3:
                    if n > 4:
                        y = 5
                    else:
                        y = 4
                else:
                    y = 3
            else:
                y = 2
        else:
            y = 1
    else:
        y = 0
    return y


@on_values(makes=True)
def truth_is_asked_once_for_a_test():
    class Once:
        def __init__(self):
            self.asked = 0

        def __bool__(self):
            self.asked += 1
            return self.asked < 3

    def f():
        once = Once()
        if once:
            pass
        while once:
            pass
        return once.asked

    return f


@on_values(([1],), ([],))
def pass_everywhere(x):
    if x:
        pass
    else:
        pass
    for _ in x:
        pass
    while False:
        pass
    return x


@on_values((1,), (0,))
def code_that_cannot_run(x):
    if False:
        y = 1
    while 0:
        z = 1
    if x:
        return y
    return z


@on_values((12, 18), (7, 0))
def a_loop_that_changes_a_parameter(a, b):
    while b:
        a, b = b, a % b
    return a
