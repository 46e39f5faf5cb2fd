"""Methods of texts whose characters the data decides, on lengths, indices, slices and `==`."""

from __future__ import annotations

from typing import Any

from dy2st.convert.kinds.code_texts import (
    READS_AND_WRITES,
    TEXT_METHODS,
    as_codes,
    empty_text,
    is_of_codes,
)
from dy2st.convert.kinds.table import method_row
from dy2st.convert.kinds.text import joined_by
from dy2st.convert.trace import Trace
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.ir.choice import Text

# Those that str.isspace() says to be spaces.
_SPACES = "".join(one for one in map(chr, range(0x3001)) if one.isspace())


def join(separator: Any, texts: Any, out: Any) -> Any:
    """`separator.join(texts)`; `out` is the empty text."""
    for place, one in enumerate(texts):
        out = one + out if place == 0 else out + separator + one
    return out


def _place(index: Any, length: Any) -> Any:
    """Where a part of a text begins or ends."""
    if index is None:
        return length
    return max(index + length, 0) if index < 0 else index


def _places(text: Any, part: Any, start: Any, end: Any) -> Any:
    """Where a part may stand between two places."""
    length = len(text)
    return range(_place(start, length), min(_place(end, length), length) - len(part) + 1)


def find(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.find(part, start, end)`."""
    for place in _places(text, part, start, end):
        if text[place : place + len(part)] == part:
            return place
    return -1


def rfind(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.rfind(part, start, end)`."""
    for place in reversed(_places(text, part, start, end)):
        if text[place : place + len(part)] == part:
            return place
    return -1


def index(text: Any, part: Any, start: int = 0, end: Any = None) -> Any:
    """`text.index(part, start, end)`."""
    place = find(text, part, start, end)
    if place < 0:
        raise ValueError("substring not found")
    return place


def count(text: Any, part: Any) -> Any:
    """`text.count(part)`."""
    return len(text) + 1 if len(part) == 0 else len(split(text, part)) - 1


def startswith(text: Any, part: Any) -> Any:
    """`text.startswith(part)`."""
    return text[: len(part)] == part


def endswith(text: Any, part: Any) -> Any:
    """`text.endswith(part)`."""
    return len(text) >= len(part) and text[len(text) - len(part) :] == part


def replace(text: Any, old: Any, new: Any) -> Any:
    """`text.replace(old, new)`, of something."""
    if len(old) == 0:
        raise ValueError("nothing is replaced in a text whose characters the data decides")
    return new.join(split(text, old))


def split(text: Any, separator: Any = None) -> Any:
    """`text.split(separator)`."""
    words, word = [], text[:0]
    if separator is None:
        for character in text + " ":
            if character not in _SPACES:
                word += character
            elif len(word) > 0:
                words.append(word)
                word = text[:0]
        return words
    if len(separator) == 0:
        raise ValueError("empty separator")
    place = find(text, separator)
    while place >= 0:
        words.append(text[:place])
        text = text[place + len(separator) :]
        place = find(text, separator)
    return [*words, text]


def lstrip(text: Any, those: Any = None) -> Any:
    """`text.lstrip(those)`."""
    start = 0
    while start < len(text) and text[start] in (_SPACES if those is None else those):
        start += 1
    return text[start:]


def rstrip(text: Any, those: Any = None) -> Any:
    """`text.rstrip(those)`."""
    end = len(text)
    while end > 0 and text[end - 1] in (_SPACES if those is None else those):
        end -= 1
    return text[:end]


def strip(text: Any, those: Any = None) -> Any:
    """`text.strip(those)`."""
    return rstrip(lstrip(text, those), those)


def removeprefix(text: Any, part: Any) -> Any:
    """`text.removeprefix(part)`."""
    return text[len(part) :] if startswith(text, part) else text


def removesuffix(text: Any, part: Any) -> Any:
    """`text.removesuffix(part)`."""
    return text[: len(text) - len(part)] if len(part) > 0 and endswith(text, part) else text


def zfill(text: Any, width: Any) -> Any:
    """`text.zfill(width)`."""
    signs = 1 if text[:1] == "-" or text[:1] == "+" else 0
    return text[:signs] + "0" * max(width - len(text), 0) + text[signs:]


def digits(number: Any, base: int, width: int) -> Any:
    """The text of an integer in a base, with zeros in front up to a width."""
    left, text = abs(number), ""
    while len(text) == 0 or left > 0:
        text = chr(left % base + (48 if left % base < 10 else 87)) + text
        left = left // base
    return zfill("-" + text if number < 0 else text, width)


def integer(text: Any, base: int) -> Any:
    """`int(text, base)`, of the digits of ASCII."""
    rest = strip(text)
    is_negative = rest[:1] == "-"
    if is_negative or rest[:1] == "+":
        rest = rest[1:]
    number, was_digit = 0, False
    for one in rest + " ":
        digit = ord(one) - 48
        if was_digit and one == " ":
            return -number if is_negative else number
        if (digit < 0 or digit >= base) and not (was_digit and one == "_"):
            raise ValueError(f"invalid literal for int() with base {base}: {text!r}")
        was_digit = one != "_"
        number = number * base + digit if was_digit else number


READS_AND_WRITES.update({"digits": digits, "integer": integer})


def _method(written: Any) -> None:
    name = written.__name__
    TEXT_METHODS[name] = written

    @method_row(str, Text, name=name)
    def row(trace: Trace, text: Any, *args: Any, **options: Any) -> Any:
        text, args = as_codes(trace, text), tuple(as_codes(trace, one) for one in args)
        if type(text) is str and not any(map(is_of_codes, args)):
            return getattr(text, name)(*args, **options)
        if not is_of_codes(text) and type(text) is Text:
            return getattr(text, name)  # refused, in its words
        return trace.call(written, text, *args, **options)


for _written in (
    *(find, rfind, index, count, startswith, endswith, replace, split),
    *(lstrip, rstrip, strip, removeprefix, removesuffix, zfill),
):
    _method(_written)


@method_row(str, Text, name="join")
def _join(trace: Trace, separator: Any, texts: Any) -> Any:
    given = trace.listed(texts)
    are_known = type(given) is not SymbolicSequence and type(separator) is str
    if are_known and not any(type(one) is Union for one in given):
        return joined_by(trace, separator, given)
    if type(given) is not SymbolicSequence:
        given = tuple(given)
    return trace.call(join, separator, given, empty_text())
