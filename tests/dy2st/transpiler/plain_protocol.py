"""A protocol that does what Python does: the traced form then behaves exactly as the function."""

from __future__ import annotations

import builtins
import contextlib
import operator
import sys
from types import CellType, FunctionType
from typing import Any

from dy2st.convert import dy2static
from dy2st.convert.dy2static import TRACED_CALLS
from dy2st.transpiler import lowering as vocabulary
from dy2st.transpiler.source import code_at, user_function
from tests.dy2st.transpiler import plain_match

_LOCAL = "cannot access local variable {0!r} where it is not associated with a value"
_FREE = (
    "cannot access free variable {0!r} where it is not associated with a value in enclosing scope"
)
if sys.version_info < (3, 11):
    _LOCAL = "local variable {0!r} referenced before assignment"
    _FREE = "free variable {0!r} referenced before assignment in enclosing scope"
_MISSING, _UNSET = object(), object()


class _Functions:
    pass


_FUNCTIONS = _Functions()


def _protocol(function):
    setattr(_FUNCTIONS, function.__name__, function)
    return function


def _take_operators():
    for name in vocabulary.OPERATORS.values():
        plain = {"and_bits": "and_", "or_bits": "or_", "pow_": "pow"}.get(name, name)
        if hasattr(operator, plain):
            setattr(_FUNCTIONS, name, getattr(operator, plain))
        if hasattr(operator, f"i{plain.strip('_')}"):
            setattr(_FUNCTIONS, f"i{name}", getattr(operator, f"i{plain.strip('_')}"))


_take_operators()
for _name in dy2static.STATEMENTS:
    setattr(_FUNCTIONS, _name, getattr(dy2static, _name))


@_protocol
def in_(element, container):
    return element in container


@_protocol
def not_in(element, container):
    return element not in container


@_protocol
def glob(function, name):
    value = function.__globals__.get(name, _MISSING)
    if value is not _MISSING:
        return value
    known = function.__builtins__ if hasattr(function, "__builtins__") else vars(builtins)
    if name in known:
        return known[name]
    raise NameError(f"name {name!r} is not defined", name=name)


@_protocol
def set_glob(function, name, value):
    function.__globals__[name] = value


@_protocol
def imported(function, level, module, name, value):
    return value


@_protocol
def del_glob(function, name):
    if name not in function.__globals__:
        raise NameError(f"name {name!r} is not defined", name=name)
    del function.__globals__[name]


@_protocol
def new_cell(*value):
    return CellType(*value)


def _content(held):
    assert type(held) is CellType
    try:
        return held.cell_contents
    except ValueError:
        return _UNSET


@_protocol
def cell(held, name):
    value = _content(held)
    if value is _UNSET:
        raise NameError(_FREE.format(name), name=name)
    return value


@_protocol
def local_cell(held, name):
    value = _content(held)
    return dy2static.defined(dy2static.undefined(name) if value is _UNSET else value, name)


@_protocol
def set_cell(held, value):
    held.cell_contents = value


@_protocol
def del_cell(held, name):
    cell(held, name)
    del held.cell_contents


@_protocol
def attr(owner, name):
    return getattr(owner, name)


@_protocol
def set_attr(owner, name, value):
    setattr(owner, name, value)


@_protocol
def del_attr(owner, name):
    delattr(owner, name)


@_protocol
def item(owner, index):
    return owner[index]


@_protocol
def set_item(owner, index, value):
    owner[index] = value


@_protocol
def del_item(owner, index):
    del owner[index]


@_protocol
def truth(value):
    return bool(value)


@_protocol
def make_generic(function, path, cells, *arguments):
    code = code_at(function, path)
    made = FunctionType(code, function.__globals__, code.co_name, None, cells or None)
    return made(*arguments)


@_protocol
def spread_star(values):
    return values


@_protocol
def spread_double_star(values):
    return values


@_protocol
def rest(values):
    return values


@_protocol
def double_star(values):
    return values


@_protocol
def made(value):
    return value


@_protocol
def gather(kind, *entries):
    found = []
    for is_star, value in entries:
        if is_star:
            found += [*value]
        else:
            found.append(value)
    return kind(found)


@_protocol
def gather_dict(*entries):
    found: dict[Any, Any] = {}
    for entry in entries:
        if len(entry) == 1:
            found = {**found, **entry[0]}
        else:
            found[entry[0]] = entry[1]
    return found


_CONVERSIONS = {"r": repr, "s": str, "a": ascii, "": lambda value: value}


@_protocol
def text(*parts):
    found = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        else:
            value, conversion, spec = part
            found.append(format(_CONVERSIONS[conversion](value), spec))
    return "".join(found)


@_protocol
def unpack(values, count):
    targets = ", ".join(f"x{k}" for k in range(count))
    namespace = {"values": values}
    exec(f"[{targets}] = values", namespace)
    return tuple(namespace[f"x{k}"] for k in range(count))


@_protocol
def unpack_star(values, before, after):
    names = [f"x{k}" for k in range(before + after)]
    targets = ", ".join([*names[:before], "*star", *names[before:]])
    namespace = {"values": values}
    exec(f"[{targets}] = values", namespace)
    found = [namespace[name] for name in names]
    return (*found[:before], namespace["star"], *found[before:])


_FUNCTIONS.make_function = user_function


def _user_class(outer, path, cells, name, bases, keywords):
    """The class that a `class` statement in `outer` makes; its body runs as it is."""
    body = FunctionType(code_at(outer, path), outer.__globals__, name, None, cells)
    return builtins.__build_class__(body, name, *bases, **keywords)


_FUNCTIONS.make_class = _user_class


@_protocol
def convert_match(subject, pattern, names):
    found = plain_match.match(subject, pattern, names, _UNSET)
    values = zip(names, found[1:], strict=True)
    return found[0], *(dy2static.undefined(n) if v is _UNSET else v for n, v in values)


@_protocol
def push(item):
    raise AssertionError("nobody takes items at once")


@_protocol
def push_all(iterable):
    raise AssertionError("nobody takes items at once")


@_protocol
def iterate(iterable):
    return iterable


@_protocol
def manager(value):
    return value


@_protocol
def handling(classes, has_finally):
    return contextlib.nullcontext()


@_protocol
def raised(error):
    return error


assert sys.version_info >= (3, 10)
assert all(hasattr(_FUNCTIONS, name) for name in TRACED_CALLS)

PLAIN = _FUNCTIONS
