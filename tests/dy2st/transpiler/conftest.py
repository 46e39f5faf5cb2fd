"""How a converted function is compared with Python itself."""

from __future__ import annotations

import copy
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

import pytest

from dy2st.jit import dy2static
from dy2st.transpiler.lower import code_of, traced_form
from tests.dy2st.transpiler import same

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


def essence(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gives, but for lines, words of errors, and generated functions in names."""
    kind, what, *_, arguments = found
    if kind == "error":
        what = NameError if issubclass(what, NameError) else what
    else:
        what = re.sub(r"(factory|true_fn_\d+|false_fn_\d+)\.<locals>\.", "", what)
    return kind, what, arguments


def traced(function: FunctionType) -> Callable[..., Any]:
    """The traced form of a function, or the function if it has none."""
    return function if traced_form(function).untouched else same.traced(function)


def printed(function: FunctionType) -> FunctionType:
    """The function that the text of the functional form is, with the function's own closure."""
    text = textwrap.indent(code_of(function), " ")
    free = function.__code__.co_freevars
    head = f"def factory({', '.join(free)}):\n"
    namespace = function.__globals__
    code = compile(head + text, "<printed>", "exec", dont_inherit=True)
    factory = next(one for one in code.co_consts if isinstance(one, CodeType))
    own = next(one for one in factory.co_consts if isinstance(one, CodeType))
    cells = {function.__name__: CellType(), **dict(zip(free, function.__closure__ or ()))}
    names = {n + end: getattr(dy2static, n) for n in dy2static.__all__ for end in ("", "_")}
    made = FunctionType(
        own,
        {**namespace, **names},
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in own.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    cells[function.__name__].cell_contents = made
    return made


@pytest.fixture
def convert() -> Callable[[FunctionType], Callable[..., Any]]:
    """The traced form of a function, by a protocol that does what Python does."""
    return traced


@pytest.fixture
def same_as_python() -> Compare:
    """Compare a function with its traced form and its text, for each tuple of arguments."""

    def compare(function: FunctionType, *inputs: tuple[Any, ...], is_text_too: bool = True) -> None:
        for arguments in inputs:
            expected = outcome(function, arguments)
            assert outcome(traced(function), arguments) == expected
            if is_text_too and "convert_match(" not in code_of(function):  # in a trace alone
                assert essence(outcome(printed(function), arguments)) == essence(expected)

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
