"""Test methods of unittest, each run by one trace: traced, run, and its effects done."""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dy2st.convert import effect_table
from dy2st.jit import to_static


def trace_modules(names: Iterable[str]) -> None:
    """From now on these modules of Python are looked into as if the user had written them."""
    tops = {name.partition(".")[0] for name in names}
    effect_table.IGNORED_PACKAGES = effect_table.IGNORED_PACKAGES - tops  # type: ignore[misc]


def trace_methods(tests: unittest.TestSuite) -> int:
    """Let each test method run by a trace; how many do."""
    count = 0
    for test in _each(tests):
        name = test._testMethodName
        method = getattr(test, name, None)
        is_own = type(test).__module__.startswith("test.")
        if is_own and inspect.ismethod(method) and not inspect.iscoroutinefunction(method):
            setattr(test, name, _traced(method))
            count += 1
    return count


def _each(tests: Any) -> Iterator[Any]:
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from _each(test)
        else:
            yield test


def _traced(method: Any) -> Callable[[], Any]:
    """The method by a trace, and what unittest does before it in the same one."""
    set_up = method.__self__.setUp

    @functools.wraps(method.__func__)
    def run() -> Any:
        def whole() -> None:
            set_up()
            method()

        return to_static(whole)()

    method.__self__.setUp = lambda: None
    return run


__all__ = ["trace_methods", "trace_modules"]
