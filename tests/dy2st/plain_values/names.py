# ruff: noqa
"""Locals, cells, globals and builtins; what is unbound."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on_values

COUNT = 3


@on_values()
def a_global_without_a_value_raises_a_name_error():
    return NOWHERE  # noqa: F821


@on_values()
def a_deleted_global_without_a_value_raises_a_name_error():
    global NOWHERE_AT_ALL
    del NOWHERE_AT_ALL


@on_values(([1, 2],))
def builtins_are_found(x):
    return len(x), sum(x), isinstance(x, list)


@on_values((1, 2, 3, 4), (4, 3, 2, 1))
def a_local_named_like_a_function_of_the_protocol_is_the_users(add, call, F, unbound):
    cell = add + call
    glob = F + unbound
    if cell > glob:
        attr = 1
    else:
        attr = 2
    return add, call, F, unbound, cell, glob, attr


@on_values((True,), (False,))
def a_local_that_is_not_bound_raises_an_unbound_local_error(flag):
    if flag:
        x = 1
    return x


@on_values()
def a_local_that_nothing_ever_binds_raises_an_unbound_local_error():
    return x  # noqa: F821
    x = 1


@on_values((True,), (False,))
def an_unbound_local_in_a_condition_raises_there(flag):
    if flag:
        x = 1
    if x > 0:
        return "positive"
    return "not"


@on_values((True,), (False,))
def del_of_an_unbound_local_raises(flag):
    if flag:
        x = 1
    del x
    return 1


@on_values((1,))
def del_of_a_parameter_leaves_it_unbound(x):
    del x
    return x


@on_values(({"k": 1, "l": 2}, True), ({"k": 1}, False), makes=True)
def del_takes_several_names_attributes_and_items():
    class Box:
        pass

    def f(d, flag):
        box = Box()
        box.a, a, b = 1, 2, 3
        del box.a, d["k"], (a, [b])
        if flag:
            return hasattr(box, "a"), d
        return a

    return f


@on_values((True,), (False,))
def an_augmented_assignment_of_an_unbound_local_raises(flag):
    if flag:
        x = 1
    x += 1
    return x


@on_values((3,), (0,))
def a_variable_of_a_loop_that_never_ran_is_unbound(n):
    for i in range(n):
        last = i
    return i, last


@on_values((3,), (0,))
def a_variable_bound_in_one_turn_is_there_in_the_next(n):
    out = []
    for i in range(n):
        if i == 0:
            first = i
        out.append(first)
    return out


@on_values()
def a_variable_that_a_closure_uses_is_shared_with_it():
    x = 1

    def get():
        return x

    def put(value):
        nonlocal x
        x = value

    first = get()
    put(2)
    second = x
    x = 3
    return first, second, get()


@on_values((1,))
def a_parameter_that_a_closure_uses_is_shared_with_it(x):
    def put(value):
        nonlocal x
        x = value

    put(x + 1)
    return x


@on_values((5,))
def a_captured_variable_changes_in_branches_and_loops(n):
    total = 0
    get = lambda: total
    seen = []
    for i in range(n):
        if i % 2:
            total += i
        seen.append(get())
    return seen


@on_values((True,), (False,))
def a_captured_variable_without_a_value_raises_an_unbound_local_error(flag):
    if flag:
        x = 1
    g = lambda: x
    return x, g()


@on_values((True,), (False,))
def a_closure_over_a_variable_without_a_value_raises_a_name_error(flag):
    g = lambda: x
    if flag:
        x = 1
    return g()


@on_values()
def a_captured_variable_is_deleted():
    x = 1
    g = lambda: x
    del x
    return g()


@on_values()
def debug_is_a_constant():
    return __debug__


@on_values()
def a_global_and_a_local_of_one_name_in_two_scopes():
    global COUNT
    before = COUNT
    squares = [COUNT * COUNT for COUNT in range(3)]
    return before, squares, COUNT


@on_values((1,), (-1,))
def names_of_other_alphabets(größe):
    数 = größe + 1
    if 数 > 1:
        数 = 数 * 2
    return 数


@on_values((True,), (False,))
def a_comprehension_over_a_variable_without_a_value_raises_what_python_raises(flag):
    if flag:
        x = 1
    y = [x for _ in range(1)]
    return x, y


@on_values((False,))
def del_of_a_captured_variable_without_a_value_raises_what_python_raises(flag):
    if flag:
        x = 1
    g = lambda: x
    del x
    return g


@on_values()
def a_variable_that_is_only_declared_nonlocal_inside():
    x = 1

    def g():
        nonlocal x

    g()
    return x


@on_values((1,))
def functions_that_can_never_be_made(flag):
    if False:
        g = lambda: flag
    return flag
    h = lambda: flag


@on_values()
def an_annotation_in_parentheses_makes_no_variable():
    # fmt: off
    (COUNT): int
    # fmt: on
    return COUNT
