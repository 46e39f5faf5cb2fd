"""Makes data of a Program for the script of a page: nodes of its tree, and what stands beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from linecache import getlines
from pathlib import Path
from typing import Any

from dy2st.passes.plan_memory import amount
from dy2st.viewer.graph import attributes_text, graph_of
from dy2st.viewer.memory import planned
from dy2st_runtime.errors import Location, counted
from dy2st_runtime.ir import Operator, Program
from dy2st_runtime.ir.definition import find
from dy2st_runtime.ir.text.printer import Names
from dy2st_runtime.shape_table import constraint_rows, symbol_rows

_KINDS = ("inputs", "layer", "operator", "block", "end")
_AROUND = 3  # lines of source before and behind that of an operator


class _Table:
    """Texts, or other values, by number; each once."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        return self.known.setdefault(value, len(self.known))


def data_of(
    program: Program,
    after: Program | None,
    times: Mapping[Operator, float],
    sizes: Mapping[str, int] | None,
    folder: Path | None,
) -> dict[str, Any]:
    """What the script of the page draws of one Program, or of two."""
    root = graph_of(program, after)
    nodes = list(root.walk())
    ids = {node: number for number, node in enumerate(nodes)}
    texts, places = _Table(), _Table()
    places.of(None)
    located: dict[tuple[str, int], Location] = {}
    rows = []
    for node in nodes:
        operator = node.operator
        place = None if operator is None else operator.location
        key = None if place is None else (place.file_name, place.line)
        if place is not None and key is not None:
            located.setdefault(key, place)
        operands: list[int] = []
        for one in node.operands:
            operands += (-1, texts.of(one)) if isinstance(one, str) else (ids[one[0]], one[1])
        attributes = [] if operator is None else attributes_text(operator.attributes)
        record = None if operator is None else find(operator.name)
        rows.append(
            [
                ids.get(node.parent, -1) if node.parent is not None else -1,
                _KINDS.index(node.kind),
                texts.of(node.label),
                node.mark.value,
                places.of(key),
                [texts.of(text) for pair in node.results for text in pair],
                operands,
                [texts.of(text) for pair in attributes for text in pair],
                texts.of(node.was),
                texts.of(node.tag),
                times.get(operator, 0) if operator is not None else 0,
                texts.of("opaque" if record is None else record.kind.name.lower()),
            ]
        )
    now = after or program
    marks = [node.mark.name.lower() for node in nodes if node.operator is not None]
    counts = counted(len(marks), "operator")
    if after is not None:
        counts += "".join(f", {marks.count(one)} {one}" for one in ("removed", "added", "changed"))
    names = {node.label for node in nodes if node.kind == "operator"}
    records = {name: find(name) for name in sorted(names)}
    of_operators = {node.operator: ids[node] for node in nodes if node.operator is not None}
    return {
        "name": now.name,
        "summary": f"{counts}, {counted(len(now.parameters), 'parameter')}, "
        f"{counted(len(now.buffers), 'buffer')}",
        "compares": after is not None,
        "strings": list(texts.known),
        "nodes": rows,
        "places": list(places.known),
        "lines": _lines(located, folder),
        "docs": {name: record.doc for name, record in records.items() if record is not None},
        "seconds": sum(times.get(operator, 0) for operator in of_operators),
        "memory": _memory(now, sizes, of_operators),
        "tables": list(_tables(now)),
    }


def _lines(
    located: Mapping[tuple[str, int], Location], folder: Path | None
) -> dict[str, dict[int, str]]:
    """Those lines of sources that operators come from, and a few around them.

    A file that a saved file names is looked for in the folder alone.
    """
    found: dict[str, dict[int, str]] = {}
    for (name, line), place in located.items():
        text = []
        if not place.is_text:
            text = getlines(place.file)
        elif folder is not None and name == place.file and (folder / name).is_file():
            text = getlines(str(folder / name))
        near = range(max(1, line - _AROUND), min(len(text), line + _AROUND) + 1)
        if near:
            found.setdefault(name, {}).update({one: text[one - 1].rstrip() for one in near})
    return found


def _memory(
    program: Program, sizes: Mapping[str, int] | None, ids: Mapping[Operator, int]
) -> dict[str, Any]:
    found = planned(program, sizes)
    numbers = ", ".join(f"{name} = {size}" for name, size in found.sizes.items())
    given = f" for {numbers}" if numbers else ""
    plan = found.plan
    if plan is None:
        return {"text": f"No plan{given}: {found.why}.", "buffers": [], "arena": 1, "count": 1}
    operators = program.block.operators
    text = (
        f"{amount(plan.arena)} of memory{given}; {amount(plan.peak)} are alive at one time, and "
        f"{amount(plan.unplanned)} would be needed if every value had memory of its own. "
        "Parameters, inputs and constants are not part of it."
    )
    last = max(len(operators) - 1, 0)
    buffers = [
        [
            one.name.strip("`"),
            one.size,
            one.offset,
            min(one.begin, last),
            min(one.end, last),
            ids.get(operators[one.begin], -1),
        ]
        for one in plan.buffers
    ]
    return {"text": text, "buffers": buffers, "arena": plan.arena or 1, "count": last + 1}


def _tables(program: Program) -> Iterator[dict[str, Any]]:
    """Inputs, outputs, parameters, sizes and constraints, those that there are."""
    typed = [("input", one.name, str(one.type)) for one in program.inputs]
    typed += [("output", str(i), str(v.type)) for i, v in enumerate(program.outputs)]
    state = []
    for name, one in program.state.items():
        kind = "parameter" if name in program.parameters else "buffer"
        state.append((kind, name, str(one.type)))
    names = Names()
    tables = [
        ("inputs and outputs", ("", "name", "type"), typed),
        ("parameters and buffers", ("", "name", "type"), state),
        ("sizes", ("size", "from", "range"), list(symbol_rows(program, names))),
        ("constraints", ("what must hold", "line"), list(constraint_rows(program))),
    ]
    for title, heads, entries in tables:
        if entries:
            yield {"title": title, "heads": heads, "entries": entries}


__all__ = ["data_of"]
