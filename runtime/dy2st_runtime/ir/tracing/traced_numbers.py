"""Numbers of Python in a trace: arithmetic of sizes, numbers as keys, and which may be inputs.

Arithmetic whose result is no size, `n / 2` or `n * 0.5`, is recorded as of numbers. A traced number
is refused as a key, where Python would find it by its value. Inputs may be those that no trace with
them refuses: `Trials`.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

from dy2st_runtime.dims.expression import OPERATIONS
from dy2st_runtime.ir.location import is_own_file, user_location
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.thread_state import Shared

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


# The hash of a Variable is its identity, which passes ask for all the time: the check is in force
# only as long as user code is traced.
def _checked_hash(variable: Variable) -> int:
    if variable.number is not None and _user_asks(sys._getframe(1)):
        raise variable.unhashable()
    return object.__hash__(variable)


def _user_asks(frame: FrameType | None) -> bool:
    """Whether the user's code asks, itself or by Python's library: ours does so in any thread."""
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        if _PACKAGES in frame.f_code.co_filename:
            break
        frame = frame.f_back
    return frame is None or not is_own_file(frame.f_code.co_filename)


_LIBRARY, _PACKAGES = os.path.dirname(os.__file__) + os.sep, os.sep + "site-packages" + os.sep


def _hash_by(method: Callable[[Variable], int]) -> Callable[[], None]:
    return lambda: setattr(Variable, "__hash__", method)


_checking = Shared(_hash_by(_checked_hash), _hash_by(object.__hash__))


@contextmanager
def numbers_are_no_keys() -> Iterator[None]:
    """Refuse traced numbers as keys in user code inside the `with`, in whatever thread.

    >>> with numbers_are_no_keys():
    ...     {2: "numbers of Python are keys"}[2]
    'numbers of Python are keys'
    """
    with _checking.held():
        yield


_Key = TypeVar("_Key", bound=Hashable)
_MOST_REFUSED = 4


class Trials(Generic[_Key]):
    """What was tried, by whatever names a number.

    refused  those that are constants for ever, each with the reason.

    >>> trials = Trials()
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
        self.refused: dict[_Key, str] = {}

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


def reason_of(error: Exception) -> str:
    """The first line of an error, with its class.

    >>> reason_of(ValueError("not positive"))
    'ValueError: not positive'
    """
    return f"{type(error).__name__}: {error}".splitlines()[0]


__dir__ = public_dir(__name__)
