"""`dy2st doctor` says what is installed, what works, and what is missing for what."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dy2st
from dy2st.cli import doctor, main
from dy2st_runtime import engine
from dy2st_runtime.engine.native.machine import disk

ROOT = Path(__file__).parents[3]
OF_DEVELOPERS = {"dev", "docs", "test", "test-torch"}


def sections(out):
    """The lines of each section by its title."""
    parts = re.split(r"\n\n(?=\w+\n)", out)
    return {one.split("\n")[0]: one.split("\n")[1:] for one in parts}


def test_the_doctor_names_versions_engines_threads_and_caches(capsys, monkeypatch):
    monkeypatch.setattr(engine, "names", lambda: ["auto", "native", "numpy"])
    monkeypatch.setenv("DY2ST_CACHE", "on")
    assert main(["doctor"]) == 0
    found = sections(capsys.readouterr().out)
    assert any(title.startswith(f"dy2st {dy2st.__version__}, Python 3.") for title in found)
    engines = dict(line.split(None, 1) for line in found["engines"])
    assert engines["numpy"] == engines["native"] == "works"
    assert "of the engine native" in found["threads"][0]
    assert str(disk.cache_folder()) in found["caches"][0]
    assert "  DY2ST_CACHE=on" in found["environment"]


def test_what_is_missing_is_named_with_how_to_install_it(capsys, monkeypatch):
    versions = {"numpy": "2.0", "onnx": "1.17"}
    monkeypatch.setattr(doctor, "installed", lambda name: versions.get(name, ""))
    monkeypatch.setattr(engine, "is_installed", lambda name: name == "numpy")
    monkeypatch.setenv("DY2ST_CACHE", "off")
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    found = sections(out)
    assert "onnx 1.17, onnxruntime - missing" in out and "none is kept" in found["caches"][0]
    assert "  native       not installed" in found["engines"]
    missing = [line.split("'")[1] for line in found["missing"] if "'" in line]
    assert missing == [f"dy2st[{extra.name}]" for extra in doctor.EXTRAS]


class Wrong:
    def run(self, inputs, state):
        return [inputs[0]]


def fails(program):
    raise ArithmeticError("no")


@pytest.mark.parametrize(
    ("broken", "said"),
    [(fails, "a fault of that engine: ArithmeticError: no"), (lambda _: Wrong(), "it computes")],
)
def test_an_engine_that_fails_is_named_and_the_status_is_1(capsys, monkeypatch, broken, said):
    monkeypatch.setitem(engine.ENGINES, "broken", broken)
    monkeypatch.setattr(engine, "names", lambda: ["broken", "numpy"])
    assert main(["doctor"]) == 1
    assert re.search(f"  broken +fails: .*{said}", capsys.readouterr().out)


def test_the_extras_are_those_of_the_package():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    listed = set(re.findall(r"^([\w-]+) = \[", extras, re.MULTILINE))
    assert {extra.name for extra in doctor.EXTRAS} == listed - OF_DEVELOPERS
    for extra in doctor.EXTRAS:
        assert all(f'"{package}' in extras for package in extra.packages)
