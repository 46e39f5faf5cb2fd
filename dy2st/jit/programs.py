"""From the arguments of a call to its Program: found among those that are there, or traced.

The first shape of a function makes a Program of its own. From the second on, axes whose size has
changed are symbols, each one of its own. Where that cannot be, sizes stay numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dy2st.convert.call_context import CallContext
from dy2st.convert.replay.effects import Keeping
from dy2st.convert.replay.guards import Guards
from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.objects_of_calls import NO_TIES, Ties
from dy2st.jit.signature import (
    NumberInputs,
    Signature,
    add_values,
    constant_key,
    kind_of,
    sharing_of,
    to_named_specs,
)
from dy2st.jit.trace import Tracing, note
from dy2st_runtime import engine
from dy2st_runtime.dims import Dim, evaluate, symbols
from dy2st_runtime.errors import ArgumentError, Location, ShapeError, StateMade
from dy2st_runtime.ir import Output, TensorType, ValueType
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.location import place_of, warn_user
from dy2st_runtime.ir.promotion import autocast, get_promotion
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.ir.structure import containers_of, flatten, is_container, map_entries
from dy2st_runtime.ir.tracing.growth import STAYS_A_LOOP, Unrolled
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.ops.creation import get_default_dtype
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import ByIdentity

# A Program is some 100 KB with its code; who needs more than 64 at a time has one for each call.
MOST_PROGRAMS = 64
# Shapes of calls that were found to fit a Program; forgotten ones are found out again.
MOST_CALLS = 1024
# Programs of one key, of which each fits other values outside of the function.
MOST_ALTERNATIVES = 8


class ProgramCache:
    """Programs by key, the ones used last. Several kinds of calls may lead to one Program.

    Threads share it without a lock, for each step leaves it whole: what one drops while another
    uses it is made again.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._programs: dict[Hashable, list[ConcreteProgram]] = {}
        self._calls: dict[Hashable, list[ConcreteProgram]] = {}
        self._used: ByIdentity[ConcreteProgram, int] = ByIdentity()
        self._last: ConcreteProgram | None = None
        self._clock = itertools.count()

    def find(self, key: Hashable, call: CallContext | None = None) -> ConcreteProgram | None:
        """The Program of a key; None without one, or if a value it was traced with changed."""
        # Keys of calls and keys of InputSpecs differ: at most one of the tables knows it.
        for known in self._calls.get(key) or self._programs.get(key) or ():
            if known.guards.holds() and (call is None or known.gets_the_same(call)):
                # Most calls take the Program that was used last, whose tick is the highest already.
                if known is not self._last:
                    self._use(known)
                return known
        return None

    def is_spent(self, key: Hashable) -> bool:
        """Whether the Program of a key was for one call, which it has served."""
        return any(known.is_spent for known in self._programs.get(key, ()))

    def why_none(self, key: Hashable) -> str:
        """What has changed outside, where there is a Program of a key and none that fits."""
        reasons = (known.guards.why for known in self._programs.get(key, ()))
        return next(filter(None, reasons), "")

    def add(self, key: Hashable, program: ConcreteProgram) -> None:
        """Keep a Program; the one that was not used for longest may go for it.

        Those of the key that fit other values stay behind it.
        """
        others = self._programs.get(key, [])
        others = others[: MOST_ALTERNATIVES - 1]
        self._drop(key, others)  # if it is traced anew
        self._programs[key] = [program, *others]
        self._use(program)
        while len(self._programs) > MOST_PROGRAMS:
            last_use = {
                kept: max(self._used.get(one) or 0 for one in programs)
                for kept, programs in list(self._programs.items())
            }
            self._drop(min(last_use, key=last_use.__getitem__))

    def add_call(self, key: Hashable, program: ConcreteProgram) -> None:
        """Note that calls of this key are for a Program that is kept."""
        if len(self._calls) >= MOST_CALLS:
            self._calls.clear()
        others = [one for one in self._calls.get(key, ()) if one is not program]
        self._calls[key] = [program, *others[: MOST_ALTERNATIVES - 1]]
        self._use(program)

    def _use(self, program: ConcreteProgram) -> None:
        self._last = program
        self._used[program] = next(self._clock)

    def discard(self, program: ConcreteProgram) -> None:
        """Forget a Program."""
        for key, known in list(self._programs.items()):
            if any(one is program for one in known):
                self._drop(key, [one for one in known if one is not program])

    def _drop(self, key: Hashable, kept: Sequence[ConcreteProgram] = ()) -> None:
        """Forget the Programs of a key but for those that are kept."""
        gone = {id(one) for one in self._programs.pop(key, ())} - {id(one) for one in kept}
        if kept:
            self._programs[key] = list(kept)
        # Calls that led to what is dropped would find it still, and keep it alive.
        for call, known in list(self._calls.items()):
            left = [one for one in known if id(one) not in gone]
            if not left:
                self._calls.pop(call, None)
            elif len(left) < len(known):
                self._calls[call] = left

    def last(self) -> ConcreteProgram | None:
        """The Program that was used last."""
        return self._last

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program once, oldest first."""
        # Under one key the newest stands first.
        known = list(self._programs.values())
        return list(dict.fromkeys(one for programs in known for one in programs[::-1]))

    def clear(self) -> None:
        """Forget all."""
        self._programs.clear()
        self._calls.clear()
        self._last = None

    def __len__(self) -> int:
        """How many different Programs there are."""
        return len(self.concrete_programs())


# Calls that differ in more than sizes; forgotten ones begin again with a Program for their sizes.
_MOST_FAMILIES = 256


def settings() -> tuple[Any, ...]:
    """What of the process a Program depends on beside what its trace reads."""
    return get_promotion(), get_default_dtype(), autocast()


class Callee(NamedTuple):
    """What is traced: a function of an instance; what is `called` in its place does more."""

    function: Callable[..., Any]
    instance: Any
    called: Callable[..., Any]
    signature: Signature
    input_spec: tuple[Any, ...] | None
    passes: Any
    engine: str | None

    @property
    def name(self) -> str:
        """The name that users know."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def to_trace(self, specs: dict[str, Any], is_asked_for: bool) -> tuple[Any, ...]:
        """What a trace takes, for InputSpecs and Python values by parameter."""
        bound, function = self.signature.call_on(self.instance, specs), self.function
        name = getattr(function, "__name__", type(function).__name__)
        layer = self.instance if isinstance(self.instance, Layer) else None
        parts = (bound.args, bound.kwargs, name, layer, is_asked_for)
        return function, *parts, self.passes, self.called


class Programs:
    """The Programs of one function, or of one method of an object.

    asks  whether a trace has asked for `stop_gradient` of inputs or results.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._tracing = Tracing()
        self._families: dict[Any, Family] = {}
        self._defaults: Signature | None = None  # those that calls have left to it
        self.asks = False
        self.numbers = NumberInputs()
        self.cache = ProgramCache()
        self._watch = Watch()
        self._made: set[Hashable] = set()  # where calls of which kind have made parameters

    def new_call(
        self, gradients: tuple[bool, ...], is_tentative: bool = False, may_ask: bool = True
    ) -> CallContext:
        """What stands for one call: `gradients` are what it says of them; see CallContext."""
        return CallContext(gradients, is_tentative=is_tentative, may_ask=may_ask)

    def known(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        tensors: list[EagerTensor],
        containers: list[Any],
    ) -> ConcreteProgram | None:
        """The Program of calls like this one, found without binding it.

        Adds its tensors, and its containers.
        """
        if not self.numbers:
            key = self.key_of(args, kwargs, tensors, containers)
        else:
            given = self.numbers.of(args, kwargs)  # in containers of its own
            key = self.key_of(given.args, given.kwargs, tensors, [])
            containers += containers_of((*args, *kwargs.values()))
        if key is None or (self._defaults is not None and self._defaults.is_outdated()):
            return None
        if len(containers) > 1:
            key.append(sharing_of(containers))
        return self.cache.find(tuple(key))

    def keep_constant(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether numbers of a call were inputs and are constants from now on, and it may be made
        again: the Program has raised, and nothing of it was seen."""
        last = self.cache.last()
        return last is not None and last.may_run_again and self.numbers.keep(args, kwargs)

    def refuse_numbers(self, args: Sequence[Any], kwargs: Mapping[str, Any], why: str) -> bool:
        """Whether numbers of a call were inputs and are none any more, and it may be made again."""
        places, last = self.numbers.of(args, kwargs).places, self.cache.last()
        if not places or last is None or not last.may_run_again:
            return False
        self.numbers.refuse(places, why)
        return True

    def constants(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """The numbers that every Program has as constants, each with the reason."""
        own = self.numbers.trials.refused.items()
        return *((signature.words(path), why) for path, why in own), *self._tracing.constants()

    def know(
        self,
        signature: Signature,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        arguments: dict[str, Any],
        containers: Sequence[Any],
        concrete: ConcreteProgram,
    ) -> None:
        """Note the Program of a call, if what it is given tells its arguments."""
        key = self.key_of(args, kwargs, [], [])
        # Caches of the user's functions are asked at every call: such a Program has no short way.
        if key is None or concrete.answers or not signature.adds_no_state(arguments, kwargs):
            return
        if signature.has_defaults:
            self._defaults = signature
        if len(containers) > 1:
            key.append(sharing_of(containers))
        self.cache.add_call(tuple(key), concrete)

    def key_of(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        tensors: list[EagerTensor],
        containers: list[Any],
    ) -> list[Any] | None:
        """What tells a call from those that have other Programs; None where binding tells it."""
        key: list[Any] = [get_promotion(), get_default_dtype(), autocast()]
        if not add_values(args, key, tensors, containers):
            return None
        if kwargs:
            key += kwargs
            if not add_values(kwargs.values(), key, tensors, containers):
                return None
        if self.numbers:
            key += map(kind_of, tensors)
        if self.asks:
            key.append(is_grad_enabled())
            key += [tensor.stopped for tensor in tensors]
        return key

    def of_call(
        self,
        callee: Callee,
        arguments: dict[str, Any],
        structure: Any,
        tensors: list[EagerTensor],
        call: CallContext,
        ties: Ties,
    ) -> ConcreteProgram:
        """The Program for a call; `structure` is what the arguments are beside their tensors.

        `ties` say which of them are one object.
        """
        dtypes = tuple(map(kind_of, tensors))
        shapes = tuple(t.array.shape for t in tensors)
        python, mode = (constant_key(structure), ties), settings()
        key = (dtypes, shapes, python, mode)
        # What a trace holds must not hold the Programs, which are to go without it.
        call.may_leave = partial(_leave_once, self._made, key)
        known = self.cache.find((*key, self._asked(call)), call)
        if known is not None:
            return known
        if callee.input_spec is None:
            kind = dtypes, tuple(map(len, shapes)), python, mode
            family = self._families.get(kind)
            if family is None:
                while len(self._families) >= _MOST_FAMILIES:
                    self._families.pop(next(iter(self._families)), None)
                family = self._families.setdefault(kind, Family(shapes))
            specs = to_named_specs(arguments)
            concrete = self._for_shapes(callee, call, specs, shapes, family, ties)
        else:
            specs = callee.signature.match(callee.input_spec, arguments)
            concrete = self.of_specs(callee, specs, call, ties)
        self.cache.add_call((*key, self._asked(call)), concrete)
        return concrete

    def of_specs(
        self,
        callee: Callee,
        specs: dict[str, Any],
        call: CallContext | None = None,
        ties: Ties = NO_TIES,
    ) -> ConcreteProgram:
        """The Program for InputSpecs, and Python values, by parameter."""
        call = call or CallContext()
        return self._traced(callee, call, specs, constant_key(specs), ties)

    def for_file(
        self, callee: Callee, concrete: ConcreteProgram, keeping: Keeping
    ) -> ConcreteProgram:
        """The Program of the same arguments that is to run from a file, and keeps places outside.

        ArgumentError if nobody knows the arguments any more.
        """
        if concrete.arguments is None:
            raise ArgumentError(
                f"{callee.name}() was called with objects, and is traced again for the file: give "
                "save an input_spec"
            )
        is_step = concrete.finished.has_gone_back
        arguments = callee.to_trace(concrete.arguments, is_asked_for=True)
        call = CallContext(concrete.gradients)
        made = self._tracing.for_file(keeping, is_step, *arguments, call)
        made.engine, made.arguments = concrete.engine, concrete.arguments
        return made

    def _asked(self, call: CallContext) -> Any:
        """What of gradients counts for a call: nothing before some trace has asked."""
        return call.gradients if self.asks else None

    def _for_shapes(
        self,
        callee: Callee,
        call: CallContext,
        specs: dict[str, Any],
        shapes: Shapes,
        family: Family,
        ties: Ties,
    ) -> ConcreteProgram:
        """The Program for a call without InputSpecs: with symbols if it may, else with numbers."""
        new = family.see(shapes)
        last = self.cache.last()
        # A trace for one call serves no other sizes: a general one would be traced for nothing.
        is_for_one_call = last is not None and bool(last.effects)
        general = None if is_for_one_call else self._general(callee, call, specs, family, new, ties)
        if general is not None:
            # The general trace may have required sizes that this call has not.
            if general.executable.takes_shapes(shapes):
                return general
            note(f"{callee.name}() gets a Program for the shapes {list(shapes)} alone")
        concrete = self.of_specs(callee, specs, call, ties)
        if shapes == family.first:
            family.compare_with(concrete)
        return concrete

    def _general(
        self,
        callee: Callee,
        call: CallContext,
        specs: dict[str, Any],
        family: Family,
        new: frozenset[Axis],
        ties: Ties,
    ) -> ConcreteProgram | None:
        """The Program in which all axes that may be are symbols; None if none may."""
        while family.symbolic:
            wider = generalised(specs, family.symbolic)
            sizes = axes_text(specs, family.symbolic)
            where = f"{callee.name}(): unknown sizes of {sizes}"
            try:
                key = ("found", constant_key(wider))
                concrete = self._traced(callee, call, wider, key, ties, is_asked_for=False)
                if family.accepts(concrete):
                    return concrete
                self.cache.discard(concrete)
                note(f"{where} cannot be: they change what kind of value is returned")
            except StateMade:
                raise  # a trace with numbers makes it, too
            except Exception as error:
                # Whatever it is, a trace with numbers shows whether it is an error of the user's.
                note(f"{where} cannot be: {type(error).__name__}: {str(error).splitlines()[:1]}")
            family.pin(new)
            new = frozenset()
        return None

    def _traced(
        self,
        callee: Callee,
        call: CallContext,
        specs: dict[str, Any],
        key: Any,
        ties: Ties,
        is_asked_for: bool = True,
    ) -> ConcreteProgram:
        python = ("specs", key, ties, settings())
        known = self.cache.find((*python, self._asked(call)), call)
        if known is not None:
            return known
        is_anew = self.cache.is_spent((*python, self._asked(call)))
        again = self.cache.why_none((*python, self._asked(call)))
        concrete = self._tracing.trace(*callee.to_trace(specs, is_asked_for), call, ties)
        concrete.engine = callee.engine or engine.of_mesh(concrete.main_program)
        concrete.gradients = call.gradients
        other = ""
        if not concrete.effects:
            other = self._watch.given(callee, specs)
            self._watch.traced(callee.name, callee.function, python, again)
            if callee.input_spec is None:  # who gives one may want what it says
                self._watch.unrolled(callee.name, callee.function, specs, concrete.report.unrolled)
        concrete.report = replace(concrete.report, again=again or other)
        given = callee.signature.given(specs)
        if all(map(_can_be_given_again, given.values())):
            concrete.arguments = given
        # Without a call it leaves gradients in arguments that its InputSpecs alone let flow.
        is_for_all = call.gradients is None and concrete.finished.has_gone_back
        self.asks |= bool(concrete.asked) or is_for_all
        # Once a trace asks for gradients, keys have them: this is another key than was looked up.
        self.cache.add((*python, self._asked(call)), concrete)
        if is_anew and concrete.effects:
            warn_user(
                f"{callee.name}() is traced anew for every call, which takes long, since "
                f"{concrete.effects[0]}",
                place_of(callee.function),
            )
        return concrete


def _leave_once(made: set[Hashable], kind: Hashable, at: Location | None) -> bool:
    """Whether Python is to make a call that makes parameters: the next one finds them."""
    if (kind, at) in made:
        return False  # or each such call would make others
    if len(made) >= MOST_CALLS:
        made.clear()
    made.add((kind, at))
    return True


def _can_be_given_again(value: Any) -> bool:
    """Whether an argument can be given again: an InputSpec, or what stays what it is."""
    if type(value) in (list, tuple, dict):
        return all(map(_can_be_given_again, value.values() if isinstance(value, dict) else value))
    return isinstance(value, InputSpec) or _is_plain(value)


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (int, float, bool, str)


def _structure(value: Any) -> str:
    """`[tensor * 3, {'a': tensor}]`: what lists, tuples and dicts there are around what."""
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {_structure(one)}' for key, one in value.items())}}}"
    if type(value) not in (list, tuple):
        return "tensor" if isinstance(value, InputSpec) else type(value).__name__
    runs = [(text, len([*same])) for text, same in itertools.groupby(map(_structure, value))]
    inside = ", ".join(f"{text} * {count}" if count > 1 else text for text, count in runs)
    return f"[{inside}]" if type(value) is list else f"({inside})"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_LONGEST = 60

_TRACES, _VALUES = 5, 10
"""The trace of one kind of call, and the value of one number, that are worth a warning."""

_MOST_KEYS = 1024


class Watch:
    """Counts the traces of one function."""

    def __init__(self) -> None:
        """Nothing was traced yet."""
        self._traces: Counter[Hashable] = Counter()
        self._values: dict[str, set[Any]] = {}
        self._last: dict[str, Any] = {}  # the constants of each argument
        self._structures: dict[str, list[str]] = {}
        self._has_unrolled = False

    def given(self, callee: Callee, arguments: Mapping[str, Any]) -> str:
        """Note what a trace is given; in words what else it is than before, beside tensors."""
        why = ""
        for argument, value in arguments.items():
            found, _ = flatten(
                value, lambda one: not (isinstance(one, InputSpec) or is_container(one))
            )
            constants = tuple(map(constant_key, found))
            is_plain = all(_is_plain(one) or isinstance(one, np.generic) for one in found)
            what = "value" if is_plain else "object"
            if constants != self._last.setdefault(argument, constants):
                self._last[argument] = constants
                why = why or f"the argument `{argument}` is another {what}"
            if found:
                self._note_value(callee, argument, constants, found, what == "object")
            if type(value) in (list, tuple, dict):
                self._note_structure(callee, argument, _structure(value))
        return why

    def traced(self, name: str, function: Callable[..., Any], key: Hashable, again: str) -> None:
        """Note a trace of calls of a key, since something has changed."""
        if not again:
            return
        if len(self._traces) > _MOST_KEYS:
            self._traces.clear()
        self._traces[key] += 1
        if self._traces[key] == _TRACES - 1:  # the first one had no reason
            warn_user(
                f"{name}() is traced the {_TRACES}th time for calls of one kind, which takes long, "
                f"since {again}. Keep what changes from call to call in a tensor, or give it to "
                "the function as one",
                place_of(function),
            )

    def unrolled(
        self,
        name: str,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        loops: Sequence[Unrolled],
    ) -> None:
        """Warn once of a loop that a size or a number among the arguments has made long.

        Those over Layers, say, are as long for all calls.
        """
        leaves, _ = flatten(arguments, lambda value: isinstance(value, InputSpec))
        shapes = [one.shape for one in leaves if isinstance(one, InputSpec)]
        numbers = {size for shape in shapes for size in shape or () if isinstance(size, int)}
        numbers |= {value for value in arguments.values() if type(value) is int}
        for loop in loops:
            # A loop over pairs of neighbours has one iteration less.
            if not self._has_unrolled and {loop.iterations, loop.iterations + 1} & numbers:
                self._has_unrolled = True
                warn_user(
                    f"{name}() unrolls {loop}, which take long to trace and to compile; "
                    f"{STAYS_A_LOOP}",
                    loop.at or place_of(function),
                )

    def _note_structure(self, callee: Callee, argument: str, shown: str) -> None:
        seen = self._structures.setdefault(argument, [])
        if shown in seen or len(seen) == _VALUES:
            return
        seen.append(shown)
        if len(seen) == _VALUES:
            warn_user(
                f"{callee.name}() has a Program for each of {_VALUES} structures of its argument "
                f"`{argument}`, at last for {_shortened(shown)} after {_shortened(seen[-2])}, and "
                "each takes long to make. Stack the tensors of a list to one tensor, whose "
                "InputSpec says None for their number, or fill all up to one structure; of a tree "
                "convert the function of one node, and let Python walk from node to node",
                place_of(callee.function),
            )

    def _note_value(
        self,
        callee: Callee,
        argument: str,
        constants: tuple[Hashable, ...],
        values: Sequence[Any],
        has_objects: bool,
    ) -> None:
        seen = self._values.setdefault(argument, set())
        most = _TRACES if has_objects else _VALUES
        if len(seen) >= most or constants in seen:
            return
        seen.add(constants)
        if len(seen) < most:
            return
        if has_objects:
            way_out = (
                "Give it one object, whose attributes may change, or give its tensors and numbers"
            )
        elif all(type(one) in (int, float) or isinstance(one, np.number) for one in values):
            way_out = (
                f"Give it the number as a tensor, to_tensor({argument}); or take a size from the "
                "tensor that has it, whose InputSpec says None there"
            )
        else:
            way_out = "Give what changes from call to call as tensors"
        warn_user(
            f"{callee.name}() has a Program for each of {most} "
            f"{'objects that were' if has_objects else 'values of'} its argument `{argument}`, and "
            f"each takes long to make. {way_out}: there is one Program for all of them then",
            place_of(callee.function),
        )


# -- sizes that change from call to call -----------------------------------------------------------

Shapes = tuple[tuple[int, ...], ...]
Axis = tuple[int, int]  # which tensor of the call, which axis of it


class Results(NamedTuple):
    """What a Program gives back, and what it took from outside of its arguments."""

    structure: Any
    types: tuple[ValueType, ...]
    guards: Guards


class Family:
    """Calls that differ in the sizes of their tensors alone."""

    def __init__(self, shapes: Shapes):
        """Begin with the shapes of the first call."""
        self.first = shapes
        self._example: Results | None = None
        self._accepted: ByIdentity[ConcreteProgram, bool] = ByIdentity()
        self._changing: frozenset[Axis] = frozenset()
        self._pinned: frozenset[Axis] = frozenset()

    @property
    def symbolic(self) -> frozenset[Axis]:
        """The axes that are symbols."""
        return self._changing - self._pinned

    def see(self, shapes: Shapes) -> frozenset[Axis]:
        """Learn from a call; returns the axes that were not seen to change before."""
        changed = {
            (index, axis)
            for index, (first, now) in enumerate(zip(self.first, shapes, strict=True))
            for axis, (old, new) in enumerate(zip(first, now, strict=True))
            if old != new
        }
        new = frozenset(changed) - self._changing
        self._changing |= new
        return new

    def compare_with(self, concrete: ConcreteProgram) -> None:
        """Take the Program with numbers for the first shapes as the example for others."""
        self._example = Results(concrete.main_program.structure, _types(concrete), concrete.guards)

    def accepts(self, general: ConcreteProgram) -> bool:
        """Whether a general Program gives the kinds of results that the first Program gave."""
        if not self._accepted.get(general):
            example = self._example
            # With other values outside, the example says nothing of this call.
            is_current = example is not None and example.guards.holds()
            if example is not None and is_current and not agrees(general, example, self.first):
                return False
            self._accepted[general] = True
        return True

    def pin(self, axes: frozenset[Axis]) -> None:
        """Keep axes as numbers; all of them, if it was not one of these that was refused."""
        self._pinned |= (axes & self.symbolic) or self.symbolic


def generalised(specs: dict[str, Any], axes: frozenset[Axis]) -> dict[str, Any]:
    """The same specs with unknown sizes at these axes."""
    count = -1

    def spec(entry: Any) -> Any:
        nonlocal count
        if not isinstance(entry, InputSpec):
            return map_entries(entry, spec)
        count += 1
        # A scalar has no axes, and a NumberSpec must stay one.
        if not entry.shape:
            return entry
        shape = [None if (count, axis) in axes else s for axis, s in enumerate(entry.shape)]
        return InputSpec(shape, entry.dtype, entry.name, entry.stop_gradient)

    return {name: spec(entry) for name, entry in specs.items()}


def axes_text(specs: dict[str, Any], axes: frozenset[Axis]) -> str:
    """`x` axis 0, `y` axis 2."""
    leaves, _ = flatten(specs, lambda entry: isinstance(entry, InputSpec))
    return ", ".join(f"`{leaves[index].name}` axis {axis}" for index, axis in sorted(axes))


def agrees(general: ConcreteProgram, example: Results, shapes: Shapes) -> bool:
    """Whether a general Program gives, for these shapes, results like those of an example.

    It does not where Python code has looked at the text or the kind of a size.
    """
    axes = [size for variable in general.inputs for size in variable.tensor_type.shape]
    real = [size for shape in shapes for size in shape]
    if any(isinstance(a, int) and a != b for a, b in zip(axes, real, strict=True)):
        return True  # nothing to compare: it is for other numbers
    sizes = input_sizes(general.main_program, shapes)
    return _same(general.main_program.structure, example.structure) and all(
        _fits(one, other, sizes) for one, other in zip(_types(general), example.types, strict=True)
    )


def _same(general: Any, example: Any) -> bool:
    """Whether two structures are alike; a number may have become an output."""
    if isinstance(general, Output):
        if general.as_number and not isinstance(example, Output):
            return isinstance(example, (bool, int))
        return isinstance(example, Output) and general.as_number == example.as_number
    if type(general) is not type(example):
        return False
    if isinstance(general, (Choice, Text)):
        left, right = _parts(general), _parts(example)
        return len(left) == len(right) and all(map(_same, left, right))
    if not is_container(general):
        # A constant nan is like another.
        return bool(general == example or general != general)
    if isinstance(general, dict):
        return list(general) == list(example) and all(
            _same(general[k], example[k]) for k in general
        )
    return len(general) == len(example) and all(map(_same, general, example))


def _parts(value: Any) -> tuple[Any, ...]:
    """What stands in a Choice or Text, in order."""
    if isinstance(value, Choice):
        return (value.tag, *value.cases)
    holes = [p if isinstance(p, str) else (p.value, p.conversion, p.spec) for p in value.parts]
    return tuple(holes)


def _types(concrete: ConcreteProgram) -> tuple[ValueType, ...]:
    """Types of the tensors that are given back; numbers are left out."""
    leaves, _ = flatten(concrete.main_program.structure, lambda leaf: isinstance(leaf, Output))
    return tuple(concrete.outputs[leaf.index].type for leaf in leaves if not leaf.as_number)


def _fits(one: ValueType, other: ValueType, sizes: dict[Dim, int]) -> bool:
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return type(one) is type(other)
    if one.dtype != other.dtype or len(one.shape) != len(other.shape):
        return False
    return all(_may_equal(a, b, sizes) for a, b in zip(one.shape, other.shape, strict=True))


def _may_equal(general: Any, example: Any, sizes: dict[Dim, int]) -> bool:
    if not isinstance(example, int) or not set(symbols(general)) <= sizes.keys():
        return True  # the data decides
    try:
        return bool(evaluate(general, sizes) == example)
    except (ShapeError, ZeroDivisionError):
        return False
