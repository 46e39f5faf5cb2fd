"""A Program of model code gives what Python gives, or is refused where a table says so."""

from __future__ import annotations

import sys
import warnings
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.dy2st.model_code.catalogue import ENTRIES, Case, Entry
from tests.dy2st.model_code.not_yet import NOT_YET, WRONG
from tests.dy2st.model_code.running import verdict
from tests.dy2st.model_code.themes import CASES, THEMES

pytestmark = pytest.mark.usefixtures("small_heap")
FILES = {theme.__file__ for theme in THEMES}


def chosen(names: Any) -> list[Any]:
    """The cases whose names are among these."""
    slow = [pytest.mark.slow]
    return [
        pytest.param(case, id=case.name, marks=slow if case.entry.slow else [])
        for case in CASES
        if case.name in names
    ]


@pytest.mark.parametrize("case", chosen({case.name for case in CASES} - NOT_YET - WRONG))
def test_a_program_of_model_code_gives_what_python_gives(case: Any) -> None:
    assert verdict(case) == ("equal", "")


@pytest.mark.parametrize("case", chosen(NOT_YET))
def test_what_is_not_yet_converted_is_refused_and_never_another_answer(case: Any) -> None:
    said = verdict(case)
    assert said.kind != "equal", "it is converted now: take it out of not_yet.py"
    assert said.kind == "refused", said


@pytest.mark.parametrize("case", chosen(WRONG))
def test_what_is_known_to_be_wrong_still_is(case: Any) -> None:
    assert verdict(case).kind in ("different", "error"), "it is right now: take it out of WRONG"


def test_the_tables_name_cases_that_exist_once() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert set(names) >= NOT_YET | WRONG
    assert not NOT_YET & WRONG


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
    for call in Case(entry, entry.unknown is not None).arguments():
        try:
            function(*call)
        except Exception:  # an entry may be about what it raises
            continue
