"""From the arguments of a call to its Program: found among those that are there, or traced.

The first shape of a function makes a Program of its own. From the second on, axes whose size has
changed are symbols, each one of its own. Where that cannot be, sizes stay numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dy2st.convert.call_context import CallContext
from dy2st.convert.replay.guards import Guards
from dy2st.convert.replay.keeping import Keeping
from dy2st.convert.replay.places import Varied
from dy2st.convert.types import info
from dy2st.jit.concrete_program import ConcreteProgram
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.objects_of_calls import OtherTies, Ties
from dy2st.jit.signature import (
    Numbered,
    NumberInputs,
    Signature,
    add_values,
    as_tensor,
    constant_key,
    is_tensor,
    kind_of,
    sharing_of,
    to_named_specs,
)
from dy2st.jit.trace import Subject, Watch, note, trace
from dy2st_runtime import engine
from dy2st_runtime.dims import Dim, evaluate, symbols
from dy2st_runtime.errors import ArgumentError, EngineError, Location, ShapeError, StateMade
from dy2st_runtime.ir import Output, TensorType, ValueType
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.location import place_of, warn_user
from dy2st_runtime.ir.promotion import autocast, get_promotion
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.ir.structure import containers_of, flatten, is_container, substitute
from dy2st_runtime.ir.tracing.python_numbers import is_too_wide
from dy2st_runtime.ir.tracing.traced_numbers import reason_of
from dy2st_runtime.ops.creation import get_default_dtype
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import ByIdentity

if TYPE_CHECKING:
    from dy2st.jit.static_function import StaticFunction

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

    def why_none(self, key: Hashable) -> tuple[bool, str]:
        """Of Programs of a key, none of which fits: whether one was for one call; what changed."""
        known = self._programs.get(key, ())
        reasons = (one.guards.why for one in known)
        return any(one.effects for one in known), next(filter(None, reasons), "")

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


@dataclass(eq=False)
class Invocation:
    """A call of a converted function, and the Program that makes it, once that is found.

    tensors     what the call gives the Program; `containers` are the lists, dicts and sets.
    call        what stands for it: without one the Program writes nothing outside.
    ties        those of which an earlier Program for it knew nothing.
    """

    static: StaticFunction
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    concrete: ConcreteProgram | None = None
    tensors: list[EagerTensor] = field(default_factory=list)
    containers: list[Any] = field(default_factory=list)
    call: CallContext | None = None
    ties: Ties | None = None

    def made(self) -> Any:
        """Make it by its Program, which is traced now if there is none yet."""
        static = self.static
        if self.concrete is None and static.breaks is not None:
            return static.breaks.root(static.__wrapped__).first(self)
        try:
            if self.concrete is None:
                static.programs.find(self)
            elif self.call is None and self.concrete.finished.writes:
                self.call = CallContext(gradients_of(self.tensors))
            if self.concrete is not None:
                return self.concrete(self.tensors, self.call, self.containers)
            again: Callable[[], Any] = self.by_python
        except BaseException as error:  # goes on, if nothing makes it instead
            instead = self.instead(error)
            if instead is None:
                raise
            again = instead
        return again()

    def instead(self, error: BaseException) -> Callable[[], Any] | None:
        """What makes it, where its Program has raised an error; None where that is the user's."""
        static, breaks = self.static, self.static.breaks
        if isinstance(error, OtherTies):
            return replace(self, concrete=None, call=None, ties=error.ties).made
        if self.call is not None and self.call.is_lost:
            return self.by_python  # which raises, and writes what comes before
        if static.programs.keeps_constant(error, self.args, self.kwargs):
            # With constants, which may be as large as they like.
            return partial(static, *self.args, **self.kwargs)
        if breaks is not None and breaks.are_of(self.concrete, self.tensors, error):
            return partial(breaks.root(static.__wrapped__).instead, self, error)
        return None

    def by_python(self) -> Any:
        """Make it by the user's function itself."""
        return self.static.dygraph_function(*self.args, **self.kwargs)


class Programs:
    """The Programs of one function, or of one method of an object.

    Its methods are given the StaticFunction, which it must not hold.

    asks     whether a trace has asked for `stop_gradient` of inputs or results.
    numbers  those among the arguments that are inputs; `varied` are those outside.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.cache = ProgramCache()
        self.numbers = NumberInputs()
        self.asks = False
        self._varied = Varied()
        self._families: dict[Any, Family] = {}
        self._defaults: Signature | None = None  # those that calls have left to it
        self._watch = Watch()
        self._made: set[Hashable] = set()  # where calls of which kind have made parameters

    # -- calls that are known -----------------------------------------------------------------

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
        if self._defaults is not None and self._defaults.is_outdated():
            return None
        if len(containers) > 1:
            key.append(sharing_of(containers))
        return self.cache.find(tuple(key))

    def _know(self, asked: Invocation, given: Numbered, arguments: dict[str, Any]) -> None:
        """Note the Program of a call, if what it is given tells its arguments."""
        key, concrete = self.key_of(given.args, given.kwargs, [], []), asked.concrete
        signature = asked.static.signature
        # Caches of the user's functions are asked at every call: such a Program has no short way.
        if concrete is None or concrete.answers:
            return
        if not signature.adds_no_state(arguments, given.kwargs):
            return
        if signature.has_defaults:
            self._defaults = signature
        if len(asked.containers) > 1:
            key.append(sharing_of(asked.containers))
        self.cache.add_call(tuple(key), concrete)

    def key_of(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        tensors: list[EagerTensor],
        containers: list[Any],
    ) -> list[Any]:
        """What tells a call from those that have other Programs."""
        key: list[Any] = [get_promotion(), get_default_dtype(), autocast()]
        add_values(args, key, tensors, containers)
        if kwargs:
            key += kwargs
            add_values(kwargs.values(), key, tensors, containers)
        if self.numbers:
            key += map(kind_of, tensors)
        if self.asks:
            key += gradients_of(tensors)
        return key

    # -- numbers that are inputs --------------------------------------------------------------

    def keeps_constant(
        self, error: BaseException, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool:
        """Whether a call that raised is to be made again: a number was an input, and is none now.

        Its Program, or the engine, takes no such number; and nothing of the run was seen.
        """
        last, is_of_engine = self.cache.last(), isinstance(error, EngineError)
        if not (is_of_engine or is_too_wide(error)) or last is None or not last.may_run_again:
            return False
        places = self.numbers.of(args, kwargs).places
        if places and is_of_engine:
            self.numbers.refuse(places, reason_of(error))
        else:
            self.numbers.keep(places)
        return bool(places)

    def constants(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """The numbers that every Program has as constants, each with the reason."""
        own, outside = self.numbers.trials.refused, self._varied.trials.refused
        return (
            *((signature.words(path), why) for path, why in own.items()),
            *((str(key[2]), why) for key, why in outside.items()),
        )

    # -- calls that are not known -------------------------------------------------------------

    def find(self, asked: Invocation, is_tentative: bool = False, may_ask: bool = True) -> None:
        """Find the Program of a call, traced now if need be; none if Python must make the call.

        `is_tentative` and `may_ask` say what a trace may do: see CallContext. Who asks for a
        tentative trace makes the call by Python whatever is raised.
        """
        static, args, kwargs = asked.static, asked.args, asked.kwargs
        numbers, bind = self.numbers, partial(static.signature.bind, static.dygraph_function)
        numbers.see(args, kwargs, partial(static.signature.says, static.input_spec or ()))
        bound = bind(args, kwargs)
        asked.containers = static.signature.containers(bound)
        ties = Ties((), sharing_of(asked.containers)) if asked.ties is None else asked.ties
        refused: list[Any] = []
        while True:
            given = numbers.of(args, kwargs)
            # Numbers that are inputs stand in containers of their own.
            arguments = bind(given.args, given.kwargs) if given.places else bound
            leaves, structure = flatten(arguments, is_tensor)
            asked.tensors = [as_tensor(leaf) for leaf in leaves]
            gradients = gradients_of(asked.tensors)
            asked.call = call = CallContext(gradients, is_tentative=is_tentative, may_ask=may_ask)
            try:
                asked.concrete = self._of_call(asked, call, arguments, structure, ties)
                break
            except Exception as error:
                if not given.places or call.is_lost:
                    numbers.trials.take_back(refused)
                    if call.is_lost and (isinstance(error, StateMade) or not is_tentative):
                        return
                    raise
                # A trace with constants shows whether it is an error.
                refused += given.places
                numbers.refuse(given.places, reason_of(error))
        numbers.trials.accept(given.places)
        if asked.ties is None:
            self._know(asked, given, arguments)

    def _of_call(
        self,
        asked: Invocation,
        call: CallContext,
        arguments: dict[str, Any],
        structure: Any,
        ties: Ties,
    ) -> ConcreteProgram:
        """The Program for a call; `structure` is what its arguments are beside their tensors."""
        static, tensors = asked.static, asked.tensors
        dtypes = tuple(map(kind_of, tensors))
        shapes = tuple(t.array.shape for t in tensors)
        python, mode = (constant_key(structure), ties), settings()
        key = (dtypes, shapes, python, mode)
        # What a trace holds must not hold the Programs, which are to go without it.
        call.may_leave = partial(_leave_once, self._made, key)
        concrete = self.cache.find((*key, self._asked(call)), call)
        if concrete is not None:
            return concrete
        if static.input_spec is not None:
            specs = static.signature.match(static.input_spec, arguments)
            concrete = self.of_specs(Subject(static, specs, call, ties))
        else:
            subject = Subject(static, to_named_specs(arguments), call, ties)
            kind = (dtypes, tuple(map(len, shapes)), python, mode)
            family = self._families.get(kind)
            if family is None:
                while len(self._families) >= _MOST_FAMILIES:
                    self._families.pop(next(iter(self._families)), None)
                family = self._families.setdefault(kind, Family(shapes))
            new = family.see(shapes)
            if family.symbolic:
                concrete = self._general(subject, family, new, shapes)
            if concrete is None:
                concrete = self.of_specs(subject)
                if shapes == family.first:
                    family.compare_with(concrete)
        self.cache.add_call((*key, self._asked(call)), concrete)
        return concrete

    def _general(
        self, subject: Subject, family: Family, new: frozenset[Axis], shapes: Shapes
    ) -> ConcreteProgram | None:
        """The Program in which all axes that may be are symbols; None if none serves the call."""
        last = self.cache.last()
        # A trace for one call serves no other sizes: a general one would be traced for nothing.
        if last is not None and last.effects:
            return None
        name, specs = subject.static.__qualname__, subject.specs
        while family.symbolic:
            wider = generalised(specs, family.symbolic)
            try:
                concrete = self.of_specs(replace(subject, specs=wider, is_asked_for=False))
                if family.accepts(concrete):
                    # The general trace may have required sizes that this call has not.
                    if concrete.executable.takes_shapes(shapes):
                        return concrete
                    note(f"{name}() gets a Program for the shapes {[*shapes]} alone")
                    return None
                self.cache.discard(concrete)
                why = "they change what kind of value is returned"
            except StateMade:
                raise  # a trace with numbers makes it, too
            except Exception as error:
                # Whatever it is, a trace with numbers shows whether it is an error of the user's.
                why = f"{type(error).__name__}: {str(error).splitlines()[:1]}"
            sizes = axes_text(specs, family.symbolic)
            note(f"{name}(): unknown sizes of {sizes} cannot be: {why}")
            family.pin(new)
            new = frozenset()
        return None

    def of_specs(self, subject: Subject) -> ConcreteProgram:
        """The Program of a subject; traced if there is none."""
        static, specs, call = subject.static, subject.specs, subject.call
        python = (subject.is_asked_for, constant_key(specs), subject.ties, settings())
        key = (*python, self._asked(call))
        known = self.cache.find(key, call)
        if known is not None:
            return known
        is_anew, again = self.cache.why_none(key)
        concrete = trace(subject, self._varied)
        concrete.engine = static.engine or engine.of_mesh(concrete.main_program)
        concrete.gradients = call.gradients
        other = ""
        if not concrete.effects:
            other = self._watch.given(static, specs)
            self._watch.traced(static, python, again)
            if static.input_spec is None:  # who gives one may want what it says
                self._watch.unrolled(static, specs, concrete.report.unrolled)
        concrete.report = replace(concrete.report, again=again or other)
        given = static.signature.given(specs)
        leaves, _ = flatten(given, lambda entry: not is_container(entry))
        if all(isinstance(leaf, InputSpec) or info(type(leaf)).is_plain for leaf in leaves):
            concrete.arguments = given  # which stay what they are
        # Without a call it leaves gradients in arguments that its InputSpecs alone let flow.
        is_for_all = call.gradients is None and concrete.finished.has_gone_back
        self.asks |= bool(concrete.asked) or is_for_all
        # Once a trace asks for gradients, keys have them: this is another key than was looked up.
        self.cache.add((*python, self._asked(call)), concrete)
        if is_anew and concrete.effects:
            warn_user(
                f"{static.__qualname__}() is traced anew for every call, which takes long, since "
                f"{concrete.effects[0]}",
                place_of(static.__wrapped__),
            )
        return concrete

    def for_file(
        self, static: StaticFunction, concrete: ConcreteProgram, keeping: Keeping
    ) -> ConcreteProgram:
        """The Program of the same arguments that is to run from a file, and keeps places outside.

        ArgumentError if nobody knows the arguments any more.
        """
        if concrete.arguments is None:
            raise ArgumentError(
                f"{static.__qualname__}() was called with objects, and is traced again for the "
                "file: give save an input_spec"
            )
        call = CallContext(concrete.gradients)
        subject = Subject(static, concrete.arguments, call, keeping=keeping)
        # A step of training also reads rates.
        made = trace(subject, self._varied if concrete.finished.has_gone_back else Varied())
        made.engine, made.arguments = concrete.engine, concrete.arguments
        return made

    def _asked(self, call: CallContext) -> Any:
        """What of gradients counts for a call: nothing before some trace has asked."""
        return call.gradients if self.asks else None


def gradients_of(tensors: Sequence[EagerTensor]) -> tuple[bool, ...]:
    """What a call says of gradients."""
    return (is_grad_enabled(), *(tensor.stopped for tensor in tensors))


def _leave_once(made: set[Hashable], kind: Hashable, at: Location | None) -> bool:
    """Whether Python is to make a call that makes parameters: the next one finds them."""
    if (kind, at) in made:
        return False  # or each such call would make others
    if len(made) >= MOST_CALLS:
        made.clear()
    made.add((kind, at))
    return True


# -- sizes that change from call to call -----------------------------------------------------------

Shapes = tuple[tuple[int, ...], ...]
Axis = tuple[int, int]  # which tensor of the call, which axis of it


class Family:
    """Calls that differ in the sizes of their tensors alone."""

    def __init__(self, shapes: Shapes):
        """Begin with the shapes of the first call."""
        self.first = shapes
        self._example: tuple[Any, tuple[ValueType, ...], Guards] | None = None
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
        self._example = concrete.main_program.structure, _types(concrete), concrete.guards

    def accepts(self, general: ConcreteProgram) -> bool:
        """Whether a general Program gives the kinds of results that the first Program gave."""
        if not self._accepted.get(general):
            if self._example is not None:
                structure, types, guards = self._example
                # With other values outside, the example says nothing of this call.
                if guards.holds() and not agrees(general, structure, types, self.first):
                    return False
            self._accepted[general] = True
        return True

    def pin(self, axes: frozenset[Axis]) -> None:
        """Keep axes as numbers; all of them, if it was not one of these that was refused."""
        self._pinned |= (axes & self.symbolic) or self.symbolic


def generalised(specs: dict[str, Any], axes: frozenset[Axis]) -> dict[str, Any]:
    """The same specs with unknown sizes at these axes."""
    leaves, structure = flatten(specs, lambda entry: isinstance(entry, InputSpec))
    for index, spec in enumerate(leaves):
        shape = [None if (index, axis) in axes else s for axis, s in enumerate(spec.shape)]
        if shape:  # a scalar has no axes, and a NumberSpec must stay one
            leaves[index] = InputSpec(shape, spec.dtype, spec.name, spec.stop_gradient)
    wider: dict[str, Any] = substitute(structure, leaves)
    return wider


def axes_text(specs: dict[str, Any], axes: frozenset[Axis]) -> str:
    """`x` axis 0, `y` axis 2."""
    leaves, _ = flatten(specs, lambda entry: isinstance(entry, InputSpec))
    return ", ".join(f"`{leaves[index].name}` axis {axis}" for index, axis in sorted(axes))


def agrees(general: ConcreteProgram, structure: Any, types: Any, shapes: Shapes) -> bool:
    """Whether a general Program gives, for these shapes, results like those of an example.

    It does not where Python code has looked at the text or the kind of a size.
    """
    axes = [size for variable in general.inputs for size in variable.tensor_type.shape]
    real = [size for shape in shapes for size in shape]
    if any(isinstance(a, int) and a != b for a, b in zip(axes, real, strict=True)):
        return True  # nothing to compare: it is for other numbers
    sizes = input_sizes(general.main_program, shapes)
    return _same(general.main_program.structure, structure) and all(
        _fits(one, other, sizes) for one, other in zip(_types(general), types, strict=True)
    )


def _same(general: Any, example: Any) -> bool:
    """Whether two structures are alike; a number may have become an output."""
    both = (flatten(one, lambda entry: not is_container(entry)) for one in (general, example))
    (ours, inside), (theirs, other) = both
    # The text tells types and the order of dicts, the comparison formats of texts.
    is_one = repr(inside) == repr(other) and inside == other
    return is_one and all(map(_same_leaf, ours, theirs))


def _same_leaf(general: Any, example: Any) -> bool:
    if isinstance(general, Output):
        if general.as_number and not isinstance(example, Output):
            return isinstance(example, (bool, int))
        return isinstance(example, Output) and general.as_number == example.as_number
    # A constant nan is like another.
    return type(general) is type(example) and bool(general == example or general != general)


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
