# ruff: noqa
"""Functions, lambdas and classes that a function makes are the user's own."""

from __future__ import annotations

import functools
import inspect

from tests.dy2st.catalogue.entry import on_values


@on_values()
def closures_of_a_loop_see_its_last_value():
    made = []
    for i in range(3):
        made.append(lambda: i)
    return [g() for g in made]


@on_values()
def defaults_are_evaluated_once():
    seen = []

    def note(x):
        seen.append(x)
        return x

    def g(a, b=note(1), /, c=note(2), *, d=note(3), e):
        return a, b, c, d, e

    return g(0, e=5), g(0, 1, e=6), seen


@on_values()
def keyword_only_parameters_without_defaults_stay_required():
    def g(*, a, b=1):
        return a, b

    return g(a=2), g.__kwdefaults__, g()


@on_values()
def annotations_are_kept():
    def g(a: int, *args: str, b: float = 1.0, **rest: bytes) -> list:
        return a

    return g.__annotations__


@on_values((2,))
def a_lambda_has_defaults(n):
    return [g() for g in [lambda i=i: i * n for i in range(3)]]


@on_values((5,))
def two_lambdas_in_one_line_are_told_apart(x):
    pair = (lambda a: a + x, lambda a: a - x)
    return pair[0](1), pair[1](1)


@on_values((5,))
def two_equal_lambdas_in_one_line(x):
    pair = (lambda a: a + x, lambda a: a + x)
    return pair[0](1), pair[1](2)


@on_values((5,))
def lambdas_inside_each_other_in_one_line(x):
    return (lambda a: lambda b: lambda c: a + b + c + x)(1)(2)(3)


@on_values((5,))
def lambdas_in_the_defaults_of_lambdas(x):
    return (lambda a=lambda: x + 1: a() * (lambda b=lambda: x: b())())()


@on_values((True,), (False,))
def functions_of_one_name_in_two_branches(flag):
    if flag:

        def g():
            return 1
    else:

        def g():
            return 2

    return g()


@on_values()
def decorators_are_evaluated_first_and_called_from_the_last():
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


@on_values()
def a_wrapped_function_keeps_what_it_wraps():
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


@on_values((5,))
def a_function_calls_itself(n):
    def fact(k):
        return 1 if k <= 1 else k * fact(k - 1)

    return fact(n)


@on_values()
def an_inner_function_may_be_async_or_a_generator():
    async def g():
        return 1

    def h():
        yield 1

    return inspect.iscoroutinefunction(g), list(h())


@on_values((1,))
def a_super_without_an_object_is_bound_later(x):
    class Base:
        def grown(self):
            return x + 20

    class Child(Base):
        def grown(self):
            return super(Child).__get__(self, Child).grown()

    return Child().grown()


@on_values((1,))
def a_class_has_its_body_bases_and_keywords(x):
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


@on_values()
def a_class_has_its_qualified_name():
    class C:
        class D:
            def m(self):
                return 1

    return C.__qualname__, C.D.__qualname__, C.D.m.__qualname__, C.__module__


@on_values()
def a_class_body_reads_a_global_where_it_has_no_variable_yet():
    x = "local"

    class C:
        y = x
        x = "class"
        z = x

    return C.y, C.z


@on_values()
def a_class_body_assigns_a_variable_of_the_function():
    x = 1

    class C:
        nonlocal x
        x = 2

    return x, hasattr(C, "x")


@on_values()
def methods_share_the_variables_of_the_function():
    count = 0

    class Counter:
        def up(self):
            nonlocal count
            count += 1
            return count

    counter = Counter()
    counter.up()
    return counter.up(), count


class Base:
    def hello(self, x):
        return ("base", x)

    @classmethod
    def make(cls):
        return ("made", cls.__name__)


@on_values((1,), (1, 2), (1, 2, 3))
def wrong_arguments_raise_what_the_function_raises(a, /, b, *, c):
    return a, b, c


@on_values()
def a_static_method_of_a_nested_class():
    class C:
        @staticmethod
        def s(x):
            return x * 2

        @property
        def p(self):
            return 3

    return C.s(2), C().p
