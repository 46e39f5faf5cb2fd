"""Every Python block of the README runs, in order, and prints what the README shows."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_readmes_blocks_print_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    namespace = {"__name__": "readme"}
    for number, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        expected = ""
        if number + 1 < len(blocks) and blocks[number + 1][0] == "text":
            expected = blocks[number + 1][1]
        # Conversion reads the source of functions: give it as that of a file called README.md.
        filename = str(tmp_path / f"block{number}" / "README.md")
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, filename, "exec"), namespace)
        shown = printed.getvalue().replace(filename, "README.md")
        assert without_columns(shown) == without_columns(expected)


def without_columns(text):
    """Python 3.10 does not know the columns of instructions."""
    return re.sub(r"(README\.md:\d+):\d+", r"\1", text).strip()


def test_the_commands_install_extras_that_exist():
    project = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) == 3
    for extra in re.findall(r"\[(\w+)\]", " ".join(commands)):
        assert f"\n{extra} = [" in project
    assert (README.parent / "examples" / "digits.py").exists()
