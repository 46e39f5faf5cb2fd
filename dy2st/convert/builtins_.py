"""Builtins that treat traced arguments in their own way; with Python values they are Python's."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

from dy2st.convert.asked import asked, method_of, number_of
from dy2st.convert.attribute_builtins import ATTRIBUTE_BUILTINS
from dy2st.convert.outward import outward_print
from dy2st.convert.record import is_redirected
from dy2st.convert.staging import is_staged_items, stage_builtin, stage_cast, stage_len, stage_print
from dy2st.convert.stale import check_fresh
from dy2st.convert.text import TEXT_BUILTINS, holds_traced
from dy2st.convert.traced import any_traced, is_traced
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Variable, current_tracer, user_location

# A program may put functions of its own, converted ones, in the place of these.
_len, _print = builtins.len, builtins.print


def convert_print(*values: Any, **options: Any) -> None:
    """`print`: a Program prints when it runs, traced values in lists and dicts too."""
    file = options.get("file")
    is_of_program = current_tracer() is not None and _is_standard(file)
    if is_of_program and is_redirected(file):
        raise ConversionError(
            "print() to a standard stream that the function has redirected",
            at=user_location(),
            why="the Program prints when it runs, and the stream is back in place by then",
            hint="redirect it around the call of the converted function",
        )
    if is_of_program or holds_traced([*values, *options.values()]):
        stage_print(values, options)
    else:
        options.pop("file", None)
        outward_print(file, _print)(*values, **options)


def _is_standard(file: Any) -> bool:
    return file is None or file is sys.stdout or file is sys.stderr


def convert_len(*arguments: Any) -> Any:
    """`len`.

    >>> convert_len("abc")
    3
    """
    if _len(arguments) == 1:
        if any_staged(arguments[0]):
            return stage_len(arguments[0])
        if method_of(arguments[0], "__len__") is not None:
            return number_of(arguments[0], "__len__", int)
        check_fresh(arguments[0])
    return _len(*arguments)


def convert_type(*arguments: Any, **options: Any) -> Any:
    """`type`; a class made by it belongs to the module that calls.

    >>> convert_type(1), convert_type("A", (), {}).__module__ == __name__
    (<class 'int'>, True)
    """
    if _len(arguments) == 1 and any_staged(arguments[0]):
        return stage_builtin(type, arguments, options)
    if _len(arguments) == 3 and type(arguments[2]) is dict:
        caller = sys._getframe(1).f_globals
        if "__module__" not in arguments[2] and "__name__" in caller:
            name, bases, namespace = arguments
            namespace = {**namespace, "__module__": caller["__name__"]}
            return type(name, bases, namespace, **options)
    return type(*arguments, **options)


def convert_class(value: Any) -> Any:
    """`value.__class__`.

    >>> convert_class(1)
    <class 'int'>
    """
    return stage_builtin(type, (value,), {}) if any_staged(value) else value.__class__


def _cast(kind: type) -> Callable[..., Any]:
    def convert(*arguments: Any, **options: Any) -> Any:
        if _len(arguments) == 1 and not options:
            value = asked(arguments[0]) if kind is bool else arguments[0]
            if is_traced(value):
                return stage_cast(kind, value)
            if method_of(value, f"__{kind.__name__}__") is not None:
                return number_of(value, f"__{kind.__name__}__", kind)
            return kind(value)
        return kind(*arguments, **options)

    return convert


def _unless_traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin itself unless an argument is traced."""

    def convert(*arguments: Any, **options: Any) -> Any:
        if any_staged(*arguments, *options.values()):
            return stage_builtin(function, arguments, options)
        return function(*arguments, **options)

    return convert


def _made_of(kind: type[Any]) -> Callable[..., Any]:
    """`set` and `frozenset`, which look at once which of their items are equal."""
    make = _unless_traced(kind)

    def convert(*arguments: Any, **options: Any) -> Any:
        made = make(*arguments, **options)
        for item in made:
            if isinstance(item, Variable) and item.number is not None:
                raise item.unhashable()
        return made

    return convert


def any_staged(*values: Any) -> bool:
    """Whether one of the values is traced, or an iterable of the Program."""
    return any(is_traced(value) or is_staged_items(value) for value in values)


def _unless_items_traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin itself unless an argument, or an item of a single list or tuple, is traced."""

    def convert(*arguments: Any, **options: Any) -> Any:
        single = arguments[0] if _len(arguments) == 1 else ()
        items = single if type(single) in (list, tuple) else ()
        if any_traced(*arguments, *options.values(), *items):
            return stage_builtin(function, arguments, options)
        return function(*arguments, **options)

    return convert


def _until_traced(function: Callable[..., bool], decisive: bool) -> Callable[..., Any]:
    """`any` and `all`: items are taken one by one until one decides or is traced."""

    def convert(*arguments: Any, **options: Any) -> Any:
        if _len(arguments) != 1 or options:
            return function(*arguments, **options)
        if is_traced(arguments[0]):
            return stage_builtin(function, arguments, {})
        items = iter(arguments[0])
        for item in items:
            if is_traced(item):
                return stage_builtin(function, ([item, *items],), {})
            if bool(item) is decisive:
                return decisive
        return not decisive

    return convert


# By identity: a user's own function of the same name is not one of these.
_TABLE: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (builtins.print, convert_print),
    (builtins.len, convert_len),
    (builtins.type, convert_type),
    *((kind, _cast(kind)) for kind in (bool, int, float, complex)),
    *(
        (function, _unless_traced(function))
        for function in (
            abs,
            divmod,
            enumerate,
            filter,
            hasattr,
            frozenset,
            isinstance,
            iter,
            list,
            map,
            pow,
            range,
            reversed,
            round,
            tuple,
            zip,
        )
    ),
    *((kind, _made_of(kind)) for kind in (set, frozenset)),
    *((function, _unless_items_traced(function)) for function in (sum, max, min, sorted)),
    (builtins.any, _until_traced(builtins.any, True)),
    (builtins.all, _until_traced(builtins.all, False)),
)

BUILTINS: dict[int, Callable[..., Any]] = {
    **{id(builtin): own for builtin, own in _TABLE},
    **TEXT_BUILTINS,
    **ATTRIBUTE_BUILTINS,
}
