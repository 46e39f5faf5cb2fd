"""Scopes, closures, classes and identity of converted functions are Python's."""

# ruff: noqa: B023, RUF012, RUF100, SIM108 - the code compared is meant

from __future__ import annotations

import inspect
import sys

import pytest

COUNTER = 0


def late_binding(x):
    functions = []
    for i in range(3):
        if i >= 0:
            functions.append(lambda v: v * i)
    return [function(x) for function in functions]


def default_captures_loop_variable(x):
    functions = []
    for i in range(3):
        functions.append(lambda v, i=i: v * i)
    return [function(x) for function in functions]


def closure_sees_what_a_branch_assigns(x):
    n = 0

    def read():
        return n

    if x:
        n = 5
        r = read()
    else:
        r = -1
    return r, read()


def nonlocal_write_inside_a_nested_function(x):
    c = 0

    def bump():
        nonlocal c
        if x > 1:
            c = c + x

    for _ in range(3):
        bump()
    return c


def nested_function_after_a_rebinding_branch(x):
    y = 1
    if x > 1:
        y = 2

    def read():
        return y

    return read()


def lambda_in_a_branch(x):
    if x > 1:
        y = [1, 2]
        y = list(map(lambda v: v + x, y))
    else:
        y = []
    return y


def comprehensions_in_a_branch(x):
    i = "outer"
    if x:
        y = [i * x for i in range(3) if i]
        z = {i for i in y}
        w = {i: j for i, j in enumerate(y)}
    else:
        y = z = w = None
    return i, y, z, w


def generator_expression_in_a_loop(x):
    total = 0
    for k in range(x):
        total += sum(k * v for v in range(3))
    return total


def unbound_in_lazy_operand(x):
    if x > 5:
        y = 1
    return x and y


def unbound_in_comprehension(x):
    if x > 5:
        y = 1
    return [y for _ in range(x)]


def unbound_in_augmented_assignment(x):
    if x > 5:
        y = 1
    y += x
    return y


def parameter_deleted(x):
    if x:
        del x
    return x


def import_in_a_branch(x):
    if x:
        import os.path as path
        from json import dumps
    else:
        path = None
    return path is not None and dumps([1])


def local_class(x):
    if x > 1:
        x = x * 10

    class Local:
        size = x if x > 5 else -x
        values = [v for v in range(3) if v and True]

        def get(self):
            if self.size > 5:
                return "large"
            return "small"

    return Local.size, Local.values, Local().get(), Local.__qualname__, Local.get.__qualname__


def qualified_names(x):
    if x:

        def inner():
            return lambda: None

        return inner.__qualname__, inner().__qualname__
    f = lambda: None  # noqa: E731
    return f.__qualname__


def names_that_clash(convert_call, undefined=3):
    true_fn_0 = convert_call
    if true_fn_0 > 1:
        convert_ifelse = undefined
    else:
        convert_ifelse = 2
    return convert_ifelse + max(true_fn_0, 1)


def shadowed_builtins(x):
    def range(n):
        return ["mine"] * n

    len = str  # noqa: A001
    out = []
    for i in range(x):
        out.append(i)
    return out, len(out)


def locals_see_no_helpers(x):
    y = 1
    if x:
        y = 2
    return sorted(locals()), eval("x + y")


def keyword_errors(x):
    def target(a):
        return a

    return target(1, **{"a": x})


def wrong_callable(x):
    return x(1)


@pytest.mark.parametrize(
    "function",
    [
        late_binding,
        default_captures_loop_variable,
        closure_sees_what_a_branch_assigns,
        nonlocal_write_inside_a_nested_function,
        nested_function_after_a_rebinding_branch,
        lambda_in_a_branch,
        comprehensions_in_a_branch,
        generator_expression_in_a_loop,
        unbound_in_lazy_operand,
        unbound_in_comprehension,
        unbound_in_augmented_assignment,
        parameter_deleted,
        import_in_a_branch,
        local_class,
        *([qualified_names] if sys.version_info >= (3, 11) else []),  # 3.10 keeps no such names
        names_that_clash,
        shadowed_builtins,
        locals_see_no_helpers,
        keyword_errors,
        wrong_callable,
    ],
    ids=lambda function: function.__name__,
)
def test_names_of_converted_functions_are_pythons(function, same_as_python):
    same_as_python(function, (0,), (1,), (2,), (7,))


def test_global_writes_reach_the_module(convert):
    def write(x):
        global COUNTER
        if x:
            COUNTER = COUNTER + x
        return COUNTER

    before = COUNTER
    assert convert(write)(3) == before + 3 == COUNTER


def test_closure_cells_are_the_users_own(convert):
    count = 0

    def bump(x):
        nonlocal count
        count += 1 if x else 0
        return count

    converted = convert(bump)
    count = 10
    assert converted(True) == 11 == count


class Base:
    def __init__(self, x):
        self.__x = x

    def value(self, scale=1, *, offset=0):
        return self.__x * scale + offset


class Child(Base):
    def value(self, scale=2, *, offset=1):
        if scale > 1:
            return super().value(scale) + offset
        result = super().value()
        return result if result > 1 and __class__ is Child else -result


class GrandChild(Child):
    def value(self):
        return super().value(3)


def test_super_and_mangled_names_work(convert):
    for cls in (Base, Child, GrandChild):
        function = cls.__dict__["value"]
        converted = convert(function)
        assert [converted(GrandChild(x)) for x in (0, 1, 5)] == [
            function(GrandChild(x)) for x in (0, 1, 5)
        ]


def test_identity_of_the_function_is_kept(convert):
    def target(a: int, b: str = "x", *c: float, d: int = 3, **e: object) -> str:
        """What it does."""
        return b if a else str(d)

    target.extra = "kept"
    converted = convert(target)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        assert getattr(converted, name) == getattr(target, name)
    assert converted.__defaults__ is target.__defaults__
    assert converted.__kwdefaults__ is target.__kwdefaults__
    assert converted.extra == "kept"
    assert inspect.signature(converted) == inspect.signature(target)
    assert converted.__globals__ is target.__globals__
    assert converted.__code__.co_filename == __file__
    assert converted.__code__.co_firstlineno == target.__code__.co_firstlineno


def test_traceback_names_the_users_line_and_column(convert):
    def fail(x):
        y = 0
        if x:
            y = x + (1 // y)
        return y

    with pytest.raises(ZeroDivisionError) as caught:
        convert(fail)(1)
    last = caught.traceback[-1]
    assert str(last.path) == __file__
    assert last.lineno == fail.__code__.co_firstlineno + 2
    if sys.version_info >= (3, 11):
        frame = caught.tb
        while frame.tb_next is not None:
            frame = frame.tb_next
        positions = list(frame.tb_frame.f_code.co_positions())[frame.tb_lasti // 2]
        assert positions[2:] == (21, 27)
