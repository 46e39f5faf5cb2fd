"""Choice and Text: values of Python that are decided only when a Program runs.

A Choice is one of a few values, None or a list of three among them, and an int of the Program says
which. A Text is a str with places in it for values of the Program. Both stand in structures, with
`Output`s inside, a Text in traced code too, with Variables inside.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from dy2st_runtime.errors import FormatError, TensorAsPython
from dy2st_runtime.ir.location import is_asked_by_library


class Choice:
    """`cases[tag]`, in a structure: which it is, is known only when the Program runs."""

    __slots__ = ("cases", "tag")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tag: Any, cases: tuple[Any, ...]):
        """`tag` is an Output."""
        self.tag, self.cases = tag, cases

    def mapped(self, function: Callable[[Any], Any]) -> Choice:
        """A Choice with `function` applied to tag and cases."""
        return Choice(function(self.tag), tuple(function(case) for case in self.cases))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and (self.tag, self.cases) == (other.tag, other.cases)

    def __repr__(self) -> str:
        """`Choice(Output(index=0), (None, 'a'))`."""
        return f"Choice({self.tag!r}, {self.cases!r})"


class Hole:
    """A place in a Text: a value, how it is converted, and its format.

    Conversions are "", "s", "r" and "a" as in an f-string, "%" with the format of `"%.2f" % value`,
    and "chr" of the code points of a text, in a list or tuple.
    """

    __slots__ = ("conversion", "spec", "value")

    def __init__(self, value: Any, conversion: str = "", spec: str = ""):
        """`value` is a Variable, or an Output in a structure."""
        self.value, self.conversion, self.spec = value, conversion, spec

    def same(self, other: Hole) -> bool:
        """Whether two are equal."""
        mine = (self.value, self.conversion, self.spec)
        return mine == (other.value, other.conversion, other.spec)

    def filled(self) -> str:
        """The text, once `value` is a value."""
        return text_of(self.value, self.conversion, self.spec)


class Text:
    """A str of which some parts are known only when the Program runs."""

    __slots__ = ("parts",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, parts: tuple[str | Hole, ...]):
        """Parts are strings and Holes, in order."""
        self.parts = parts

    def mapped(self, function: Callable[[Any], Any]) -> Text:
        """A Text with `function` applied to the values in it."""
        return Text(
            tuple(
                part
                if isinstance(part, str)
                else Hole(function(part.value), part.conversion, part.spec)
                for part in self.parts
            )
        )

    @property
    def holes(self) -> list[Hole]:
        """The places for values, in order."""
        return [part for part in self.parts if isinstance(part, Hole)]

    def with_values(self, values: Iterable[Any]) -> Text:
        """A Text with other values in its places."""
        left = iter(values)
        return self.mapped(lambda _: next(left))

    def is_like(self, other: Text) -> bool:
        """Whether two differ in nothing but the values in their places."""
        return self.mapped(lambda _: None).same(other.mapped(lambda _: None))

    def filled(self) -> str:
        """The str, once the values are there."""
        return "".join(part if isinstance(part, str) else part.filled() for part in self.parts)

    def same(self, other: Any) -> bool:
        """Whether two structures are equal."""
        return (
            isinstance(other, Text)
            and len(self.parts) == len(other.parts)
            and all(
                a.same(b) if isinstance(a, Hole) and isinstance(b, Hole) else a is b or a == b
                for a, b in zip(self.parts, other.parts, strict=True)
            )
        )

    def __add__(self, other: Any) -> Any:
        """The texts one after the other."""
        if not isinstance(other, (str, Text)):
            return NotImplemented
        return joined([self, other])

    def __radd__(self, other: Any) -> Any:
        """The texts one after the other."""
        return joined([other, self]) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: Any) -> Any:
        """The text so many times."""
        return joined([self] * count) if isinstance(count, int) else NotImplemented

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Text) and (
            self is other or not any(hasattr(hole.value, "maker") for hole in self.holes)
        ):
            return self.same(other)
        raise self._needs_value("the comparison")

    def _needs_value(self, what: str) -> TensorAsPython:
        return TensorAsPython(
            f"{what} of a text with values of tensors in it",
            why="it is known only when the Program runs",
            hint="compare or convert the tensors themselves; such a text can be printed, joined, "
            "raised and returned",
        )

    def __getattr__(self, name: str) -> Any:
        """Refused: methods of str need the text."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._needs_value(f"`{name}`")

    def __str__(self) -> str:
        """Refused: the text is known only when the Program runs."""
        raise self._needs_value("str()")

    def __bool__(self) -> bool:
        """True if some part is known; else refused."""
        if any(part for part in self.parts if isinstance(part, str)):
            return True
        raise self._needs_value("the truth")

    def __len__(self) -> int:
        """Refused: the text is known only when the Program runs."""
        raise self._needs_value("len()")

    def __iter__(self) -> Any:
        """Refused: the text is known only when the Program runs."""
        raise self._needs_value("iteration")

    def __getitem__(self, index: Any) -> Any:
        """Refused: the text is known only when the Program runs."""
        raise self._needs_value("indexing")

    def __contains__(self, value: Any) -> bool:
        """Refused: the text is known only when the Program runs."""
        raise self._needs_value("`in`")

    def _ordered(self, other: Any) -> bool:
        raise self._needs_value("the comparison")

    __lt__ = __le__ = __gt__ = __ge__ = _ordered

    def __repr__(self) -> str:
        """`Text(('x is ', '{}'))`; refused to libraries, which would show it."""
        if is_asked_by_library(sys._getframe(1)):
            raise self._needs_value("repr(), in code that is not converted,")
        shown = tuple(p if isinstance(p, str) else f"{{{p.value!r}}}" for p in self.parts)
        return f"Text({shown!r})"


def joined(texts: list[Any]) -> Any:
    """Texts and strings in one: a str if nothing in it is traced."""
    parts: list[str | Hole] = []
    for text in texts:
        for part in (text,) if isinstance(text, str) else text.parts:
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
    if all(isinstance(part, str) for part in parts):
        return "".join(part for part in parts if isinstance(part, str))
    return Text(tuple(parts))


# Formats of integers that are written in characters: how many with zeros in front, and a base.
OF_INTEGERS = re.compile(r"[sr]?|%%s|(?:%%)?(0\d*)?([dbox]?)")


def _between(text: str | Text) -> tuple[list[Hole], list[list[str | Hole]]]:
    """The places for other values than code points, and what stands around them."""
    holes: list[Hole] = []
    around: list[list[str | Hole]] = [[]]
    for part in (text,) if isinstance(text, str) else text.parts:
        if isinstance(part, str) or part.conversion == "chr":
            around[-1] += [part] if part else []
        else:
            holes.append(part)
            around.append([])
    return holes, around


def common(
    left: str | Text, right: str | Text, is_integer: Callable[[Any], bool] = lambda value: False
) -> Text | None:
    """The text that both are, of which what differs between the same places is code points.

    All of it is, where there are other places and each is for an integer; else there is none.

    >>> common("a", "b"), common("a", Text(("a", Hole(1))))
    (Text(('{()}',)), None)
    """
    if isinstance(left, Text) and isinstance(right, Text) and left.is_like(right):
        return left
    (holes, mine), (others, theirs) = _between(left), _between(right)
    formats, wanted = ([(one.conversion, one.spec) for one in each] for each in (holes, others))
    if formats != wanted or any(len(part) > 1 for part in mine + theirs):
        forms = [conversion + spec for conversion, spec in formats + wanted]
        have_digits = all(map(OF_INTEGERS.fullmatch, forms))
        is_whole = all(is_integer(one.value) for one in holes + others)
        return Text((Hole((), "chr"),)) if have_digits and is_whole else None
    parts: list[str | Hole] = []
    for place, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        is_same = one == other and not any(isinstance(part, Hole) for part in one)
        parts += one if is_same else [Hole((), "chr")]
        parts += holes[place : place + 1]
    return Text(tuple(parts))


def is_written(text: str | Text, like: Text) -> bool:
    """Whether a text has its integers in code points where another has.

    >>> is_written(Text((Hole(1),)), common("a", "b"))
    False
    """
    return len(_between(text)[0]) == len(_between(like)[0])


def values_in(text: str | Text, like: Text) -> list[Any]:
    """What a text has in the places of another, which `common` has made of it and others.

    >>> values_in("ab", common("ab", "cd"))
    [(97, 98)]
    """
    if isinstance(text, Text) and text.is_like(like):
        return [hole.value for hole in text.holes]
    if not is_written(text, like):
        return [()]
    holes, around = _between(text)
    found = []
    for place, (own, wanted) in enumerate(zip(around, _between(like)[1], strict=True)):
        if wanted and isinstance(wanted[0], Hole):
            part = own[0] if own else ""
            found.append(tuple(map(ord, part)) if isinstance(part, str) else part.value)
        found += [hole.value for hole in holes[place : place + 1]]
    return found


def _of_codes(codes: Iterable[Any]) -> str:
    try:
        return "".join(map(chr, codes))
    except (TypeError, ValueError, OverflowError) as error:  # a file may say anything
        raise FormatError(f"a text is made of what is no code point: {error}") from None


CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii, "chr": _of_codes}


_OF_ONE = re.compile(r"%[-#0 +]*[0-9]*(?:\.[0-9]*)?[hlL]?[diouxXeEfFgGcrsa]")
_FORMAT = re.compile(
    r"(?:.?[<>=^])?[-+ ]?z?#?0?[0-9]*[_,]?(?:\.[0-9]+[_,]?)?[bcdeEfFgGnosxX%]?", re.DOTALL
)


def try_format(write: Callable[[Any], str], kind: type | None) -> None:
    """Raise what Python raises where a number of this kind has no such format.

    >>> try_format(lambda one: f"{one:d}", float)
    Traceback (most recent call last):
    ValueError: Unknown format code 'd' for object of type 'float'
    """
    if kind is not None:
        write(kind(1))


def is_format(conversion: str, spec: str) -> bool:
    """Whether Python formats one value by it: else a text of a file would fail at the call.

    >>> is_format("", ">8.3f"), is_format("%", "%.2f"), is_format("%", "%s %s")
    (True, True, False)
    """
    return (_OF_ONE if conversion == "%" else _FORMAT).fullmatch(spec) is not None


def text_of(value: Any, conversion: str, spec: str) -> str:
    """What Python writes for a value in an f-string, or for "%" with `spec % value`."""
    if conversion == "%":
        return spec % (value,)
    if conversion:
        value = CONVERSIONS[conversion](value)
    return format(value, spec)


__all__ = [
    *("CONVERSIONS", "OF_INTEGERS", "Choice", "Hole", "Text", "common", "is_format"),
    *("is_written", "joined", "text_of", "values_in"),
]
