"""The instruments: timing, printing, dumps, statistics, the verifier."""

from __future__ import annotations

import io
import json

import pytest

from dy2st import passes
from dy2st.passes import Module, PassContext, PassInstrument, PrintIR, Sequential, Statistics
from dy2st_runtime.errors import PassError
from dy2st_runtime.ir import F
from tests.dy2st.passes.making import made


@pytest.fixture
def program(t):
    def build(x):
        F.exp(x)
        return F.relu(x) * 2.0

    return t.program_of(build, t.floats("n", 3))


def fail(program):
    raise KeyError("gone")


def named(name):
    return made(lambda program: None, name)


# -- timing ---------------------------------------------------------------------------------------


def test_every_pass_has_its_time_inside_that_of_the_sequential_around_it(program):
    timing = passes.PassTiming()
    with PassContext(instruments=[timing]):
        Sequential([named("A"), Sequential([named("B")], name="Inner")], name="Outer")(program)
        lines = timing.render().splitlines()
    names = [line[:40].rstrip() for line in lines[1:]]
    assert names == ["Outer", "  A", "  Inner", "    B"]
    outer = timing.timings[0]
    assert [entry.name for entry in outer.inner] == ["A", "Inner"]
    assert outer.seconds >= outer.inner[0].seconds + outer.inner[1].seconds > 0
    assert outer.own == outer.seconds - sum(entry.seconds for entry in outer.inner)
    assert outer.operators == len(program.operators)


def test_times_are_there_after_the_context_and_forgotten_in_the_next(program):
    timing = passes.PassTiming()
    with PassContext(instruments=[timing]):
        named("A")(program)
    assert " A" not in timing.render() and "A " in timing.render()
    with PassContext(instruments=[timing]):
        named("B")(program)
    assert [entry.name for entry in timing.timings] == ["B"]


def test_times_as_json(program):
    timing = passes.PassTiming()
    with PassContext(instruments=[timing]):
        Sequential([named("A")], name="S")(program)
    found = json.loads(timing.as_json())
    assert [entry["name"] for entry in found] == ["S"]
    assert [entry["name"] for entry in found[0]["inner"]] == ["A"]
    assert found[0]["seconds"] > 0 and found[0]["operators"] == 4


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_timing_is_usable_after_an_error(program, error):
    def broken(program):
        raise error

    timing = passes.PassTiming()
    with PassContext(instruments=[timing]):
        with pytest.raises(error):
            Sequential([named("A"), made(broken, "Broken"), named("C")], name="S")(program)
        named("Later")(program)
        lines = timing.render().splitlines()
    assert [line[:40].rstrip() for line in lines[1:]] == ["S", "  A", "  Broken", "Later"]
    assert all(entry.seconds > 0 for entry in (*timing.timings, *timing.timings[0].inner))
    with PassContext(instruments=[timing]):
        named("Again")(program)
    assert [entry.name for entry in timing.timings] == ["Again"]


def test_timing_is_usable_after_an_error_of_another_instrument(program):
    class Broken(PassInstrument):
        def run_before_pass(self, module, info):
            if info.name == "B":
                raise KeyError

        run_after_pass = run_before_pass

    for instruments in ([Broken(), passes.PassTiming()], [passes.PassTiming(), Broken()]):
        timing = next(entry for entry in instruments if isinstance(entry, passes.PassTiming))
        with PassContext(instruments=instruments):
            with pytest.raises(KeyError):
                Sequential([named("B")], name="S")(program)
            named("Later")(program)
        assert [entry.name for entry in timing.timings] == ["S", "Later"]


# -- printing and dumps ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ((), None, ["after A", "after B", "after S"]),
        (None, (), ["before S", "before A", "before B"]),
        (["B"], ["A"], ["after A", "before B"]),
        (["b"], [], ["before B"]),
        ((), (), []),
    ],
)
def test_printing_of_the_chosen_passes(program, before, after, expected):
    out = io.StringIO()
    with PassContext(instruments=[passes.PassPrinting(before, after, out)]):
        Sequential([named("A"), named("B")], name="S")(program)
    text = out.getvalue()
    assert [line[3:] for line in text.splitlines() if line.startswith("//")] == expected
    assert text.count(str(program)) == len(expected)


def test_printing_goes_to_the_standard_output_of_that_moment(program, capsys):
    with PassContext(instruments=[passes.PassPrinting()]):
        passes.EliminateDeadCode()(program)
    assert capsys.readouterr().out.startswith("// after EliminateDeadCode\n")


def test_one_string_is_no_list_of_passes_to_print():
    with pytest.raises(TypeError, match="passes are given as a list of names, not as 'A'"):
        passes.PassPrinting("A")


def test_a_file_for_every_pass_in_order(program, tmp_path):
    folder = tmp_path / "deep" / "dump"
    odd = passes.apply_to_function(named("B/b"), "main|.*")
    for _ in range(2):  # the numbers begin anew
        with PassContext(instruments=[passes.DumpIR(folder)]):
            Sequential([passes.EliminateDeadCode(), odd], name="my list")(program)
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "001_EliminateDeadCode.mlir",
        "002_B_b.mlir",
        "003_B_b_on_main_._.mlir",
        "004_my_list.mlir",
    ]
    first = (folder / names[0]).read_text(encoding="utf-8")
    assert first == str(passes.EliminateDeadCode()(program))


# -- statistics -----------------------------------------------------------------------------------


def test_what_every_pass_changed(t):
    w = t.array(4, 5)

    def build(x):
        F.matmul(F.exp(x), w)
        return F.relu(x)

    program = t.program_of(build, t.floats(3, 4))
    counts = passes.PassStatistics()
    with PassContext(instruments=[counts]):
        Sequential([passes.EliminateDeadCode(), named("A")], name="S")(program)
    before = Statistics(3, 3 * 4 * 5, 20, 80, (12 + 15 + 12) * 4)
    after = Statistics(1, 0, 0, 0, 12 * 4)
    assert counts.changes == [
        ("EliminateDeadCode", before, after),
        ("A", after, after),
        ("S", before, after),
    ]
    line = counts.render().splitlines()[1]
    assert line.split() == "EliminateDeadCode 3 -> 1 60 -> 0 20 -> 0".split()


def test_statistics_are_summed_over_programs_of_unknown_sizes(t, program):
    other = t.program_of(lambda x: F.exp(x), t.floats("m", 3), name="other")
    counts = passes.PassStatistics()
    with PassContext(instruments=[counts]):
        named("A")(Module({"main": program, "other": other}))
    assert counts.changes[0][1].operators == 3 + 1


def test_statistics_are_usable_after_an_error(program):
    counts = passes.PassStatistics()
    with PassContext(instruments=[counts]):
        with pytest.raises(KeyError):
            Sequential([named("A"), made(fail, "Broken")], name="S")(program)
        named("Later")(program)
    assert [entry[0] for entry in counts.changes] == ["A", "Later"]


# -- verifier -------------------------------------------------------------------------------------


def swap(program):
    program.operators.reverse()


def test_the_verifier_names_the_pass_and_shows_the_place(program):
    with (
        PassContext(instruments=[passes.VerifyAfter()]),
        pytest.raises(PassError, match="after Swap the Program 'main' is broken") as caught,
    ):
        Sequential([named("A"), made(swap, "Swap"), named("C")])(program)
    assert ">> " in str(caught.value) and "^ " in str(caught.value)


def test_the_verifier_lets_what_is_well_formed_pass(program):
    with PassContext(instruments=[passes.VerifyAfter()]):
        after = passes.pipeline("inference")(program)
    assert len(after.operators) == 3


# -- PrintIR ---------------------------------------------------------------------------------------


@pytest.fixture
def shown_program(t):
    def build(x):
        F.exp(x)
        return F.relu(x)

    return t.program_of(build, t.floats("n"))


def test_the_header_and_the_text_of_every_program_are_printed(t, shown_program, capsys):
    other = t.program_of(lambda x: F.tanh(x), t.floats(2), name="other")
    PrintIR("here")(Module({"main": shown_program, "other": other}))
    assert capsys.readouterr().out == f"PrintIR(here)\n{shown_program}{other}"


def test_it_prints_what_is_there_at_its_place(shown_program):
    out = io.StringIO()
    Sequential([PrintIR("1", out), passes.EliminateDeadCode(), PrintIR("2", out)])(shown_program)
    first, second = out.getvalue().split("PrintIR(2)\n")
    assert first == f"PrintIR(1)\n{shown_program}"
    assert second == str(passes.EliminateDeadCode()(shown_program)) and "exp" not in second


def test_nothing_is_changed(shown_program):
    assert str(PrintIR(file=io.StringIO())(shown_program)) == str(shown_program)
    assert PrintIR().info.changes is False


def test_it_runs_at_every_level_and_can_be_disabled(shown_program, capsys):
    with PassContext(opt_level=0):
        Sequential([PrintIR("low")])(shown_program)
    with PassContext(disabled_pass=["PrintIR"]):
        Sequential([PrintIR("none")])(shown_program)
    assert capsys.readouterr().out.count("PrintIR(") == 1
