"""Targets are found by their names: those of dy2st, and those of other packages."""

import sys

import pytest

import dy2st
from dy2st.cli import main
from dy2st.errors import ArgumentError
from dy2st.targets import GROUP, TARGETS, find, target_names

PACKAGE = """
def add_count(commands):
    parser = commands.add_parser("count", help="count the operators of a saved Program")
    parser.add_argument("input")
    parser.set_defaults(run=count)


def count(options):
    from dy2st.model_files import read_model

    for program in read_model(options.input).programs:
        print(program.name, sum(1 for _ in program.block.walk()))
    return 0
"""


def offer(monkeypatch, folder, value):
    """A package in a folder that offers the target `count`."""
    (folder / "counting_target.py").write_text(PACKAGE)
    info = folder / "counting_target-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting-target\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ncount = {value}\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "counting_target", raising=False)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_target_of_ours_adds_a_command(name, capsys):
    assert name in target_names()
    with pytest.raises(SystemExit):
        main([{"c": "compile", "onnx": "export", "stablehlo": "export"}.get(name, name), "--help"])
    assert "example" in capsys.readouterr().out


def test_an_unknown_target_is_refused_with_those_that_are_known():
    with pytest.raises(ArgumentError, match=r"no target 'onxn'; known: c, onnx, opu"):
        find("onxn")


def test_another_package_offers_a_target(monkeypatch, tmp_path, capsys):
    offer(monkeypatch, tmp_path, "counting_target:add_count")
    assert "count" in target_names()
    spec = [dy2st.static.InputSpec([2], "float32")]
    dy2st.jit.save(dy2st.to_static(lambda x: x * 2 + 1, spec), tmp_path / "net")
    assert main(["count", str(tmp_path / "net")]) == 0
    assert capsys.readouterr().out.split()[-1] == "4"  # two constants, a product, a sum


def test_a_target_that_cannot_be_loaded_is_noted_and_the_others_work(monkeypatch, tmp_path, capsys):
    offer(monkeypatch, tmp_path, "counting_target:is_not_there")
    with pytest.raises(ArgumentError, match="the target 'count' cannot be loaded"):
        find("count")
    assert main(["opt", "--list-passes"]) == 0
    shown = capsys.readouterr()
    assert "note: the target 'count' cannot be loaded" in shown.err and "Passes" in shown.out
