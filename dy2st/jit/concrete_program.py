"""One traced Program of a converted function, with the live tensors that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any, ClassVar

import numpy as np

from dy2st.convert.call import convert_call, require_source
from dy2st.convert.catchers import passed, refuse_if_caught, tracing_codes
from dy2st.convert.catchers import refused as swallowed
from dy2st.convert.choices import settled
from dy2st.convert.heap import check_shared
from dy2st.convert.once import Answer, OneCall
from dy2st.convert.outer import Buffer, Change, Global, announce_buffer, whole_trace
from dy2st.convert.record import recording
from dy2st.convert.references import reference_to
from dy2st.convert.regions import AlwaysRaises, record_raise, shows_when_run
from dy2st.convert.stale import check_fresh, check_unchanged
from dy2st.convert.swapped_run import Preparation, run_swapped
from dy2st.convert.traced import containers_not_looked_at
from dy2st.convert.undefined import Undefined
from dy2st.convert.watching import watch
from dy2st.jit.declared_sizes import Requirement, resolve
from dy2st.jit.distinct import Distinct
from dy2st.jit.guards import AnyGuard, Same, SameFlags, guards_of
from dy2st.jit.handed_on import HandedOn
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.live_state import Apart, LiveState, Rebinding, known_tensor, take_in_place
from dy2st.jit.optimized import OptimizedProgram
from dy2st.jit.report import Report, report_of
from dy2st.jit.unknown_sizes import refused
from dy2st_runtime import engine
from dy2st_runtime.dims import Condition, Dim, require
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Output, Program, Tensor, TensorType, Tracer, Variable
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.grad_mode import enable_grad, is_grad_enabled
from dy2st_runtime.ir.gradient_flow import Settings, settings_of
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.keys import numbers_are_no_keys
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.structure import flatten, is_container, map_entries, rebuild, substitute
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, Parameter, wrapped

# What a Program computes; all else in a result is known before it runs.
_LEAVES = (Tensor, Dim, Condition)
_TRACED = (Variable, Dim, Condition, Choice, Text)


@dataclass(eq=False, repr=False)
class ConcreteProgram:
    """A Program, the tensors behind its parameters and buffers, and how to call it.

    written   globals and variables of closures that the function assigns: a call sets them.
    passes    what is done to the Program before it runs; calls that want gradients take the traced
              one where the passes build parameters in.
    report    what became of the functions and statements that the trace met.
    effects   what the trace has done to objects of Python, as one call does: it serves one call.
    arguments the InputSpecs for which it was traced, by parameter; none beside Python values.
    distinct  the tensors of a call that must not be one, or made of each other.
    answers   what functions with a cache have given: they are asked again at every call.
    rebinding the buffers that become other tensors at a call.
    asked     where the trace has asked for `stop_gradient` of what depends on the call.
    settings  the inputs and state whose `stop_gradient` a call sets; None if a run has to do it.
    handed_on the outputs that are tensors of the call; None if there are none.
    """

    main_program: Program
    live: LiveState = field(repr=False)
    input_specs: list[InputSpec]
    function: Callable[..., Any]
    guards: list[AnyGuard] = field(default_factory=list)
    written: list[Change] = field(default_factory=list)
    passes: Any = None
    report: Report = field(default=Report((), ()))
    effects: list[str] = field(default_factory=list)
    distinct: Distinct = field(default_factory=Distinct)
    answers: list[Answer] = field(default_factory=list)
    rebinding: Rebinding = field(default_factory=Rebinding)
    asked: list[Location | None] = field(default_factory=list)
    settings: Settings = field(default_factory=list)
    handed_on: HandedOn | None = None
    is_spent: bool = False
    arguments: dict[str, InputSpec] = field(default_factory=dict)
    _optimized: OptimizedProgram | None = None
    _executable: Any = None
    may_fit_again: ClassVar[bool] = False

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
        return self.main_program.outputs

    @property
    def parameters(self) -> list[Any]:
        """The live parameters that the Program reads."""
        return [self.state[name] for name in self.main_program.parameters]

    def is_current(self) -> bool:
        """Whether the Python variables that were read while tracing still have their values."""
        return not self.is_spent and all(guard.holds() for guard in self.guards)

    def gets_the_same(self, call: OneCall) -> bool:
        """Ask the caches again that the function asks: whether they give what they gave."""
        if not self.answers:
            return True
        call.begin()
        return all(answer.holds(call) for answer in self.answers)

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

    def __call__(self, tensors: Sequence[EagerTensor]) -> Any:
        """Run on eager tensors; gradients flow back through the result where they are wanted."""
        self.is_spent = bool(self.effects)
        self.rebinding.check_call()
        if self.distinct:
            self.distinct.check(self.main_program, (*tensors, *self.state.values()))
        wants_grad = is_grad_enabled() and not all(
            t.stop_gradient for t in (*tensors, *self.state.values())
        )
        is_by_operator = wants_grad or self.settings is None or self.rebinding.needs_objects
        handed_on = self.handed_on
        held = (*tensors, *self.state.values()) if self.settings or handed_on else ()
        if handed_on is not None and self.passes is None:
            is_by_operator = is_by_operator or handed_on.needs_objects(held)
        outputs, updates = self._run_taped(tensors) if is_by_operator else self._run(tensors)
        if handed_on is not None:
            handed_on.put(outputs, held, by_array=not is_by_operator)
        for place, value in self.settings or ():
            held[place].stop_gradient = value
        result = rebuild(self.main_program.structure, outputs)
        values: Sequence[Any] = ()
        contents: Sequence[Any] = ()
        if self.written or self.rebinding.contents:
            result, values, contents = result
        if updates:
            changed = dict(zip(self.rebinding.contents, contents, strict=True))
            self._update(updates, changed, tensors, outputs)
        self._write(values)
        return result

    def _write(self, values: Sequence[Any]) -> None:
        """Set the variables outside of the function; those that are unbound have no value."""
        for change, held in zip(self.written, values, strict=True):
            value = held[0] if held else Undefined(change.place.name)
            if isinstance(change.place, Buffer):
                value = known_tensor(value, self.live.last().values())
            change.place.put(value)

    def alone(self) -> Program:
        """The Program that is to run by itself. Refused where there are variables to assign; warns
        of what else it does not do."""
        for effect in self.effects:
            warn_user(
                f"{self.main_program.name}() does something that its Program alone does not, since "
                f"{effect}",
                place_of(self.function),
            )
        made = self.rebinding.alone(self.main_program)
        for at in self.asked:
            raise ConversionError(
                f"{self.main_program.name}() asks for the stop_gradient of what it is called with, "
                "or has computed of it",
                at=at,
                why="a Program that is saved or compiled is one for all calls",
                hint="take a bool as an argument, or leave gradients to the caller: detach()",
            )
        for change in self.written:
            name = change.place.name
            raise ConversionError(
                f"{self.main_program.name}() assigns `{name}`, a variable outside of it",
                at=change.at,
                why="a Program that is saved or compiled has only its arguments and its results",
                hint=f"return the value, and assign `{name}` outside",
            )
        return made

    def _update(
        self,
        updates: dict[str, EagerTensor],
        changed: dict[str, EagerTensor],
        tensors: Sequence[EagerTensor],
        outputs: Sequence[Any],
    ) -> None:
        """Let buffers be what the call has made of them; `changed` are tensors they were."""
        state = self.state
        for name, value in {**updates, **changed}.items():
            if name not in self.rebinding.changes or name in changed:
                take_in_place(state[name], value, name in self.rebinding.cut)
        self.rebinding.put(updates, {"inputs": tensors, "outputs": outputs, "state": state})

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


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    name: str,
    layer: Layer | None,
    is_asked_for: bool = True,
    passes: Any = None,
    called: Callable[..., Any] | None = None,
    once: OneCall | None = None,
) -> ConcreteProgram:
    """Run `function` once on placeholders; InputSpecs among the arguments say where they stand.

    What is `called` in its place takes its arguments and does more than the function.
    Unless unknown sizes were asked for, code that looks at their text is refused. The function
    runs once more for each function that is met unconverted where a tensor needs it converted;
    what it does beyond itself is done `once` in a call.
    """
    require_source(function)
    return run_swapped(
        function,
        lambda preparation: _trace(
            preparation,
            OneCall() if once is None else once,
            function,
            args,
            kwargs,
            name,
            layer,
            is_asked_for,
            passes,
            called,
        ),
        is_attempt=not is_asked_for,
    )


def _trace(
    preparation: Preparation,
    once: OneCall,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    name: str,
    layer: Layer | None,
    is_asked_for: bool,
    passes: Any,
    called: Callable[..., Any] | None,
) -> ConcreteProgram:
    once.begin()
    program = Program(name)
    state: dict[str, EagerTensor] = {}
    specs, structure = flatten((args, dict(kwargs)), lambda entry: isinstance(entry, InputSpec))
    declared = _add_inputs(program, specs)
    args, kwargs = rebuild(structure, program.inputs)
    tracer = Tracer(program, _capturing(program, state, _names(layer)))
    tracer.before_raise, tracer.one_call = refuse_if_caught, once
    tracer.before_rebound = announce_buffer
    tracer.flags.begin(program.inputs, specs, once.gradients)
    tracer.outside = preparation.remember(function, layer, (*args, *kwargs.values()))
    before = _frozen((args, kwargs))
    read, _ = flatten((args, kwargs), lambda entry: not is_container(entry))
    with (
        containers_not_looked_at(),
        numbers_are_no_keys(),
        tracer.tracing(),
        enable_grad(),
        refused(text=not is_asked_for),
        watch(preparation.meet) as functions,
        recording() as record,
    ):
        for condition, reason in declared:
            require(condition, reason)
        tracer.locate_constraints(None)  # the reason names the place
        preparation.meet_all((*args, *kwargs.values()))
        with whole_trace() as outside:
            result = _run(called or function, args, kwargs, program)
        changes = list(outside.changes.values())
        _check_arguments(name, before, (args, kwargs))
        check_shared(tracer.shared)
        check_unchanged(tracer.stale)
        once.finish()
        effects = [*tracer.effects, *preparation.effects(function)]
        result = settled(result)
        registered, elsewhere = preparation.buffers(), preparation.held_elsewhere()
        rebinding = Rebinding.of(changes, tracer, program, state, elsewhere)
        changes = [c for c in changes if c not in rebinding.changes.values()]
        if changes or rebinding.contents:
            contents = [tracer.captured(state[key]) for key in rebinding.contents]
            result = result, [_assigned(change, name) for change in changes], contents
        _finish(program, tracer, result, state, place_of(function), rebinding)
        own = program.outputs[: len(program.outputs) - len(rebinding.contents)]
        handed_on = HandedOn.of(own, tracer, state)
    ordered = {key: state[key] for key in program.state}
    keys = {id(tensor): key for key, tensor in ordered.items()}
    captured = [(*place, tensor) for *place, tensor in registered if id(tensor) in keys]
    places = {keys[id(t)]: (s, a) for s, a, t in captured if id(t) not in elsewhere}
    swapped = preparation.swaps.functions
    met = {**functions, **swapped}.values()
    cached = [done for done in once.made if not done.what]
    read += [done.result for done in cached]
    names = frozenset(change.place.name for change in changes)
    guards, too_much = guards_of(met, read, names, record)
    if too_much:
        effects.append(f"{too_much}, which no call can compare: keep what it needs in a tensor")
    written = [Change(change.place, None, at=change.at) for change in changes]
    report = report_of(functions.values(), swapped.values(), record)
    distinct = Distinct.of(program, tracer)
    answers = [Answer(done) for done in cached]
    guards += [Same(s, a, reference_to(t)) for s, a, t in captured if id(t) in elsewhere]
    live = LiveState(ordered, places)
    if tracer.flags.read:
        guards.append(SameFlags.of(live, keys, tracer.flags.read.values()))
    if places and places.keys() != program.buffers.keys():
        guards.append(Apart(live))
    return ConcreteProgram(
        program,
        live,
        specs,
        function,
        guards,
        written,
        passes,
        report,
        effects,
        distinct,
        answers,
        rebinding,
        tracer.flags.asked,
        settings_of(program),
        handed_on,
    )


def _add_inputs(program: Program, specs: Sequence[InputSpec]) -> list[Requirement]:
    """Give the Program its inputs; returns what the InputSpecs say of sizes, with the reasons."""
    names = [spec.name or f"input_{index}" for index, spec in enumerate(specs)]
    types, declared = resolve(specs, names)
    for name, type in zip(names, types, strict=True):
        program.inputs.append(program.block.add_parameter(type, name))
    return declared


def _capturing(
    program: Program, state: dict[str, EagerTensor], names: Mapping[int, str]
) -> Callable[[Tracer, Tensor], Variable]:
    """What makes a tensor from outside a parameter or buffer; `state` gets it by its key."""

    def capture(tracer: Tracer, tensor: Tensor) -> Variable:
        assert isinstance(tensor, EagerTensor)
        is_parameter = isinstance(tensor, Parameter)
        known = program.parameters if is_parameter else program.buffers
        key = names.get(id(tensor)) or _unused(tensor, program)
        type = TensorType(tensor.dtype, tensor.array.shape)
        known[key] = program.block.add_parameter(type, key)
        program.trainable[key] = not tensor.stop_gradient
        state[key] = tensor
        return known[key]

    return capture


def _check_arguments(name: str, before: Any, now: Any) -> None:
    """Raise ConversionError if a list or dict among the arguments holds something else."""
    if not _same(before, _frozen(now)):
        raise ConversionError(
            f"{name}() changes a list or dict that it gets as an argument",
            why="a Program has no way to change the caller's object",
            hint="copy it first, or return the changed one",
        )


def _assigned(change: Change, name: str) -> Any:
    """The value that every call gives to a variable outside of the function, in a list; an empty
    one where it is unbound."""
    value = change.after
    if isinstance(value, Choice):
        return Choice(value.tag, tuple(_held(case, change, name) for case in value.cases))
    return _held(value, change, name)


def _held(value: Any, change: Change, name: str) -> list[Any]:
    if isinstance(value, Undefined) and isinstance(change.place, Global):
        return []
    try:
        _check_structure(flatten(value, lambda v: isinstance(v, _LEAVES))[1], name, change.at)
    except ConversionError as error:
        kind = "nothing: `del`" if isinstance(value, Undefined) else f"a {type(value).__name__}"
        raise ConversionError(
            f"{name}() assigns `{change.place.name}`, a variable outside of it, {kind}",
            at=change.at,
            why="a Program assigns tensors, Python constants, and lists, tuples and dicts of them",
            hint=f"return what belongs to `{change.place.name}`, and assign it outside",
        ) from error
    return [value]


def _run(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], program: Program
) -> Any:
    """What the function returns; what it raises after checks of the Program, that raises too."""
    swallowed.error = None
    passed.ends.clear()
    result = None
    try:
        result = convert_call(function)(*args, **kwargs)
    except AlwaysRaises:
        pass
    except Exception as error:  # what the user's code raises at its end
        if swallowed.error is None and not shows_when_run(program.block):
            raise
        if swallowed.error is None:
            record_raise(error, program.block)
    finally:
        passed.ends.clear()
    refusal, swallowed.error = swallowed.error, None
    if refusal is not None:
        raise refusal
    return result


tracing_codes.append(trace.__code__)


def _frozen(value: Any) -> Any:
    """A copy of the containers in `value`, to compare with later."""
    return map_entries(value, _frozen)


def _same(before: Any, after: Any) -> bool:
    """Whether two containers hold the same objects."""
    left, old = flatten(before, lambda entry: not is_container(entry))
    right, new = flatten(after, lambda entry: not is_container(entry))
    return old == new and all(a is b for a, b in zip(left, right, strict=True))


def _finish(
    program: Program,
    tracer: Tracer,
    result: Any,
    state: Mapping[str, EagerTensor],
    place: Location | None,
    rebinding: Rebinding,
) -> None:
    """Set what the Program yields, and bring its parameters into their order."""
    for variable in program.inputs:
        if variable.overwritten is not None:
            raise ConversionError(
                f"{program.name}() changes its argument `{variable.name}` in place",
                at=variable.overwritten,
                why="a Program has no way to change the caller's tensor",
                hint=f"clone it first ({variable.name} = {variable.name}.clone()), and return it",
            )
    leaves, structure = flatten(result, lambda v: isinstance(v, _LEAVES))
    _check_structure(structure, program.name, place)
    numbers = [not isinstance(leaf, Tensor) or _is_number(leaf) for leaf in leaves]
    program.structure = substitute(structure, [Output(i, n) for i, n in enumerate(numbers)])
    program.block.yields = [tracer.variable(leaf) for leaf in leaves]
    rebinding.find_sources(program)
    by_id = {id(tensor): key for key, tensor in state.items()}
    for tensor, variable in tracer.assigned():
        key = by_id[id(tensor)]
        new = rebinding.ends.get(key, tracer.flags.value_of(variable))
        if key not in rebinding.ends or key in rebinding.contents:
            tracer.local(variable)  # refused where the user changed it under another name
        if new is not program.state[key]:
            program.updates.append(key)
            program.block.yields.append(tracer.local(new))
    program.block.parameters = [*program.inputs, *program.state.values()]


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, Variable) and leaf.number is not None


def place_of(function: Any) -> Location | None:
    """Where a function begins."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno)


def _check_structure(structure: Any, name: str, place: Location | None) -> None:
    """Refuse results that a Program cannot give back."""
    known = (Output, bool, int, float, str, bytes, type(None), np.generic)

    def check(entry: Any) -> Any:
        check_fresh(entry)
        if isinstance(entry, dict):
            _check_keys(entry, name, place)
        changed = map_entries(entry, check)
        if changed is entry and not is_container(entry) and not isinstance(entry, known):
            if isinstance(entry, CoroutineType):
                entry.close()  # nobody will await it
            raise ConversionError(
                f"{name}() returns a {type(entry).__name__}",
                at=place,
                why="a Program gives back tensors, Python constants, and lists, tuples and "
                "dicts of them",
                hint="return the tensors and build the object outside",
            )
        return entry

    check(structure)


def _check_keys(entries: dict[Any, Any], name: str, place: Location | None) -> None:
    for key in entries:
        if flatten(key, lambda entry: isinstance(entry, _TRACED))[0]:
            raise ConversionError(
                f"{name}() returns a dict with a tensor as a key",
                at=place,
                why="the keys that a Program gives back are known before it runs",
                hint="return pairs: [(key, value), ...], and make the dict outside",
            )


def _names(layer: Layer | None) -> dict[int, str]:
    """Structured names of a Layer's tensors, by identity; the first name of a shared one."""
    names: dict[int, str] = {}
    if layer is not None:
        for name, tensor in (*layer.named_parameters(), *layer.named_buffers()):
            names.setdefault(id(tensor), name)
    return names


def _unused(tensor: EagerTensor, program: Program) -> str:
    """A name for a tensor that belongs to no Layer of ours."""
    taken = program.state
    if tensor.name and tensor.name not in taken and getattr(tensor, "is_named", True):
        return tensor.name
    prefix = "parameter" if isinstance(tensor, Parameter) else "tensor"
    return f"{prefix}_{sum(name.startswith(prefix) for name in taken)}"
