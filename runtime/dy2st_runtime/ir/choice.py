"""Choice and Text: values of Python that are decided only when a Program runs.

A Choice is one of a few values, None or a list of three among them, and an int of the Program says
which. A Text is a str with places in it for values of the Program. Both stand in structures with
`Output`s inside, and in traced code with Variables inside.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir.location import user_location


def _refused(what: str, hint: str) -> TensorAsPython:
    return TensorAsPython(
        what, at=user_location(), why="it is known only when the Program runs", hint=hint
    )


# What users ask of classes and functions.
_ASKED = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})


class Choice:
    """`cases[tag]`: what Python would have is known only when the Program runs.

    `spread(function, *values)` is set by whoever stages code: it calls the function for every case
    and joins what comes out.
    """

    __slots__ = ("__weakref__", "cases", "tag")

    spread: ClassVar[Callable[..., Any]]
    method: ClassVar[Callable[[Choice, str], Any]]

    def __init__(self, tag: Any, cases: tuple[Any, ...]):
        """`tag` is a Variable, or an Output in a structure."""
        self.tag, self.cases = tag, cases

    def mapped(self, function: Callable[[Any], Any]) -> Choice:
        """A Choice with `function` applied to tag and cases."""
        return Choice(function(self.tag), tuple(function(case) for case in self.cases))

    def same(self, other: Any) -> bool:
        """Whether two structures are equal."""
        return isinstance(other, Choice) and (self.tag, self.cases) == (other.tag, other.cases)

    def __repr__(self) -> str:
        """`Choice(Output(index=0), (None, 'a'))`."""
        return f"Choice({self.tag!r}, {self.cases!r})"

    def __getattr__(self, name: str) -> Any:
        """The attribute of whichever case it is."""
        if name.startswith("__") and name not in _ASKED:  # what Python looks up by itself
            raise AttributeError(name)
        return Choice.method(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of whichever it is."""
        if name in Choice.__slots__:
            object.__setattr__(self, name, value)
        else:
            Choice.method(self, "__setattr__")(name, value)

    def __delattr__(self, name: str) -> None:
        """Delete an attribute of whichever it is."""
        Choice.method(self, "__delattr__")(name)

    def __str__(self) -> str:
        """Refused: the text is known only when the Program runs."""
        raise _refused("str() of one of several values", "print it in a converted function")

    def __bool__(self) -> bool:
        """Refused: the truth is known only when the Program runs."""
        raise _refused(
            "the truth of one of several values is asked in code that was not converted",
            "write the `if` in a function that dy2st converts",
        )

    def __iter__(self) -> Any:
        """Refused: a `for` statement can do it."""
        raise _refused(
            "iteration over one of several values", "iterate in a `for` of a converted function"
        )

    def __len__(self) -> int:
        """Refused: `len` in converted code can do it."""
        raise _refused("len() of one of several values", "call len() in a converted function")

    def __setitem__(self, index: Any, value: Any) -> None:
        """Set an item of whichever it is."""
        Choice.method(self, "__setitem__")(index, value)

    def __delitem__(self, index: Any) -> None:
        """Delete an item of whichever it is."""
        Choice.method(self, "__delitem__")(index)

    def __enter__(self) -> Any:
        """Enter whichever it is."""
        return Choice.method(self, "__enter__")()

    def __exit__(self, *details: Any) -> Any:
        """Leave whichever it is; none of them may decide on an exception."""
        answer = Choice.method(self, "__exit__")(*details)
        return None if isinstance(answer, Choice) and not any(answer.cases) else answer

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call whichever it is."""
        return Choice.spread(lambda f: f(*arguments, **keywords), self)

    def __hash__(self) -> int:
        """Refused: a dict or set looks at once where its keys belong."""
        raise _refused(
            "one of several values is a key of a dict or set",
            'choose the entry where the value is known: d["a"] if condition else d["b"]',
        )

    def __index__(self) -> int:
        """Refused: the index is known only when the Program runs."""
        raise _refused(
            "one of several values is an index of a Python list",
            "choose the item where the value is known: items[0] if condition else items[1]",
        )

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Choice) and not hasattr(self.tag, "maker"):
            return self.same(other)
        return Choice.spread(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return Choice.spread(operator.ne, self, other)


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Choice, Any], Any]:
    return lambda self, other: Choice.spread(function, self, other)


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Choice, Any], Any]:
    return lambda self, other: Choice.spread(function, other, self)


def _in_place(name: str) -> Callable[[Choice, Any], Any]:
    function, method = getattr(operator, name), f"__{name}__"

    def change(self: Choice, other: Any) -> Any:
        """A list, set or dict changes in place, for all who hold the Choice."""
        if not any(type(case) in _CHANGING and hasattr(case, method) for case in self.cases):
            return Choice.spread(function, self, other)
        Choice.method(self, "extend" if name == "iadd" else method)(other)
        return self

    return change


_CHANGING = (list, set, dict)


def _unary(function: Callable[[Any], Any]) -> Callable[[Choice], Any]:
    return lambda self: Choice.spread(function, self)


def _add_operators() -> None:
    """Every operator of Python's syntax asks whichever case it is."""
    arithmetic = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
    for name in arithmetic.split():
        function = getattr(operator, f"__{name}__")
        setattr(Choice, f"__{name}__", _binary(function))
        setattr(Choice, f"__r{name}__", _reflected(function))
        setattr(Choice, f"__i{name}__", _in_place(f"i{name}"))
    for name in ("lt", "le", "gt", "ge", "getitem"):
        setattr(Choice, f"__{name}__", _binary(getattr(operator, f"__{name}__")))
    for name in ("neg", "pos", "invert", "abs"):
        setattr(Choice, f"__{name}__", _unary(getattr(operator, f"__{name}__")))


_add_operators()


class Hole:
    """A place in a Text: a value, how it is converted ("", "s", "r", "a", or "%"), and its format.

    For "%" the format is that of `"%.2f" % value`.
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
                part if isinstance(part, str) else _mapped_hole(part, function)
                for part in self.parts
            )
        )

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
        if isinstance(other, Text) and (self is other or self._is_structure()):
            return self.same(other)
        raise self._needs_value("the comparison")

    def _is_structure(self) -> bool:
        holes = [part for part in self.parts if isinstance(part, Hole)]
        return not any(hasattr(hole.value, "maker") for hole in holes)

    def _needs_value(self, what: str) -> TensorAsPython:
        return _refused(
            f"{what} of a text with values of tensors in it",
            "compare or convert the tensors themselves; such a text can be printed, joined, "
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
        """`Text(('x is ', '{}'))`."""
        shown = tuple(p if isinstance(p, str) else f"{{{p.value!r}}}" for p in self.parts)
        return f"Text({shown!r})"


def _mapped_hole(hole: Hole, function: Callable[[Any], Any]) -> Hole:
    return Hole(function(hole.value), hole.conversion, hole.spec)


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


CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def text_of(value: Any, conversion: str, spec: str) -> str:
    """What Python writes for a value in an f-string, or for "%" with `spec % value`."""
    if conversion == "%":
        return spec % (value,)
    if conversion:
        value = CONVERSIONS[conversion](value)
    return format(value, spec)


__all__ = ["CONVERSIONS", "Choice", "Hole", "Text", "joined", "text_of"]
