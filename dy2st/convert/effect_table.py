"""Which functions are called as they are, and what such calls read, do and change.

Those of libraries are, and what the user leaves alone. Which function does what stands in
`effects.txt`; this file says what the kinds of rows mean, and finds the row of a call.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, GeneratorType, ModuleType
from typing import Any, TypeAlias

import numpy as np

IGNORED_PACKAGES = frozenset({"dy2st", "dy2st_runtime", "numpy", *sys.stdlib_module_names})
IGNORE_MARK = "__dy2st_ignore__"

# Our own functions that are written like the user's.
_LIKE_THE_USERS = (
    *("dy2st.amp", "dy2st.paddle.autograd", "dy2st.paddle.tensor.array", "dy2st.static.nn"),
    *("dy2st.paddle.distributed.dist_model", "dy2st_runtime.nn.clip", "dy2st_runtime.optimizer"),
    *("dy2st_runtime.grad_scaler", "dy2st_runtime.nn.vectors", "dy2st_runtime.regularizer"),
)
# What makes, holds and runs Programs: nothing in it is a value of the user's code.
_MACHINERY = (
    *("dy2st.convert", "dy2st.jit", "dy2st.passes", "dy2st.static", "dy2st.targets"),
    *("dy2st.transpiler", "dy2st_runtime.autodiff", "dy2st_runtime.dims"),
    *("dy2st_runtime.engine", "dy2st_runtime.ir"),
)
_ignored_modules: set[str] = set()


def ignore_module(modules: Iterable[ModuleType]) -> None:
    """Leave the functions of these modules, and of modules inside them, as they are.

    >>> import json
    >>> ignore_module([json])
    """
    for module in modules:
        if not isinstance(module, ModuleType):
            raise TypeError(f"ignore_module takes a list of modules, not {module!r}")
        _ignored_modules.add(module.__name__)


def is_ignored_module(name: str) -> bool:
    """Whether the functions of a module are called as they are: libraries, and as asked for."""
    if is_of_library(name):
        return not is_like_the_users(name)
    return _is_in(name, _ignored_modules)


def is_of_library(module: str) -> bool:
    """Whether a module is one of a library whose functions nobody looks into."""
    return module.partition(".")[0] in IGNORED_PACKAGES


def module_of_code(function: FunctionType) -> str:
    """The module of a function, though `functools.wraps` has given it the name of a library.

    >>> import functools, json
    >>> module_of_code(functools.wraps(json.dumps)(lambda *values: values)) == "json"
    False
    """
    named = str(function.__module__)
    if is_of_library(named):
        return str(function.__globals__.get("__name__", named))
    return named


def is_like_the_users(name: str) -> bool:
    """Whether a module of ours is traced as the user's are."""
    return name.startswith("dy2st") and _is_in(name, _LIKE_THE_USERS)


def is_machinery(value: object) -> bool:
    """Whether an object is a cache, a Program, an executable, ...: no state of the user's."""
    name = str(type(value).__module__)
    return name.startswith("dy2st") and _is_in(name, _MACHINERY) and not is_like_the_users(name)


POLYFILLS = "dy2st.convert.polyfills."


def is_polyfill(module: object) -> bool:
    """Whether a module has functions of Python's library, written in Python: nobody changes it."""
    return type(module) is str and module.startswith(POLYFILLS)


def _is_in(name: str, modules: Container[str]) -> bool:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return bool(name)


class Effect(Enum):
    """What a call does beside computing from its arguments, and so what a trace does with it."""

    PURE = auto()  # nothing: it is folded
    MUTATES = auto()  # changes arguments: it is folded, and what it changes is written at each call
    READS_PROCESS = auto()  # what it gives is asked again at each call, or each call is traced
    SETS_PROCESS = auto()  # sets something that stays: folded, refused where a tensor decides on it
    IO = auto()  # each call is traced; it is refused where a tensor decides on it
    RANDOM = auto()  # as IO
    CLOCK = auto()  # as IO
    UNKNOWN = auto()  # as IO


_ANY = 1 << 30


@dataclass(frozen=True)
class EffectRow:
    """What a call does."""

    effect: Effect
    # In words, and what to write instead; `{}` is the function's name, `{1}` with that of its class
    what: str = ""
    hint: str = ""
    # The numbers of the arguments that it may change; None: any of them
    changes: tuple[int, ...] | None = ()
    is_asked: bool = False  # whether it is cheap, and the same at each call if nothing has changed
    makes: tuple[type, ...] = ()  # what of lists, dicts, sets, arrays (or classes) it gives is new
    below: int = _ANY  # it is so where it is given fewer arguments


_Rows: TypeAlias = "dict[str, list[EffectRow]]"

# What to write instead.
PRINT = "write it with print(...), which the Program does when it runs"
DRAW = "draw it with a function of dy2st, such as rand(...), or take it as an argument"
BEFORE = "set it before the function is called"
AFTER = "do it after the call, on what the function returns"
SEED = "call it before the converted function"
TIME = "take the time as an argument, or measure around the call"


def _io(what: str, hint: str = AFTER) -> EffectRow:
    return EffectRow(Effect.IO, what, hint, changes=None)


KINDS = {
    "PURE": EffectRow(Effect.PURE),
    "MAKES": EffectRow(Effect.PURE, makes=(list, dict, set, GeneratorType, np.ndarray)),
    "MAKES_CLASS": EffectRow(Effect.PURE, makes=(type,)),
    "MUTATES": EffectRow(Effect.MUTATES, changes=None),
    "READS": EffectRow(Effect.READS_PROCESS, is_asked=True),
    # What takes long, or is another thing at each look.
    "READS_MUCH": EffectRow(Effect.READS_PROCESS, changes=None),
    "SETS": EffectRow(
        Effect.SETS_PROCESS, "{1}() sets something of the process", BEFORE, changes=None
    ),
    "UNKNOWN": EffectRow(Effect.UNKNOWN, changes=None),
    # What may be done twice if a trace is given up.
    "LOCKS": EffectRow(Effect.MUTATES, "{}() of a lock is called", changes=None),
    "CALLS_BACK": EffectRow(Effect.PURE, "{1}() calls functions of the user's"),
    "CLOCK": EffectRow(Effect.CLOCK, "a clock is read", TIME),
    "RANDOM": EffectRow(Effect.RANDOM, "a random number of Python is drawn", DRAW, None),
    # Also of a generator that the function itself has made.
    "FROM_MACHINE": EffectRow(Effect.RANDOM, "a random number of the machine is drawn", DRAW, None),
    "LOGS": _io("a message is logged", PRINT),
    "LOGS_RECORD": _io("{}() of a logger is called", PRINT),
    "WARNS": _io("a warning is given", PRINT),
    "STREAMS": _io("{}() of a stream is called", PRINT),
    "PRINTS": _io("{}() prints", PRINT),
    "PPRINTS": _io("pprint.{}() is called", PRINT),
    "PRINTS_TRACE": _io("traceback.{}() is called", PRINT),
    "ASKS": _io("{}() is called", "take it as an argument"),
    "FILE_READ": _io("a file is read", BEFORE),
    "FILE_MADE": _io("a file is made"),
    "FILE_CHANGED": _io("a file is changed"),
    "FILE_OPENED": _io("a file is opened"),
    "READS_ADDRESS": _io("an address is read", BEFORE),
    "CALLS_OS": _io("os.{}() is called"),
    "CALLS_TIME": _io("time.{}() is called"),
    "STARTS_PROCESS": _io("a process is started"),
    "STARTS_THREAD": _io("a thread is started"),
    "SETS_VARIABLE": _io("an environment variable is set", BEFORE),
    "SETS_CONTEXT": _io("a context variable is set", BEFORE),
    "EMPTIES_CACHE": _io("a cache is emptied", BEFORE),
    "SEEDS": _io("{}() of dy2st is called in a converted function", SEED),
}
PURE, MAKES, MUTATES, UNKNOWN = (KINDS[n] for n in ("PURE", "MAKES", "MUTATES", "UNKNOWN"))


def module_of(function: Any) -> str:
    """The module of a function; of a method in C that of the class that has it."""
    named = getattr(function, "__module__", None)
    kind = getattr(function, "__objclass__", None)
    owner = getattr(function, "__self__", None)
    if kind is not None:
        return str(kind.__module__)
    if named is None and owner is not None:
        return _where(owner if isinstance(owner, type) else type(owner), function.__name__)
    return str(type(function).__module__ if named is None else named)


def _where(kind: type, name: str) -> str:
    """The module of the class that has a method in C."""
    having = [one for one in kind.__mro__ if name in vars(one)]
    in_c = [one for one in having if type(vars(one)[name]) is not FunctionType]
    return (in_c or [kind])[0].__module__


def row_of(function: Any, values: Sequence[Any] = ()) -> EffectRow:
    """What a call of a function with some arguments does; the object of a method is the first."""
    kind = type(function)
    if kind is FunctionType and not is_of_library(module_of_code(function)):
        return MUTATES  # the user's: what its code names is noted
    names = [getattr(function, name, None) for name in ("__name__", "__qualname__")]
    found = _found(_places(function, values), names, values)
    if found is not None:
        return found
    found = _found(_packages(module_of(function)), names, values)
    if found is None and isinstance(function, type):  # of the user's, whose objects C makes
        makers = [_packages(_where(function, name)) for name in ("__new__", "__init__")]
        return MUTATES if all(_found(one, (), ()) for one in makers) else UNKNOWN
    is_said = found is not None and found not in (PURE, MAKES, MUTATES)
    if is_said or not _is_method_in_c(function):
        return found or UNKNOWN
    # What a method in C is called says more than its module.
    is_asking = _found([TABLE["builtins.object"]], names, values) is not None
    if found is None:
        return KINDS["READS_MUCH"] if is_asking else UNKNOWN
    return PURE if is_asking else MUTATES


def is_operator(function: FunctionType) -> bool:
    """Whether a function of ours is an operator's: all that it asks for is what it is given."""
    is_ours = str(function.__module__).startswith("dy2st_runtime.ops.")
    return is_ours and is_of_library(module_of_code(function)) and _is_plain(function)


@cache
def _is_plain(function: FunctionType) -> bool:
    rows = TABLE.get(function.__module__, {}).values()
    is_set = any(row.effect is Effect.SETS_PROCESS for one in rows for row in one)
    return not is_set and row_of(function).effect is Effect.PURE


def draws(value: Any) -> bool:
    """Whether this is a generator of random numbers."""
    row = _found(_lookup(type(value)), (), ())
    return row is not None and row.effect is Effect.RANDOM


def changed(
    row: EffectRow, function: Any, args: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    """The arguments that a call may change; the object of a method is the first."""
    if row.changes is None:
        return [*args, *named.values()]
    found = [args[place] for place in row.changes if place < len(args)]  # else it is named
    if isinstance(function, np.ufunc):
        found += args[function.nin :]
    if named.get("overwrite_input"):  # of NumPy
        found.append(args[0])
    return [*found, *([named["out"]] if named.get("out") is not None else ())]


def _is_method_in_c(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    is_bound = owner is not None and not isinstance(owner, ModuleType)
    return is_bound or hasattr(function, "__objclass__")


def _places(function: Any, values: Sequence[Any]) -> list[_Rows]:
    """The rows of the classes of a method's object, or of an object that is called."""
    if not _is_method_in_c(function):
        if isinstance(function, (type, BuiltinFunctionType)):
            return []
        if not hasattr(function, "__code__"):  # neither of Python nor of Cython
            return _lookup(type(function))
        around = function.__qualname__.rpartition(".")[0]
        if not around or around.endswith("<locals>"):
            return []
    owner = getattr(function, "__self__", None)
    if owner is None and not values:
        return []
    owner = values[0] if owner is None else owner
    # By its class: to ask an object that is half made what it is may run code of the user's.
    return _lookup(owner if issubclass(type(owner), type) else type(owner))


def _lookup(kind: type) -> list[_Rows]:
    """The rows of a class and of those that it is derived from, but for what any object has."""
    places = (f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__[:-1])
    return [TABLE[place] for place in places if place in TABLE]


@cache
def _packages(module: str) -> list[_Rows]:
    """The rows of a module, and those of the packages around it."""
    around = module.rpartition(".")[0]
    own = [TABLE[module]] if module in TABLE else []
    return own + (_packages(around) if around else [])


def _found(
    places: Iterable[_Rows], names: Iterable[Any], values: Sequence[Any]
) -> EffectRow | None:
    """The first row for one of some names, or for all others of its place."""
    for rows in places:
        for name in (*names, "*"):
            for row in rows.get(name, ()):
                if row.below < _ANY and sum(one is not None for one in values) >= row.below:
                    continue
                if all(n < len(values) and values[n] is not None for n in row.changes or ()):
                    return row
    return None


def _read() -> dict[str, _Rows]:
    """The rows of each place, by name."""
    found: dict[str, _Rows] = {}
    places, kind, is_begun = "", UNKNOWN, False
    for line in Path(__file__).with_name("effects.txt").read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0]
        if not text.startswith(" "):  # more places, if no row has come since
            places = f"{places} {text}" if not is_begun else text
            is_begun = False
            continue
        rows = found.setdefault(places.split()[0], {})
        found |= dict.fromkeys(places.split(), rows)
        is_begun = True
        for word in text.split():
            if word in KINDS:
                kind = KINDS[word]
                continue
            name, _, below = word.partition("<")
            name, _, place = name.partition("@")
            row = replace(kind, below=int(below)) if below else kind
            row = replace(row, changes=(int(place),)) if place else row
            rows.setdefault(name, []).append(row)
    return found


TABLE = _read()
