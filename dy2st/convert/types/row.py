"""One row for each type of Python: all that the trace, guards and results ask of it.

`info(type(value))` is the row. Classes without one have that of the first of their bases that has:
of tensors and Layers as it is, of others what also holds of objects with a class of the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dy2st_runtime.thread_state import ByIdentity


def _hidden(owner: Any, *given: Any) -> Any:
    raise AssertionError(f"nobody knows what a {type(owner).__name__} holds")


@dataclass(eq=False)
class TypeInfo:
    """The row of a type."""

    kind: type  # the class that has the row
    # "number", "text", "list", "tuple", "set", "dict", "keys", "bundle" and others: types of one
    # family have operators of their own with each other.
    family: str = "object"
    is_open: bool = False  # classes that are derived from it are the same to a trace
    is_container: bool = False  # what is in it can be changed: the trace may hold that for it
    is_view: bool = False  # what `keys()`, `values()` and `items()` of a dict give
    is_atom: bool = False  # nobody can change it, and it holds nothing that could be changed
    is_plain: bool = False  # a number or text with which Python computes alone
    is_value: bool = False  # nobody asks which of two equal ones it is: it is carried by value
    is_unchanging: bool = False  # what it holds never changes
    is_constant: bool = False  # the same object at each call: what it holds is no matter of a call
    is_fixed: bool = False  # nobody can change it, even if it is known by its identity
    is_single: bool = False  # which of its few values one is, its identity says
    is_traced: bool = False  # a value of the Program, with operators of ours
    dtype: Any = None  # of numbers in a Program
    word: str = ""  # what messages call it, if not by its class
    display: str = ""  # an expression that makes one, with `{}` for the expressions of its items
    # Whether two values, none of which is the other, cannot be told apart; by identity where None.
    same: Callable[[Any, Any], bool] | None = None
    # What a value holds, by their names; what two must have in common, so that their parts can be
    # joined one by one; what makes one of a class, parts, names, and a value that has the rest.
    parts: Callable[[Any, Any], list[Any]] = lambda held, names: list(held)
    names: Callable[[Any], Any] = lambda held: ()
    make: Callable[[Any, Sequence[Any], Any, Any], Any] = _hidden
    keeps_more: bool = False  # it has more than parts: a deque its maxlen
    settings: Callable[[Any], Sequence[Any]] = lambda like: ()  # what makes one without parts
    # Where it keeps what it holds: "items" (containers), "derived" (of classes derived from them),
    # "hidden" (in C, where no attribute shows it), "array"; "" where attributes are all.
    state: str = ""
    snapshot: Callable[[Any], Any] = _hidden  # what it holds, as a copy
    restore: Callable[[Any, Any], None] = _hidden  # lets it hold that
    # Whether a Program may choose among two such, and that as a value which it can compute with.
    is_joined: bool = False
    as_value: Callable[[Any], Any] = lambda state: state
    # Functions of the trace that stand for methods in C, and for operators by the names of the
    # protocol, where one is the left operand.
    methods: dict[str, Callable[..., Any]] = field(default_factory=dict)
    operators: dict[str, Callable[..., Any]] = field(default_factory=dict)
    derived: Callable[[type], dict[str, Any]] = lambda kind: {}  # fields of a derived class
    base: TypeInfo = field(init=False)  # the row of the class that it is derived from, or itself

    @property
    def is_drawn(self) -> bool:
        """Whether numbers are drawn of it by a Program that has its state."""
        return self.is_joined and self.state == "hidden"

    def __post_init__(self) -> None:
        """A row of its own."""
        self.base = self

    def of(self, kind: type) -> TypeInfo:
        """What holds of a class that is derived from that of the row."""
        if self.is_open:
            derived = kind.__mro__[: kind.__mro__.index(self.kind)]
            own = set().union(*(vars(one) for one in derived if _is_users(one)))
            methods = {name: row for name, row in self.methods.items() if name not in own}
            made = replace(self, methods=methods if own & self.methods.keys() else self.methods)
        else:
            kept = {name: getattr(self, name) for name in _KEPT}
            made = TypeInfo(self.kind, **kept | self.derived(kind))
        made.base = self
        return made


HEAP_TYPE = 1 << 9  # the flag of classes that a `class` statement makes: others nobody changes
# What holds of objects of derived classes, too, unless the row says otherwise.
_KEPT = ("is_unchanging", "is_fixed")


def _is_users(kind: type) -> bool:
    return bool(kind.__flags__ & HEAP_TYPE) and not str(kind.__module__).startswith("dy2st")


class _Rows(dict[type, TypeInfo]):
    """All rows, and those that were found for other classes."""

    def __init__(self) -> None:
        super().__init__()
        self.late: dict[str, dict[str, Any]] = {}
        # Of classes of the user's, which live no longer for that they were asked for.
        self.weak: ByIdentity[type, TypeInfo] = ByIdentity()

    def __missing__(self, kind: type) -> TypeInfo:
        """The row of a class that was derived from one with a row."""
        return self.weak.get(kind) or self.find(kind)

    def find(self, kind: type) -> TypeInfo:
        """The same, of a class that is asked for the first time."""
        one, row = next((one, row) for one in kind.__mro__ if (row := self._own(one)) is not None)
        made = row if one is kind else row.base.of(kind)
        if _is_users(kind):
            self.weak[kind] = made
        else:
            self[kind] = made
        return made

    def _own(self, kind: type) -> TypeInfo | None:
        """The row of a class itself; one that is given by name is made now."""
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind not in self and name in self.late:
            module = sys.modules.get(str(kind.__module__))
            if getattr(module, kind.__qualname__, None) is kind:
                self[kind] = TypeInfo(kind, **self.late[name])
        return self.get(kind)


_ROWS = _Rows()
# The row of a type: a method in C, since nothing is asked more often.
info: Callable[[type], TypeInfo] = _ROWS.__getitem__


def row(*kinds: type | str, **fields: Any) -> None:
    """Give types a row; those of modules that not everybody loads by name, `"array.array"`."""
    for derived in [one for one, found in _ROWS.items() if found.base is not found]:
        del _ROWS[derived]  # which may be derived from these
    _ROWS.weak.clear()
    for kind in kinds:
        if isinstance(kind, str):
            _ROWS.late[kind] = fields
        else:
            _ROWS[kind] = TypeInfo(kind, **fields)


def own_row(kind: type) -> TypeInfo:
    """The row of a class that is to have one of its own."""
    if info(kind).base is not info(kind):
        row(kind)
    return info(kind)


def kinds_of(*families: str) -> tuple[type, ...]:
    """The types of some families that have a row of their own."""
    own = [one for one in _ROWS.values() if one.base is one]
    return tuple(one.kind for one in own if one.family in families)


def same(left: Any, right: Any) -> bool:
    """Whether code cannot tell two values apart: constants by value, all else by identity."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    test = info(kind).same
    return test is not None and test(left, right)


def same_items(left: Any, right: Any) -> bool:
    """Whether values are as many and the same, one by one."""
    one, other = tuple(left), tuple(right)
    return len(one) == len(other) and all(map(same, one, other))
