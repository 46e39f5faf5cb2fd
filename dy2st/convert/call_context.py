"""What is known of calls: of that of a converted function, and of those that its trace makes again.

Python asks the caches of the user's functions once a use; so does a call, however many Programs are
tried for it, and however often it is traced.

A trace of a call may stand for another call only if both see the same. So what a function can read
beside its arguments is counted: each write to an object from outside makes another version.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import FunctionType
from typing import Any, TypeAlias

from dy2st.convert.types import info, same, same_items
from dy2st.convert.values.layout import Layout
from dy2st.convert.values.special import MISSING
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Block, Operator, Program, Variable
from dy2st_runtime.ops.control_flow import Shared
from dy2st_runtime.thread_state import reference_to


@dataclass(eq=False)
class _Asked:
    """A question, and what was answered or raised."""

    function: Callable[..., Any]
    args: Sequence[Any]
    options: Mapping[str, Any]
    found: Any = None
    error: Exception | None = None

    def is_same(self, other: _Asked) -> bool:
        """Whether two questions are one."""
        mine, others = self.options, other.options
        is_one = self.function == other.function and same_items(self.args, other.args)
        return is_one and same_items([*mine, *mine.values()], [*others, *others.values()])


class AsksCaches(ConversionError):
    """A trace that may be in vain would fill a cache of the user's."""


@dataclass(eq=False)
class CallContext:
    """One call of a converted function."""

    # Whether they are recorded, and the `stop_gradient` of each tensor; None without a call
    gradients: tuple[bool, ...] | None = None
    # Whether a trace of it raises what Python is to raise by itself: what was written before is
    # written by nobody
    is_lost: bool = False
    # Whether Python makes the call where a trace is refused: the trace does nothing that cannot be
    # undone
    is_tentative: bool = False
    # Whether caches are asked all the same, since Python has asked them before
    may_ask: bool = True
    # Whether Python is to make the call, which makes parameters at a place
    may_leave: Callable[[Location | None], bool] = field(default=lambda at: False)
    # Where warnings went and what looked at each line before the code could set it
    process: tuple[Any, Any] = (None, None)
    _asked: list[_Asked] = field(default_factory=list)
    place: int = 0  # how many questions the trace that runs has asked so far

    def ask(self, function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """What a function answers that Python asks once here."""
        if not self.may_ask:
            raise AsksCaches(
                f"the cache of {getattr(function, '__name__', 'a function')}() is asked"
            )
        asked, place = _Asked(function, args, options), self.place
        if place == len(self._asked) or not self._asked[place].is_same(asked):
            try:
                asked.found = function(*args, **options)
            except Exception as error:  # raised below, in every trace
                asked.error = error
            self._asked[place:] = [asked]
        self.place += 1
        known = self._asked[place]
        if known.error is not None:
            raise known.error
        return known.found


class Answer:
    """What a cache has answered while a function was traced; it keeps no object alive."""

    def __init__(self, function: Any, args: Sequence[Any], options: Mapping[str, Any], found: Any):
        """Remember it."""
        self._function, self._found = reference_to(function), reference_to(found)
        self._args = [reference_to(value) for value in args]
        self._options = {name: reference_to(value) for name, value in options.items()}

    def is_of(self, function: Any) -> bool:
        """Whether it is the answer of a function."""
        return self._function() is function

    def holds(self, call: CallContext) -> bool:
        """Ask the cache, as Python does at every call: whether it gives the same."""
        function = self._function()
        if function is None:
            return False
        args = tuple(get() for get in self._args)
        options = {name: get() for name, get in self._options.items()}
        try:
            return same(call.ask(function, args, options), self._found())
        except Exception:  # the trace that follows raises it
            return False


Key: TypeAlias = "tuple[Any, ...]"
Read: TypeAlias = "tuple[Any, str, Any, Any]"  # owner, kind, name and value


@dataclass(eq=False)
class Function:
    """A function of the Program."""

    name: str
    block: Block
    layout: Layout  # of what it returns
    leaves: Sequence[Variable]  # those of that: parameters, and what the Block yields
    shared: Collection[Shared]  # what its results may be
    captured: Sequence[Variable]  # what it reads from outside, behind its arguments
    layer: str | None  # the path of the Layer in which it was recorded; None if it names no Layer
    objects: Sequence[Any]  # those from outside that the call gave it
    reads: Sequence[Read]  # what it has read of them and of others


@dataclass(eq=False)
class Recorded:
    """A call that was recorded in place."""

    objects: Sequence[Any]  # those from outside that it was given
    read: Callable[[], Sequence[Read]]  # what gives all that it has read
    operators: Sequence[Operator]  # what was recorded, one after the other in one Block
    arguments: Sequence[Variable]  # the Variables that it was given
    leaves: Sequence[Variable]  # those of what it has returned
    location: Location | None
    layer: str  # the path of the Layer in which the call stands; `location` is that of the call
    function: Function | None = None  # what others of its kind are calls of


@dataclass(eq=False)
class Running:
    """A call that is recorded in place; the frames around it, and the loop that is staged."""

    function: FunctionType
    bound: Callable[..., Any]  # its traced form
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    depth: int
    rounds: Any


@dataclass(eq=False)
class Site:
    """What is known of the calls of one function."""

    # By their keys, the calls that were recorded in place, and are large enough
    called: dict[Key, list[Recorded]] = field(default_factory=dict)
    # By the key of the call that each was made for
    functions: dict[Key, list[Function]] = field(default_factory=dict)
    running: list[Running] = field(default_factory=list)
    is_refused: bool = False
    # How many more Layers may differ from those before, until no more are compared
    patience: int = 6
    recursion: Any = None  # what is recorded now as a function that calls itself
    settled: Any = None  # the last one
    nested: int = 0  # how many calls were recorded in place while others ran
    why: Exception | None = None  # there can be none


def free_name(wish: str, taken: Container[str], second: int = 1) -> str:
    """A name that is free: the one that is wished for, if it is; else with a number behind it."""
    others = (f"{wish}_{number}" for number in count(second))
    return wish if wish not in taken else next(name for name in others if name not in taken)


class Repeats:
    """The calls of one trace."""

    least = 8  # so many operators make a function worth a call

    def __init__(self) -> None:
        """None."""
        self.version = 0  # of all that lies outside
        self.disturbed = 0  # how often something was read or done that is another thing each time
        self.sites: dict[int, Site] = {}
        self.made: list[tuple[Site, Key, Function]] = []
        self.called: list[tuple[Site, Key, Recorded]] = []
        self.depth = 0  # of the calls that run; what they read is noted
        self.log: list[Read] = []
        self.names: set[str] = set()
        self.kept: dict[int, Any] = {}  # what keys name by its id
        self.is_off = False
        self.settling = 0  # functions that call themselves, of which not all is known

    def write(self, value: Any) -> None:
        """An object from outside holds another value; one that may change does so unseen there."""
        self.version += 1
        self.is_off = self.is_off or not (
            info(type(value)).is_atom or type(value) is Variable or value is MISSING
        )

    def site(self, code: Any) -> Site:
        """The calls of a function, or of all that are made of one code."""
        self.kept[id(code)] = code
        return self.sites.setdefault(id(code), Site())

    def free_name(self, name: str) -> str:
        """A name for a function of the Program, like that of the user's."""
        self.names.add(found := free_name(name, self.names))
        return found

    def note(self, site: Site, key: Key, call: Recorded) -> None:
        """Note a call that is recorded in place: another one like it may be one of a function."""
        site.called.setdefault(key, []).append(call)
        self.called.append((site, key, call))

    def forget_calls(self, since: int) -> None:
        """What was recorded since so many calls were noted is recorded anew."""
        for site, key, call in self.called[since:]:
            site.called[key].remove(call)
        del self.called[since:]

    def forget(self, program: Program, since: int) -> None:
        """Forget functions that were recorded since: they call one that was unknown."""
        for site, key, made in self.made[since:]:
            site.functions[key].remove(made)
            del program.functions[made.name]
        del self.made[since:]

    @contextmanager
    def logging(self) -> Iterator[None]:
        """Note what the code in the `with` reads."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if not self.depth:
                self.log = []

    def read_since(self, mark: int) -> Callable[[], list[Read]]:
        """What gives all that was read since the log had so many entries, each place once."""
        log, end = self.log, len(self.log)
        return lambda: list({(id(one[0]), *one[1:3]): one for one in log[mark:end]}.values())
