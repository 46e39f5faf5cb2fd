"""PrintIR: the Programs as they are at this place of a pipeline."""

from __future__ import annotations

import io

import pytest

from dy2st import passes
from dy2st.passes import Module, PassContext, PrintIR, Sequential
from dy2st_runtime.ir import F


@pytest.fixture
def program(t):
    def build(x):
        F.exp(x)
        return F.relu(x)

    return t.program_of(build, t.floats("n"))


def test_the_header_and_the_text_of_every_program_are_printed(t, program, capsys):
    other = t.program_of(lambda x: F.tanh(x), t.floats(2), name="other")
    PrintIR("here")(Module({"main": program, "other": other}))
    assert capsys.readouterr().out == f"PrintIR(here)\n{program}{other}"


def test_it_prints_what_is_there_at_its_place(program):
    out = io.StringIO()
    Sequential([PrintIR("1", out), passes.EliminateDeadCode(), PrintIR("2", out)])(program)
    first, second = out.getvalue().split("PrintIR(2)\n")
    assert first == f"PrintIR(1)\n{program}"
    assert second == str(passes.EliminateDeadCode()(program)) and "exp" not in second


def test_nothing_is_changed(program):
    assert str(PrintIR(file=io.StringIO())(program)) == str(program)
    assert PrintIR().info.changes is False


def test_it_runs_at_every_level_and_can_be_disabled(program, capsys):
    with PassContext(opt_level=0):
        Sequential([PrintIR("low")])(program)
    with PassContext(disabled_pass=["PrintIR"]):
        Sequential([PrintIR("none")])(program)
    assert capsys.readouterr().out.count("PrintIR(") == 1
