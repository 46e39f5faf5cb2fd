"""Parses types and attributes; see `attribute_text.py` for the forms."""

from __future__ import annotations

import math
import re
from collections import namedtuple
from collections.abc import Callable
from typing import Any
from unicodedata import is_normalized

import numpy as np

from dy2st_runtime.dims import Condition, Dim, parse, parse_condition
from dy2st_runtime.errors import Location, ParseError, ShapeError
from dy2st_runtime.ir.choice import CONVERSIONS, Choice, Hole, Text
from dy2st_runtime.ir.structure import At, Container, Only, Output, Rows, Tables
from dy2st_runtime.ir.text.array_parser import build_array, float_from_bits, read_elements
from dy2st_runtime.ir.text.attribute_text import ELIDED, MAX_DEPTH
from dy2st_runtime.ir.text.lexer import Lexer
from dy2st_runtime.ir.types import (
    MAX_LIST_DEPTH,
    ArrayType,
    DType,
    TensorType,
    ValueType,
    element_dtype,
    is_element_text,
)

_LIMIT = 2**63
_MAX_DECIMALS = 20
_MAX_RANK = 64
_MAX_DIGITS = 400
_MAX_LINES = 10**9
_MAX_WIDTH_DIGITS = 6
_SIZES = re.compile(r"(?:(?:[0-9]+|\?)x)*")
_QUOTED = re.compile(r'"([^"\\]*)"')
_WORDS = {"unit": None, "true": True, "false": False}


_Form = Callable[[Any], Any]
_FORMS: dict[str, _Form] = {}


def _form(name: str) -> Callable[[_Form], _Form]:
    """Enter what reads a form of our own, behind its name."""

    def enter(read: _Form) -> _Form:
        _FORMS[name] = read
        return read

    return enter


class AttributeParser(Lexer):
    """Reads types and attributes where it stands; `scope` has the Program's symbols by name."""

    __slots__ = ("_depth", "_named", "_tensors", "scope")

    def __init__(self, text: str):
        """Stand at the first word; no symbols are known yet."""
        super().__init__(text)
        self._depth = 0
        self._named: dict[Any, Any] = {}
        self.enter_scope({})

    def enter_scope(self, scope: dict[str, Dim]) -> None:
        """Know these symbols and no others from here on."""
        self.scope = scope
        self._tensors: dict[str, TensorType] = {}

    # -- types -------------------------------------------------------------------------------

    def type(self) -> ValueType:
        """A tensor's type, or that of a list of tensors or of lists."""
        depth = 0
        while self.accept("!dy2st.array"):
            self.expect("<")
            depth += 1
        if depth > MAX_LIST_DEPTH:
            raise self.error(f"lists are nested deeper than {MAX_LIST_DEPTH}")
        is_empty = depth > 0 and self.accept("none")
        type: ValueType | None = None if is_empty else self.tensor_type()
        for _ in range(depth):
            self.expect(">")
            type = ArrayType(type)
        assert type is not None
        return type

    def tensor_type(self) -> TensorType:
        """`tensor<?x64xf32, ["batch"]>`; equal texts give the same object."""
        if self.kind != "tensor":
            raise self.expected("a type such as `tensor<2x3xf32>`")
        known = self._tensors.get(self.word)
        if known is None:
            head, _, encoding = self.word[len("tensor<") : -1].partition(",")
            prefix = _SIZES.match(head)
            assert prefix is not None
            sizes, element = prefix.group().split("x")[:-1], head[prefix.end() :]
            texts = _QUOTED.findall(encoding)
            if len(texts) != sizes.count("?") or len(sizes) > _MAX_RANK:
                raise self.error("a type has one text for every `?`, and at most 64 axes")
            rest = iter(texts)
            shape = [self._size(next(rest)) if s == "?" else self._number(s) for s in sizes]
            known = self._tensors[self.word] = TensorType(self._dtype(element), shape)
        self.advance()
        return known

    def _number(self, text: str) -> int:
        if len(text) > _MAX_DECIMALS or int(text) >= _LIMIT:
            raise self.error(f"the size {text[:_MAX_DECIMALS]} is too large")
        return int(text)

    def _dtype(self, text: str) -> DType:
        dtype = element_dtype(text)
        if dtype is None and is_element_text(text):
            raise self.error(f"{text} needs the package ml_dtypes: pip install ml_dtypes")
        if dtype is None:
            raise self.error(f"there is no element type `{text[:20]}`")
        return dtype

    def _size(self, text: str) -> Dim:
        size = self._symbolic(parse, text)
        if not isinstance(size, Dim):
            raise self.error(f"the size {text[:80]!r} is a number, and stands for an unknown one")
        return size

    def _symbolic(self, read: Callable[[str, dict[str, Dim]], Any], text: str) -> Any:
        try:
            return read(text, self.scope)
        except (ParseError, ShapeError) as error:
            raise self.error(str(error)) from None

    # -- attributes --------------------------------------------------------------------------

    def attribute(self) -> Any:
        """The value that an attribute's text stands for."""
        if self._depth >= MAX_DEPTH:
            raise self.error("attributes are nested too deeply")
        self._depth += 1
        value = self._attribute()
        self._depth -= 1
        return value

    def _attribute(self) -> Any:
        kind, word = self.kind, self.word
        if kind == "number":
            return self._numeric()
        if kind == "string":
            return self.string()
        if word == "[":
            return self.array()
        if kind == "special" and word in _FORMS:
            self.advance()
            self.expect("<")
            value = _FORMS[word](self)
            self.expect(">")
            return value
        if kind != "word":
            raise self.expected("an attribute")
        if word == "dense":
            return self._dense()
        if word == ELIDED:
            raise self.error("the array was left out when this was printed")
        value = _WORDS[word] if word in _WORDS else self._dtype(word)
        self.advance()
        return value

    def array(self) -> tuple[Any, ...]:
        """`[a, b]`, a tuple."""
        return self.listed("[", self.attribute, "]")

    def listed(self, open: str, entry: Callable[[], Any], close: str) -> tuple[Any, ...]:
        """Entries between marks, with commas in between."""
        self.expect(open)
        found = []
        if self.word != close:
            found.append(entry())
            while self.accept(","):
                found.append(entry())
        self.expect(close)
        return tuple(found)

    def strings(self) -> tuple[str, ...]:
        """`["a", "b"]`."""
        return self.listed("[", self.string, "]")

    def integer(self) -> int:
        """Decimal digits without a type."""
        place, word = self.place, self.expect_kind("number", "an integer")
        if not word.lstrip("-").isdigit() or len(word) > _MAX_DECIMALS:
            raise self.error("expected an integer", place)
        return int(word)

    def entries(self) -> dict[str, Any]:
        """`{axis = 1 : i64}`: attributes by name."""
        found: dict[str, Any] = {}

        def entry() -> None:
            place = self.place
            name = self.key()
            if name in found:
                raise self.error(f"`{name}` stands here twice", place)
            found[name] = None
            if self.word not in (",", "}"):  # a name alone: other tools' text of `name = unit`
                self.expect("=")
                found[name] = self.attribute()

        self.listed("{", entry, "}")
        return found

    def key(self) -> str:
        """The name of an attribute."""
        return self.string() if self.kind == "string" else self.expect_kind("word", "a name")

    def location(self) -> Location | None:
        """`loc("model.py":9:8)`, in a Layer `loc("layers.0"("model.py":9:8))`; `loc(unknown)`."""
        self.expect("loc")
        self.expect("(")
        if self.accept("unknown"):
            self.expect(")")
            return None
        place, file, layer = self.place, self.string("a file name"), ""
        is_named = self.accept("(")
        if is_named:
            layer, file = file, self.string("a file name")
        self.expect(":")
        line = self.integer()
        self.expect(":")
        column = self.integer()
        if is_named:
            self.expect(")")
        self.expect(")")
        if "\0" in file or not (0 <= line < _MAX_LINES and 0 <= column < _MAX_LINES):
            raise self.error("no file has this name, or so many lines or columns", place)
        return Location(file, line, column, True, layer)

    # -- numbers and arrays ------------------------------------------------------------------

    def _numeric(self) -> int | float:
        place, word = self.place, self.advance()
        suffix = ""
        if self.accept(":"):
            suffix = self.expect_kind("word", "the type of a number")
        try:
            if suffix == "f64" or (not suffix and "." in word):
                if word.startswith("0x"):
                    return float_from_bits(word)
                if "." not in word or len(word) > _MAX_DIGITS:
                    raise ValueError("expected digits with a point")
                value = float(word)
                if not math.isfinite(value):
                    raise ValueError("too large")
                return value
            type = suffix or "i64"
            width = type[1:]
            if (
                type[0] != "i"
                or not width.isdigit()
                or len(width) > _MAX_WIDTH_DIGITS
                or "." in word
            ):
                raise ValueError("not an integer type")
            is_hexadecimal = "0x" in word
            if not is_hexadecimal and len(word) > _MAX_DIGITS:
                raise ValueError("too long")
            value = int(word, 16 if is_hexadecimal else 10)
            if not -1 <= value >> max(int(width) - 1, 0) <= 0:
                raise ValueError("outside the type's range")
            return value
        except ValueError:
            raise self.error(f"`{word[:40]}` is no number of this type", place) from None

    def _dense(self) -> Any:
        self.advance()
        self.expect("<")
        elements = read_elements(self)
        self.expect(">")
        self.expect(":")
        return build_array(self, elements, self.tensor_type())

    # -- forms of our own --------------------------------------------------------------------

    @_form("#dy2st.dim")
    def _dim(self) -> Dim:
        return self._size(self.string())

    @_form("#dy2st.condition")
    def _condition(self) -> Condition:
        condition: Condition = self._symbolic(parse_condition, self.string())
        return condition

    @_form("#dy2st.output")
    def _output(self) -> Output:
        place, index = self.place, self.integer()
        if index < 0:
            raise self.error("an output is counted from 0", place)
        is_number = self.accept(",")
        if is_number:
            self.expect("number")
        return Output(index, is_number)

    @_form("#dy2st.list")
    def _list(self) -> list[Any]:
        return list(self.array())

    @_form("#dy2st.dict")
    def _dict(self) -> dict[Any, Any]:
        place, pairs = self.place, self.array()
        if not all(type(pair) is tuple and len(pair) == 2 for pair in pairs):
            raise self.error("a dict is a list of [key, value]", place)
        try:
            found = dict(pairs)
        except TypeError:
            raise self.error("a key of a dict that Python does not take", place) from None
        if len(found) != len(pairs):
            raise self.error("a key stands twice in a dict", place)
        return found

    @_form("#dy2st.named")
    def _named_tuple(self) -> Any:
        place, name = self.place, self.string()
        self.expect(",")
        fields = self.strings()
        self.expect(",")
        values = self.array()
        try:
            kind = self._named.get((name, fields))
            if kind is None:
                # namedtuple refuses whatever is no plain name, but for these.
                if not all(is_normalized("NFKC", text) for text in fields):
                    raise ValueError("a name that Python would read as another")
                kind = self._named[name, fields] = namedtuple(name, fields)
            return kind(*values)
        except (TypeError, ValueError):
            raise self.error("a wrong name, field or number of values", place) from None

    @_form("#dy2st.choice")
    def _choice(self) -> Choice:
        place, tag = self.place, self.attribute()
        self.expect(",")
        cases = self.array()
        if not isinstance(tag, Output) or not cases:
            raise self.error("a choice is an output and the values that it is one of", place)
        return Choice(tag, cases)

    @_form("#dy2st.rows")
    def _rows(self) -> Rows:
        place, length = self.place, self.attribute()
        self.expect(",")
        if not isinstance(length, Output):
            raise self.error("rows begin with an output, a list as long as they are", place)
        entry = self.attribute()
        return Rows(length, entry, self.string() if self.accept(",") else "list")

    @_form("#dy2st.container")
    def _container(self) -> Container:
        kind = self.string()
        self.expect(",")
        entry = self.attribute()
        return Container(kind, entry, self.attribute() if self.accept(",") else None)

    @_form("#dy2st.only")
    def _only(self) -> Only:
        return Only(self.attribute())

    @_form("#dy2st.at")
    def _at(self) -> At:
        table = self.integer()
        self.expect(",")
        place, where = self.place, self.attribute()
        if not isinstance(where, Output) and type(where) is not int:
            raise self.error("a place in a table is an output or a number", place)
        return At(table, where)

    @_form("#dy2st.tables")
    def _tables(self) -> Tables:
        place, tables = self.place, self.array()
        self.expect(",")
        if not all(isinstance(one, (Rows, tuple)) for one in tables):
            raise self.error("tables are rows, or what lists and dicts hold", place)
        return Tables(tables, self.attribute())

    @_form("#dy2st.text")
    def _text(self) -> Text:
        place, entries = self.place, self.array()
        parts = [entry if isinstance(entry, str) else _hole(entry) for entry in entries]
        if any(part is None for part in parts):
            raise self.error("a text has strings and [value, conversion, format]", place)
        return Text(tuple(part for part in parts if part is not None))

    @_form("#dy2st.bytes")
    def _bytes(self) -> bytes:
        place, digits = self.place, self.string()
        try:
            return bytes.fromhex(digits)
        except ValueError:
            raise self.error("expected hexadecimal digits", place) from None

    @_form("#dy2st.scalar")
    def _scalar(self) -> Any:
        place, value = self.place, self.attribute()
        if not isinstance(value, np.ndarray) or value.ndim:
            raise self.error("expected a 0-d array", place)
        return value[()]


def _hole(entry: Any) -> Hole | None:
    """A place in a text; None for anything else."""
    if type(entry) is not tuple or len(entry) != 3:
        return None
    _, conversion, spec = entry
    are_texts = isinstance(conversion, str) and isinstance(spec, str)
    return Hole(*entry) if are_texts and conversion in ("", "%", *CONVERSIONS) else None


__all__ = ["AttributeParser"]
