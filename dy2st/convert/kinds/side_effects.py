"""Calls that reach beyond what a trace sees: streams, clocks, random numbers, objects kept in C.

Python makes them while the function is traced: once a call, as each call is traced anew for them.
In a branch or loop that a tensor decides on they would happen on every path, so they are refused.
What is quickly read of the process is asked again at each call. Functions that are not known to
read their arguments alone are called at each call, too: it is traced anew.
"""

from __future__ import annotations

import dis
import io
import operator
import os
import re
import struct
import sys
import warnings
from abc import get_cache_token
from collections.abc import Container, Coroutine, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache, lru_cache
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from dy2st.convert.current_trace import users_limit
from dy2st.convert.ignored_modules import is_of_library, module_of_code
from dy2st.convert.kinds.table import function_row
from dy2st.convert.kinds.traced_keys import refuse_native_key
from dy2st.convert.trace import CONTENT, EACH_CALL, Trace
from dy2st.convert.types import info
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, UnsupportedSyntax
from dy2st_runtime.ir import Tensor, user_location
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.ops.creation import set_default_dtype
from dy2st_runtime.ops.generator import seed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# By package (pathlib is one from Python 3.13 on): what is asked again at each call.
_ASKED_AGAIN = {
    module: _words(names)
    for module, names in {
        "_locale": "localeconv",
        "_queue": "empty qsize",
        "_thread": "locked get_ident",
        "gc": "isenabled get_debug get_threshold",
        "genericpath": "exists getmtime getsize isdir isfile",
        "locale": "getlocale getpreferredencoding localeconv",
        "logging": "getEffectiveLevel hasHandlers isEnabledFor",
        "numpy": "geterr get_printoptions",
        "pathlib": "cwd exists is_dir is_file is_symlink",
        "posix": "access cpu_count getcwd getpid listdir",
        "posixpath": "abspath expanduser expandvars islink lexists realpath",
        "random": "getstate",
        "sys": "getswitchinterval",
        "threading": "active_count",
    }.items()
}
_BY_IDENTITY: Any = object.__hash__
_HASHED = (str, bytes, int, type(None), PurePath, type)

# Modules whose functions and classes read nothing but what they are given.
_PURE = _words("""
    _abc _ast _bisect _codecs _collections _collections_abc _contextvars _csv _ctypes _datetime
    _decimal _functools _hashlib _heapq _io _json _operator _pickle _random _sha1 _sha256 _sha512
    _md5 _sre _string _struct _thread _weakref _weakrefset abc argparse array ast base64 binascii
    bisect builtins calendar cmath codecs collections colorsys configparser contextlib contextvars
    copy copyreg csv ctypes dataclasses datetime decimal difflib dis dy2st dy2st_runtime enum
    fractions functools genericpath graphlib hashlib heapq html importlib inspect io ipaddress
    itertools json keyword linecache locale logging math ntpath numbers numpy opcode operator
    pathlib pickle platform posixpath pprint queue random re reprlib secrets select shlex
    statistics string struct sys textwrap threading time timeit token tokenize traceback types
    typing unicodedata unittest urllib uuid warnings weakref zipfile zlib zoneinfo
""")
# Objects of C that nobody can change, though they are compared by which one they are.
_SETTLED = (
    *(type, property, classmethod, staticmethod, super, memoryview, slice, np.ndarray, np.ufunc),
    *(GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType),
    *(operator.attrgetter, operator.itemgetter, operator.methodcaller, re.Match, struct.Struct),
    *(type(NotImplemented), type(dict.__dict__["fromkeys"])),
)
_SETTLED_NAMES = _words(
    "_thread.lock _thread.RLock builtins.object datetime.timezone zoneinfo.ZoneInfo"
)
_READ = _words("""
    _wrapreader fdopen get_clock_info glob iterdir iglob lstat open open_code read_bytes read_text
    rglob scandir stat walk
""")


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


@function_row(sys.getrecursionlimit)
def _getrecursionlimit(trace: Trace) -> Any:
    return trace.read("volatile", sys.getrecursionlimit, ((), ()), users_limit(trace))


def is_asked_again(function: Any, given: tuple[Any, ...]) -> bool:
    """Whether a function is asked again at each call."""
    name = getattr(function, "__name__", "")
    if name not in _ASKED_AGAIN.get(module_of(function).partition(".")[0], ()):
        return False
    # Whether a value is asked for by which object it is
    return all(isinstance(one, _HASHED) or (_hash_of(type(one)) is _BY_IDENTITY) for one in given)


def _hash_of(kind: type) -> Any:
    """What a class holds as `__hash__`: to ask the class itself may make something new."""
    return next(vars(one)["__hash__"] for one in kind.__mro__ if "__hash__" in vars(one))


def variables() -> Any:
    """The dict in which Python keeps the variables of the environment."""
    return vars(os.environ)["_data"]


def has_set_variables(trace: Trace) -> bool:
    """Whether the code itself has set some: they are where it has set them."""
    return (id(variables()), CONTENT) in trace.over


@function_row(os.getenv)
def getenv_(trace: Trace, key: Any, default: Any = None) -> Any:
    """`os.getenv(key, default)`."""
    return trace.call(os.environ.get, key, default)


def note_environment(trace: Trace, function: Any, args: tuple[Any, ...]) -> bool:
    """Note that a name of the environment was looked up, if that is what a call does."""
    if len(args) < 2 or args[0] is not os.environ or not isinstance(args[1], str):
        return False
    if has_set_variables(trace):
        return False
    is_one = getattr(function, "__name__", "") in ("get", "__getitem__", "__contains__")
    if is_one:
        trace.read_volatile(os.environ.get, args[1])
    return is_one


def note_settings(trace: Trace, *values: Any) -> None:
    """Note the settings of the process that operators and texts of some values depend on."""
    for value in values:
        if isinstance(value, (np.ndarray, np.floating)):
            trace.read_volatile(np.get_printoptions)
        elif type(value).__module__ == "decimal":
            trace.read_volatile(lambda: repr(sys.modules["decimal"].getcontext()))


def note_abstract(trace: Trace) -> None:
    """Note what abstract classes answer: any class may be registered with one later."""
    trace.read_volatile(get_cache_token)


def _makes_exception(function: Any) -> bool:
    """Whether a call makes an exception, in C alone: it asks of no class what it is."""
    if not isinstance(function, type) or not issubclass(function, BaseException):
        return False
    makers = function.__new__, function.__init__, type(function).__call__
    return not any(isinstance(one, FunctionType) for one in makers)


def is_opaque(value: Any) -> bool:
    """Whether an object of C may change and shows nothing of it: an iterator, a queue."""
    kind = type(value)
    hashed = _hash_of(kind)
    is_by_identity = hashed is None or hashed is _BY_IDENTITY
    if not is_by_identity or isinstance(value, _SETTLED) or hasattr(value, "__dict__"):
        return False
    is_shown = any(
        isinstance(one, MemberDescriptorType) for k in kind.__mro__ for one in vars(k).values()
    )
    return not is_shown and f"{kind.__module__}.{kind.__name__}" not in _SETTLED_NAMES


def is_known(function: Any) -> bool:
    """Whether a function that runs natively is known to read no more than what it can reach."""
    if type(function) is FunctionType and not is_of_library(module_of_code(function)):
        return True  # what its code names is noted
    if isinstance(function, type):
        modules = [_where(function, name) for name in ("__new__", "__init__")]
    else:
        modules = [module_of(function)]
    is_pure = all(module.partition(".")[0] in _PURE for module in modules)
    return is_pure and getattr(function, "__name__", "") not in _READ


def is_operator(function: FunctionType) -> bool:
    """Whether a function of ours is an operator's: all that it asks for is what it is given."""
    is_ours = str(function.__module__).startswith("dy2st_runtime.ops.")
    return is_ours and is_of_library(module_of_code(function)) and _is_plain(function)


@cache
def _is_plain(function: FunctionType) -> bool:
    does_more = _what(function, None)[0] or _SETTINGS.get(function.__module__)
    return not does_more and is_known(function)


def is_reading(function: Any) -> bool:
    """Whether a function is known to read the process, and to change nothing of it."""
    return getattr(function, "__name__", "") in _READ


_ONCE = "Python runs it while the function is traced"
_RANDOM = "a random number of Python is drawn"
# What to write instead.
_PRINT = "write it with print(...), which the Program does when it runs"
_DRAW = "draw it with a function of dy2st, such as rand(...), or take it as an argument"
_BEFORE = "set it before the function is called"
_AFTER = "do it after the call, on what the function returns"
_OUT = "call it before the branch or loop, or after the call"
_STARTED = "a process is started"
_SEED = "call it before the converted function"
_MODE = "take it as an argument: f(x, is_grad_enabled())"
_CLOCK = "take the time as an argument, or measure around the call"


@dataclass(frozen=True)
class _Row:
    """Names of functions, what a call of one does, and what to write instead."""

    names: frozenset[str]
    what: str
    hint: str


def _row(names: str, what: str, hint: str) -> _Row:
    return _Row(frozenset(names.split()), what, hint)


_OS = (
    _row(
        "chdir chmod chown link mkdir makedirs open remove removedirs rename renames replace rmdir "
        "symlink truncate unlink utime write _exit abort execv execve fork kill killpg popen "
        "posix_spawn putenv startfile system unsetenv",
        "os.{}() is called",
        _AFTER,
    ),
    _row("getrandom urandom", _RANDOM, _DRAW),
)
_BY_MODULE: dict[str, tuple[_Row, ...]] = {
    "builtins": (_row("input", "input() is called", "take it as an argument"),),
    "io": (_row("open", "a file is opened", _AFTER),),
    "_io": (_row("open", "a file is opened", _AFTER),),
    "logging": (
        _row("critical debug error exception info log warn warning", "a message is logged", _PRINT),
    ),
    "nt": _OS,
    "numpy": (
        _row("save savetxt savez savez_compressed", "a file is made", _AFTER),
        _row("fromfile genfromtxt load loadtxt", "a file is read", _BEFORE),
    ),
    "os": _OS,
    "posix": _OS,
    "pprint": (_row("pp pprint", "pprint.{}() is called", _PRINT),),
    "secrets": (_row("randbelow token_bytes token_hex token_urlsafe", _RANDOM, _DRAW),),
    "shutil": (
        _row(
            "copy copy2 copyfile copymode copystat copytree move rmtree", "a file is made", _AFTER
        ),
    ),
    "subprocess": (
        _row("Popen.__init__ call check_call check_output getoutput run", _STARTED, _AFTER),
    ),
    "threading": (_row("Thread.start Timer.start", "a thread is started", _AFTER),),
    "time": (
        _row("sleep", "time.sleep() is called", _AFTER),
        _row(
            "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns "
            "thread_time thread_time_ns time time_ns",
            "a clock is read",
            _CLOCK,
        ),
    ),
    "traceback": (
        _row(
            "print_exc print_exception print_last print_list print_stack print_tb",
            "traceback.{}() is called",
            _PRINT,
        ),
    ),
    "urllib.request": (_row("urlopen urlretrieve", "an address is read", _BEFORE),),
    "uuid": (_row("uuid1 uuid4", _RANDOM, _DRAW),),
    "dy2st_runtime.checkpoint.saving": (_row("save", "a file is made", _AFTER),),
    "dy2st_runtime.checkpoint.loading": (_row("load", "a file is read", _BEFORE),),
    is_grad_enabled.__module__: (
        _row("is_grad_enabled", "is_grad_enabled() is asked in a converted function", _MODE),
    ),
    seed.__module__: (
        _row("seed set_rng_state", "{}() of dy2st is called in a converted function", _SEED),
    ),
}
# What it does once does not show, but where a tensor decides whether it is done.
_SETTINGS = {
    module: frozenset(names.split())
    for module, names in {
        "_locale": "setlocale",
        "_thread": "start_new_thread",
        "_warnings": "filters_mutated",
        "copyreg": "add_extension constructor pickle remove_extension",
        "dy2st.paddle.device": "set_device",
        "dy2st.paddle.modes": "disable_static enable_static set_printoptions",
        "importlib": "import_module invalidate_caches reload",
        "locale": "setlocale",
        "logging": "addLevelName basicConfig captureWarnings disable setLevel shutdown",
        "numpy": "setbufsize set_printoptions seterr seterrcall",
        set_default_dtype.__module__: "set_default_dtype",
        "sys": "setdlopenflags setprofile setrecursionlimit setswitchinterval settrace",
        "threading": "setprofile settrace stack_size",
        "warnings": "filterwarnings resetwarnings simplefilter",
        "weakref": "finalize.__init__",
    }.items()
}
_STREAM = _row(
    "read readline readlines truncate write writelines flush", "{}() of a stream is called", _PRINT
)
_ENVIRONMENT = _row(
    "__delitem__ __setitem__ clear pop popitem setdefault update",
    "an environment variable is set",
    _BEFORE,
)
_PATH = _row(
    "chmod hardlink_to mkdir rename replace rmdir symlink_to touch unlink write_bytes write_text",
    "a file is changed",
    _AFTER,
)
_BY_KIND: tuple[tuple[Any, _Row], ...] = (
    (io.IOBase, _STREAM),
    (PurePath, _PATH),
    (ContextVar, _row("reset set", "a context variable is set", _BEFORE)),
    (type(lru_cache(abs)), _row("cache_clear", "a cache is emptied", _BEFORE)),
)
_DATE = _row("now today utcnow", "a clock is read", _CLOCK)


def check_side_effects(trace: Trace, function: Any, given: Iterable[Any]) -> None:
    """Refuse what must not happen here; note what each call is traced anew for."""
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    values = given if isinstance(owner, ModuleType) or owner is None else (owner, *given)
    subject = next(iter(values), None) if owner is None else owner
    refuse_native_key(subject, values)
    # By its class: to ask an object that is half made what it is may run code of the user's.
    is_step = getattr(function, "__name__", "") in _ADVANCING
    if is_step and not issubclass(type(subject), io.IOBase) and trace.is_outside(subject):
        refuse_advance_outside(subject)
    # Whether this is a stream in memory, or a generator of numbers, that the code has made
    is_generator = _draws_for_all(subject)
    if (
        trace.is_outside(subject)
        or not (is_generator or isinstance(subject, _TEXTS))
        or (is_generator and trace.is_nested)
    ):
        is_own = False
    else:
        takes_seed = is_generator and getattr(function, "__name__", "") in ("__init__", "seed")
        is_own = not takes_seed or any(one is not None and one is not subject for one in values)
    what, hint = ("", "") if is_own else _what(function, subject)
    if hint in (_SEED, _MODE):
        raise ConversionError(what, at=user_location(), why=_ONCE, hint=hint)
    if not what and not is_known(function):
        text = f"{_named(function)} is called at {user_location()}"
        trace.read(EACH_CALL, function, "called", text)
    back = next((one for one in values if _may_write(one)), None)
    if back is not None and module_of(function).partition(".")[0] not in _ASKING_OF_FUNCTIONS:
        text = f"{back.__qualname__}() is given to {_named(function)} at {user_location()}"
        trace.read(EACH_CALL, function, "called", text)
    if not module_of(function).startswith("dy2st") and not _makes_exception(function):
        note_abstract(trace)  # ours ask none
    sets = _name_of(function, _SETTINGS.get(module_of(function), ()))
    if trace.call_context.is_tentative:
        _check_undoable(trace, function, sets)
    if not trace.is_nested:
        if what:
            trace.read(EACH_CALL, function, what, f"{what} at {user_location()}: {hint}")
        return
    if what:
        raise _in_a_branch(what, "it would happen on every path", hint)
    if sets:
        setting = f"{_called(function)} sets something of the process"
        raise _in_a_branch(setting, "it would happen on every path", _BEFORE)
    if only_reads(function):
        return
    # A debugger lets somebody look on, who wants to, on every path.
    is_debugger = module_of(function).partition(".")[0] in _DEBUGGERS
    if not is_known(function) and not is_reading(function) and not is_debugger:
        unknown = f"{_named(function)} is called"
        raise _in_a_branch(unknown, "it may do something, on every path", _OUT)
    changed = next((one for one in _reached(values) if _may_change(trace, one)), None)
    if changed is not None:
        name, kind = getattr(function, "__name__", "a function"), type(changed).__name__
        raise _in_a_branch(
            f"{name}(), which is not Python code, gets a {kind} that is made outside",
            "it may change it, on every path",
            f"call it before or after, or give it a {kind} that is made in the branch or loop",
        )


# Modules whose functions look at a function that they are given, and do not call it.
_ASKING_OF_FUNCTIONS = _words(
    "abc builtins collections dataclasses dy2st dy2st_runtime enum functools inspect operator "
    "types typing weakref"
)


_ADVANCING = frozenset({"__next__", "send", "throw", "close"})


def refuse_advance_outside(iterator: Any) -> None:
    """Refuse to take an item of an iterator, or to go on with a coroutine, that others hold."""
    if hasattr(type(iterator), "__next__") or isinstance(iterator, Coroutine):
        raise UnsupportedSyntax(
            f"a {type(iterator).__name__} from outside of the converted function is advanced",
            at=user_location(),
            why="each call would have to take another item, and a Program has none of them",
            hint="take the item outside, and give it to the function",
        )


def _check_undoable(trace: Trace, function: Any, sets: bool) -> None:
    """Refuse what Python would do a second time, if the trace is refused later."""
    module, name = module_of(function).partition(".")[0], getattr(function, "__name__", "")
    if sets:
        trace.refuse_effect(f"{_called(function)} sets something of the process")
    if module_of(function).startswith("dy2st.io"):
        trace.refuse_effect(f"{_called(function)} calls functions of the user's")
    if module == "_thread" and name in ("acquire", "acquire_lock", "release"):
        trace.refuse_effect(f"{name}() of a lock is called")
    if module in _DEBUGGERS:
        trace.refuse_effect("a debugger is called")


def _may_write(value: Any) -> bool:
    """Whether it is a function of the user's that does more than compute from what it reads."""
    function = value.__func__ if type(value) is MethodType else value
    if type(function) is not FunctionType or is_of_library(module_of_code(function)):
        return False
    steps = [step.opname for step in dis.get_instructions(function)]
    sets = any(one.startswith(("STORE_", "DELETE_")) and "_FAST" not in one for one in steps)
    return sets or not {*function.__code__.co_names} <= _HARMLESS


# Names in a function that only computes: of methods of texts and matches, and of Python's own.
_HARMLESS = {*dir(str), *dir(re.Match), *dir(int), *dir(float)} | _words(
    "abs bool chr dict divmod enumerate float hash hex int isinstance len list max min oct ord pow "
    "range repr reversed round set sorted str sum tuple type zip math"
)


_DEBUGGERS = frozenset({"pdb", "bdb", "ipdb", "pudb", "debugpy"})


def _named(function: Any) -> str:
    return f"{_called(function)}, which is not traced,"


def _called(function: Any) -> str:
    return f"{getattr(function, '__qualname__', type(function).__name__)}()"


def refuse_change(trace: Trace, owner: Any) -> None:
    """Refuse to change an object natively, in a branch or body, that is older."""
    # What has no items raises of itself.
    has_items = hasattr(type(owner), "__setitem__") or hasattr(type(owner), "__delitem__")
    if has_items and trace.is_nested and _may_change(trace, owner) and not info(type(owner)).state:
        kind = type(owner).__name__
        raise _in_a_branch(
            f"an item of a {kind} is set or deleted",
            "it would be done on every path",
            "use a dict or list of Python, or change it before or after",
        )


def _in_a_branch(what: str, why: str, hint: str) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"{what} in a branch or loop that depends on a tensor",
        at=user_location(),
        why=f"{_ONCE}: {why}",
        hint=hint,
    )


def _what(function: Any, owner: Any) -> tuple[str, str]:
    """What a call of the function does, and what to write instead; empty for all others."""
    name = getattr(function, "__name__", "")
    if function is warnings.warn:
        return "a warning is given", _PRINT
    if _draws_for_all(owner) or (owner is None and name in _SEEDED):
        return _RANDOM, _DRAW
    for row in _rows(owner, str(getattr(function, "__module__", ""))):
        if _name_of(function, row.names):
            return row.what.format(name), row.hint
    return "", ""


def _name_of(function: Any, names: Container[str]) -> bool:
    """Whether a function is one of some names: of functions, or of methods with their class."""
    return any(getattr(function, one, None) in names for one in ("__name__", "__qualname__"))


def _rows(owner: Any, module: str) -> tuple[_Row, ...]:
    if owner is os.environ:
        return (_ENVIRONMENT,)
    if isinstance(owner, type) and issubclass(owner, date):
        return (_DATE,)
    for kind, row in _BY_KIND:
        if issubclass(type(owner), kind):  # asks nothing of an object that is half made
            return (row,)
    return _BY_MODULE.get(module, ())


def is_silent(trace: Trace, function: Any, given: Sequence[Any]) -> bool:
    """Whether this gives a message to a logger that does not take its level now."""
    logger = given[0] if given else None
    if not isinstance(logger, _of("logging", "Logger")):
        return False
    name = function.__name__
    level = {"warn": "WARNING", "exception": "ERROR"}.get(name, name.upper())
    number = getattr(sys.modules["logging"], level, None)
    asked: Any = getattr(logger, "isEnabledFor")  # noqa: B009  of a class that mypy cannot see
    if not isinstance(number, int) or asked(number):
        return False
    trace.read("cached", asked, ((number,), ()), False)
    return True


_TEXTS = (io.StringIO, io.BytesIO)
_RANDOMS = "numpy.random"
# What takes its seed from the machine, if it is given none.
_SEEDED = frozenset({"Random", "RandomState", "SeedSequence", "SystemRandom", "default_rng"})


def _draws_for_all(owner: Any) -> bool:
    """Whether this is a generator of random numbers of Python or NumPy."""
    return isinstance(owner, _of("random", "Random") + _of(_RANDOMS, "RandomState", "Generator"))


def _of(module: str, *names: str) -> tuple[type, ...]:
    """Classes of a module; none where it is not loaded, and so nothing can be one of theirs.

    Another thread may be loading it: what it has not made yet is no class of anything either.
    """
    loaded = sys.modules.get(module)
    return tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))


# -- what may be changed ----------------------------------------------------------------------

# Modules whose functions change none of their arguments, unless their name says so.
_READING = frozenset(
    {
        *("math", "cmath", "operator", "_operator", "itertools", "functools", "_functools", "re"),
        *("string", "textwrap", "statistics", "fractions", "decimal", "numbers", "inspect", "enum"),
        *(
            "typing",
            "types",
            "dataclasses",
            "abc",
            "posixpath",
            "ntpath",
            "json",
            "keyword",
            "copy",
        ),
        *("builtins", "numpy", "dy2st", "dy2st_runtime", "collections"),
    }
)
_CHANGING = frozenset(
    {
        *("copyto", "put", "place", "putmask", "fill_diagonal", "shuffle", "setitem", "delitem"),
        *("iadd", "iconcat", "imul", "ior", "iand", "ixor", "isub", "setattr", "delattr", "next"),
        *("exec", "eval", "set_value"),
    }
)
_KNOWN = (
    *(bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range),
    *(slice, frozenset, type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, CodeType),
    *(GetSetDescriptorType, Enum, Tensor, Dim, Condition, Text, Layer, np.dtype, np.generic),
    *(PurePath, BaseException, SymbolicSequence, Union, Indexed, Generated),
)


def only_reads(function: Any) -> bool:
    """Whether a function is known to change nothing that it is given."""
    if function is super:
        return True
    name = getattr(function, "__name__", "")
    owner = None if isinstance(function, type) else getattr(function, "__self__", None)
    if isinstance(owner, np.ndarray):
        return name not in _OF_ARRAYS
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        return name in _ASKING
    module = str(getattr(function, "__module__", "") or "")
    return module.partition(".")[0] in _READING and name not in _CHANGING


# Methods that change an array.
_OF_ARRAYS = frozenset(
    ["fill", "sort", "resize", "put", "itemset", "partition", "setflags", "byteswap", "setfield"]
)
# Methods in C that only ask.
_ASKING = frozenset(
    {
        *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__len__"),
        *("__repr__", "__str__", "__format__", "__contains__", "__getitem__", "__bool__", "get"),
        *("keys", "values", "items", "copy", "index", "count", "__class__", "__init_subclass__"),
        *("isEnabledFor", "getEffectiveLevel", "mro", "__subclasses__", "__dir__", "__sizeof__"),
    }
)


def is_fresh(function: Any, given: Iterable[Any], found: Any) -> bool:
    """Whether a function has made what it gives: a list of a str's, an array of NumPy's."""
    if isinstance(found, type):
        return (module_of(function), getattr(function, "__name__", "")) in _MAKING_CLASSES
    if not isinstance(found, (list, dict, set, np.ndarray)):
        return False
    is_view = isinstance(found, np.ndarray) and found.base is not None
    if is_view or any(found is one for one in given):
        return False
    owner = getattr(function, "__self__", None)
    module = str(getattr(function, "__module__", "") or "").partition(".")[0]
    return isinstance(owner, (str, bytes, np.ndarray)) or module in ("numpy", "re", "json")


_MAKING_CLASSES = frozenset(
    {("collections", "namedtuple"), ("dataclasses", "make_dataclass"), ("types", "new_class")}
)


def _reached(values: Iterable[Any]) -> list[Any]:
    """The values, and what stands in tuples among them."""
    found: list[Any] = []
    for value in values:
        found += _reached(value) if isinstance(value, tuple) else [value]
    return found


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether somebody else would see a change of a value."""
    known: tuple[Any, ...] = (*_KNOWN, *_of(_RANDOMS, "SeedSequence"))
    row = info(type(value))
    # What a class that is derived from a container holds is compared, and written on each path.
    if row.state == "derived" or (isinstance(value, known) and not row.is_container):
        return False
    return not trace.is_made_here(value)
