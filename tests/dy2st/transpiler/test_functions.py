# ruff: noqa
"""Functions, lambdas and classes that a function makes are the user's own."""

from __future__ import annotations

import functools
import inspect

from tests.dy2st.transpiler.same import same, traced


def test_a_function_that_outlives_the_call_has_the_users_code():
    def f():
        def g(x):
            return x + 1

        return g

    made, own = traced(f)(), f()
    assert made.__code__ is own.__code__
    assert made.__qualname__ == own.__qualname__
    assert made.__module__ == own.__module__


def test_closures_of_a_loop_see_its_last_value():
    def f():
        made = []
        for i in range(3):
            made.append(lambda: i)
        return [g() for g in made]

    same(f)


def test_defaults_are_evaluated_once():
    def f():
        seen = []

        def note(x):
            seen.append(x)
            return x

        def g(a, b=note(1), /, c=note(2), *, d=note(3), e):
            return a, b, c, d, e

        return g(0, e=5), g(0, 1, e=6), seen

    same(f)


def test_keyword_only_parameters_without_defaults_stay_required():
    def f():
        def g(*, a, b=1):
            return a, b

        return g(a=2), g.__kwdefaults__, g()

    same(f)


def test_annotations_are_kept():
    def f():
        def g(a: int, *args: str, b: float = 1.0, **rest: bytes) -> list:
            return a

        return g.__annotations__

    same(f)


def test_a_lambda_has_defaults():
    def f(n):
        return [g() for g in [lambda i=i: i * n for i in range(3)]]

    same(f, (2,))


def test_two_lambdas_in_one_line_are_told_apart():
    def f(x):
        pair = (lambda a: a + x, lambda a: a - x)
        return pair[0](1), pair[1](1)

    same(f, (5,))


def test_two_equal_lambdas_in_one_line():
    def f(x):
        pair = (lambda a: a + x, lambda a: a + x)
        return pair[0](1), pair[1](2)

    same(f, (5,))


def test_lambdas_inside_each_other_in_one_line():
    def f(x):
        return (lambda a: lambda b: lambda c: a + b + c + x)(1)(2)(3)

    same(f, (5,))


def test_lambdas_in_the_defaults_of_lambdas():
    def f(x):
        return (lambda a=lambda: x + 1: a() * (lambda b=lambda: x: b())())()

    same(f, (5,))


def test_functions_of_one_name_in_two_branches():
    def f(flag):
        if flag:

            def g():
                return 1
        else:

            def g():
                return 2

        return g()

    same(f, (True,), (False,))


def test_decorators_are_evaluated_first_and_called_from_the_last():
    def f():
        seen = []

        def note(name):
            seen.append(name)

            def decorate(g):
                seen.append((name, getattr(g, "__name__", g)))
                return name if isinstance(g, str) else g

            return decorate

        @note("a")
        @note("b")
        def g(x=seen.append("default")):
            return 1

        @note("c")
        class C:
            seen.append("body")

        return g(), seen

    same(f)


def test_a_wrapped_function_keeps_what_it_wraps():
    def f():
        def decorate(g):
            @functools.wraps(g)
            def around(*args):
                return g(*args) + 1

            return around

        @decorate
        def g(x):
            """Doc."""
            return x

        return g(1), g.__name__, g.__doc__

    same(f)


def test_a_function_calls_itself():
    def f(n):
        def fact(k):
            return 1 if k <= 1 else k * fact(k - 1)

        return fact(n)

    same(f, (5,))


def test_an_inner_function_may_be_async_or_a_generator():
    def f():
        async def g():
            return 1

        def h():
            yield 1

        return inspect.iscoroutinefunction(g), list(h())

    same(f)


def test_a_class_has_its_body_bases_and_keywords():
    def f(x):
        class Meta(type):
            def __new__(meta, name, bases, space, **keywords):
                made = super().__new__(meta, name, bases, space)
                made.keywords = keywords
                return made

        class Base:
            base = x

        bases = (Base,)
        rest = {"b": 2}

        class C(*bases, metaclass=Meta, a=1, **rest):
            """Doc."""

            y = x + 1

            def m(self):
                return x, self.y, __class__

        c = C()
        return C.keywords, C.__doc__, C.__name__, C.base, c.m()[:2], c.m()[2] is C

    same(f, (1,))


def test_a_class_has_its_qualified_name():
    def f():
        class C:
            class D:
                def m(self):
                    return 1

        return C.__qualname__, C.D.__qualname__, C.D.m.__qualname__, C.__module__

    same(f)


def test_a_class_body_reads_a_global_where_it_has_no_variable_yet():
    def f():
        x = "local"

        class C:
            y = x
            x = "class"
            z = x

        return C.y, C.z

    same(f)


def test_a_class_body_assigns_a_variable_of_the_function():
    def f():
        x = 1

        class C:
            nonlocal x
            x = 2

        return x, hasattr(C, "x")

    same(f)


def test_methods_share_the_variables_of_the_function():
    def f():
        count = 0

        class Counter:
            def up(self):
                nonlocal count
                count += 1
                return count

        counter = Counter()
        counter.up()
        return counter.up(), count

    same(f)


class Base:
    def hello(self, x):
        return ("base", x)

    @classmethod
    def make(cls):
        return ("made", cls.__name__)


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


def test_wrong_arguments_raise_what_the_function_raises():
    def f(a, /, b, *, c):
        return a, b, c

    same(f, (1,), (1, 2), (1, 2, 3))


def test_a_lambda_has_a_traced_form():
    f = lambda x, *rest, k=2: x + k if x else rest
    same(f, (1,), (0, 2, 3))


def test_a_static_method_of_a_nested_class():
    def f():
        class C:
            @staticmethod
            def s(x):
                return x * 2

            @property
            def p(self):
                return 3

        return C.s(2), C().p

    same(f)
