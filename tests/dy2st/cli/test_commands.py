"""The command line: what it writes, what it says of bad input, and its exit status."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.cli import commands, main
from dy2st.passes import PIPELINES, pass_names
from dy2st.static import InputSpec
from dy2st_runtime.ir import F, Tracer
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.tensor_file import read_arrays, write_arrays
from tests.recorded import program_of

X = np.arange(16, dtype="float32").reshape(2, 8) / 8


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        return self.second(F.relu(self.first(x) * 1.0))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, which holds the saved model `net`."""
    monkeypatch.chdir(tmp_path)
    spec = [InputSpec([None, 8], name="x")]
    dy2st.jit.save(dy2st.jit.to_static(Net(), input_spec=spec), "net")
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """`run(*arguments)` is the exit status, standard output and standard error."""

    def call(*arguments):
        try:
            status = main(list(arguments))
        except SystemExit as end:  # argparse's own way out
            status = end.code
        return (status, *capsys.readouterr())

    return call


def give(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))


def simple(name="relu"):
    """The text of a Program of one operator."""
    return to_text(program_of(getattr(F, name), ("float32", (2,)), name="f", names="x"))


# -- opt --------------------------------------------------------------------------------------


def test_opt_writes_a_model_that_computes_the_same(run):
    assert run("opt", "net", "-p", "inference,fold-constant", "-o", "better") == (0, "", "")
    before, after = (dy2st_runtime.load(name) for name in ("net", "better"))
    np.testing.assert_allclose(before(X).numpy(), after(X).numpy(), rtol=1e-6)
    assert "dy2st.multiply" in Path("net.mlir").read_text()
    assert "dy2st.multiply" not in Path("better.mlir").read_text()


def test_opt_may_write_over_what_it_read(run):
    expected = dy2st_runtime.load("net")(X).numpy()
    assert run("opt", "net.mlir", "-p", "simplify-algebra", "-o", "net.mlir")[0] == 0
    assert np.array_equal(dy2st_runtime.load("net")(X).numpy(), expected)
    assert sorted(os.listdir()) == ["net.mlir", "net.safetensors"]


def test_opt_without_passes_prints_the_text_and_names_the_arrays_it_leaves(run):
    status, out, err = run("opt", "net")
    assert (status, out) == (0, Path("net.mlir").read_text())
    assert err.startswith("dy2st: note: the text is without the arrays of first.bias, ")


def test_opt_reads_standard_input(run, monkeypatch):
    give(monkeypatch, simple())
    assert run("opt", "-", "-p", "EliminateDeadCode") == (0, simple(), "")


def test_opt_reads_a_text_without_arrays(run):
    Path("net.safetensors").unlink()
    assert run("opt", "net.mlir", "-p", "simplify-algebra", "-o", "out.mlir") == (0, "", "")
    assert not Path("out.safetensors").exists()


def test_opt_says_which_parameters_it_could_not_build_in(run):
    Path("alone.mlir").write_bytes(Path("net.mlir").read_bytes())
    note = run("opt", "alone.mlir", "-p", "inference")[2]
    assert "note: not built in, " in note and "first.weight, first.bias, second.weight" in note
    assert run("opt", "alone.mlir", "-p", "training")[2] == ""
    assert run("opt", "net", "-p", "inference", "-o", "better")[2] == ""


def test_opt_leaves_locations_out_on_request(run):
    assert "loc(" in run("opt", "net")[1]
    assert "loc(" not in run("opt", "net", "--no-locations")[1]


def test_opt_says_how_long_passes_took_and_what_they_changed(run):
    status, out, err = run("opt", "net", "-p", "SimplifyAlgebra", "--timing", "--statistics")
    assert status == 0 and "own ms" not in out
    assert "\n  SimplifyAlgebra " in err
    # matmul, add, multiply, relu, matmul, add; 8 * 16 + 16 * 4 for a row
    assert "6 -> 5" in err and "192 -> 192" in err


def test_opt_prints_programs_after_passes(run):
    status, out, err = run(
        "opt", "net", "-p", "simplify-algebra", "--print-after", "SimplifyAlgebra"
    )
    header, text = err.split("\n", 1)
    assert header == "// after SimplifyAlgebra"
    assert parse_one(text[: text.index("dy2st: note")]).name == "forward"


def test_opt_leaves_passes_of_a_higher_level_out_and_says_so(run):
    status, out, err = run("opt", "net", "-p", "FoldConstant", "--opt-level", "1")
    assert "dy2st: note: FoldConstant did not run: its level 2 is above --opt-level 1\n" in err
    _, _, err = run("opt", "net", "--print-after", "FoldConstant")
    assert "dy2st: note: nothing is printed after FoldConstant: it did not run\n" in err


def test_opt_says_what_is_left_to_the_caller(run):
    Path("soft.mlir").write_text(simple("softmax"))
    status, out, err = run("opt", "soft.mlir", "-p", "SkipOutputSoftmax")
    assert "dy2st.softmax" not in out
    assert err == "dy2st: note: softmax(output 0 of 'f', axis=0) is left to the caller\n"


def test_opt_names_the_pass_that_breaks_a_program(run, monkeypatch):
    def breaks(self, module, context):
        module.programs["forward"].block.yields = []
        return module

    monkeypatch.setattr("dy2st.passes.EliminateDeadCode.transform", breaks)
    status, out, err = run("opt", "net", "-p", "EliminateDeadCode", "--verify-each", "-o", "x")
    assert (status, out) == (2, "") and not Path("x.mlir").exists()
    assert err.startswith("dy2st: after EliminateDeadCode the Program 'forward' is broken\n")


def test_all_passes_are_listed_with_a_level_and_a_meaning(run):
    status, out, _ = run("opt", "--list-passes")
    lines = {line.split()[0]: line.split()[1:] for line in out.split("\n") if line.startswith("  ")}
    assert sorted(lines) == pass_names()
    ours = {*lines} & {*dy2st.passes.__all__, *PIPELINES}  # other tests have made some of their own
    assert len(ours) > 30
    for name in ours:
        words = lines[name]
        assert len(words) > 3 and (name in PIPELINES or words[0] in "01234")


def test_opt_does_not_write_some_arrays_without_the_others(run):
    Path("net.safetensors").unlink()
    status, _, err = run("opt", "net.mlir", "-o", "saved")
    assert status == 2 and not Path("saved.mlir").exists()
    assert "the arrays of first.weight, first.bias, second.weight, second.bias are not known" in err


# -- print, verify, diff ----------------------------------------------------------------------


def test_print_leaves_long_constants_out(run):
    program = parse_one(simple())
    with Tracer(program).tracing():
        program.block.yields = [F.add(program.inputs[0], np.array([1, 2], "float32"))]
    Path("c.mlir").write_text(to_text(program))
    assert run("print", "c.mlir") == (0, to_text(program), "")
    assert run("print", "c.mlir", "--elide", "1") == (0, to_text(program, elide=1), "")


def test_verify_counts_what_is_sound(run):
    Path("f.mlir").write_text(simple())
    assert run("verify", "net", "f.mlir") == (
        0,
        "net: sound, 1 Program, 7 operators, 4 arrays\nf.mlir: sound, 1 Program, 1 operator\n",
        "",
    )


def test_verify_shows_what_is_broken_and_goes_on(run):
    Path("b.mlir").write_text(simple().replace("dy2st.relu", "dy2st.sum"))
    status, out, err = run("verify", "b.mlir", "net")
    assert status == 1 and out.startswith("net: sound")
    assert err.startswith("dy2st: b.mlir is broken: ") and "\n     ^ " in err


def test_verify_holds_arrays_against_the_program(run):
    write_arrays(Path("net.safetensors"), {"w": np.zeros(2)})
    status, _, err = run("verify", "net")
    assert status == 2
    assert err.startswith("dy2st: net.safetensors does not belong to the Program; missing: first.w")


def test_diff_is_0_for_equal_and_1_for_different_programs(run):
    Path("a.mlir").write_text(simple().replace("%0", "%other"))
    Path("b.mlir").write_text(simple())
    Path("c.mlir").write_text(simple("exp"))
    assert run("diff", "a.mlir", "b.mlir") == (0, "", "")
    status, out, err = run("diff", "a.mlir", "c.mlir")
    assert (status, err) == (1, "")
    assert out.startswith("removed: relu; added: exp\n--- a.mlir\n+++ c.mlir\n@@ ")


def test_diff_compares_the_numbers_of_saved_models(run):
    run("opt", "net", "-o", "other")
    assert run("diff", "net", "other") == (0, "", "")
    arrays = dict(read_arrays(Path("net.safetensors")))
    arrays["first.bias"] = arrays["first.bias"] + 1
    write_arrays(Path("other.safetensors"), arrays)
    assert run("diff", "net", "other") == (1, "the arrays of 'first.bias' differ\n", "")


def test_diff_compares_standard_input_with_a_file_only(run, monkeypatch):
    give(monkeypatch, Path("net.mlir").read_text())
    assert run("diff", "-", "net") == (0, "", "")
    assert run("diff", "-", "-")[0] == 2


# -- bad input --------------------------------------------------------------------------------


def test_damaged_text_is_shown_with_its_place(run):
    lines = Path("net.mlir").read_text().split("\n")
    number = next(i for i, line in enumerate(lines) if "dy2st.relu" in line)
    lines[number] = lines[number].replace('"dy2st.relu"(', '"dy2st.relu"[')
    Path("bad.mlir").write_text("\n".join(lines))
    column = lines[number].index("[") + 1
    status, out, err = run("print", "bad.mlir")
    place, shown, mark = err.rstrip("\n").split("\n")
    assert (status, out) == (2, "")
    assert place == f"dy2st: bad.mlir:{number + 1}:{column}: expected `(`, found `[`"
    assert shown[2:] == lines[number][: len(shown) - 2]
    assert mark == " " * (column + 1) + "^"


def test_of_a_long_line_only_the_part_around_the_fault_is_shown(run):
    Path("bad.mlir").write_text(simple().replace("structure", "x" * 500).replace("f32", " ?" * 300))
    _, _, err = run("print", "bad.mlir")
    assert max(map(len, err.split("\n"))) < 140


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["opt", "net", "-p", "fold-constnt"], "no pass 'fold-constnt'; did you mean 'FoldConstant'?"),
        (["opt", "net", "-p", "inferenc"], "no pass 'inferenc'; did you mean 'inference'?"),
        (["opt", "net", "--print-after", "FoldConst"], "no pass 'FoldConst'; did you mean"),
        (["opt", "net", "-o", "missing/net"], "there is no folder missing"),
        (["opt", "net", "-o", "."], ". is a folder; give the name of a file in it"),
        (["opt", "net", "-o", "missing/"], "missing/ is a folder"),
        (["opt", "nothing"], "there is no file nothing and no nothing.mlir"),
        (["opt", "nothing.mlir"], "there is no file nothing.mlir\n"),
        (["opt", "nat"], "no file nat and no nat.mlir; did you mean net?"),
        (["opt", "nat.mlir"], "no file nat.mlir; did you mean net.mlir?"),
        (["opu", "inspect", "nat"], "no file nat and no nat.mlir; did you mean net?"),
        (["opt"], "opt needs a file"),
        (["print", "."], ". is a folder"),
        (["verify", "nothing"], "there is no file nothing"),
        (["diff", "net", "nothing"], "there is no file nothing"),
        (["print", "unknown.mlir"], 'unknown.mlir:7:10: there is no operator `relux`; did you mean `relu`?'),
        (["print", "binary.mlir"], "binary.mlir is no text"),
        (["print", "cut.mlir"], "cut.mlir:1:9: expected `\"dy2st.model\"`"),
        (["print", "newer.mlir"], "newer.mlir: the text has format 9"),
        (["print", "twice.mlir"], "two of one name: f, f"),
        (["opt", "broken.mlir"], "broken.mlir is broken: "),
        (["print", "net", "--elide", "-1"], "a number from 0 on"),
        (["print", "net", "--elide", "x"], "a number from 0 on, not 'x'"),
        (["optimise"], "there is no 'optimise'; there are bench, compare, compile, diff, "),
        (["prnt", "net"], "there is no 'prnt'; did you mean 'print'?"),
        (["opu", "inspct", "net"], "there is no 'inspct'; did you mean 'inspect'?"),
        (["opt", "net", "--timng"], "there is no option --timng; did you mean '--timing'?"),
        (["print", "net", "more"], "there is nothing to do with 'more'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_line_and_ends_with_2(run, arguments, said):
    program = parse_one(simple())
    Path("unknown.mlir").write_text(to_text(program).replace("dy2st.relu", "dy2st.relux"))
    Path("binary.mlir").write_bytes(b"\xff\xfe")
    Path("cut.mlir").write_text('        "dy2st')
    Path("newer.mlir").write_text(simple().replace("format = 1", "format = 9"))
    Path("twice.mlir").write_text(to_text([program, program]))
    Path("broken.mlir").write_text(simple().replace("dy2st.relu", "dy2st.sum"))
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert said in err and "Traceback" not in err


def test_a_folder_that_cannot_be_written_to_is_named(run, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied", "out.mlir")

    monkeypatch.setattr("dy2st.model_files.write_pair", refuse)
    assert run("opt", "net", "-o", "out.mlir")[2] == "dy2st: out.mlir: Permission denied\n"
    assert not list(Path().glob("*out.mlir*"))


def test_the_version_is_that_of_both_packages(run):
    assert run("--version") == (0, f"dy2st {dy2st.__version__}\n", "")
    assert dy2st.__version__ == dy2st_runtime.__version__


def commands_of(parser, words=()):
    """All commands and those of commands, as words."""
    for action in parser._subparsers._actions if parser._subparsers else ():
        for name, one in (action.choices or {}).items() if action.dest != "help" else ():
            yield (*words, name)
            yield from commands_of(one, (*words, name))


def test_the_help_of_every_command_has_an_example(run):
    for words in [(), *commands_of(commands.parser())]:
        status, out, _ = run(*words, "--help")
        assert status == 0 and "example" in out, words
        assert f"  {' '.join(('dy2st', *words[:1]))}" in out.partition("example")[2], words


@pytest.mark.parametrize("command", ["opt", "print", "verify", "diff"])
def test_every_command_has_help_with_an_example_that_runs(run, command):
    status, out, _ = run(command, "--help")
    (example,) = [line for line in out.split("\n") if line.startswith("  dy2st ")]
    for name in ("better", "other"):
        run("opt", "net", "-o", f"{name}.mlir")
    assert status == 0
    assert run(*example.split()[1:])[0] == 0


# -- as a command -----------------------------------------------------------------------------


def command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-m", "dy2st", *arguments], env=environment, capture_output=True, **options
    )


def test_the_module_is_the_command(folder):
    done = command(
        "opt", "-", "-p", "training", "--no-locations", input=Path("net.mlir").read_bytes()
    )
    assert done.returncode == 0
    assert parse_one(done.stdout.decode()).name == "forward"
    assert command("print", "nothing").returncode == 2


def test_a_reader_that_goes_away_is_no_error(folder, monkeypatch, capsys):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["print", "net"]) == 141
    assert capsys.readouterr().err == ""
