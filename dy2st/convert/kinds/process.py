"""Notes what calls of functions in C and of libraries read of the process, beyond their arguments.

What is quickly read is asked again at each call. Functions that are not known to read their
arguments alone are called at each call: it is traced anew.
"""

from __future__ import annotations

import operator
import os
import re
import struct
import sys
from abc import get_cache_token
from pathlib import PurePath
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from dy2st.convert.current_trace import users_limit
from dy2st.convert.ignored_modules import IGNORED_PACKAGES, module_of_code
from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import CONTENT, Trace


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
    return all(isinstance(one, _HASHED) or _is_one(one) for one in given)


def _is_one(value: Any) -> bool:
    """Whether a value is asked for by which object it is."""
    return _hash_of(type(value)) is _BY_IDENTITY


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
            trace.read_volatile(_of_decimals)


def _of_decimals() -> str:
    return repr(sys.modules["decimal"].getcontext())


def note_abstract(trace: Trace) -> None:
    """Note what abstract classes answer: any class may be registered with one later."""
    trace.read_volatile(get_cache_token)


def is_of_library(module: str) -> bool:
    """Whether a module is one of a library whose functions nobody looks into."""
    return module.partition(".")[0] in IGNORED_PACKAGES


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


def is_reading(function: Any) -> bool:
    """Whether a function is known to read the process, and to change nothing of it."""
    return getattr(function, "__name__", "") in _READ
