"""docs/opu.md: its tables are those of the code, its commands run, its files are those written."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.cli import main
from dy2st.static import InputSpec
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.word_table import REGISTERS, WORDS, as_markdown

PATH = Path(__file__).parents[2] / "docs" / "opu.md"
PAGE = PATH.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (dy2st opu [^\n]*?)(?: +#[^\n]*)?$", PAGE, re.MULTILINE)


def between(name):
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]


def test_the_table_of_words_is_that_of_the_code():
    """`python -m tests.dy2st.test_opu_page` writes it anew."""
    assert between("words") == as_markdown()


def test_the_table_of_words_has_every_field_once():
    rows = dict(re.findall(r"^\| (\d+) \| (.*)$", as_markdown(), re.MULTILINE))
    assert list(map(int, rows)) == sorted(WORDS)
    for opcode, word in WORDS.items():
        own = re.findall(r"(\w+) (\d+)(?::(\d+))?`?(?:,| \|)", rows[str(opcode)].split("|", 2)[2])
        found = {name: (int(high), int(low or high)) for name, high, low in own}
        assert found == word.fields
    for register in REGISTERS.values():
        assert all(f"`{field} " in as_markdown() for field in register.fields)


def machine_rows():
    """The entries of a machine with the values of opu1024, and their meanings from the page."""
    meanings = dict(
        re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", between("machine"), re.MULTILINE)
    )
    for entry in fields(Machine):
        if entry.name != "name":
            value = getattr(machine("opu1024"), entry.name)
            yield entry.name, f"{value:g}" if value >= 1e8 else str(value), meanings


def test_the_table_of_the_machine_has_every_entry():
    rows = [f"| `{n}` | {value} | {meanings[n]} |" for n, value, meanings in machine_rows()]
    assert between("machine").splitlines() == rows


def test_there_are_commands():
    assert {line.split()[2] for line in COMMANDS} == {
        *("compile", "run", "estimate", "inspect", "disasm", "quantise")
    }


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder in which all commands of the page ran, one after the other."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        dy2st.seed(0)
        layers = nn.Sequential(nn.Conv2D(3, 4, 3), nn.ReLU(), nn.MaxPool2D(2, 2)).eval()
        dy2st.jit.save(dy2st.jit.to_static(layers, [InputSpec([None, 3, 8, 8])]), "net")
        np.save("images.npy", np.random.default_rng(0).random((2, 3, 8, 8), "float32"))
        return folder, [main(shlex.split(line)[1:]) for line in COMMANDS]


def test_the_commands_run(ran):
    assert ran[1] == [0] * len(COMMANDS)


def test_every_file_of_the_folder_is_described(ran):
    table = PAGE[PAGE.index("| file | holds |") :].partition("\n\n")[0]
    for entry in (ran[0] / "net.opu").iterdir():
        names = (f"`{entry.name}`", f"`{entry.name}/`", f"`{entry.suffix}`")
        assert any(name in table for name in names) or entry.name == "outputs", entry.name


if __name__ == "__main__":
    PATH.write_text(PAGE.replace(between("words"), as_markdown(), 1), encoding="utf-8")
