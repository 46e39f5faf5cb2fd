"""Classes and dicts of attributes show what the function has set; hooks of classes do what they do."""

from __future__ import annotations

import functools

import dy2st
from dy2st.jit import to_static

INPUTS = [dy2st.to_tensor(v) for v in ([1.0, 2.0], [-1.0, -2.0], [3.0, 1.0], [1.0, 1.0])]


def compared(make):
    """A function that is made anew for each way, called in a row."""
    plain, static = make(), to_static(make())
    for x in INPUTS:
        assert repr(static(x)) == repr(plain(x))


def test_vars_of_a_class_show_what_a_branch_has_set():
    def make():
        class Base:
            count = 0

        class Derived(Base):
            pass

        def f(x):
            if x.sum() > 0:
                Derived.count += 1
            else:
                Base.count += 10
            return vars(Base)["count"], Derived.count

        return f

    compared(make)

    def known():
        class Kind:
            pass

        def f(x):
            Kind.seen = getattr(Kind, "seen", 0) + 1
            return "seen" in vars(Kind), vars(Kind)["seen"]

        return f

    compared(known)


def test_vars_of_an_object_whose_last_attribute_is_deleted_are_empty():
    def make():
        class Kind:
            size = 1

        one = Kind()

        def f(x):
            one.size = one.size + 1
            if one.size > 3:
                del one.size
            return one.size, "size" in vars(one), dict(vars(one))

        return f

    compared(make)


def test_a_hook_of_a_base_class_is_called_at_each_call():
    def make():
        names = []

        class Base:
            def __init_subclass__(cls):
                names.append(cls.__name__)

        def f(x):
            class Derived(Base):
                pass

            return Derived.__name__, len(names)

        return f

    compared(make)


def test_a_length_that_a_cache_changes_after_it_was_read_is_read_again():
    def make():
        calls = []

        @functools.cache
        def twice(n):
            calls.append(n)
            return n * 2

        return lambda x: (twice(x.ndim), len(calls), twice(3))

    compared(make)
