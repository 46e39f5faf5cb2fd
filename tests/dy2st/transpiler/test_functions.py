# ruff: noqa
"""Functions, lambdas and classes that a function makes are the user's own."""

from __future__ import annotations

import inspect
from tests.dy2st.transpiler.same import same, traced
from tests.dy2st.plain_values.functions import Base


def test_a_function_that_outlives_the_call_has_the_users_code():
    def f():
        def g(x):
            return x + 1

        return g

    made, own = traced(f)(), f()
    assert made.__code__ is own.__code__
    assert made.__qualname__ == own.__qualname__
    assert made.__module__ == own.__module__


class Derived(Base):
    def hello(self, x):
        if x > 0:
            return super().hello(x)
        return ("derived", super().hello(-x), __class__.__name__)

    @classmethod
    def make(cls):
        return super().make()

    def changed(self):
        self = Other()
        return super().hello(1)

    def in_a_comprehension(self):
        me = super()
        return [me.hello(k) for k in range(2)]

    def in_an_operand(self, x):
        return x and super().hello(x)

    def own_class(self):
        return __class__

    def by_lambda(self):
        return (lambda: __class__.__name__)()

    def by_another_super(self, x):
        def super():
            return Other()

        return super().hello(x)

    def by_a_parameter(self, x, super=Base):
        return super().hello(x)


class Other(Derived):
    pass


def test_super_finds_the_class_and_the_first_parameter():
    for x in (1, 0):
        assert traced(Derived.hello)(Derived(), x) == Derived().hello(x)
        assert traced(Derived.in_an_operand)(Derived(), x) == Derived().in_an_operand(x)


def test_super_works_in_class_methods_and_after_the_first_parameter_changed():
    made = traced(Derived.make.__func__)
    assert made(Other) == Other.make()
    assert traced(Derived.changed)(Derived()) == Derived().changed()


def test_another_super_is_called_as_it_is():
    for function in (Derived.by_another_super, Derived.by_a_parameter):
        assert traced(function)(Derived(), 1) == function(Derived(), 1)


def test_super_may_be_kept():
    form = traced(Derived.in_a_comprehension)
    assert form(Derived()) == Derived().in_a_comprehension()


def test_the_class_of_a_method_is_a_variable():
    assert traced(Derived.own_class)(Derived()) is Derived
    assert traced(Derived.by_lambda)(Derived()) == "Derived"


def test_the_signature_is_the_functions():
    default = object()

    def f(a, /, b: int, c=default, *rest: str, d, e=2, **more) -> list:
        """Doc."""
        return a, b, c, rest, d, e, more

    form = traced(f)
    assert inspect.signature(form) == inspect.signature(f)
    assert (form.__name__, form.__qualname__, form.__doc__, form.__module__) == (
        f.__name__,
        f.__qualname__,
        f.__doc__,
        f.__module__,
    )
    assert form.__defaults__ is f.__defaults__
    assert form(1, 2, d=3) == f(1, 2, d=3)
    assert form(1, 2, 3, 4, 5, d=6, z=7) == f(1, 2, 3, 4, 5, d=6, z=7)


def test_a_lambda_has_a_traced_form():
    f = lambda x, *rest, k=2: x + k if x else rest
    same(f, (1,), (0, 2, 3))
