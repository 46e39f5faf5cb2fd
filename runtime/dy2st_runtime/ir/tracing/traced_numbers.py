"""Numbers of Python in a trace: arithmetic of sizes, numbers as keys, and which may be inputs.

Arithmetic whose result is no size, `n / 2` or `n * 0.5`, is recorded as of numbers. Inputs may be
those that no trace with them refuses: `Trials`.

A size is an int to the user's code, but `{3: a}.get(n)` would miss 3, and `f"{n}"` would give the
name. Both would be wrong without a word, so they are refused where the user's code asks, and so is
a traced number as a key; our own code may ask.
"""

from __future__ import annotations

import operator
import os
import sys
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any, Generic, TypeVar

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.dims.expression import OPERATIONS, undecided
from dy2st_runtime.errors import listener
from dy2st_runtime.ir.location import is_own_file, user_location
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.thread_state import Shared, ThreadState

_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "modulo": operator.mod,
    "pow": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _number_of_sizes(operation: str, operands: tuple[Any, Any]) -> Any:
    """n / 2 or n * 0.5, recorded as numbers of Python; None outside of a trace."""
    tracer = current_tracer()
    if tracer is None:
        return None
    left, right = (tracer.number(value) for value in operands)
    return _PYTHON[operation](left, right)


OPERATIONS["number"] = _number_of_sizes
OPERATIONS["place"] = lambda: None if current_tracer() is None else user_location()


# -- what the user's code cannot know -------------------------------------------------------------
# Our own code asks all the time for the hash of Variables, and for the hash and text of sizes: they
# are checked only as long as a trace runs, and cost nothing at other times.


class _Traces(ThreadState):
    """Of this thread: how many traces run, and how many of them refuse the text of sizes, too."""

    count = 0
    without_text = 0


_traces = _Traces()
_hash_of_variable: Callable[[Any], int] = object.__hash__
_hash_of_size: Callable[[Any], int] = vars(Dim)["__hash__"]
_text_of_size: Callable[[Any], str] = vars(Dim)["__repr__"]
_text_of_condition: Callable[[Any], str] = vars(Condition)["__repr__"]


def _checked_hash(variable: Variable) -> int:
    if variable.number is not None and _user_asks(sys._getframe(1)):
        raise variable.unhashable()
    return _hash_of_variable(variable)


def _checked_hash_of_size(size: Dim) -> int:
    if _traces.count and _user_asks(sys._getframe(1)):
        raise _unknown(_text_of_size(size), "looked up in a set or dict")
    return _hash_of_size(size)


def _checked_text_of_size(size: Dim) -> str:
    is_asked = _traces.without_text or listener.hear is not None  # by a library
    if is_asked and _user_asks(sys._getframe(1)):
        raise _unknown(_text_of_size(size), "turned into text")
    return _text_of_size(size)


def _checked_text_of_condition(condition: Condition) -> str:
    if listener.hear is not None and _user_asks(sys._getframe(1)):
        raise _unknown(_text_of_condition(condition), "turned into text")
    return _text_of_condition(condition)


def _user_asks(frame: FrameType | None) -> bool:
    """Whether the user's code asks, itself or by Python's library: ours does so in any thread."""
    while frame is not None:
        name = frame.f_code.co_filename
        # Weak tables drop entries at any time, whoever runs.
        if is_own_file(name) or name == weakref.__file__:
            return False
        if not name.startswith(_LIBRARY) or any(part in name for part in _PACKAGES):
            return True
        frame = frame.f_back
    return True


# Python's own code asks for somebody: for whom is seen from its caller.
_LIBRARY = (os.path.dirname(os.__file__), "<string>", "<frozen ")
_PACKAGES = ("site-packages", "dist-packages")


def _unknown(size: str, what: str) -> Exception:
    return undecided(
        f"the size {size} is {what}, but is not known while the function is "
        "traced; compare it (n == 3) instead, or give it a number in the InputSpec"
    )


# What checks, and what does not.
_METHODS: dict[tuple[type, str], tuple[Any, Any]] = {
    (Variable, "__hash__"): (_checked_hash, _hash_of_variable),
    (Dim, "__hash__"): (_checked_hash_of_size, _hash_of_size),
    (Dim, "__repr__"): (_checked_text_of_size, _text_of_size),
    (Dim, "__str__"): (_checked_text_of_size, _text_of_size),
    (Condition, "__repr__"): (_checked_text_of_condition, _text_of_condition),
    (Condition, "__str__"): (_checked_text_of_condition, _text_of_condition),
}


def _install(which: int) -> None:
    for (kind, name), methods in _METHODS.items():
        setattr(kind, name, methods[which])


_checking = Shared(partial(_install, 0), partial(_install, 1))


@contextmanager
def numbers_are_no_keys(nor_text: bool = False) -> Iterator[None]:
    """Refuse traced numbers and sizes as keys in user code inside the `with`.

    Sizes are refused as text, too, if it is set.

    >>> with numbers_are_no_keys():
    ...     {2: "numbers of Python are keys"}[2]
    'numbers of Python are keys'
    """
    outer = _traces.count, _traces.without_text
    _traces.count, _traces.without_text = outer[0] + 1, outer[1] + nor_text
    try:
        with _checking.held():
            yield
    finally:
        _traces.count, _traces.without_text = outer


_Key = TypeVar("_Key", bound=Hashable)
_MOST_REFUSED, _MOST_SEEN = 4, 64
_CONSTANTS = 2
"""So many values of a number are constants of Programs."""


class Trials(Generic[_Key]):
    """What was tried, by whatever names a number.

    seen     the values that numbers have had which are no inputs yet.
    refused  those that are constants for ever, each with the reason.

    >>> trials = Trials()
    >>> trials.see("n", [1, 2]), trials.see("n", [3])
    (False, True)
    >>> trials.begin(["n", "m"])
    ['n', 'm']
    >>> trials.accept(["n"])
    >>> trials.refuse(["m"], "it is a rank"), trials.refused
    (['m'], {'m': 'it is a rank'})
    >>> trials.take_back(["m"])
    >>> trials.refused
    {}
    """

    def __init__(self) -> None:
        """Nothing was tried yet."""
        self._new: list[_Key] = []  # no trace has had them as inputs so far
        self._waiting: list[_Key] = []
        self.seen: dict[_Key, set[Any]] = {}
        self.refused: dict[_Key, str] = {}

    def see(self, key: _Key, values: Iterable[Any]) -> bool:
        """Note values of a number; whether it has had more than are constants of Programs."""
        # Names of `**kwargs` may be any: the table has an end.
        if key not in self.seen and len(self.seen) >= _MOST_SEEN:
            return False
        seen = self.seen.setdefault(key, set())
        seen.update(values)
        return len(seen) > _CONSTANTS

    def begin(self, new: Iterable[_Key]) -> list[_Key]:
        """Those to try now: new ones, and those that had to wait for the others."""
        waiting = [] if self._new else self._waiting
        found = [key for key in dict.fromkeys((*waiting, *new)) if key not in self.refused]
        if waiting:
            self._waiting = []
        self._new += found
        return found

    def accept(self, keys: Iterable[_Key]) -> None:
        """A trace has had these as inputs."""
        if self._new:
            known = set(keys)
            self._new = [key for key in self._new if key not in known]

    def refuse(self, keys: Iterable[_Key], why: str) -> list[_Key]:
        """A trace with these as inputs is refused; gives those that are none for now.

        Of several that no trace has had before, half are tried again, without the others.
        """
        all_keys = list(keys)
        gone = [key for key in all_keys if key in self._new] or all_keys
        if len(gone) > 1 and gone[0] in self._new:
            gone = gone[len(gone) // 2 :]
            self._waiting += gone
        else:
            self.refused.update(dict.fromkeys(gone, why))
            if len(self.refused) > _MOST_REFUSED:  # more would take too many traces to find out
                self.refused.update(dict.fromkeys(self._waiting, why))
                self._waiting = []
        self._new = [key for key in self._new if key not in gone]
        return gone

    def take_back(self, keys: Iterable[_Key]) -> None:
        """Try them again some time: it was no trace with inputs alone that was refused."""
        for key in keys:
            if self.refused.pop(key, None) is not None:
                self._waiting.append(key)


def reason_of(error: BaseException) -> str:
    """The first line of an error, with its class.

    >>> reason_of(ValueError("not positive"))
    'ValueError: not positive'
    """
    return f"{type(error).__name__}: {error}".splitlines()[0]


__dir__ = public_dir(__name__)
