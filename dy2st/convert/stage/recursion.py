"""A function whose recursion the data ends, as a function of the Program that calls itself.

The body is traced with what is assumed of its arguments, of the places and tensors that it changes,
and of what it gives, at first that nothing differs from call to call and that no call comes back.
What a call inside gives and gets is joined with that; where it rises, the body is traced again, as
that of a loop is. What is changed goes in and comes out beside arguments and results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from inspect import BoundArguments, signature
from types import FunctionType
from typing import Any

from dy2st.convert.aliases import MoreIsKnown
from dy2st.convert.call_context import Running, Site
from dy2st.convert.stage.branch import (
    End,
    JoinedVariable,
    end_region,
    end_with,
    proceed,
    put_back,
    without_location,
)
from dy2st.convert.stage.loop import Loop, both
from dy2st.convert.stage.outcome import (
    REFUSALS,
    AlwaysRaises,
    Handler,
    Refused,
    endless,
    noted,
    under,
)
from dy2st.convert.trace import Place, Region, Trace, before_all, in_words
from dy2st.convert.types import info
from dy2st.convert.types.values import copy_of
from dy2st.convert.values.flatten import copied
from dy2st.convert.values.layout import Same, Unlike, as_value_layout
from dy2st.convert.values.special import ABSENT, CONTENT, NOWHERE, SymbolicSequence
from dy2st_runtime.dims import Dim, Facts, Size, bounds, is_symbol, symbols, using
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import ArrayType, Block, ValueType, Variable
from dy2st_runtime.ir.functions import define, relative_layers, result_types, symbols_in
from dy2st_runtime.ir.join import differs_by_element, join_types
from dy2st_runtime.ir.sizes import fresh_symbol, made_since, origins
from dy2st_runtime.ops.control_flow import Shared, append_call, close_sizes, is_unseen, shared_by

_CALLS_AT_ONCE, _CALLS_OF_SIZES = 16, 6  # in each other, where a number of Python may end them
_CALLS_IN_ALL = 48
_IN_PLACE = 12  # so many calls in each other are recorded where there can be no function
_WITH_LENGTH = ("list", "tuple", "set", "dict", "text")  # families of types


def recursive_call(trace: Trace, site: Site, call: Running) -> Any:
    """A call that comes while others of the function run; NotImplemented if it is as any other."""
    function = call.function
    if site.recursion is not None and site.recursion.function is function:
        return site.recursion.call(bind(call))
    if not trace.is_nested and site.settled is None:
        return NotImplemented
    own = [one for one in site.running if one.function is function]
    nested = [one for one in own if one.depth < len(trace.state.paths)]
    arguments, calls = bind(call), [*map(bind, nested[-_CALLS_AT_ONCE:])]
    is_known = site.settled is not None or site.nested > _CALLS_IN_ALL
    if not nested:
        is_known = site.settled is not None and site.settled.fits(arguments.arguments.values())
    elif not is_known:
        in_loop = any(one.rounds is not trace.rounds for one in nested)
        count = _CALLS_AT_ONCE if in_loop else len(nested)
        is_known = any(is_repeated(trace, one, arguments, count) for one in calls)
    if not is_known or trace.tracer.has_gone_back:
        return NotImplemented
    if site.why is not None:
        if len(nested) > _IN_PLACE:
            raise endless(site.why)
        return NotImplemented
    new = Recursion(trace, [], function=function, bound=call.bound)
    settled = site.settled is not None and site.settled.function is function
    for known in (site.settled, new) if settled else (new,):
        with tried(trace) as trial:
            site.recursion = known
            trace.repeats.settling += 1
            try:
                known.begin(arguments, calls)
                trial.made = known.settle()
            finally:
                site.recursion = None
                trace.repeats.settling -= 1
        site.why = trial.why
        if trial.made is not None:
            site.settled = known
            return known.finish(trial.made)
    return NotImplemented


def bind(call: Running) -> BoundArguments:
    """What the parameters of a function get."""
    bound = signature(call.function, follow_wrapped=False).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    return bound


def is_repeated(trace: Trace, one: BoundArguments, other: BoundArguments, count: int) -> bool:
    """Whether neither a number of Python nor a list that gets shorter ends it in the trace."""
    pairs = [*zip(one.arguments.values(), other.arguments.values(), strict=True)]
    if any(_gets_shorter(trace, *pair) for pair in pairs):
        return False
    counts = any({type(a), type(b)} <= {int, float} and a != b for a, b in pairs)
    if not counts:
        return True
    are_alike = all(type(a) is type(b) and _sizes(a) == _sizes(b) for a, b in pairs)
    return count >= (_CALLS_AT_ONCE if are_alike else _CALLS_OF_SIZES)


def _gets_shorter(trace: Trace, one: Any, other: Any) -> bool:
    if type(one) is not type(other) or info(type(one)).family not in _WITH_LENGTH:
        return False
    held, left = trace.content(one), trace.content(other)
    return SymbolicSequence not in (type(held), type(left)) and len(left) < len(held)


def _sizes(value: Any) -> Any:
    if type(value) is Dim:
        return id(value)
    return [*map(str, value.shape)] if isinstance(value, Variable) else None


@dataclass(eq=False, kw_only=True)
class Recursion(Loop):
    """What is assumed of all calls.

    slots       the arguments, then the places that are changed.
    calls       what the first call is given, and those that run around it.
    ends        what it returns, the exception that it raises, and the same places.
    end_types   the types of the leaves of these and of the tensors that are changed; None while
                nothing is known of what comes back.
    end_sizes   the symbols in them that each call makes anew.
    end_stops   whether gradients stop at those leaves.
    shared      what such leaves may be.
    captured    what is read from outside, behind all arguments.
    catches     whether a call may raise what somebody else catches than around the first one.
    """

    function: FunctionType
    bound: Callable[..., Any]
    arguments: BoundArguments = field(init=False)
    calls: list[list[Any]] = field(default_factory=list)
    name: str = ""
    end_types: list[ValueType] | None = None
    end_sizes: set[Dim] = field(default_factory=set)
    end_stops: list[bool | None] = field(default_factory=list)
    shared: set[Shared] = field(default_factory=set)
    captured: list[Variable] = field(default_factory=list)
    catches: bool = False
    has_risen: bool = False
    handlers: int = 0  # how many there are around the body
    comes_back: bool = False
    region: Region | None = None  # of the round that runs, and of the last one that has ended
    last: Region = field(init=False)

    # -- rounds ---------------------------------------------------------------------------------

    def begin(self, arguments: BoundArguments, calls: Sequence[BoundArguments]) -> None:
        """Begin with a call, and those that run around it; with what is known of earlier ones."""
        trace, self.arguments = self.trace, arguments
        trace.alias_tracker.return_all()
        tracer, view = trace.tracer, before_all(trace)
        if not self.slots:
            self.slots = [
                JoinedVariable(name, value, value, layout=Same(value, view))
                for name, value in arguments.arguments.items()
            ]
            self.ends = [JoinedVariable("what it returns", None, None)]
        self.calls = [[*call.arguments.values()] for call in (arguments, *calls)]
        for slot, value in zip(self.slots, self._placed(self.calls[0]), strict=True):
            slot.left, slot.parts = value, []
            self.take(slot, value)
        for values in self.calls[1:]:
            for slot, value in zip(self.slots, values, strict=False):
                self.take(slot, value)
        self.name = trace.repeats.free_name(name_of(self.function))
        seen, outer = {*tracer.block.outwards()}, map(tracer.aliases.origin, self.captured)
        self.captured = [one for one in outer if one.block in seen and one.overwritten is None]
        if self.types:
            self.starts = self.leaves(self._placed(*self.calls))
            self._rise_to(self.starts)

    def settle(self) -> Region:
        """Trace the body until it is what was assumed."""
        state = noted(self.trace)
        for _ in self.rounds():
            self.has_risen = False
            region = self.round()
            if noted(self.trace) != state:
                raise self.mismatch("does something that Python must do at each call")
            if not self.has_risen and self.holds(region):
                return region
        raise self.mismatch("has other arguments or results at each depth")

    def round(self) -> Region:
        """Trace the body once."""
        trace, tracer = self.trace, self.trace.tracer
        if not self.types:
            self.begin_with(self.leaves(self._placed(*self.calls)))
            self.shared = set()
        with ExitStack() as stack:
            stack.enter_context(tracer.apart(tracer.block))
            region = stack.enter_context(trace.region())
            self.region = region
            own = [region.block.add_parameter(one) for one in self.types]
            self.handlers = len(trace.handlers) + self.catches
            values = iter(self.given(own))
            for slot in self.slots:
                if slot.place is None:
                    self.arguments.arguments[slot.name] = value = next(values)
                    if not isinstance(slot.layout, Same):  # it is made anew in each call
                        trace.alias_tracker.keep(copied(trace, value, slot.layout, trace))
            for outer in self.captured:
                tracer.as_seen(outer)
            if self.catches:
                stack.enter_context(under(trace, Handler(lambda: (Exception,))))
            args, kwargs = self.arguments.args, self.arguments.kwargs
            end_region(trace, region, lambda: (self.bound(*args, **kwargs),))
            count = len(own) - len(self.tensors)
            for one in own[:count]:
                if tracer.held_by(one) is not one or one.overwritten:
                    raise self.mismatch("changes a tensor in place that it is given")
        self.last = region
        return region

    def holds(self, region: Region) -> bool:
        """Whether the body leaves what is assumed; what it does not, is assumed from now on."""
        if region.raised is not None and region.results is None and region.outcome is None:
            raise self.mismatch("comes back on no path")
        rises = not self.writes_what_is_assumed(region)
        for slot in self.slots:
            if slot.place is not None:
                rises = self.rises(slot, slot.seen(slot.right, region)) or rises
        if rises:
            self.types, self.end_types = [], None
            return False
        return self._ends_hold(region)

    def _ends_hold(self, region: Region) -> bool:
        """Whether what comes back is what was assumed of it."""
        trace, tracer = self.trace, self.trace.tracer
        if region.outcome is not None and len(self.ends) == 1:
            self.ends.append(JoinedVariable("an exception", None, None, layout=Same(None, NOWHERE)))
        values = [ABSENT if region.results is None else region.results[0], region.outcome]
        rises = not self.comes_back
        for slot, value in zip(self.ends, values, strict=False):
            slot.right, node = value, as_value_layout(slot.seen(value, region))
            slot.layout = slot.layout if self.comes_back else node
            rises = self.rises(slot, node) or rises
        self.comes_back = True
        ends = self._all_ends()
        end_with(trace, region, ends, "right", self.tensors)
        for slot in ends:
            slot.parts = []
            slot.note_parts(trace, slot.right, region, region)
        before = self.end_types if not rises else None
        self.end_types = self._end_types(region, before or [])
        rises = before is None or any(
            a is not b for a, b in zip(before, self.end_types, strict=True)
        )
        stops = self.stops_of(region.block.yields)
        old = self.end_stops if before is not None else stops
        self.end_stops = both(stops, old)
        outer = [*tracer.captured_by(region.block)]
        outer += close_sizes(tracer, region.block, made_since(region.since))
        counts_the_same = before is not None and len(outer) == len(self.captured)
        shared = self.shared if counts_the_same else set()
        self.shared = shared | shared_by(tracer, region.block, len(stops) - len(self.tensors))
        rises = rises or not counts_the_same or self.end_stops != old or self.shared != shared
        self.captured = outer
        if not all(map(is_unseen, region.block.walk())):
            raise self.mismatch("shows something, or sets where gradients flow")
        known = origins(region.block.parameters).keys() | made_since(region.since)
        sizes = [one for one in symbols_in(region.block) if not differs_by_element(one)]
        if not rises and not known >= {*sizes}:
            raise self.mismatch("needs a size that no value around it has")
        return not rises

    def _all_ends(self) -> list[JoinedVariable]:
        return [*self.ends, *(slot for slot in self.slots if slot.place is not None)]

    def _end_types(self, region: Region, known: Sequence[ValueType]) -> list[ValueType]:
        """The types of what a body yields, joined with those that were assumed."""
        made = made_since(region.since) - origins(region.block.parameters).keys()
        pairs: dict[tuple[int, int], Size] = {}

        def pick(old: Size | None, new: Size) -> Size:
            is_made = isinstance(new, Dim) and not made.isdisjoint(symbols(new))
            if not is_made and (old is None or old is new or (type(old) is int and old == new)):
                return new
            key = id(old), id(new)
            if key in pairs:
                return pairs[key]
            least = max(0, bounds(new, Facts())[0] or 0)
            if isinstance(old, Dim) and old in self.end_sizes:
                if not is_made or not is_symbol(new):
                    raise self.mismatch("gives tensors of sizes that differ in form at each depth")
                if old.minimum <= least and all(old is not one for one in pairs.values()):
                    pairs[key] = old
                    return old
                least = 0
            pairs[key] = size = fresh_symbol("size", least)
            self.end_sizes.add(size)
            return size

        found: list[ValueType] = []
        for place, leaf in enumerate(region.block.yields):
            old, new = known[place] if known else None, leaf.type
            if isinstance(new, ArrayType) or isinstance(old, ArrayType):
                found.append(new if old is None else join_types(old, new, self.mismatch))
                continue
            shape = [None] * new.rank if old is None else old.shape
            sizes = [*map(pick, shape, new.shape)]
            is_same = all(a is b for a, b in zip(sizes, shape, strict=True))
            found.append(new.with_shape(sizes) if old is None or not is_same else old)
        return found

    # -- calls ----------------------------------------------------------------------------------

    def take(self, slot: JoinedVariable, value: Any) -> bool:
        """Let an argument or place be what a call gives it, too; whether it has risen."""
        rises = self.rises(slot, slot.seen(value, self.trace))
        slot.note_parts(self.trace, value, self.trace)
        if rises:
            self.types = []
            if slot.place is not None:  # which comes back in that form, too
                self.end_types = None
        return rises

    def _rise_to(self, leaves: Sequence[Variable]) -> bool:
        """The same for the leaves; what is known of sizes around one call is not of others."""
        with using(Facts()):
            rises, lost = self.join_leaves(leaves)
        return rises or bool(lost)

    def fits(self, values: Iterable[Any]) -> bool:
        """Whether a call around which none runs gets what the data decide, or all the same."""
        pairs = [*zip(self.slots, values, strict=False)]
        is_same = all(isinstance(s.layout, Same) and s.layout.value is one for s, one in pairs)
        return is_same or any(isinstance(one, (Variable, Dim)) for _, one in pairs)

    def call(self, arguments: BoundArguments) -> Any:
        """A call that the body makes."""
        trace, given = self.trace, [*arguments.arguments.values()]
        trace.alias_tracker.return_all()
        rises = [self.take(slot, value) for slot, value in zip(self.slots, given, strict=False)]
        values = self._placed(given)
        pairs = [*zip(self.slots, values, strict=True)][len(given) :]
        rises += [self.take(slot, value) for slot, value in pairs]
        self.has_risen = self.has_risen or any(rises)
        if len(trace.handlers) > self.handlers and not self.catches:
            self.catches = self.has_risen = True
        if not self.has_risen and self.end_types is not None:
            leaves = self._operands(values)
            known = len(self.end_types) + len(leaves) + len(self.captured)  # in the last round
            self.has_risen = self._rise_to(leaves) or any(
                other >= known for _, other in self.shared
            )
        if self.has_risen or self.end_types is None:
            raise AlwaysRaises  # nothing is known of it yet: the paths without it say what it gives
        return self._append(leaves, self.end_types)

    def _held(self, place: Place) -> Any:
        held = self.trace.kept(place.owner, place.name)
        return copy_of(place.owner) if held is place.owner and place.name is CONTENT else held

    def _placed(self, *calls: Sequence[Any]) -> list[Any]:
        """What a call is given, and what places hold once all that calls are given is placed."""
        for values in calls if self.trace.locations.is_on else ():
            for slot, value in zip(self.slots, values, strict=False):
                self.trace.locations.enter(without_location(self.trace, slot, value, self.trace))
        places = (slot.place for slot in self.slots if slot.place is not None)
        return [*calls[0], *map(self._held, places)]

    def _operands(self, values: Sequence[Any]) -> list[Variable]:
        """What a call takes for arguments, places and tensors."""
        leaves, tracer = self.leaves(values), self.trace.tracer
        count, aliases = len(leaves) - len(self.tensors), tracer.aliases
        for one in leaves[:count]:
            base = tracer.views.base_of_view(one)
            memory = aliases.origin(one if base is None else base)
            if any(aliases.may_be_one(memory, aliases.origin(other)) for other in leaves[count:]):
                raise self.mismatch("changes a tensor in place that it is given by another name")
        return leaves

    def _append(self, leaves: Sequence[Variable], ends: Sequence[ValueType]) -> Any:
        """One call, and what it returns."""
        trace, tracer = self.trace, self.trace.tracer
        operands = [*leaves, *map(tracer.as_seen, self.captured)]
        assert self.region is not None
        known = Block()  # as the function will be
        known.parameters = self.region.block.parameters[: len(operands)]
        known.yields = [Variable(one, known) for one in ends]
        types = result_types(known, [one.type for one in operands])
        results = append_call(tracer, self.name, operands, types, self.shared)
        count = len(results) - len(self.tensors)
        for tensor, result in zip(self.tensors.values(), results[count:], strict=True):
            tracer.hold(tensor, result)
        self.join_stops(results, [one or None for one in self.end_stops])
        found = put_back(trace, self._all_ends(), iter(results[:count]), [self.last])
        if len(found) == 1:
            return found[0]
        always = self.ends[0].layout
        is_raised = isinstance(always, Same) and always.value is ABSENT
        end = End(None if is_raised else found[:1], found[1])
        return proceed(trace, end)[0]

    def finish(self, region: Region) -> Any:
        """The first call, which stands around the function."""
        tracer, block = self.trace.tracer, region.block
        relative_layers(block, tracer.layer)
        define(tracer.program, self.name, block)
        tracer.aliases.separated(block.parameters)
        leaves = self._operands(self._placed(self.calls[0]))
        assert self.end_types is not None
        return self._append(leaves, self.end_types)

    def unlike(self, slot: JoinedVariable, error: Unlike) -> ConversionError:
        """What cannot be both."""
        return self.mismatch(f"has {error} as {in_words(slot.name)}")

    def mismatch(self, words: str) -> ConversionError:
        """The reason why there is no function."""
        return ConversionError(
            f"{self.function.__qualname__}(), which calls itself as the data decide, {words}",
            why="one function of the Program must serve every call",
            hint="let each call get and give values of the same kinds, and new tensors and lists",
        )


def name_of(function: FunctionType) -> str:
    """What a function of the Program is called: `helper`, `Block.forward`."""
    return function.__qualname__.rpartition("<locals>.")[2].replace("<lambda>", "lambda")


@dataclass(eq=False)
class Trial:
    """What was recorded, or why it is refused."""

    made: Any = None
    why: Exception | None = None


@contextmanager
def tried(trace: Trace) -> Iterator[Trial]:
    """Record what may be a function: of what is refused, all that came with it is forgotten."""
    repeats, rounds, trial = trace.repeats, trace.rounds, Trial()
    made, called, names = len(repeats.made), len(repeats.called), {*repeats.names}
    answers, asked = len(trace.record.answers), trace.call_context.place
    trace.rounds = None
    trace.alias_tracker.return_all()
    try:
        yield trial
    except (Refused, *REFUSALS) as error:
        trial.why = error.args[0] if isinstance(error, Refused) else error
        if isinstance(trial.why, MoreIsKnown):
            raise
    finally:
        trace.rounds = rounds
        if trial.made is None:  # caches of the user's are asked once for what is recorded twice
            repeats.forget(trace.tracer.program, made)
            repeats.forget_calls(called)
            repeats.names = names
            trace.call_context.place = asked
            del trace.record.answers[answers:]
