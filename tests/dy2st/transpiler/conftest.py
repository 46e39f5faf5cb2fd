"""How a converted function is compared with Python itself."""

from __future__ import annotations

import copy
import linecache
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

from dy2st.convert.call import HELPERS, convert_call
from dy2st.transpiler import transpile

Compare = Callable[..., None]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gives: its value or its error with the user's line, and its arguments after."""
    arguments = copy.deepcopy(arguments)
    try:
        result = ("value", repr(function(*arguments)))
    except Exception as error:
        file = function.__code__.co_filename
        lines = []
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == file and trace.tb_frame.f_code.co_name != (
                "outcome"
            ):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        # Python itself reports some unbound variables one line early.
        line = 0 if isinstance(error, UnboundLocalError) else lines[-1]
        result = ("error", type(error), str(error), repr(error.__context__), line)
    return (*result, repr(arguments))


def converted(function: FunctionType) -> FunctionType:
    """The converted form of a function, whatever module it is in."""
    return transpile(function).function(function, HELPERS)


@pytest.fixture
def convert() -> Callable[[FunctionType], FunctionType]:
    """Convert one function."""
    return converted


@pytest.fixture
def same_as_python() -> Compare:
    """Run a function as it is and converted, on each tuple of arguments, and compare."""

    def compare(function: FunctionType, *inputs: tuple[Any, ...]) -> None:
        for arguments in inputs:
            expected = outcome(function, arguments)
            assert outcome(converted(function), arguments) == expected
            assert outcome(convert_call(function), arguments) == expected

    return compare


@pytest.fixture
def define() -> Iterator[Callable[[str], FunctionType]]:
    """Make the function `f` of a source text, as if from a file."""
    files: list[str] = []

    def make(text: str) -> FunctionType:
        name = f"<program {len(files)} of {id(files)}>"
        files.append(name)
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        namespace: dict[str, Any] = {"__name__": "program"}
        exec(compile(text, name, "exec", dont_inherit=True), namespace)
        function = namespace["f"]
        assert isinstance(function, FunctionType)
        return function

    yield make
    for name in files:
        del linecache.cache[name]


@pytest.fixture
def outcome_of() -> Callable[[Callable[..., Any], tuple[Any, ...]], tuple[Any, ...]]:
    """What a call gives."""
    return outcome
