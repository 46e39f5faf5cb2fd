# ruff: noqa
"""Locals, cells, globals and builtins; what is unbound."""

from __future__ import annotations

import pytest

from tests.dy2st.transpiler.same import same, traced

COUNT = 3


def test_a_global_is_read_when_it_is_used(monkeypatch):
    def f():
        return COUNT

    form = traced(f)
    assert form() == 3
    monkeypatch.setitem(f.__globals__, "COUNT", 4)
    assert form() == 4


def test_a_global_is_assigned_and_deleted():
    def f():
        global FRESH
        FRESH = 1
        FRESH += 1
        found = FRESH
        del FRESH
        return found

    same(f)
    assert "FRESH" not in globals()


def test_a_global_without_a_value_raises_a_name_error():
    def f():
        return NOWHERE  # noqa: F821

    same(f)


def test_a_deleted_global_without_a_value_raises_a_name_error():
    def f():
        global NOWHERE_AT_ALL
        del NOWHERE_AT_ALL

    same(f)


def test_builtins_are_found():
    def f(x):
        return len(x), sum(x), isinstance(x, list)

    same(f, ([1, 2],))


def test_a_local_named_like_a_function_of_the_protocol_is_the_users():
    def f(add, call, F, unbound):
        cell = add + call
        glob = F + unbound
        if cell > glob:
            attr = 1
        else:
            attr = 2
        return add, call, F, unbound, cell, glob, attr

    same(f, (1, 2, 3, 4), (4, 3, 2, 1))


def test_a_local_that_is_not_bound_raises_an_unbound_local_error():
    def f(flag):
        if flag:
            x = 1
        return x

    same(f, (True,), (False,))


def test_a_local_that_nothing_ever_binds_raises_an_unbound_local_error():
    def f():
        return x  # noqa: F821
        x = 1

    same(f)


def test_an_unbound_local_in_a_condition_raises_there():
    def f(flag):
        if flag:
            x = 1
        if x > 0:
            return "positive"
        return "not"

    same(f, (True,), (False,))


def test_a_local_is_unbound_after_del():
    def f(flag):
        x = 1
        if flag:
            del x
        return x

    same(f, (True,), (False,))


def test_del_of_an_unbound_local_raises():
    def f(flag):
        if flag:
            x = 1
        del x
        return 1

    same(f, (True,), (False,))


def test_del_of_a_parameter_leaves_it_unbound():
    def f(x):
        del x
        return x

    same(f, (1,))


def test_del_takes_several_names_attributes_and_items():
    class Box:
        pass

    def f(d, flag):
        box = Box()
        box.a, a, b = 1, 2, 3
        del box.a, d["k"], (a, [b])
        if flag:
            return hasattr(box, "a"), d
        return a

    same(f, ({"k": 1, "l": 2}, True), ({"k": 1}, False))


def test_an_augmented_assignment_of_an_unbound_local_raises():
    def f(flag):
        if flag:
            x = 1
        x += 1
        return x

    same(f, (True,), (False,))


def test_a_variable_of_a_loop_that_never_ran_is_unbound():
    def f(n):
        for i in range(n):
            last = i
        return i, last

    same(f, (3,), (0,))


def test_a_variable_bound_in_one_turn_is_there_in_the_next():
    def f(n):
        out = []
        for i in range(n):
            if i == 0:
                first = i
            out.append(first)
        return out

    same(f, (3,), (0,))


def test_a_free_variable_is_read_when_it_is_used():
    x = 1

    def f():
        return x

    form = traced(f)
    assert form() == 1
    x = 2
    assert form() == 2


def test_a_free_variable_is_assigned_by_nonlocal():
    x = 1

    def f():
        nonlocal x
        x += 1
        return x

    assert traced(f)() == 2
    assert x == 2


def test_a_free_variable_is_deleted():
    x = 1

    def f():
        nonlocal x
        del x
        return x

    with pytest.raises(NameError, match="free variable 'x'"):
        traced(f)()
    x = 2


def test_a_free_variable_without_a_value_raises_a_name_error():
    def f():
        return later

    with pytest.raises(NameError, match="free variable 'later'"):
        traced(f)()
    later = 1


def test_a_variable_that_a_closure_uses_is_shared_with_it():
    def f():
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

    same(f)


def test_a_parameter_that_a_closure_uses_is_shared_with_it():
    def f(x):
        def put(value):
            nonlocal x
            x = value

        put(x + 1)
        return x

    same(f, (1,))


def test_a_captured_variable_changes_in_branches_and_loops():
    def f(n):
        total = 0
        get = lambda: total
        seen = []
        for i in range(n):
            if i % 2:
                total += i
            seen.append(get())
        return seen

    same(f, (5,))


def test_a_captured_variable_without_a_value_raises_an_unbound_local_error():
    def f(flag):
        if flag:
            x = 1
        g = lambda: x
        return x, g()

    same(f, (True,), (False,))


def test_a_closure_over_a_variable_without_a_value_raises_a_name_error():
    def f(flag):
        g = lambda: x
        if flag:
            x = 1
        return g()

    same(f, (True,), (False,))


def test_a_captured_variable_is_deleted():
    def f():
        x = 1
        g = lambda: x
        del x
        return g()

    same(f)


def test_each_call_has_cells_of_its_own():
    def f(x):
        return lambda: x

    form = traced(f)
    one, two = form(1), form(2)
    assert (one(), two()) == (1, 2)


def test_private_names_are_mangled():
    class Owner:
        def __init__(self):
            self.__hidden = 1

        def f(self, __x=2):
            __y = self.__hidden
            self.__other = __y + __x
            del self.__hidden
            __z = lambda: __y
            return vars(self), __z()

    assert traced(Owner.f)(Owner()) == Owner.f(Owner())


def test_a_private_global_is_mangled():
    class Owner:
        def f(self):
            return __missing  # noqa: F821

    with pytest.raises(NameError, match="_Owner__missing"):
        traced(Owner.f)(Owner())


def test_a_private_name_in_an_inner_class_is_mangled_by_that_class():
    class Owner:
        def f(self):
            class Inner:
                def __init__(self):
                    self.__x = 1

            return vars(Inner())

    assert traced(Owner.f)(Owner()) == {"_Inner__x": 1}


def test_debug_is_a_constant():
    def f():
        return __debug__

    same(f)


def test_a_global_and_a_local_of_one_name_in_two_scopes():
    def f():
        global COUNT
        before = COUNT
        squares = [COUNT * COUNT for COUNT in range(3)]
        return before, squares, COUNT

    same(f)


def test_names_of_other_alphabets():
    def f(größe):
        数 = größe + 1
        if 数 > 1:
            数 = 数 * 2
        return 数

    same(f, (1,), (-1,))


def test_a_comprehension_over_a_variable_without_a_value_raises_what_python_raises():
    def f(flag):
        if flag:
            x = 1
        y = [x for _ in range(1)]
        return x, y

    same(f, (True,), (False,))


def test_del_of_a_captured_variable_without_a_value_raises_what_python_raises():
    def f(flag):
        if flag:
            x = 1
        g = lambda: x
        del x
        return g

    same(f, (False,))


def test_a_variable_that_is_only_declared_nonlocal_inside():
    def f():
        x = 1

        def g():
            nonlocal x

        g()
        return x

    same(f)


def test_functions_that_can_never_be_made():
    def f(flag):
        if False:
            g = lambda: flag
        return flag
        h = lambda: flag

    same(f, (1,))


def test_an_annotation_in_parentheses_makes_no_variable():
    def f():
        # fmt: off
        (COUNT): int
        # fmt: on
        return COUNT

    same(f)


def test_the_keywords_of_a_call_are_not_mangled_and_parameters_are():
    def g(**keywords):
        return keywords

    class Owner:
        def f(self, *, __a=1):
            def inner(__b, *, __c=3):
                return __a, __b, __c

            return g(__x=1), inner(2), inner.__kwdefaults__

    assert traced(Owner.f)(Owner()) == Owner().f()


def test_what_is_bound_otherwise_is_mangled():
    class Owner:
        def f(self, values):
            import os as __os

            for __v in values:
                pass
            try:
                values[9]
            except IndexError as __e:
                found = str(__e)
            match values:
                case [__first, *__rest]:
                    pass
            global __g
            __g = 1
            with open(__os.devnull) as __file:
                pass
            return [__k for __k in values], __v, found, __first, __rest, __g, (__n := 2), __n

    assert traced(Owner.f)(Owner(), [1, 2]) == Owner().f([1, 2])
    del globals()["_Owner__g"]
