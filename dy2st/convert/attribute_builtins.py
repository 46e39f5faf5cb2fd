"""Functions that look into objects, of which a tensor decides: `hasattr`, `copy.copy`, ..."""

from __future__ import annotations

import builtins
import copy
import dataclasses
from collections.abc import Callable
from typing import Any

from dy2st.convert.attributes import attribute_of
from dy2st.convert.choices import is_case, spread
from dy2st.convert.ifelse import convert_ifexp
from dy2st.convert.outer import convert_module_variable
from dy2st.convert.record import note_name, note_whole
from dy2st.convert.undefined import Undefined
from dy2st_runtime.ir.choice import Choice


def convert_hasattr(*arguments: Any) -> Any:
    """`hasattr`; only some paths may have set the attribute.

    >>> convert_hasattr("", "join")
    True
    """
    note_name(arguments[-1] if arguments else None)
    if _is_one_of(arguments):
        return spread(convert_hasattr, *arguments)
    if not hasattr(*arguments):
        return False
    value = attribute_of(*arguments)
    if type(value) is not Choice:
        return True
    bound = [k for k, case in enumerate(value.cases) if not isinstance(case, Undefined)]
    return is_case(value, bound)


def convert_getattr(*arguments: Any) -> Any:
    """`getattr`, with a default for paths that have not set the attribute.

    >>> convert_getattr("", "none", 1)
    1
    """
    note_name(arguments[1] if _count(arguments) > 1 else None)
    if _count(arguments) == 2 and type(arguments[1]) is not Choice:
        return getattr(*arguments)
    if _is_one_of(arguments):
        return spread(convert_getattr, *arguments)
    if _count(arguments) != 3:
        return getattr(*arguments)
    owner, name, default = arguments
    has = convert_hasattr(owner, name)
    return convert_ifexp(has, lambda: getattr(owner, name), lambda: default)


def convert_callable(*arguments: Any) -> Any:
    """`callable`.

    >>> convert_callable(len)
    True
    """
    return spread(callable, *arguments) if _is_one_of(arguments) else callable(*arguments)


def convert_setattr(*arguments: Any) -> None:
    """`setattr`, of a module too.

    >>> class Settings: scale = 1
    >>> convert_setattr(Settings, "scale", 2)
    >>> Settings.scale
    2
    """
    convert_module_variable(*arguments[:2])
    setattr(*arguments)


def convert_delattr(*arguments: Any) -> None:
    """`delattr`, of a module too.

    >>> class Settings: scale = 1
    >>> convert_delattr(Settings, "scale")
    >>> hasattr(Settings, "scale")
    False
    """
    convert_module_variable(*arguments[:2])
    delattr(*arguments)


def _is_one_of(arguments: tuple[Any, ...]) -> bool:
    return any(type(value) is Choice for value in arguments[:2])


_count = len  # a program may put a function of its own in its place

ATTRIBUTE_BUILTINS: dict[int, Callable[..., Any]] = {
    id(builtins.callable): convert_callable,
    id(builtins.delattr): convert_delattr,
    id(builtins.getattr): convert_getattr,
    id(builtins.hasattr): convert_hasattr,
    id(builtins.setattr): convert_setattr,
}


def _for_each(function: Callable[..., Any]) -> Any:
    """A function of one object, called for whichever object it is."""

    def call(*arguments: Any, **options: Any) -> Any:
        note_whole(*arguments, *options.values())
        if not arguments:
            return function(**options)
        return spread(lambda one: function(one, *arguments[1:], **options), arguments[0])

    return call


# Python's own functions that take objects of the user apart.
_APART: tuple[Any, ...] = (dataclasses.replace, dataclasses.asdict, dataclasses.astuple)
OF_OBJECTS: dict[int, Any] = {id(f): _for_each(f) for f in (*_APART, copy.copy, copy.deepcopy)}
