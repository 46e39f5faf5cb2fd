"""Splits the text of a Program into words, and makes errors that name line and column."""

from __future__ import annotations

import re

from dy2st_runtime.errors import ParseError

_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
# A whole tensor type is one word: most of a text are types, and few of them differ. No alternative
# can match a text in two ways, so matching takes linear time.
_ENCODING = rf",[ ]?\[{_STRING}(?:,[ ]?{_STRING})*\]"
COMPLEX = r"complex<f(?:32|64)>"
_ELEMENT = rf"(?:{COMPLEX}|[a-z][A-Za-z0-9]*)"
TENSOR = rf"tensor<(?:(?:[0-9]+|\?)x)*{_ELEMENT}(?:{_ENCODING})?>"
_TOKEN = re.compile(
    rf"""(?:[ \t\r\n]+|//[^\n]*)*
    (?: (?P<tensor>{TENSOR})
    | (?P<value>%[A-Za-z0-9_$.-]+)
    | (?P<string>{_STRING})
    | (?P<number>-?(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?)?))
    | (?P<mark>->|[(){{}}\[\]<>,:=])
    | (?P<word>{COMPLEX}|[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<special>[!\#^][A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<end>\Z)
    | (?P<unknown>.))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(rb'\\(?:(["\\])|(n)|(t)|([0-9A-Fa-f]{2})|(.?))', re.DOTALL)
_SHOWN = 40


class Lexer:
    """Stands at one word of a text: `kind` and `word` say which, `place` where it begins.

    Kinds: tensor (a type), value (%x), string (with quotes), number, mark, word, special (#, !, ^),
    end, and unknown.
    """

    __slots__ = ("_next", "kind", "place", "text", "word")

    def __init__(self, text: str):
        """Stand at the first word."""
        self.text = text
        self.kind = self.word = ""
        self.place = self._next = 0
        self.advance()

    def advance(self) -> str:
        """Go to the next word; returns the one that is left behind."""
        word = self.word
        match = _TOKEN.match(self.text, self._next)
        assert match is not None and match.lastgroup is not None
        self.kind = kind = match.lastgroup
        self.word = match[kind]
        self.place = match.start(kind)
        self._next = match.end()
        return word

    def go_on_at(self, place: int) -> None:
        """Go to the first word from a place on."""
        self._next = place
        self.advance()

    def accept(self, word: str) -> bool:
        """Go on if this word is here."""
        if self.word != word:
            return False
        self.advance()
        return True

    def expect(self, word: str) -> None:
        """Go on if this word is here, ParseError if not."""
        if self.word != word:
            raise self.expected(f"`{word}`")
        self.advance()

    def expect_kind(self, kind: str, what: str) -> str:
        """The word here if it is of this kind, ParseError if not."""
        if self.kind != kind:
            raise self.expected(what)
        return self.advance()

    def string(self, what: str = "a string") -> str:
        """The value of the string here."""
        place = self.place
        quoted = self.expect_kind("string", what)
        if "\\" not in quoted:
            return quoted[1:-1]
        try:
            data = _ESCAPE.sub(_unescaped, quoted[1:-1].encode("utf-8", "surrogatepass"))
            return data.decode("utf-8", "surrogatepass")
        except ValueError:
            raise self.error("the string has an unknown escape or is no UTF-8", place) from None

    # -- errors ------------------------------------------------------------------------------

    def expected(self, what: str) -> ParseError:
        """The error that something else should stand here."""
        if self.kind == "end":
            found = "the end of the text"
        else:
            cut = "..." if len(self.word) > _SHOWN else ""
            found = f"`{self.word[:_SHOWN]}{cut}`"
        return self.error(f"expected {what}, found {found}")

    def error(self, what: str, place: int | None = None) -> ParseError:
        """An error at a place, by default at the word here."""
        if place is None:
            place = self.place
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        error = ParseError(f"line {line}, column {column}: {what}")
        error.line, error.column = line, column
        return error


def _unescaped(match: re.Match[bytes]) -> bytes:
    same, newline, tab, digits, wrong = match.groups()
    if wrong is not None:
        raise ValueError("an unknown escape")
    if digits is not None:
        return bytes.fromhex(digits.decode())
    return same or (b"\n" if newline else b"\t" if tab else b"")


__all__ = ["TENSOR", "Lexer"]
