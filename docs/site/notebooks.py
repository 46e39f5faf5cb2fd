"""Notebooks of the pages whose blocks run one after the other: a cell for each block."""

from __future__ import annotations

import json
import re

# Their blocks are run by tests/test_readme.py.
PAGES = ("tutorial", "sizes", "training", "saving")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


def notebook(text: str) -> str:
    """A page as a notebook, in Jupyter's format 4.5: text and code; what code prints is left out.

    >>> json.loads(notebook("# T\\n\\n```python\\nprint(1)\\n```\\n"))["cells"][1]["source"]
    'print(1)'
    """
    cells: list[dict[str, object]] = []

    def add(kind: str, source: str) -> None:
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        if source.strip():
            cells.append({**cell, "source": source.strip()})

    place = 0
    for block in _BLOCK.finditer(text):
        add("markdown", text[place : block.start()])
        place = block.end()
        if block[1] == "python":
            add("code", block[2])
        elif block[1] != "text":  # what a block prints comes when it runs
            add("markdown", block[0])
    add("markdown", text[place:])
    language = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": cells, "metadata": {"kernelspec": language}, "nbformat": 4}
    return json.dumps({**whole, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


__all__ = ["PAGES", "notebook"]
