"""A Program that was traced, with the live tensors that it reads and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dy2st.convert.call_context import Answer, CallContext
from dy2st.convert.record import Report
from dy2st.convert.replay.effects import Effect, perform
from dy2st.convert.replay.guards import Guards
from dy2st.convert.replay.result import Finished, Given, Out, rebuild, why_not_plain
from dy2st.jit.call_plan import Call, is_any_open, is_pure, straight
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.objects_of_calls import (
    NO_TIES,
    Apart,
    Distinct,
    LiveState,
    OutputAliasing,
    Ties,
    check_apart,
    check_leaf,
    take_in_place,
)
from dy2st.jit.persistent_state import check_step, drop_flags, is_gradient, read_at
from dy2st.jit.program_passes import OptimizedProgram
from dy2st.jit.signature import ArrayInput
from dy2st_runtime import engine as engines
from dy2st_runtime.autograd import cut_off
from dy2st_runtime.errors import ConversionError, EngineError, Location, PeerError, SpecError
from dy2st_runtime.ir import Program, Variable
from dy2st_runtime.ir.checks.broken_sizes import check_inputs
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.definition import Effect as Kind
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.exceptions import is_of_program
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.location import place_of, warn_user
from dy2st_runtime.ir.structure import wrong_entries
from dy2st_runtime.ir.tracing.gradient_flow import Settings, refuse_leaf
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state
from dy2st_runtime.storage import without_views
from dy2st_runtime.tensor import EagerTensor, wrapped
from dy2st_runtime.trained_program import Parts, TrainedProgram

# Python would raise none of these where a run does.
_NOT_OF_RUN = (EngineError, SpecError, PeerError)


State = dict[str, EagerTensor]
# Outputs, and new values of buffers: tensors, or arrays to which no gradients flow.
Run = Callable[[Sequence[EagerTensor], State], tuple[list[Any], dict[str, Any]]]


@dataclass(eq=False, repr=False)
class ConcreteProgram:
    """A Program, the tensors behind its parameters and buffers, and how to call it.

    Attributes
    ----------
    guards
        whether all that the trace has read outside is still so.
    finished
        what a call gives back, and what it writes.
    buffers
        the names of the tensors of the trace, by id; effects hold those they replace.
    cut
        the state through which no gradient flows after a call, by name.
    shared
        the state that several places hold, by name.
    effects
        what Python must do at each call, which is traced anew for it.
    ties
        which arguments of its calls are one object.
    engine
        the name of what runs it.
    arguments
        what it was traced for, by parameter; None if that cannot be given again.
    gradients
        what the call said of gradients for which it was traced.
    straight
        what makes an everyday call, once there was one.

    Examples
    --------
    >>> net = dy2st.to_static(dy2st.nn.Linear(3, 2), [dy2st.static.InputSpec(["n", 3])])
    >>> concrete = net.forward.concrete_program
    >>> concrete.inputs[0].shape, concrete.outputs[0].shape
    ([n, 3], [n, 2])
    >>> list(concrete.state), len(concrete.parameters)
    (['weight', 'bias'], 2)
    >>> concrete.is_spent, concrete.optimized
    (False, None)
    """

    main_program: Program
    live: LiveState = field(repr=False)
    input_specs: list[InputSpec]
    function: Callable[..., Any]
    finished: Finished
    guards: Guards
    passes: Any = None
    report: Report = field(default=Report((), ()))
    distinct: Distinct = field(default_factory=Distinct)
    asked: list[Location | None] = field(default_factory=list)
    settings: Settings = field(default_factory=list)
    aliasing: OutputAliasing | None = None
    cut: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    buffers: dict[int, str] = field(default_factory=dict)
    arguments: dict[str, Any] | None = None
    gradients: tuple[bool, ...] | None = None
    effects: tuple[str, ...] = ()
    answers: list[Answer] = field(default_factory=list)
    ties: Ties = NO_TIES
    engine: str | None = None
    straight: Call | None = None
    _optimized: OptimizedProgram | None = None
    _executable: Any = None
    _trained: TrainedProgram | None = None
    _was_taped: bool = False

    def __post_init__(self) -> None:
        """Look what calls do."""
        self._is_pure = is_pure(self)
        changes = self.main_program.changes
        self._changed = [(n, v.name) for n, v in enumerate(self.inputs) if v.name in changes]
        self._apart = Apart(
            self.main_program,
            self.ties,
            [place for place, _ in self._changed],
            self.distinct.asked,
            self.finished.outside,
        )

    def __repr__(self) -> str:
        """The text of the Program, as `print` shows it."""
        return f"ConcreteProgram of\n{self.main_program}"

    @property
    def state(self) -> State:
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

    @property
    def is_spent(self) -> bool:
        """Whether it was for one call."""
        return bool(self.effects)

    def gets_the_same(self, call: CallContext) -> bool:
        """Whether the caches that the function asks give what they gave.

        >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
        >>> concrete.gets_the_same(CallContext(concrete.function))
        True
        """
        if self.answers:
            call.begin()
        return all(answer.holds(call) for answer in self.answers)

    @property
    def executable(self) -> engines.Executable:
        """The traced Program compiled, once.

        >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
        >>> concrete.executable.run([np.ones(2, "float32")], [])
        [array([2., 2.], dtype=float32)]
        """
        if self._executable is None:
            self._executable = engines.compile(self.main_program, self.engine)
        compiled: engines.Executable = self._executable
        return compiled

    @property
    def optimized(self) -> OptimizedProgram | None:
        """What the passes make of the Program, anew when parameters have changed; None without."""
        if self.passes is None:
            return None
        known = self._optimized
        if known is None or not known.is_current():
            known = OptimizedProgram(self.main_program, self.live, self.passes, self.engine)
            self._optimized = known
        return known

    def compiling(self) -> list[str]:
        """What is being compiled in the background now, a line a Program.

        >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
        >>> concrete.compiling()
        []
        """
        made = [self._executable, vars(self._optimized or object).get("executable")]
        made += [] if self._trained is None else self._trained.executables()
        lines = [(one.program.name, one.compiling) for one in made if hasattr(one, "compiling")]
        return [f"{name}: {line}" for name, line in lines if line]

    # -- calling -----------------------------------------------------------------------------

    def __call__(
        self, tensors: Sequence[EagerTensor], call: Any = None, containers: Sequence[Any] = ()
    ) -> Any:
        """Run on eager tensors; gradients flow back through the result where they are wanted.

        If it raises, `call` is told what was to be written before that. `containers` are the lists,
        dicts and sets of the call, which it changes and gives back.
        """
        if self.finished.unknown:
            self._refuse_call()
        for place, _ in self.finished.leaves:
            check_leaf(self.main_program, place, tensors[place])
        for place, _ in self._changed:
            self._check_leaf(tensors[place], call)
        state = self.live.now()
        held = (*tensors, *state.values())
        if self.distinct.apart:
            self.distinct.check(self.main_program, held)
        if self._apart:
            self._apart.check(tensors, containers, state)
        has_gone_back = self.finished.has_gone_back
        # Settings of None are decided by a branch, or begin gradients: only a run operator by
        # operator knows the tensors to set.
        is_taped = self.settings is None or (is_grad_enabled() and is_any_open(held))
        is_taped = is_taped and not has_gone_back
        aliasing = self.aliasing
        if aliasing is not None and self.passes is None:
            is_taped = is_taped or aliasing.needs_objects(held)
        compiled = self._compiled(tensors, held, state) if is_taped else self._run
        by_array, run = compiled is not None, compiled or self._run_taped
        # If the run raises, Python makes the call and draws the same numbers once more.
        random = get_rng_state() if self._is_random else None
        try:
            outputs, updates = run(tensors, state)
        except BaseException as error:  # goes on, unless Python makes the call
            is_of_run = is_of_program(error) and not isinstance(error, _NOT_OF_RUN)
            if call is not None and self.finished.writes and is_of_run:
                self._lose(call)
                set_rng_state(random) if random is not None else None
            raise
        for place in self.finished.freed:
            # backward() inside has gone through these: a second one fails, as it does in Python.
            cut_off(outputs[place])
        changes = self.main_program.changes
        changed = [(tensors[n], name, outputs[changes[name]]) for n, name in self._changed]
        if aliasing is not None:
            ends = [*tensors]
            for (place, _), (_, _, value) in zip(self._changed, changed, strict=True):
                ends[place] = value
            ends += [updates.get(name, one) for name, one in state.items()]
            aliasing.put(outputs, held, by_array, ends)
        for place, value in self.settings or ():
            held[place].stop_gradient = value
        # One table for results and effects: an object that both have is one object.
        given = self.finished.given if containers else ()
        known: dict[int, Any] = {id(one): containers[one.place] for one in given}
        result = rebuild(self.finished.result, outputs, known)
        # The first call has a CallContext: most Programs that are called once have no second one.
        if self._is_pure and call is None and not is_taped:
            self.straight = straight(self)
        records = is_grad_enabled()
        changed = [*((state[name], name, new) for name, new in updates.items()), *changed]
        # All at first: a value may look into the memory of a tensor that changes, too.
        for tensor, name, value in [(*one, without_views(new)) for *one, new in changed]:
            take_in_place(tensor, value, name in self.cut, records)
            if isinstance(tensor, ArrayInput):
                tensor.source[...] = tensor.array
        if self.finished.effects:
            perform(self.finished.effects, outputs, known)
        for place, gradient in self.finished.leaves:
            tensors[place].grad = rebuild(gradient, outputs, known)
        return result

    @property
    def may_run_again(self) -> bool:
        """Whether nobody can tell that a run which has raised was made once more.

        >>> double = dy2st.to_static(lambda x: x * 2)
        >>> double.get_concrete_program(dy2st.ones([2])).may_run_again
        True
        """
        return self.finished.may_run_again and not self._draws

    def _check_leaf(self, tensor: EagerTensor, call: Any) -> None:
        """Let Python make a call that changes what gradients begin in: mostly it raises."""
        if tensor.stopped or tensor.node is not None or not is_grad_enabled():
            return
        if call is not None and self.finished.may_run_again:  # nothing was run yet
            call.lose()
        refuse_leaf()

    @cached_property
    def _draws(self) -> bool:
        """Whether a run draws random numbers."""
        operators = self.main_program.walk()
        return any(lookup(one.name).effect is Kind.RANDOM for one in operators)

    @property
    def _is_random(self) -> bool:
        """Whether a run that raises has drawn numbers that the call will draw again."""
        return self.finished.writes and self._draws

    def _lose(self, call: Any) -> None:
        """Let Python make a call that raises, or tell that it must not."""
        if self.finished.may_run_again:
            call.lose()
            return
        warn_user(
            f"{self.main_program.name}() raises, and what it has written outside before that is "
            "lost, since it has also printed, or done what must not be done twice",
            place_of(self.function),
        )

    def _refuse_call(self) -> None:
        """Refuse a call after which nobody knows what a tensor holds that a buffer was before."""
        for name, at in self.finished.unknown:
            raise ConversionError(
                f"the buffer `{name}` is changed in place after a branch or loop that depends on "
                "a tensor may have made it another tensor",
                at=at,
                why="whether the tensor that it was before the call is changed, is known only when "
                "the Program runs, and whoever else holds it would see that",
                hint=f"begin with a copy: let `{name}` be its own clone()",
            )

    def _run(self, tensors: Sequence[EagerTensor], state: State) -> tuple[list[Any], State]:
        better = None if self.passes is None else self.optimized
        program, executable = self.main_program, None
        if better is not None:
            program, state, executable = better.program, better.state, better.executable
        as_is = () if self.aliasing is None else self.aliasing.as_is(better is not None)
        as_one = () if self.aliasing is None or better is not None else self.aliasing.merged
        executable, inputs = executable or self.executable, [t.array for t in tensors]
        if self.aliasing is None:
            results = engines.run_live(executable, inputs, state.values())
        else:
            arrays = [t.array for t in state.values()]
            results = executable.run(inputs, arrays, as_is, as_one)
        count = len(results) - len(program.updates)
        outputs, changed = [wrapped(result) for result in results[:count]], results[count:]
        if self.aliasing is not None:  # which asks tensors for their arrays
            changed = [wrapped(array) for array in changed]
        return outputs, dict(zip(program.updates, changed, strict=True))

    def _compiled(
        self,
        tensors: Sequence[EagerTensor],
        held: Sequence[EagerTensor],
        state: State,
    ) -> Run | None:
        """What runs a call that is taped compiled; None where operators run one by one.

        The first call does: who calls once need not wait until the gradients are a Program.
        """
        if self.settings or self.finished.has_gone_back or not is_grad_enabled():
            return None
        if self.settings is None and self.passes is not None:  # they know values, not tensors
            return None
        if self.passes is None and self.aliasing and self.aliasing.needs_objects(held):
            return None
        was_taped, self._was_taped = self._was_taped, True
        if not was_taped or self.is_spent:
            return None
        program, read = self._to_train(state)
        if self._trained is None or self._trained.program is not program:
            self._trained = TrainedProgram(program, self.engine)
        parts = self._trained.parts([*tensors, *read.values()])
        has_passes = program is not self.main_program
        return None if parts is None else partial(self._run_trained, parts, has_passes, read)

    def _to_train(self, state: State) -> tuple[Program, State]:
        """The Program that runs where gradients are wanted, and the tensors that it reads."""
        if self.passes is None:
            return self.main_program, state
        known = self._optimized
        # Where parameters are built in, gradients need none of what the passes would make anew.
        better = known if known is not None and known.frozen else self.optimized
        if better is not None and not better.frozen:
            return better.program, better.state
        return self.main_program, state

    def _run_trained(
        self,
        parts: Parts,
        has_passes: bool,
        read: State,
        tensors: Sequence[EagerTensor],
        state: State,
    ) -> tuple[list[Any], State]:
        """Run compiled, and leave a Node behind that knows the gradients of it all."""
        aliasing = self.aliasing
        as_is = () if aliasing is None else aliasing.as_is(has_passes)
        as_one = () if aliasing is None or has_passes else aliasing.merged
        return parts.run(tensors, read, as_is, as_one)

    def _run_taped(self, tensors: Sequence[EagerTensor], state: State) -> tuple[list[Any], State]:
        """Run operator by operator, so that the tape sees branches and loops as they are taken."""
        arrays = [t.array for t in tensors]  # operators would not say which argument does not fit
        if self._executable is None:  # nobody may ever run what were compiled for that
            check_inputs(self.main_program, arrays)
        else:
            self._executable.check(arrays)
        if self.finished.has_gone_back:
            with no_grad():
                return interpret(self.main_program, tensors, state)
        if self.settings != []:  # passes know values, and not which tensor has them
            return interpret(self.main_program, tensors, state)
        program, state = self._to_train(state)
        return interpret(program, tensors, state)

    # -- without its calls -------------------------------------------------------------------

    @property
    def leaves_more(self) -> bool:
        """Whether a call leaves more outside than buffers, and what a step of training does.

        >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
        >>> concrete.leaves_more
        False
        """
        read = read_at(self.live.places) if self.finished.has_gone_back else (lambda effect: "")
        return any(
            not (read(effect) or is_gradient(effect) or id(effect.buffer) in self.buffers)
            for effect in self.finished.effects
        )

    def alone(self, changed: Collection[str] = ()) -> Program:
        """The Program that is to run by itself: buffers that it assigns are updates of it.

        Refused where it writes anything else. `changed` are the buffers that other Programs of the
        same file change in place.

        >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
        >>> concrete.alone() is concrete.main_program
        True
        """
        program, is_step = self.main_program, self.finished.has_gone_back
        changed = {*program.updates, *changed}
        lost = self.finished.lost
        if lost is not None and not is_step:
            raise lost
        for effect in self.effects:
            self._warn_of(effect)
        for name, tensor in self.state.items():
            # A step of training has taken its gradients inside: none flow to who calls it.
            program.trainable[name] = not tensor.stopped and not is_step
        for at in () if is_step else self.asked:
            raise ConversionError(
                f"{program.name}() asks for the stop_gradient of what it is called with, "
                "or has computed of it",
                at=at,
                why="a Program that is saved or compiled is one for all calls",
                hint="take a bool as an argument, or leave gradients to the caller: detach()",
            )
        assigned: dict[str, int] = {}
        read = read_at(self.live.places)
        for effect in self.finished.effects:
            if effect.place in self.finished.kept_places:
                continue
            if isinstance(effect.owner, Given):
                self._warn_of(effect.what)
                continue
            name = read(effect) if isinstance(effect.value, Out) else ""
            if name:
                self._check_type(effect, name)
            elif not is_step or not is_gradient(effect):
                name = self._buffer(effect)
                if name:
                    index = effect.value.index
                    self._check_alone(effect.name, effect.at, index, name, assigned, changed)
            if name:
                assigned[name] = effect.value.index
        if lost is not None:  # a step that has no better words for it
            raise lost
        for name, index in self.finished.kept.items():
            self._check_alone(name, place_of(self.function), index, name, assigned, changed)
            assigned[name] = index
        for place, _ in self.finished.leaves:
            self._warn_of(f"it leaves a gradient in its argument `{self.inputs[place].name}`")
        types = [output.type for output in program.outputs]
        wrong = next(wrong_entries(program.structure, types), "")
        if wrong or not self.finished.is_plain:
            what = (
                f"what a saved Program cannot give back: {wrong}"
                if wrong
                else f"what a Program alone cannot give back: {why_not_plain(self.finished.result)}"
            )
            raise ConversionError(
                f"{program.name}() returns {what}",
                at=place_of(self.function),
                why="a Program gives back tensors, Python constants, and lists, tuples and "
                "dicts of them",
                hint="return the tensors, or lists of the keys and the values of a dict, and build "
                "the object outside",
            )
        if not (self.finished.effects or assigned or is_step):
            check_apart([program], self.state, place_of(self.function))
            return program
        made, end = clone(program), len(program.outputs)
        made.structure = program.structure
        outputs, updates = made.block.yields[:end], made.block.yields[end:]
        left = dict(zip(program.updates, updates, strict=True))
        # An assignment wins over a change in place: what the next call reads is what was assigned.
        left.update({name: outputs[index] for name, index in assigned.items()})
        made.updates = list(left)
        made.block.yields = [*outputs[: self.finished.outputs_of_files], *left.values()]
        if is_step:
            drop_flags(made)
        check_apart([made], self.state, place_of(self.function))
        return made

    def _buffer(self, effect: Effect) -> str:
        """The name of the buffer that an effect assigns; refused if it is none.

        Warns of what is done to other objects.
        """
        buffer, name = self.buffers.get(id(effect.buffer)), self.main_program.name
        if buffer is not None:
            self._check_type(effect, buffer)
            return buffer
        if self.finished.has_gone_back:
            check_step(self.main_program, effect, place_of(self.function))
        if effect.what:
            self._warn_of(effect.what)
            return ""
        raise ConversionError(
            f"{name}() assigns `{effect.name}`, a variable outside of it",
            at=effect.at,
            why="a Program that is saved or compiled has only its arguments and its results",
            hint=f"return the value, and assign `{effect.name}` outside",
        )

    def _check_alone(
        self,
        name: Any,
        at: Location | None,
        index: int,
        buffer: str,
        assigned: dict[str, int],
        changed: set[str],
    ) -> None:
        """Refuse to replace a tensor that has a second name, and to change one that gets one.

        `assigned` are the outputs that other buffers become, `changed` the buffers that calls
        change in place.
        """
        aliasing = self.aliasing or OutputAliasing()
        names = [*(variable.name for variable in self.inputs), *self.main_program.state]
        others = {names[place] for place in aliasing.places_of(index)}
        others |= {one for one, other in assigned.items() if aliasing.may_be_one(index, other)}
        others -= {buffer}
        if buffer in self.shared or (others and changed & {buffer, *others}):
            raise ConversionError(
                f"{self.main_program.name}() assigns the buffer `{name}`, and something "
                "else holds one of its tensors, too",
                at=at,
                why="a Program that is saved or compiled has a value of its own for each name",
                hint="give the other a copy: clone()",
            )

    def _warn_of(self, what: str) -> None:
        warn_user(
            f"{self.main_program.name}() does something that its Program alone does not, since "
            f"{what}",
            place_of(self.function),
        )

    def _check_type(self, effect: Effect, buffer: str) -> None:
        """Refuse to give a buffer another type."""
        before = self.main_program.state[buffer].tensor_type
        is_one = isinstance(effect.value, Out)
        after = self.main_program.outputs[effect.value.index].tensor_type if is_one else None
        if before != after:
            kind = type(effect.owner_now()).__name__
            become = "one of several" if after is None else f"{after}"
            raise ConversionError(
                f"{self.main_program.name}() lets the buffer `{kind}.{effect.name}`, {before}, "
                f"become {become}",
                at=effect.at,
                why="a buffer of a Program that is saved or compiled has one dtype and shape",
                hint="register it as what it becomes, or cast and reshape what is assigned; if it "
                "keeps its type after a call, call the function once before; what grows from call "
                "to call, such as a cache, take as an argument and return",
            )
