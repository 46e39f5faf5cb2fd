"""Texts whose characters the data decides: each is a Text of one place, for its code points.

These stand in a tuple whose length is known only when the Program runs. A text of Python becomes
such a one where a loop makes it longer, or where it is one of many; the Program computes with
the numbers, and whoever gets the text from it gets a str.
"""

from __future__ import annotations

import re
from functools import reduce
from types import FunctionType
from typing import Any

from dy2st.convert.kinds.lists import joined as joined_lists
from dy2st.convert.kinds.lists import length_of, repeat
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.table import function_row, method_row, operator_row
from dy2st.convert.trace import Trace
from dy2st.convert.types.constants import CODES
from dy2st.convert.values.flatten import as_number, element_at
from dy2st.convert.values.layout import Number, number_kind
from dy2st.convert.values.special import Indexed, SymbolicSequence, Union
from dy2st_runtime.ir import F
from dy2st_runtime.ir.choice import Hole, Text, joined

# The methods of such a text, in plain Python, by their names.
TEXT_METHODS: dict[str, FunctionType] = {}
# What writes a number, and reads one, in plain Python, too.
READS_AND_WRITES: dict[str, Any] = {}
# Formats of integers that are written in characters: how many with zeros in front, and a base.
_OF_INTEGERS = re.compile(r"[sr]?|%%s|(?:%%)?(0\d*)?([dbox]?)")
_BASES = {"": 10, "d": 10, "b": 2, "o": 8, "x": 16}


def is_of_codes(value: Any) -> bool:
    """Whether a value is a text whose characters the data decides."""
    return type(value) is Text and len(value.parts) == 1 and value.is_like(CODES)


def codes_of(value: Any) -> Any:
    """The code points of a text: a tuple of Python, or a SymbolicSequence."""
    if type(value) is str:
        return tuple(map(ord, value))
    return value.holes[0].value


def text_of_codes(trace: Trace, codes: Any) -> Any:
    """The text of code points: a str where all of them are known."""
    if type(codes) is tuple and all(type(code) is int for code in codes):
        return "".join(map(chr, codes))
    if type(codes) is tuple:
        numbers = [as_number(trace.tracer, code, int) for code in codes]
        codes = SymbolicSequence(tuple, Number(int), [F.array_of(numbers)])
    return Text((Hole(SymbolicSequence(tuple, Number(int), codes.arrays), "chr"),))


def one_text(trace: Trace, text: Any) -> Any:
    """A text of several code points and strings as one; as it is if it has other places."""
    if type(text) is not Text or len(text.parts) < 2:
        return text
    if any(isinstance(part, Hole) and part.conversion != "chr" for part in text.parts):
        return text
    parts = [codes_of(part) if type(part) is str else part.value for part in text.parts]  # type: ignore[union-attr]
    return text_of_codes(trace, reduce(lambda a, b: joined_lists(trace, a, b, tuple), parts))


def as_codes(trace: Trace, text: Any) -> Any:
    """A text with integers in it as one of code points; all other values as they are."""
    if type(text) is not Text or is_of_codes(text):
        return text
    parts: list[Any] = []
    for part in text.parts:
        if isinstance(part, str) or part.conversion == "chr":
            parts.append(part if isinstance(part, str) else Text((part,)))
            continue
        form = _OF_INTEGERS.fullmatch(part.conversion + part.spec)
        if form is None or number_kind(part.value) is not int:
            return text
        base, width = _BASES[form[2] or ""], int(form[1] or 0)
        parts.append(trace.call(READS_AND_WRITES["digits"], part.value, base, width))
    return one_text(trace, joined(parts))


def character_at(trace: Trace, text: Text, place: Any) -> Any:
    """The character at a place that is known to be in a text."""
    return text_of_codes(trace, (element_at(trace, codes_of(text), place),))


def length_of_text(trace: Trace, text: Text) -> Any:
    """`len(text)`."""
    return length_of(trace, codes_of(text))


def characters(trace: Trace, text: Text) -> Indexed:
    """What a loop over a text runs over."""
    return Indexed(length_of_text(trace, text), lambda place: character_at(trace, text, place))


def _are_texts(*values: Any) -> bool:
    return all(type(value) is str or is_of_codes(value) for value in values)


@operator_row("add", str, Text)
def _add(trace: Trace, left: Any, right: Any) -> Any:
    if type(right) not in (str, Text):
        return NotImplemented
    return one_text(trace, joined([left, right]))


@operator_row("mul", str, Text)
def _mul(trace: Trace, text: Any, times: Any) -> Any:
    if not _are_texts(text) or number_kind(times) not in (int, bool):
        return NotImplemented
    return text_of_codes(trace, repeat(trace, codes_of(text), times))


def _compared(name: str) -> None:
    @operator_row(name, str, Text)
    def row(trace: Trace, left: Any, right: Any) -> Any:
        left, right = as_codes(trace, left), as_codes(trace, right)
        if not _are_texts(left, right):
            is_other = is_of_codes(left) and not isinstance(right, Text)
            return name == "ne" if is_other and name in ("eq", "ne") else NotImplemented
        return getattr(trace, name)(codes_of(left), codes_of(right))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compared(_name)


@function_row(chr)
def _chr(trace: Trace, code: Any) -> Any:
    if not is_traced(code):
        return chr(code)
    known = F.logical_and(F.greater_equal(code, 0), F.less_than(code, 0x110000))
    trace.tracer.check(known, ValueError("chr() arg not in range(0x110000)"))
    return text_of_codes(trace, (code,))


@function_row(ord)
def _ord(trace: Trace, text: Any) -> Any:
    text = as_codes(trace, text)
    if not is_of_codes(text):
        return ord(text)
    length = length_of_text(trace, text)
    error = TypeError("ord() expected a character, but string of another length found")
    trace.tracer.check(F.equal(length, 1), error)
    return element_at(trace, codes_of(text), 0)


def empty_text() -> Text:
    """A text of no characters that can be made longer."""
    return Text((Hole(SymbolicSequence(tuple, Number(int), [F.array_of([])]), "chr"),))


@method_row(str, Text, name="__contains__")
def _contains(trace: Trace, text: Any, part: Any) -> Any:
    if type(part) is Union:
        return trace.map_cases(lambda one: _contains(trace, text, one), part)
    text, part = as_codes(trace, text), as_codes(trace, part)
    if not is_of_codes(text) and not is_of_codes(part):
        return text in part if type(part) is Text else part in text  # refused, in its words
    if not _are_texts(text, part):
        raise TypeError(f"'in <string>' requires string as left operand, not {type(part).__name__}")
    return trace.ge(trace.call(TEXT_METHODS["find"], text, part), 0)


def part_of(trace: Trace, text: Any, index: Any) -> Any:
    """`text[index]`."""
    found = trace.item(codes_of(text), index)
    return text_of_codes(trace, found if isinstance(index, slice) else (found,))
