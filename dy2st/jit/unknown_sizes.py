"""Refuses to give the hash and the text of an unknown size while a function is traced.

A size is an int to the user's code, but `{3: a}.get(n)` would miss 3, and `f"{n}"` would give the
name. Both would be wrong without a word, so they are refused where the user's code asks; our own
code may ask.
"""

from __future__ import annotations

import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.dims.expression import undecided
from dy2st_runtime.errors import listener
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.thread_state import Shared, ThreadState

_Method: TypeAlias = Callable[[Any], Any]
# Python's own code asks for somebody: for whom is seen from its caller.
_LIBRARY = (sysconfig.get_paths()["stdlib"], "<string>", "<frozen ")
_PACKAGES = ("site-packages", "dist-packages")


class _Traces(ThreadState):
    """Of this thread: how many traces run, and how many of them refuse the text as well."""

    count = 0
    without_text = 0


_traces = _Traces()
_asked_for_hash: Callable[[Any], int] = vars(Dim)["__hash__"]
_asked_for_text: Callable[[Any], str] = vars(Dim)["__repr__"]
_text_of_condition: Callable[[Any], str] = vars(Condition)["__repr__"]


@contextmanager
def refused(text: bool) -> Iterator[None]:
    """Refuse the hash of unknown sizes inside the `with`, and their text too if `text` is set."""
    outer = _traces.count, _traces.without_text
    _traces.count, _traces.without_text = outer[0] + 1, outer[1] + text
    try:
        with _watching.held():
            yield
    finally:
        _traces.count, _traces.without_text = outer


def _methods(hash: _Method, text: _Method, of_condition: _Method) -> Callable[[], None]:
    methods = {"__hash__": hash, "__repr__": text, "__str__": text}

    def install() -> None:
        for name, method in methods.items():
            setattr(Dim, name, method)
        for name in ("__repr__", "__str__"):
            setattr(Condition, name, of_condition)

    return install


def _hash(self: Dim) -> int:
    is_asked = _traces.count and not is_own_file(sys._getframe(1).f_code.co_filename)
    if is_asked and _user_asks():
        _refuse(_asked_for_text(self), "looked up in a set or dict")
    return _asked_for_hash(self)


def _text(self: Dim) -> str:
    is_asked = _traces.without_text or listener.hear is not None  # by a library
    if is_asked and _user_asks():
        _refuse(_asked_for_text(self), "turned into text")
    return _asked_for_text(self)


def _condition(self: Condition) -> str:
    if listener.hear is not None and _user_asks():
        _refuse(_text_of_condition(self), "turned into text")
    return _text_of_condition(self)


def _user_asks() -> bool:
    frame = sys._getframe(2)
    while True:
        name = frame.f_code.co_filename
        # Weak tables drop entries at any time, whoever runs.
        if is_own_file(name) or name == weakref.__file__:
            return False
        is_library = name.startswith(_LIBRARY) and not any(part in name for part in _PACKAGES)
        if not is_library or frame.f_back is None:
            return True
        frame = frame.f_back


def _refuse(size: str, what: str) -> NoReturn:
    raise undecided(
        f"the size {size} is {what}, but is not known while the function is "
        "traced; compare it (n == 3) instead, or give it a number in the InputSpec"
    )


# The methods are watched as long as a trace runs; they cost nothing at other times.
_watching = Shared(
    _methods(_hash, _text, _condition),
    _methods(_asked_for_hash, _asked_for_text, _text_of_condition),
)
