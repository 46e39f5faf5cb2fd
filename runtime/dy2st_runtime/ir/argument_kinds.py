"""Checks flags and numbers among the arguments of public functions, by their annotations.

>>> def f(x: Any, axis: int | None = None, keepdim: bool = False) -> None: ...
>>> sorted(kinds_of(f))
['axis', 'keepdim']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from dy2st_runtime.dims import Condition
from dy2st_runtime.errors import WrongKind


class GivenKind(NamedTuple):
    """What an argument may be: an object of these classes, or else what `fits`."""

    what: str
    plain: frozenset[type]
    fits: Callable[[Any], bool]

    def check(self, function: str, name: str, value: Any) -> None:
        """WrongKind if it is something else."""
        if value.__class__ not in self.plain and not self.fits(value):
            raise WrongKind(f"{function}(): `{name}` is {self.what}, not {value!r:.80}")


def _is_tensor(value: Any) -> bool:
    return hasattr(type(value), "ndim")


def _is_flag(value: Any) -> bool:
    """Also 0 and 1, and what is known only at run time."""
    if value.__class__ is int:
        return value in (0, 1)
    return isinstance(value, (np.bool_, Condition)) or _is_tensor(value)


def _is_number(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__float__") or hasattr(kind, "__index__") or _is_tensor(value)


def _is_integer(value: Any) -> bool:
    is_bool = isinstance(value, (bool, np.bool_))
    return not is_bool and (hasattr(type(value), "__index__") or _is_tensor(value))


_NONE = type(None)
_KINDS = {
    "bool": GivenKind("True or False", frozenset({bool, _NONE}), _is_flag),
    "float": GivenKind("a number", frozenset({bool, float, int}), _is_number),
    "float | complex": GivenKind(
        "a number",
        frozenset({bool, complex, float, int}),
        lambda value: _is_number(value) or isinstance(value, np.complexfloating),
    ),
    "int": GivenKind("an integer", frozenset({int}), _is_integer),
}


def kinds_of(function: Callable[..., Any]) -> dict[str, GivenKind]:
    """The kinds of those parameters that are annotated as flags, numbers or integers."""
    found = {}
    for name, text in function.__annotations__.items():
        kind = _KINDS.get(str(text).removesuffix(" | None"))
        if kind is not None and name != "return":
            is_optional = str(text).endswith(" | None")
            found[name] = kind._replace(plain=kind.plain | {_NONE}) if is_optional else kind
    return found


def checked(method: Callable[..., None]) -> Callable[..., None]:
    """A method that asks for the kinds of its arguments first: of functions `spelled` does."""
    kinds = kinds_of(method)
    if not kinds:
        return method
    code = method.__code__
    names = code.co_varnames[1 : code.co_argcount]

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> None:
        for name, value in (*zip(names, args, strict=False), *named.items()):
            if name in kinds:
                kinds[name].check(type(self).__name__, name, value)
        method(self, *args, **named)

    return call
