"""An entry gives in every way what Python gives, or is refused where a table says so."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

from dy2st.transpiler.lower import traced_form
from tests.dy2st.catalogue.drivers import WITH_BREAKS, is_drawn, verdict
from tests.dy2st.catalogue.entry import ENTRIES, Case, Entry
from tests.dy2st.catalogue.not_yet import NOT_YET, WRONG
from tests.dy2st.catalogue.themes import CASES, THEMES

pytestmark = pytest.mark.usefixtures("small_heap", "every_size")
FILES = {theme.__file__ for theme in THEMES["model_code"]}


def is_refused(case: Case) -> bool:
    """Whether no Program is made of it: its entry says so, or it is to be converted one day."""
    is_never = case.way in ("in_traced_form", *WITH_BREAKS)
    return not is_never and (case.entry.refused is not None or case.of_program in NOT_YET)


def chosen(cases: Iterable[Case]) -> list[Any]:
    """Those that this run has."""
    slow = [pytest.mark.slow]
    return [
        pytest.param(case, id=case.name, marks=slow if case.entry.slow else [])
        for case in cases
        if is_drawn(case)
    ]


@pytest.mark.parametrize(
    "case", chosen(c for c in CASES if not is_refused(c) and c.name not in WRONG)
)
def test_an_entry_gives_in_every_way_what_python_gives(case: Case) -> None:
    said = verdict(case)
    assert said[:2] == ("equal", "") or said.is_meant(case)


@pytest.mark.parametrize("case", chosen(c for c in CASES if is_refused(c) and c.name not in WRONG))
def test_what_is_not_converted_is_refused_and_never_another_answer(case: Case) -> None:
    said = verdict(case)
    assert said.kind != "equal", "it is converted now: take it out of not_yet.py"
    assert said.kind == "refused", said
    if case.of_program not in NOT_YET:
        text = str(said.error)
        assert isinstance(said.error, case.entry.refused) and case.entry.says in text
        assert case.entry.function.__code__.co_filename in text
        assert said.error.hint, text


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.refused is not None], ids=lambda e: e.name
)
def test_python_does_what_is_refused(entry: Entry) -> None:
    for call in entry.calls():
        entry.function(*call)


@pytest.mark.parametrize("case", chosen(c for c in CASES if c.name in WRONG))
def test_what_is_known_to_be_wrong_still_is(case: Case) -> None:
    assert verdict(case).kind != "equal", "it is right now: take it out of WRONG"


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.is_of_values], ids=lambda e: e.name)
def test_a_function_of_values_has_a_traced_form(entry: Entry) -> None:
    function, _ = entry.made()
    assert isinstance(function, FunctionType)
    assert traced_form(function).untouched == ""


def test_the_tables_name_cases_that_exist_once() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert set(names) >= NOT_YET | {*WRONG}
    assert not NOT_YET & {*WRONG}


def test_the_inputs_take_every_line() -> None:
    taken: set[tuple[CodeType, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        taken.add((frame.f_code, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for entry in ENTRIES:
                if entry.theme.startswith("model_code."):
                    run(entry)
    finally:
        sys.settrace(before)
    met = {code for code, _ in taken}
    lines = {(c.co_filename, n) for c in met for *_, n in c.co_lines() if n is not None}
    left = lines - {(code.co_filename, line) for code, line in taken}
    assert not left, "\n".join(f"{file}:{line}" for file, line in sorted(left))


def run(entry: Entry) -> None:
    """All calls of an entry, by Python, whether or not they raise."""
    function, _ = entry.made()
    for call in entry.calls():
        try:
            function(*call)
        except Exception:  # an entry may be about what it raises
            continue
