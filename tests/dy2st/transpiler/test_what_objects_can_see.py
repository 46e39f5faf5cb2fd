"""What Python's objects can observe of the code that uses them is the same after conversion."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Mapping

import pytest

from tests.dy2st.transpiler.same import traced


def global_names(x):
    global GlobalClass, global_function

    class GlobalClass:
        def method(self):
            return lambda: None

    if x:

        def global_function():
            class Inner:
                pass

            return Inner

    inner = GlobalClass().method()
    names = GlobalClass, GlobalClass.method, inner, global_function, global_function()
    return [entry.__qualname__ for entry in names]


def test_what_is_declared_global_has_no_name_in_front(same_as_python):
    same_as_python(global_names, (1,))
    assert traced(global_names)(1) == [
        "GlobalClass",
        "GlobalClass.method",
        "GlobalClass.method.<locals>.<lambda>",
        "global_function",
        "global_function.<locals>.Inner",
    ]


def nested_names(x):
    def outer():
        def inner():
            return [lambda: x for _ in range(1)]

        class Local:
            class Deep:
                def method(self):
                    return None

        return [outer, inner, inner()[0], Local, Local.Deep, Local.Deep.method]

    return [entry.__qualname__ for entry in outer()]


class Holder:
    @staticmethod
    def nested_names(x):
        def inner():
            pass

        return inner.__qualname__


def test_nested_names_begin_with_those_around_them(same_as_python):
    same_as_python(nested_names, (1,), is_text_too=False)
    same_as_python(Holder.nested_names, (1,), is_text_too=False)
    assert traced(Holder.nested_names)(1) == "Holder.nested_names.<locals>.inner"


class Watchful:
    """Tells when someone asks for its class."""

    asked = 0

    @property
    def __class__(self):
        Watchful.asked += 1
        return int

    def __call__(self, *args):
        return self

    def __bool__(self):
        return True

    __lt__ = __eq__ = __getitem__ = __call__
    __hash__ = None

    def __setitem__(self, index, value):
        pass

    def __iter__(self):
        return iter([self])

    def __contains__(self, item):
        return True

    def append(self, item):
        pass


def use(value):
    if value:
        value = value(1) and value
    while value < 3:
        value[value] = value
        value.append(value)
        for item in value:
            value = item if item else None
        if item in value or value < item < item:
            break
    assert not (not value)
    return type(value) is not None


def test_no_object_is_asked_for_its_class():
    Watchful.asked = 0
    assert traced(use)(Watchful()) is True
    assert Watchful.asked == 0


def plain_generator(value):
    if value:
        yield value
    return value


def test_a_plain_generator_still_cannot_be_awaited():
    generator = traced(plain_generator)

    async def main():
        return await generator(0)

    with pytest.raises(TypeError):
        asyncio.run(main())


def with_builtins_replaced(values):
    size, show, seen = builtins.len, builtins.print, []

    def own_len(value):
        seen.append("len")
        return size(value)

    def own_print(*arguments):
        seen.append(arguments)
        show(*arguments)

    builtins.len, builtins.print = own_len, own_print
    try:
        print(len(values))
    finally:
        builtins.len, builtins.print = size, show
    return seen


def test_builtins_may_be_replaced_by_converted_functions(same_as_python):
    same_as_python(with_builtins_replaced, ([1, 2],))
    assert traced(with_builtins_replaced)([1, 2]) == ["len", (2,)]


class RegisteredMapping:
    def __len__(self):
        raise AssertionError("nobody asks")

    def __repr__(self):
        return "a mapping"


Mapping.register(RegisteredMapping)


def which(value):
    match value:
        case [*_]:
            return "sequence"
        case {}:
            return "mapping"
        case _:
            return "neither"


def test_a_mapping_without_get_fits_the_pattern_without_keys(same_as_python):
    same_as_python(which, (RegisteredMapping(),), ({},), ({1: 2},), ([],), (3,))
    assert traced(which)(RegisteredMapping()) == "mapping"


def test_converted_code_can_be_hashed_as_tools_do(define, convert):
    function = define(
        "def f(x, d):\n"
        "    match x:\n"
        "        case 1 | 'a':\n"
        "            return len(d)\n"
        "    for y in d:\n"
        "        if y in d and not x:\n"
        "            d[y] = f(y, d)\n"
    )
    assert {convert(function).__code__: 1}


def test_a_list_that_holds_itself_is_shown_as_in_python(define, convert):
    function = define(
        "def f(x):\n    x.append(x)\n    return repr(x), str(x), f'{x}', ascii([x])\n"
    )
    assert convert(function)([1]) == function([1])
