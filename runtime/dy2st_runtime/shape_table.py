"""A table of all sizes in a Program, and of what they must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dy2st_runtime.dims import Dim, is_symbol
from dy2st_runtime.errors import Location
from dy2st_runtime.html_page import BLOCK_TITLES, table
from dy2st_runtime.ir import Block, Operator, Program, Variable
from dy2st_runtime.ir.checks.broken_sizes import source_line
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.text.printer import Names
from dy2st_runtime.ir.types import ArrayType, ValueType

Row = tuple[str, ...]

_INDENT = "  "


class ShapeTable:
    """Every value of a Program with its operator and shape, then symbols and constraints.

    `str()` of it is the table.
    """

    def __init__(self, program: Program):
        """Look at a Program."""
        self.program = program

    def __str__(self) -> str:
        """The table, the same for the same Program."""
        parts = [titled(*titles, rows=rows) for titles, rows in self._tables()]
        return "\n\n".join(part for part in parts if part)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The tables in a notebook."""
        return "".join(table(titles, rows) for titles, rows in self._tables() if rows)

    def _tables(self) -> list[tuple[Row, list[Row]]]:
        names = Names()
        return [
            (("value", "operator", "shape", "line"), list(_values(self.program, names))),
            (("size", "from", "range"), list(symbol_rows(self.program, names))),
            (("constraint", "line"), list(constraint_rows(self.program))),
        ]


def titled(*titles: str, rows: Sequence[Row]) -> str:
    """Rows in columns under their titles; empty without rows."""
    if not rows:
        return ""
    table = [titles, *rows]
    widths = [max(len(row[i]) for row in table if i < len(row)) for i in range(len(titles))]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)) for row in table]
    rule = "-" * max(len(line.rstrip()) for line in lines)
    return "\n".join(line.rstrip() for line in [lines[0], rule, *lines[1:]])


# -- values -----------------------------------------------------------------------------------


def _values(program: Program, names: Names) -> Iterator[Row]:
    kinds = [
        *(("input", variable) for variable in program.inputs),
        *(("parameter", variable) for variable in program.parameters.values()),
        *(("buffer", variable) for variable in program.buffers.values()),
    ]
    for kind, variable in kinds:
        yield names.of(variable), kind, _shape(variable.type), ""
    yield from _block(program.block, names, 0)
    yield f"return {_listed(names, program.outputs)}", "", "", ""
    for name, block in program.functions.items():
        yield f"function {name}:", "", "", ""
        for variable in block.parameters:
            yield f"{_INDENT}{names.of(variable)}", "given", _shape(variable.type), ""
        yield from _block(block, names, 1)
        yield f"{_INDENT}return {_listed(names, block.yields)}", "", "", ""


def _block(block: Block, names: Names, depth: int) -> Iterator[Row]:
    indent = _INDENT * depth
    for operator in block.operators:
        place = _place(operator.location)
        if not operator.results:
            yield indent, _described(operator), "", place
        for result in operator.results:
            yield f"{indent}{names.of(result)}", _described(operator), _shape(result.type), place
            place = ""
        # What a branch is given follows the condition; a loop's Blocks are given all.
        given = operator.operands[1:] if operator.name == "cond" else operator.operands
        for title, one in zip(BLOCK_TITLES.get(operator.name, ()), operator.blocks):
            yield f"{indent}{_INDENT}{title}:", "", "", ""
            inner = indent + 2 * _INDENT
            for variable, outer in zip(one.parameters, given):
                source = f"given {names.of(outer)}"
                yield f"{inner}{names.of(variable)}", source, _shape(variable.type), ""
            yield from _block(one, names, depth + 2)
            yield f"{inner}yield {_listed(names, one.yields)}", "", "", ""


def _described(operator: Operator) -> str:
    """The name of an operator, with the value or condition that it is about."""
    if operator.name == "require":
        return f"require {_text(operator.attributes['condition'])}"
    if operator.name == CALL:
        return f"call {operator.attributes['function']}"
    if operator.name == "from_dim":
        return f"size {_text(operator.attributes['value'])}"
    value = operator.attributes.get("value")
    if operator.name == "constant" and isinstance(value, np.ndarray) and value.ndim == 0:
        return f"constant {value}"
    return operator.name


def _text(value: object) -> str:
    return str(value)


def _listed(names: Names, variables: Iterable[Variable]) -> str:
    return ", ".join(names.of(variable) for variable in variables)


def _shape(type: ValueType) -> str:
    if isinstance(type, ArrayType):
        return f"list of {'?' if type.element is None else _shape(type.element)}"
    return f"[{', '.join(map(str, type.shape))}]"


def _place(location: Location | None) -> str:
    return f"{location.file_name}:{location.line}" if location else ""


# -- symbols and constraints ------------------------------------------------------------------


def symbol_rows(program: Program, names: Names) -> Iterator[Row]:
    """Where symbols come from: axes of inputs, and those sizes that only the data decides."""
    seen: set[Dim] = set()
    for symbol, origin in origins(program.inputs).items():
        seen.add(symbol)
        size = origin.variable.tensor_type.shape[origin.axis]
        formula = "" if size is symbol else f" = {size}"
        yield str(symbol), f"`{origin.variable.name}` axis {origin.axis}{formula}", _range(symbol)
    for operator in program.walk():
        for variable in operator.results:
            shape = () if isinstance(variable.type, ArrayType) else variable.type.shape
            for axis, size in enumerate(shape):
                if isinstance(size, Dim) and is_symbol(size) and size not in seen:
                    seen.add(size)
                    yield str(size), f"{names.of(variable)} axis {axis}", _range(size)


def _range(symbol: Dim) -> str:
    if symbol.maximum is None:
        return f"{symbol.minimum} or more"
    return f"{symbol.minimum} to {symbol.maximum}"


def constraint_rows(program: Program) -> Iterator[Row]:
    """What sizes must satisfy, and the lines that ask for it."""
    for entry in program.constraints:
        place = entry.constraint.reason
        if entry.location is not None:
            place = f"{_place(entry.location)}  {source_line(entry.location)}"
        yield str(entry.constraint.condition), place.rstrip()
