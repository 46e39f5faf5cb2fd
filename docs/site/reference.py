"""The reference: a page for each public module, made of signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES = (
    *("dy2st", "dy2st.jit", "dy2st.static", "dy2st.nn", "dy2st.nn.functional"),
    *("dy2st.nn.initializer", "dy2st.nn.utils", "dy2st.optimizer", "dy2st.optimizer.lr"),
    *("dy2st.io", "dy2st.amp", "dy2st.linalg", "dy2st.metric", "dy2st.vision", "dy2st.onnx"),
    *("dy2st.distributed", "dy2st.passes", "dy2st.jit.dy2static", "dy2st.errors"),
    *("dy2st_runtime", "dy2st_runtime.engine", "dy2st_runtime.dims"),
)
_OURS = ("dy2st", "dy2st_runtime")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def pages() -> dict[str, str]:
    """The text of each page by its name; the same on every machine."""
    return {f"{name}.md": page(import_module(name)) for name in MODULES}


def page(module: ModuleType) -> str:
    """A module: what it is for, its classes, its functions."""
    names = sorted((name for name in dir(module) if not name.startswith("_")), key=str.lower)
    entries = {name: getattr(module, name) for name in names}
    ours = {name: one for name, one in entries.items() if _is_ours(one)}
    classes = {name: one for name, one in ours.items() if inspect.isclass(one)}
    functions = {name: one for name, one in ours.items() if name not in classes}
    parts = [f"# {module.__name__}", in_markdown(inspect.getdoc(module) or "")]
    for title, group in (("Classes", classes), ("Functions", functions)):
        if group:
            parts.append(f"## {title}")
            parts += [_entry(name, one) for name, one in group.items()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _is_ours(value: Any) -> bool:
    place = getattr(value, "__module__", None) or ""
    return callable(value) and place.partition(".")[0] in _OURS


def _entry(name: str, value: Any) -> str:
    parts = [f"### {name}", f"```python\n{signature(name, value)}\n```"]
    parts.append(in_markdown(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        rows = []
        for attribute in sorted(name for name in vars(value) if not name.startswith("_")):
            one = getattr(value, attribute, None)  # not what is stored: a family may come late
            doc = inspect.getdoc(one)
            if doc and (callable(one) or isinstance(one, property)):
                line = doc.partition("\n")[0].replace("|", "\\|")
                rows.append(f"| `{attribute}` | {escaped(line)} |")
        if rows:
            parts.append("\n".join(["| method | what it does |", "| --- | --- |", *rows]))
    return "\n\n".join(part for part in parts if part)


class _Written:
    """An annotation as it stands in the source."""

    def __init__(self, text: Any) -> None:
        self.text = text if isinstance(text, str) else inspect.formatannotation(text)

    def __repr__(self) -> str:
        return self.text


def signature(name: str, value: Any) -> str:
    """`name(x: Tensor, axis: int = 0) -> Tensor`; the name alone of what has none."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    empty = inspect.Signature.empty
    given = [
        one if one.annotation is empty else one.replace(annotation=_Written(one.annotation))
        for one in found.parameters.values()
    ]
    result = found.return_annotation
    if result is not empty and not inspect.isclass(value):
        result = _Written(result)
    else:
        result = empty
    return _ADDRESS.sub("", f"{name}{found.replace(parameters=given, return_annotation=result)}")


def in_markdown(doc: str) -> str:
    """A docstring: examples and columns become blocks of code, sections lists, all else text."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", doc.strip("\n")):
        lines = paragraph.split("\n")
        is_section = len(lines) > 2 and re.fullmatch(r"-{3,}", lines[1])
        if is_section:
            parts.append(f"**{lines[0]}**")
            del lines[:2]
            paragraph = "\n".join(lines)
        if lines[0].lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{inspect.cleandoc(paragraph)}\n```")
        elif is_section:
            parts.append(_listed(lines))
        elif any(re.match(r"\s{4}|\S+\s{2,}\S|\s*[├└│]", line) for line in lines):
            parts.append(f"```text\n{paragraph}\n```")
        elif paragraph:
            parts.append(escaped(paragraph))
    return "\n\n".join(parts)


def _listed(lines: list[str]) -> str:
    """Parameters, attributes or errors, each with the indented lines that describe it."""
    entries: list[str] = []
    for line in lines:
        if line.startswith(" "):
            entries[-1] += f" {escaped(line.strip())}"
        else:
            entries.append(f"- `{line}`:")
    return "\n".join(entries)


def escaped(text: str) -> str:
    """Text outside of backticks in which Markdown finds nothing to do."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        one if one.startswith("`") else re.sub(r"([*_<>\[\]#])", r"\\\1", one) for one in pieces
    )


__all__ = ["MODULES", "escaped", "in_markdown", "page", "pages", "signature"]
