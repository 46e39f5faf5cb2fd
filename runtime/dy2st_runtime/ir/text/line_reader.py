"""Reads operators as the printer writes them, by few patterns: thrice as fast as by words.

What does not look exactly so, or is wrong in any way, is left to the reader by words: a quick
reading either takes a whole part of a line, or nothing, and never says that something is wrong.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from dy2st_runtime.errors import Location
from dy2st_runtime.ir.program import Block, Variable
from dy2st_runtime.ir.text.attribute_parser import AttributeParser
from dy2st_runtime.ir.text.lexer import TENSOR
from dy2st_runtime.ir.types import TensorType, ValueType

_VALUE = r"%[A-Za-z0-9_$.-]+"
_VALUES = rf"{_VALUE}(?:, {_VALUE})*"
_TYPES = rf"{TENSOR}(?:, {TENSOR})*"
# A location may stand on the next line, and a comment before it.
_LINE_END = r"\n(?!\s*(?:loc|//))"
_HEAD = re.compile(rf'(?:({_VALUES}) = )?("dy2st\.[^"\\\n]+")\(((?:{_VALUES})?)\)')
_TAIL = re.compile(
    rf": \(((?:{_TYPES})?)\) -> (?:\(((?:{_TYPES})?)\)|({TENSOR}))"
    r'(?: loc\(("[^"\\\n]*"\()?"([^"\\\n\0]*)":([0-9]{1,9}):([0-9]{1,9})(?(4)\))\))?' + _LINE_END
)
_END = re.compile(
    rf'"dy2st\.(?:yield|return)"\(((?:{_VALUES})?)\) : \(((?:{_TYPES})?)\) -> \(\)' + _LINE_END
)
_BLOCK = re.compile(rf"\^bb0\(({_VALUE}: {TENSOR}(?:, {_VALUE}: {TENSOR})*)\):\n")
_PARAMETER = re.compile(rf"({_VALUE}): ({TENSOR})")
# Neither arrays nor lists nor dicts nor strings: numbers, words, sizes and tuples of them.
_PLAIN = r'[^{}"<>#\n]*'
_UNCHANGING = re.compile(rf'\{{{_PLAIN}(?:#dy2st\.dim<"[^"\\\n]*">{_PLAIN})*\}}')
_ONE_TYPE = re.compile(TENSOR)
_DENSE = re.compile(rf"dense<([-+0-9.eE, \[\]]{{1,4000}})> : ({TENSOR})")

# JSON has these numbers, our text has not.
_BARE_EXPONENT = re.compile(r"(?<![0-9.])[0-9]+[eE]")

Array = np.ndarray[Any, Any]
Names = list[str]


class LineReader(AttributeParser):
    """Reads the head and the tail of an operator; None if the text is not the printer's own."""

    __slots__ = ("_entries", "_lists", "_locations", "_operators", "_values")

    def __init__(self, text: str):
        """Stand at the first word."""
        self._values: dict[str, Variable] = {}
        self._operators: dict[str, str] = {}  # names by their words, quotes included
        self._locations: dict[tuple[str | None, ...], Location] = {}
        super().__init__(text)

    def enter_scope(self, scope: dict[str, Any]) -> None:
        """Know these symbols and no others from here on."""
        super().enter_scope(scope)
        self._lists: dict[str, list[ValueType]] = {"": []}
        self._entries: dict[str, dict[str, Any]] = {}

    def quick_head(self, block: Block) -> tuple[Names, str, list[Variable]] | None:
        """Names of results, the name of the operator, and operands, which are of the Block."""
        match = _HEAD.match(self.text, self.place)
        if match is None:
            return None
        results, word, operands = match.groups()
        name, found = self._operators.get(word), self._known(operands, block)
        if name is None or found is None:
            return None
        self.go_on_at(match.end())
        return results.split(", ") if results else [], name, found

    def _known(self, operands: str, block: Block) -> list[Variable] | None:
        found = []
        for word in operands.split(", ") if operands else ():
            variable = self._values.get(word)
            if variable is None or variable.block is not block:
                return None
            found.append(variable)
        return found

    def quick_tail(
        self, operands: list[Variable], count: int
    ) -> tuple[list[ValueType], Location | None] | None:
        """The types of so many results, and the location; the operands have the types they say."""
        match = _TAIL.match(self.text, self.place)
        if match is None:
            return None
        taken, several, single, *place = match.groups()
        given, types = self._types_of(taken), self._types_of(several if single is None else single)
        if types is None or len(types) != count or not _have_types(operands, given):
            return None
        location = self._location_of(*place) if place[1] is not None else None
        self.go_on_at(match.end())
        return types, location

    def quick_end(self, block: Block) -> list[Variable] | None:
        """What a Block yields."""
        match = _END.match(self.text, self.place)
        if match is None:
            return None
        found = self._known(match[1], block)
        if found is None or not _have_types(found, self._types_of(match[2])):
            return None
        self.go_on_at(match.end())
        return found

    def quick_parameters(self) -> list[tuple[int, str, ValueType]] | None:
        """Place, name and type of the parameters of a Block."""
        match = _BLOCK.match(self.text, self.place)
        if match is None:
            return None
        start = match.start(1)
        found: list[tuple[int, str, ValueType]] = []
        for parameter in _PARAMETER.finditer(match[1]):
            type = self._tensors.get(parameter[2])
            if type is None:
                return None
            found.append((start + parameter.start(), parameter[1], type))
        self.go_on_at(match.end())
        return found

    def entries(self) -> dict[str, Any]:
        """Attributes by name; many operators have the same, and these values never change."""
        match = _UNCHANGING.match(self.text, self.place)
        if match is None:
            return super().entries()
        known = self._entries.get(match[0])
        if known is None:
            known = self._entries[match[0]] = super().entries()
        else:
            self.go_on_at(match.end())
        return dict(known)

    def _types_of(self, text: str) -> list[ValueType] | None:
        """The types of a list of which each was read before."""
        known = self._lists.get(text)
        if known is None:
            found = [self._tensors.get(word) for word in _ONE_TYPE.findall(text)]
            if None in found:
                return None
            known = self._lists[text] = [type for type in found if type is not None]
        return known

    def _location_of(self, layer: str | None, *place: str) -> Location:
        known = self._locations.get((layer, *place))
        if known is None:
            file, line, column = place
            path = layer[1:-2] if layer else ""  # of `"layers.0"(`
            known = Location(file, int(line), int(column), True, path)
            self._locations[(layer, *place)] = known
        return known

    def _dense(self) -> Any:
        """An array; short lists of decimal numbers are JSON."""
        match = _DENSE.match(self.text, self.place)
        type = self._tensors.get(match[2]) if match else None
        array = _array(match[1], type) if match and type else None
        if match is None or array is None:
            return super()._dense()
        self.go_on_at(match.end())
        return array


def _have_types(variables: list[Variable], types: list[ValueType] | None) -> bool:
    if types is None or len(types) != len(variables):
        return False
    return all(v.type is type or v.type == type for v, type in zip(variables, types))


def _array(text: str, type: TensorType) -> Array | None:
    """An array of just this type, None for what does not fit it."""
    kind = type.dtype.kind
    is_plain = kind == "f" or (kind in "iu" and "." not in text)
    if not is_plain or _BARE_EXPONENT.search(text):
        return None
    try:
        array = np.array(json.loads(text), type.dtype)
    except (ValueError, OverflowError, RecursionError):
        return None
    is_known = all(isinstance(size, int) for size in type.shape)
    return array if is_known and array.size and array.shape == type.shape else None


__all__ = ["LineReader"]
