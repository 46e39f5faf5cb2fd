"""The notebooks of the site run cell by cell, as IPython compiles cells."""

from __future__ import annotations

import ast
import json
import linecache
from pathlib import Path

import pytest

from docs.site import notebooks
from tests.effort import IS_FULL

DOCS = Path(__file__).parent.parent.parent / "docs"
# The blocks themselves are run by tests/test_readme.py; an ordinary run takes one page as cells.
DRAWN = notebooks.PAGES if IS_FULL else ("sizes", "saving")


def run_cell(number, source, namespace):
    """Run a cell; a last expression is shown as a notebook shows it. What it raises is the error."""
    name = f"<ipython-input-{number}-{hash(source) & 0xFFFFFF:06x}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    show = getattr(value, "_repr_html_", None)
    if show is not None:
        assert show().strip().startswith("<")


@pytest.mark.parametrize("page", DRAWN)
def test_the_cells_of_a_notebook_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    namespace = {"__name__": "__main__"}
    cells = json.loads(notebooks.notebook(text))["cells"]
    for number, cell in enumerate(one["source"] for one in cells if one["cell_type"] == "code"):
        try:
            run_cell(number + 1, cell, namespace)
        except Exception as error:
            # A page that shows a traceback names the error below the block.
            if f"{type(error).__name__}: " not in text:
                raise
