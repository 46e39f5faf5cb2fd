"""A Program that the heart has traced, with the live tensors that it reads and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dy2st.heart.replay.effects import Effect, perform, written_by
from dy2st.heart.replay.guards import Guards
from dy2st.heart.replay.places import Varied
from dy2st.heart.replay.rebuild import rebuild
from dy2st.heart.replay.result import Finished, Out
from dy2st.heart.session import Traced
from dy2st.heart.session import trace as trace_by_heart
from dy2st.heart.trace import CONTENT
from dy2st.jit.concrete_program import _add_inputs, _names, place_of
from dy2st.jit.distinct import Distinct
from dy2st.jit.guards import SameFlags
from dy2st.jit.handed_on import HandedOn
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.live_state import LiveState, take_in_place
from dy2st.jit.optimized import OptimizedProgram
from dy2st.jit.report import Report
from dy2st.jit.unknown_sizes import refused
from dy2st_runtime import engine
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Output, Program, Variable
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.gradient_flow import Settings, settings_of
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.keys import numbers_are_no_keys
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.structure import flatten
from dy2st_runtime.ir.structure import rebuild as rebuild_structure
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, wrapped


@dataclass(eq=False, repr=False)
class HeartProgram:
    """A Program, the tensors behind its parameters and buffers, and how to call it.

    guards    whether all that the trace has read outside is still so.
    finished  what a call gives back, and what it writes.
    buffers   the names of the tensors of the trace, by id; effects hold those they replace.
    cut       the state through which no gradient flows after a call, by name.
    """

    main_program: Program
    live: LiveState = field(repr=False)
    input_specs: list[InputSpec]
    function: Callable[..., Any]
    finished: Finished
    guards: list[Any] = field(default_factory=list)
    passes: Any = None
    report: Report = field(default=Report((), ()))
    distinct: Distinct = field(default_factory=Distinct)
    asked: list[Location | None] = field(default_factory=list)
    settings: Settings = field(default_factory=list)
    handed_on: HandedOn | None = None
    cut: frozenset[str] = frozenset()
    buffers: dict[int, str] = field(default_factory=dict)
    arguments: dict[str, InputSpec] = field(default_factory=dict)
    effects: tuple[str, ...] = ()
    is_spent: bool = False
    _optimized: OptimizedProgram | None = None
    _executable: Any = None
    may_fit_again: ClassVar[bool] = True

    def __repr__(self) -> str:
        """The text of the Program, as `print` shows it."""
        return f"ConcreteProgram of\n{self.main_program}"

    @property
    def state(self) -> dict[str, EagerTensor]:
        """The live parameters and buffers by name."""
        return self.live.now()

    @property
    def inputs(self) -> list[Variable]:
        """The placeholders."""
        return self.main_program.inputs

    @property
    def outputs(self) -> list[Variable]:
        """What the function returned, flattened."""
        return self.main_program.outputs[: self.finished.outputs]

    @property
    def parameters(self) -> list[Any]:
        """The live parameters that the Program reads."""
        return [self.state[name] for name in self.main_program.parameters]

    def is_current(self) -> bool:
        """Whether all that was read outside while tracing is still so."""
        return all(guard.holds() for guard in self.guards)

    def gets_the_same(self, call: Any) -> bool:
        """Whether the caches that the function asks give what they gave: it asks none."""
        return True

    @property
    def executable(self) -> Any:
        """The traced Program compiled by the default engine, once."""
        if self._executable is None:
            self._executable = engine.compile(self.main_program)
        return self._executable

    @property
    def optimized(self) -> OptimizedProgram | None:
        """What the passes make of the Program, anew when parameters have changed; None without."""
        if self.passes is None:
            return None
        known = self._optimized
        if known is None or not known.is_current():
            known = OptimizedProgram(self.main_program, self.live, self.passes)
            self._optimized = known
        return known

    # -- calling -----------------------------------------------------------------------------

    def __call__(self, tensors: Sequence[EagerTensor]) -> Any:
        """Run on eager tensors; gradients flow back through the result where they are wanted."""
        state = self.state
        held = (*tensors, *state.values())
        if self.distinct:
            self.distinct.check(self.main_program, held)
        is_taped = self.settings is None or (
            is_grad_enabled() and not all(tensor.stop_gradient for tensor in held)
        )
        handed_on = self.handed_on
        if handed_on is not None and self.passes is None:
            is_taped = is_taped or handed_on.needs_objects(held)
        outputs, updates = self._run_taped(tensors) if is_taped else self._run(tensors)
        if handed_on is not None:
            handed_on.put(outputs, held, by_array=not is_taped)
        for place, value in self.settings or ():
            held[place].stop_gradient = value
        known: dict[int, Any] = {}
        result = rebuild(self.finished.result, outputs, known)
        for name, new in updates.items():
            take_in_place(state[name], new, name in self.cut)
        if self.finished.effects:
            perform(self.finished.effects, outputs, known)
        return result

    def _run(self, tensors: Sequence[EagerTensor]) -> tuple[list[Any], dict[str, EagerTensor]]:
        better = self.optimized
        one = better or self
        updates = (self.main_program if better is None else better.program).updates
        state = [t.array for t in one.state.values()]
        as_is = () if self.handed_on is None else self.handed_on.as_is(better is not None)
        results = one.executable.run([t.array for t in tensors], state, as_is)
        count = len(results) - len(updates)
        outputs = [wrapped(result) for result in results[:count]]
        return outputs, dict(zip(updates, map(wrapped, results[count:]), strict=True))

    def _run_taped(
        self, tensors: Sequence[EagerTensor]
    ) -> tuple[list[Any], dict[str, EagerTensor]]:
        """Run operator by operator, so that the tape sees branches and loops as they are taken."""
        self.executable.check([t.array for t in tensors])
        if self.settings != []:  # passes know values, and not which tensor has them
            return interpret(self.main_program, tensors, self.state)
        known = self._optimized
        # Where parameters are built in, gradients need none of what the passes would make anew.
        better = known if known is not None and known.frozen else self.optimized
        program, state = self.main_program, self.state
        if better is not None and not better.frozen:
            program, state = better.program, better.state
        return interpret(program, tensors, state)

    # -- without its calls -------------------------------------------------------------------

    def alone(self) -> Program:
        """The Program that is to run by itself: buffers that it assigns are updates of it.

        Refused where it writes anything else.
        """
        program = self.main_program
        for name, tensor in self.state.items():
            program.trainable[name] = not tensor.stopped
        for at in self.asked:
            raise ConversionError(
                f"{program.name}() asks for the stop_gradient of what it is called with, "
                "or has computed of it",
                at=at,
                why="a Program that is saved or compiled is one for all calls",
                hint="take a bool as an argument, or leave gradients to the caller: detach()",
            )
        if not self.finished.is_plain:
            raise ConversionError(
                f"{program.name}() returns an object that a Program alone cannot give back",
                at=place_of(self.function),
                why="a Program gives back tensors, Python constants, and lists, tuples and "
                "dicts of them",
                hint="return the tensors and build the object outside",
            )
        assigned = {}
        for effect in self.finished.effects:
            name = self._buffer(effect)
            if name:
                assigned[name] = effect.value.index
        if not self.finished.effects:
            return program
        made, end = clone(program), len(program.outputs)
        made.structure = program.structure
        outputs, updates = made.block.yields[:end], made.block.yields[end:]
        left = dict(zip(program.updates, updates, strict=True))
        left.update({name: outputs[index] for name, index in assigned.items()})
        made.updates = list(left)
        made.block.yields = [*outputs[: self.finished.outputs], *left.values()]
        return made

    def _buffer(self, effect: Effect) -> str:
        """The name of the buffer that an effect assigns; refused if it is none.

        Warns of what is done to other objects.
        """
        buffer, name = self.buffers.get(id(effect.buffer)), self.main_program.name
        if buffer is not None:
            self._check_type(effect, buffer)
            return buffer
        if effect.what:
            warn_user(
                f"{name}() does something that its Program alone does not, since {effect.what}",
                place_of(self.function),
            )
            return ""
        raise ConversionError(
            f"{name}() assigns `{effect.name}`, a variable outside of it",
            at=effect.at,
            why="a Program that is saved or compiled has only its arguments and its results",
            hint=f"return the value, and assign `{effect.name}` outside",
        )

    def _check_type(self, effect: Effect, buffer: str) -> None:
        """Refuse to give a buffer another type."""
        before = self.main_program.state[buffer].tensor_type
        is_one = isinstance(effect.value, Out)
        after = self.main_program.outputs[effect.value.index].tensor_type if is_one else None
        if before != after:
            kind = type(effect.owner()).__name__
            become = "one of several" if after is None else f"{after}"
            raise ConversionError(
                f"{self.main_program.name}() lets the buffer `{kind}.{effect.name}`, {before}, "
                f"become {become}",
                at=effect.at,
                why="a buffer of a Program that is saved or compiled has one dtype and shape",
                hint="register it as what it becomes, or cast and reshape what is assigned; if it "
                "keeps its type after a call, call the function once before",
            )


class HeartTracing:
    """What traces one function; it learns which numbers outside differ from call to call."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._varied = Varied()

    def trace(self, *arguments: Any) -> HeartProgram:
        """Trace it; with constants where a trace with inputs is refused."""
        if self._varied.places:
            try:
                return _trace(self._varied, *arguments)
            except Exception:  # the trace with constants shows whether it is an error
                self._varied.refuse()
        return _trace(self._varied, *arguments)


def _trace(
    varied: Varied,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    name: str,
    layer: Layer | None,
    is_asked_for: bool = True,
    passes: Any = None,
    called: Callable[..., Any] | None = None,
    once: Any = None,
) -> HeartProgram:
    """Run `function` once on placeholders; InputSpecs among the arguments say where they stand.

    What is `called` in its place takes its arguments and does more than the function.
    """
    program = Program(name)
    specs, structure = flatten((args, dict(kwargs)), lambda entry: isinstance(entry, InputSpec))
    declared = _add_inputs(program, specs)
    args, kwargs = rebuild_structure(structure, program.inputs)
    gradients = None if once is None else once.gradients
    with numbers_are_no_keys(), refused(text=not is_asked_for):
        traced = trace_by_heart(
            called or function,
            args,
            kwargs,
            program,
            _names(layer),
            specs,
            declared,
            gradients,
            varied,
        )
        _check_arguments(traced)
        handed_on = HandedOn.of(program.outputs, traced.machine.tracer, traced.state)
    return _program_of(traced, specs, function, passes, handed_on, varied)


def _check_arguments(traced: Traced) -> None:
    program = traced.program
    for variable in program.inputs:
        if variable.overwritten is not None:
            raise ConversionError(
                f"{program.name}() changes its argument `{variable.name}` in place",
                at=variable.overwritten,
                why="a Program has no way to change the caller's tensor",
                hint=f"clone it first ({variable.name} = {variable.name}.clone()), and return it",
            )
    for effect in traced.finished.effects:
        if id(effect.owner()) in traced.arguments:
            raise ConversionError(
                f"{program.name}() changes a list or dict that it gets as an argument",
                at=effect.at,
                why="a Program has no way to change the caller's object",
                hint="copy it first, or return the changed one",
            )


def _program_of(
    traced: Traced,
    specs: list[InputSpec],
    function: Any,
    passes: Any,
    handed_on: HandedOn | None,
    varied: Varied,
) -> HeartProgram:
    program, machine = traced.program, traced.machine
    tracer = machine.tracer
    if not traced.finished.is_plain:
        program.structure = [Output(index) for index in range(traced.finished.outputs)]
    ordered = {key: traced.state[key] for key in program.state}
    keys = {id(tensor): key for key, tensor in ordered.items()}
    buffers, shared = _buffers(traced, keys)
    found = varied.live(machine)
    others = {
        keys[id(tensor)]: (source, key[2])
        for key, held in found.items()
        for tensor, source in held
        if id(tensor) in keys
    }
    places: Any = {**buffers, **traced.sources, **others}
    live = LiveState(ordered, places)
    written = written_by(machine)
    changed = {id(place.owner) for place in machine.over.values() if place.name is CONTENT}
    reads = machine.reads.values()
    guards: list[Any] = [Guards(reads, traced.arguments, varied, written, changed, found)]
    guards += shared
    if program.updates and places and len(ordered) > 1:
        guards.append(AllApart(live))
    if tracer.flags.read:
        guards.append(SameFlags.of(live, keys, tracer.flags.read.values()))
    return HeartProgram(
        program,
        live,
        specs,
        function,
        traced.finished,
        guards,
        passes,
        distinct=Distinct.of(program, tracer),
        asked=tracer.flags.asked,
        settings=settings_of(program),
        handed_on=handed_on,
        buffers=keys,
        cut=frozenset(name for name, one in ordered.items() if id(one) in tracer.flags.cut),
    )


def _buffers(traced: Traced, keys: Mapping[int, str]) -> tuple[dict[str, Any], list[OneTensor]]:
    """Where the buffers are found that the trace has read, and the tensors with several places."""
    reads = traced.machine.reads.values()
    found: dict[int, list[tuple[Any, str]]] = {}
    for layer in {id(read[0]): read[0] for read in reads}.values():
        for name, tensor in layer._buffers.items() if isinstance(layer, Layer) else ():
            if id(tensor) in keys:
                found.setdefault(id(tensor), []).append((layer._buffers, name))
    elsewhere = {id(value): value for owner, *_, value in reads if not isinstance(owner, Layer)}
    live = {keys[key]: places[0] for key, places in found.items() if key not in elsewhere}
    shared = [
        OneTensor(places, elsewhere.get(key))
        for key, places in found.items()
        if len(places) > 1 or key in elsewhere
    ]
    return live, shared


@dataclass(frozen=True)
class AllApart:
    """The tensors of the state are as many: a change of one in place is none of another."""

    live: LiveState

    def holds(self) -> bool:
        """Whether they still are."""
        held = self.live.now().values()
        return len({id(tensor) for tensor in held}) == len(held)


@dataclass(frozen=True)
class OneTensor:
    """Places of one tensor, which must go on being one; that one, if something else holds it."""

    places: list[tuple[Mapping[str, Any], str]]
    tensor: EagerTensor | None

    def holds(self) -> bool:
        """Whether they still are."""
        held = [store.get(name) for store, name in self.places]
        wanted = held[0] if self.tensor is None else self.tensor
        return all(one is wanted for one in held)


__all__ = ["HeartProgram", "HeartTracing"]
