"""What docs/view.md shows runs: its blocks in order, then its commands, in an empty folder."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from dy2st.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "view.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^    (dy2st [^\n]*?)(?: *#[^\n]*)?$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("view")
    (made / "model.py").write_text("\n\n".join(BLOCKS), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        runpy.run_path("model.py")
    return made


def test_the_blocks_write_their_pages(folder):
    pages = {name: (folder / f"{name}.html").read_text() for name in ("net", "changes", "times")}
    assert '"compares":true' in pages["changes"] and "batch = 8" in pages["times"]


def test_the_commands_run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert len(COMMANDS) == 5
    for line in COMMANDS:
        assert main(shlex.split(line.partition(" > ")[0])[1:]) == 0
    assert "y = self.norm(self.conv(x))" in (folder / "net.html").read_text()
