"""What docs/text_ir.md shows is so: its Program is one, and its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from dy2st.cli import bench, main
from dy2st_runtime import io
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text

PAGE = (Path(__file__).parents[2] / "docs" / "text_ir.md").read_text(encoding="utf-8")
PROGRAM = re.search(r"^```mlir\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
COMMANDS = re.findall(r"^    (dy2st [^\n:]*?)(?: *#[^\n]*)?$", PAGE, re.MULTILINE)


def test_the_program_is_just_as_it_is_printed():
    assert to_text(verify(parse_one(PROGRAM))) == PROGRAM


def test_there_are_commands():
    assert len(COMMANDS) == 12


@pytest.mark.parametrize("line", [line for line in COMMANDS if "<" not in line])
def test_a_command_runs(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "_SECONDS", 0.0)
    np.save("x.npy", np.ones((3, 2), "float32"))
    for name in ("net", "other", "better"):
        state = {"fc.weight": np.arange(6, dtype="float32").reshape(2, 3)}
        io.save_programs(name, {"forward": parse_one(PROGRAM)}, state)
    words = shlex.split(line.split(" > ")[0])
    assert main(words[1:]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_the_fault_is_shown_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bad.mlir").write_text(PROGRAM.replace("dy2st.relu", "dy2st.relux"))
    assert main(["print", "bad.mlir"]) == 2
    lines = capsys.readouterr().err.rstrip("\n").split("\n")
    shown = PAGE[PAGE.index("    dy2st: bad.mlir") :].rstrip("\n").split("\n")
    assert [line[4:] for line in shown] == lines
