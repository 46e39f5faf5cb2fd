"""Accepts other spellings of calls: names of arguments, `out=`, sizes one by one.

They are known to one table for all public functions, so a function itself has one spelling only.
What is given for a flag or a number is held against the function's annotations on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ArgumentError, NoTensor, WrongKind
from dy2st_runtime.ir.location import hide_own_frames


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


def _is_number(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__float__") or hasattr(kind, "__index__") or _is_tensor(value)


_NONE = type(None)
_KINDS = {
    "bool": GivenKind(
        "True or False",
        frozenset({bool, _NONE}),
        # Also 0 and 1, and what is known only at run time.
        lambda value: (
            value in (0, 1)
            if value.__class__ is int
            else isinstance(value, (np.bool_, Condition)) or _is_tensor(value)
        ),
    ),
    "float": GivenKind("a number", frozenset({bool, float, int}), _is_number),
    "float | complex": GivenKind(
        "a number",
        frozenset({bool, complex, float, int}),
        lambda value: _is_number(value) or isinstance(value, np.complexfloating),
    ),
    "int": GivenKind(
        "an integer",
        frozenset({int}),
        lambda value: (
            not isinstance(value, (bool, np.bool_))
            and (hasattr(type(value), "__index__") or _is_tensor(value))
        ),
    ),
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
    code = method.__code__
    names = code.co_varnames[1 : code.co_argcount]

    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> None:
        try:
            for name, value in (*zip(names, args, strict=False), *named.items()):
                if name in kinds:
                    kinds[name].check(type(self).__name__, name, value)
            method(self, *args, **named)
        except Exception as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return call


_HAS_KEYWORDS = 0x08
Function = TypeVar("Function", bound=Callable[..., Any])

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "input": ("x", "arr", "values"),
    "tensors": ("x",),
    "x1": ("x",),
    "x2": ("y",),
    "other": ("y",),
    "vec2": ("y",),
    "exponent": ("y",),
    "target": ("label",),
    "dim": ("axis", "axes", "dim"),
    "dims": ("axis", "axes", "repeat_times"),
    "start_dim": ("start_axis",),
    "end_dim": ("stop_axis",),
    "size": ("shape",),
    "sizes": ("shape",),
    "eps": ("epsilon",),
    "ord": ("p",),
    "ddof": ("correction",),
    "return_indices": ("return_mask",),
    "lambd": ("threshold",),
    "boundaries": ("sorted_sequence",),
    "end": ("stop",),
    "steps": ("num",),
    "n": ("num_rows",),
    "m": ("num_columns",),
}
"""A name that an argument may be given by, and what it is called then; the first that there is."""

KINDS: dict[str, dict[str, GivenKind]] = {}
"""What the flags and numbers of each function may be."""

_LIKE_TENSORS = (list, tuple, bool, int, float, complex)
"""What a new user gives for a tensor."""

_LIST, _BEHIND_LIST = "shape", ("dtype", "name")
"""A list that may be given as one argument after the other, `x.reshape(2, 3)`: what it is called,
and what may follow it (in `full(2, 3)` the second number is no size)."""


def spelled(function: Function) -> Function:
    """The function, which takes its arguments in the other spellings too."""
    code = unwrap(function).__code__  # of what a decorator changes
    if code.co_flags & _HAS_KEYWORDS:
        return function
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    knows = frozenset(names).issuperset
    places = range(min(2, len(names) - 1))
    listed = (i for i in places if names[i] == _LIST and names[i + 1] in _BEHIND_LIST)
    at = next(listed, None)
    title = function.__name__
    KINDS[title] = kinds_of(unwrap(function))
    first = min(map(names.index, KINDS[title]), default=len(names))

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            kinds = KINDS[title]
            if len(args) > first:
                for name, value in zip(names, args, strict=False):
                    if name in kinds:
                        kinds[name].check(title, name, value)
            if not named:
                return function(*args)
            if not knows(named):
                return _respelled(function, names, args, named)
            for name in named:
                if name in kinds:
                    kinds[name].check(title, name, named[name])
            return function(*args, **named)
        except AttributeError as error:
            # Whether a value that lacks an attribute is an argument of which a tensor can be
            # made.
            given = (*args, *named.values())
            is_asked_as_tensor = type(error.obj) in _LIKE_TENSORS and any(
                error.obj is each for each in given
            )
            if not is_asked_as_tensor:
                hide_own_frames(error)
                raise
            kind = type(error.obj).__name__
            try:
                raise NoTensor(
                    f"this argument is a tensor, not an object of type {kind!r}: "
                    "dy2st.to_tensor(...) makes a tensor of it"
                ) from error
            except NoTensor as refusal:  # goes on, without this frame
                hide_own_frames(refusal)
                raise
        except Exception as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return cast(Function, call if at is None else _with_list(call, at))


def _with_list(function: Callable[..., Any], at: int) -> Callable[..., Any]:
    """The function, which takes the entries of its list one by one too."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if len(args) > at + 1:
            # The sizes become one list; what follows them is no size.
            count = at
            while count < len(args) and _is_size(args[count]):
                count += 1
            args = args if count < at + 2 else (*args[:at], list(args[at:count]), *args[count:])
        try:
            return function(*args, **named)
        except Exception as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    return call


def _is_size(value: Any) -> bool:
    return type(value) is int or isinstance(value, Dim) or getattr(value, "ndim", None) == 0


def _respelled(
    function: Callable[..., Any],
    names: tuple[str, ...],
    args: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    kinds = KINDS[function.__name__]
    plain: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in named.items():
        # What an argument of another name is called here, None if there is no such argument.
        target = (
            name
            if name in names
            else next((target for target in OTHER_NAMES.get(name, ()) if target in names), None)
        )
        if target in plain:
            raise TypeError(f"{function.__name__}() got {target!r} twice, also as {name!r}")
        (rest if target is None else plain)[target or name] = value
        if target in kinds:
            kinds[target].check(function.__name__, name, value)
    out = rest.pop("out", None)
    is_leaf = False
    if "dtype" in names:
        # Whether a new tensor needs gradients; there is one device, so that says nothing.
        rest.pop("device", None)
        rest.pop("pin_memory", None)
        is_leaf = bool(rest.pop("requires_grad", False))
    result = function(*args, **plain, **rest)
    if is_leaf:
        result.stop_gradient = False
    if out is None:
        return result
    if not hasattr(result, "tensor_type"):
        name = function.__name__
        raise ArgumentError(f"{name} gives several tensors, so it has no out=: assign them")
    out.set_value(result)
    return out
