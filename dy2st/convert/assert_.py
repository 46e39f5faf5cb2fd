"""`assert`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.asked import asked
from dy2st.convert.staging import stage_assert
from dy2st.convert.traced import is_traced


def convert_assert(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`; the message is evaluated only if the test fails.

    Raises AssertionError if a Python test fails; a traced test is checked when the Program runs.
    """
    test = asked(test)
    if is_traced(test):
        stage_assert(test, message)
    elif not test:
        raise AssertionError() if message is None else AssertionError(message())
