"""Both packages are described alike: one version, the same extras, Pythons and licence."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import dy2st
from dy2st_runtime.version import VERSION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


def project(folder="."):
    text = (ROOT / folder / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def test_the_version_stands_in_one_place():
    assert "version" in project()["dynamic"] and "version" in project("runtime")["dynamic"]
    assert dy2st.__version__ == VERSION
    found = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert found[1] == VERSION
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", changes, re.MULTILINE)[0] == VERSION


def test_the_runtime_needs_what_the_compiler_needs_of_it():
    whole, runtime = project(), project("runtime")
    assert set(runtime["dependencies"]) < set(whole["dependencies"])
    for extra, packages in runtime["optional-dependencies"].items():
        assert whole["optional-dependencies"][extra] == packages
    assert runtime["requires-python"] == whole["requires-python"]


def test_the_licence_is_the_same_file():
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "runtime" / "LICENSE").read_bytes()


@pytest.mark.parametrize("folder", [".", "runtime"])
def test_the_classifiers_name_the_pythons_that_are_supported(folder):
    least, most = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", project(folder)["requires-python"]).groups()
    wanted = [f"Programming Language :: Python :: 3.{n}" for n in range(int(least), int(most))]
    assert [one for one in project(folder)["classifiers"] if ":: 3." in one] == wanted


def test_all_files_that_are_no_code_are_in_the_package():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)["tool"]["setuptools"]["package-data"]["dy2st"]
    listed = {path for pattern in data for path in (ROOT / "dy2st").glob(pattern)}
    others = {
        path
        for path in (ROOT / "dy2st").rglob("*.*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert not others - listed
