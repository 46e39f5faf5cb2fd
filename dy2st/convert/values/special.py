"""Values that Python has no form for: unbound, one of several, sequences of unknown length."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dy2st.convert.values.layout import Layout, View
    from dy2st_runtime.ir import Variable


@dataclass(eq=False, slots=True)
class Special:
    """A name in a place that is no attribute, or a value that Python has not."""

    text: str  # for messages

    def __repr__(self) -> str:
        """The text."""
        return self.text


UNBOUND = Special("unbound")  # what a variable holds before it is assigned
# What Python says where one is read, of a name in quotes.
UNBOUND_LOCAL = "cannot access local variable {} where it is not associated with a value"
UNBOUND_FREE = (
    "cannot access free variable {} where it is not associated with a value in enclosing scope"
)
if sys.version_info < (3, 11):
    UNBOUND_LOCAL = "local variable {} referenced before assignment"
    UNBOUND_FREE = "free variable {} referenced before assignment in enclosing scope"


@dataclass(eq=False, repr=False, slots=True)
class SymbolicSequence:
    """What a list (deque, tuple) holds whose length the data decides."""

    kind: type  # list, deque or tuple
    element: Layout | None  # the layout of every element; None while there is none
    arrays: Sequence[Variable]  # an array of the Program for each leaf of the element, at least one
    like: Any = None  # the list of the user's that it is the content of: a deque has its maxlen


@dataclass(eq=False, repr=False, slots=True)
class Union:
    """One of several values."""

    tag: Variable  # which one it is: an integer of the Program
    layouts: Sequence[Layout]  # of the cases
    # For every case an array for each leaf: of one element where it is that case, or none
    arrays: Sequence[Sequence[Variable]]
    # What stands for the lists, dicts and objects among the cases, by their place: what such an
    # object holds is a Union again, of which it takes its own case
    objects: dict[int, Any] = field(default_factory=dict)
    # The attributes that such objects had at first, by their place
    held: dict[int, dict[str, Any]] = field(default_factory=dict)
    name: str = ""  # the variable that holds it, which may be unbound

    def places_that_are(self, constant: object) -> list[int]:
        """The cases that are one constant."""
        return [i for i, one in enumerate(self.layouts) if getattr(one, "value", self) is constant]

    def places_without(self, constant: object) -> frozenset[int]:
        """The cases that are anything else."""
        return frozenset(range(len(self.layouts))).difference(self.places_that_are(constant))

    def place_of(self, kind: type) -> int:
        """The case that is a container of a kind."""
        return next(i for i, one in enumerate(self.layouts) if getattr(one, "kind", None) is kind)


def is_changed(value: Union, place: int, view: View) -> bool:
    """Whether the object that stands for a case holds something else than at first."""
    made = value.objects.get(place)
    if made is None:
        return False
    if place not in value.held:
        # The Union itself is its content, until the code changes that.
        return view.raw(made) is not value
    now = view.fields(made)
    before = value.held[place]
    return now is None or now.keys() != before.keys() or any(now[n] is not before[n] for n in now)


@dataclass(frozen=True, eq=False)
class Older:
    """Looks at values that are older than what is looked at: none of them is new."""

    raw: Callable[[Any], Any] = lambda owner: owner
    fields: Callable[[Any], dict[str, Any] | None] = lambda owner: None
    taken: Callable[[Any], Any] = lambda owner: None
    is_new: Callable[[Any], bool] = lambda owner: False
    is_local: Callable[[Any], bool] = lambda owner: False
    node: Callable[[Any], Any] = lambda owner: None
    has_grown: Callable[[Any], bool] = lambda owner: False


NOWHERE = Older()
CONTENT = Special("content")
STATE = Special("state")
LOCATION = Special("location")
COUNT = Special("count")
MISSING = Special("missing")
# How a dict came about that has the attributes of an object.
ATTRIBUTES = Special("attributes")
# What a variable holds after code that has raised.
ABSENT = Special("absent")
# The `like` of a set that has only grown since it was made empty, one element after the other: that
# tells in which order Python goes through it.
GROWN = Special("grown")
# The `like` of a set that was 0, 1, 2 and so on, or ints below 8, and has only lost elements since:
# they stand in the order in which Python goes through them, whose tables have 8 places at least.
ORDERED = Special("ordered")


@dataclass(eq=False)
class Indexed:
    """Items by index, as many as a value of the Program says."""

    size: Any  # how many, or what tells: a list may get longer while a loop runs over it
    item: Callable[[Any], Any]
    # The list or tensor that it looks into, if anybody may ask for more than its items
    whole: Any = None
    is_once: bool = False  # whether it is an iterator: what is taken of it is gone
    position: Any = 0  # how many items of an iterator are gone; LEFT while a loop takes some
    begun: Any = 0  # how many there were when that loop began
    is_carried: bool = False  # whether loops leave it to the iterator how many are gone
    source: Any = ()  # the iterator that it asks for each item, and how many were gone of that

    @property
    def length(self) -> Any:
        """How many items there are now."""
        return self.size() if callable(self.size) else self.size


@dataclass(eq=False)
class Generated:
    """A generator expression.

    One that has an item for each item of its iterable makes it when somebody asks for it. Of how
    many items a tensor may decide in all others, so they are gathered with the first.
    """

    # A generator function of one iterable, whose control flow is Python's own
    generator: Callable[[Any], Any]
    # A function that gives each item to a function, by the Program where it must be
    pushing: Callable[..., Any]
    iterable: Any
    is_map: bool = False  # whether there is one item for each item of the iterable
    items: Any = None  # what is left of the items, once somebody has asked


class Asked:
    """An object, or a function, as Python's own iterators see it: they ask the trace."""

    def __init__(self, trace: Any, owner: Any, item: Callable[..., Any]):
        """`item` gives what an iterator asks it for."""
        self._trace, self.owner, self._item = trace, owner, item

    def __len__(self) -> int:
        """How many items there are."""
        return self._trace.call(len, self.owner)  # type: ignore[no-any-return]

    def __call__(self, *args: Any) -> Any:
        """What is there at a place, what a call gives, or whether it is equal to an item."""
        return self._item(*args)

    __getitem__ = __eq__ = __call__

    def __reduce__(self) -> Any:
        """What pickle writes of an iterator over it: the object itself, the largest of one."""
        return max, ((self._trace.native(self.owner),),)
