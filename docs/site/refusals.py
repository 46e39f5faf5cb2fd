"""The index of refusals: read from the places in the source that make them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MEANING = {
    "BranchMismatch": "Branches that disagree",
    "LoopMismatch": "Variables of loops that change their kind",
    "TensorAsPython": "A tensor where a value of Python is needed",
    "EscapedVariable": "Values outside of the branch or loop that made them",
    "SourceUnavailable": "Functions without source",
    "UnsupportedSyntax": "Constructs that have no static form",
    "NotConvertible": "What is no function",
    "ConversionError": "All else",
}
_UNKNOWN = "…"


class Refusal(NamedTuple):
    """What one place says; `…` stands for what only the run knows."""

    error: str
    what: str
    why: str
    instead: str


def refusals(root: Path) -> list[Refusal]:
    """Every refusal of the two packages, each once, in the order of its words."""
    found = set()
    for folder in ("dy2st", "runtime/dy2st_runtime"):
        for path in sorted((root / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "hint=" in text:  # most have none, and parsing takes long
                found.update(_of(ast.parse(text)))
    return sorted(found)


def _of(tree: ast.AST) -> Iterator[Refusal]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in _MEANING:
            continue
        given = {keyword.arg: words(keyword.value) for keyword in node.keywords}
        if not node.args or not {"why", "hint"} <= set(given):
            continue
        what = words(node.args[0])
        if what.strip(f" `{_UNKNOWN}"):  # else it has its words from its caller
            error = str(getattr(node.func, "id", ""))
            yield Refusal(error, what, given["why"], given["hint"])


def words(node: ast.expr) -> str:
    """The text that an expression gives, as far as the source has it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(words(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return words(node.left) + words(node.right)
    if isinstance(node, ast.IfExp):
        return f"{words(node.body)} / {words(node.orelse)}"
    return _UNKNOWN


def page(root: Path) -> str:
    """The page, a table for each class of error."""
    found = refusals(root)
    parts = [
        "# When it is refused",
        "Either the Program computes what Python would, or conversion fails and says why: with the "
        "file and the line, the cause, and what to write instead. These are all of the messages, "
        f"from the source; `{_UNKNOWN}` stands for names and values of yours.",
    ]
    for error, meaning in _MEANING.items():
        rows = [one for one in found if one.error == error]
        if rows:
            parts.append(f"## {meaning}: `{error}`")
            table = ["| what it says | because | instead |", "| --- | --- | --- |"]
            table += [f"| {_cell(r.what)} | {_cell(r.why)} | {_cell(r.instead)} |" for r in rows]
            parts.append("\n".join(table))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    for before, after in (("|", "\\|"), ("<", "&lt;"), ("*", "\\*"), ("\n", " ")):
        text = text.replace(before, after)
    return text


__all__ = ["Refusal", "page", "refusals", "words"]
