"""Kinds of values that are made of others: how each is taken apart, and made of its parts."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from dy2st.convert.values.special import MISSING, SymbolicSequence
from dy2st_runtime.ir.choice import Hole, Text
from dy2st_runtime.ir.structure import Rows
from dy2st_runtime.nn.tables import Table


class Form(NamedTuple):
    """How values of a kind are taken apart, and made of their parts.

    make   gets a class, parts, their names, and a value that has the rest: a deque its maxlen.
    parts  of what a value holds, by their names.
    names  what two must have in common, so that their parts can be joined one by one.
    """

    make: Callable[[Any, Sequence[Any], Any, Any], Any]
    parts: Callable[[Any, Any], list[Any]] = lambda held, names: list(held)
    names: Callable[[Any], Any] = lambda held: ()


def _partial(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    (function, *args), keywords = parts[: len(parts) - len(names)], parts[len(parts) - len(names) :]
    return partial(function, *args, **dict(zip(names, keywords, strict=True)))


def _sequence(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    made.update(parts) if kind is set else made.extend(parts)
    return made


def _dict(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = emptied(kind, like)
    pairs = zip(names, parts, strict=True)
    made.update({name: part for name, part in pairs if part is not MISSING})
    return made


def _object(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = bare(kind)
    for name, part in zip(names, parts, strict=True):
        if part is not MISSING:
            object.__setattr__(made, name, part)
    return made


def _by_name(held: Any, names: Any) -> list[Any]:
    return [held.get(name, MISSING) for name in names]


def _values_in(text: Text) -> list[Any]:
    return [hole.value for hole in text.holes]


# Nobody asks which of two equal ones a value is: what they hold never changes.
BUNDLES: dict[type, Form] = {
    MethodType: Form(
        lambda kind, parts, *_: MethodType(*parts),
        lambda method, _: [method.__func__, method.__self__],
    ),
    partial: Form(
        _partial,
        lambda call, _: [call.func, *call.args, *call.keywords.values()],
        lambda call: tuple(call.keywords),
    ),
    slice: Form(
        lambda kind, parts, *_: slice(*parts),
        lambda bounds, _: [bounds.start, bounds.stop, bounds.step],
    ),
}
# A text whose characters the data decides: its code points, in a tuple.
CODES = Text((Hole((), "chr"),))
DICTS: frozenset[type] = frozenset({dict, OrderedDict, Table, defaultdict, Counter})
_OBJECT = Form(_object, _by_name, list)
_TUPLE = Form(lambda kind, parts, *_: kind(*parts) if hasattr(kind, "_fields") else kind(parts))
_FORMS: dict[type, Form] = {
    **BUNDLES,
    Text: Form(
        lambda kind, parts, names, like: like.with_values(parts),
        lambda text, _: [tuple(map(ord, text))] if type(text) is str else _values_in(text),
    ),
    **dict.fromkeys((list, deque, set), Form(_sequence)),
    **dict.fromkeys(DICTS, Form(_dict, _by_name, list)),
}
_WITH_MORE = (deque, defaultdict, Text)


def with_lists(value: Any) -> Any:
    """A text with lists of its code points, as a Program shows it; other values as they are."""
    if type(value) is not Text:
        return value
    return value.mapped(lambda one: _rows(one) if type(one) is SymbolicSequence else one)


def _rows(codes: SymbolicSequence) -> Rows:
    array: Any = codes.arrays[0]  # a Variable, where a structure has an Output
    return Rows(array, array)


def form_of(kind: type) -> Form:
    """How values of a kind are taken apart; all that is not listed is an object of attributes."""
    return _FORMS.get(kind) or (_TUPLE if issubclass(kind, tuple) else _OBJECT)


def is_unchanging(kind: type) -> bool:
    """Whether values of a kind never change, so that nobody asks which one a value is."""
    return issubclass(kind, (tuple, Text, *BUNDLES))


def like_of(value: Any) -> Any:
    """What a value has beside its parts, by an example; None if nothing."""
    return value if type(value) in _WITH_MORE else None


def emptied(kind: type, like: Any) -> Any:
    """A new empty container; a deque has its maxlen, a defaultdict its factory."""
    if like is not None and kind is deque:
        return deque(maxlen=like.maxlen)
    return defaultdict(like.default_factory) if like is not None and kind is defaultdict else kind()


def bare(kind: Any) -> Any:
    """An object without attributes, past what its class makes of new ones."""
    plain = BaseException if issubclass(kind, BaseException) else object
    return plain.__new__(kind) if kind.__new__.__class__ is FunctionType else kind.__new__(kind)
