"""A Program that was traced, with the live tensors that it reads, and the calls of it.

The everyday call, arrays in and tensors out, is one flat function. What must hold for it is a row:
a condition of Python under which the call is made in full. Of `def f(x): return x + self.w` it is

    def call(tensors, in_full):
      x0, = tensors
      if not (x0.stopped and s0.stopped) and records(): return in_full(tensors)
      results = executable.entry(x0.array, s0.array)
      if results is None: results = executable.run([x0.array], [s0.array], as_is)
      r0, = results
      t0 = Tensor(r0)
      return t0
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import attrgetter, is_
from typing import Any

import numpy as np

from dy2st.convert.call_context import Answer, CallContext
from dy2st.convert.record import Report
from dy2st.convert.replay.effects import perform
from dy2st.convert.replay.guards import Guards
from dy2st.convert.replay.result import Finished, Known, Made, Out, Tree, rebuild
from dy2st.convert.types import info
from dy2st.convert.values.special import MISSING
from dy2st.jit.objects_of_calls import Apart, LiveState, OutputAliasing, check_leaf, take_in_place
from dy2st.jit.signature import ArrayInput
from dy2st_runtime import engine as engines
from dy2st_runtime import exported_buffers
from dy2st_runtime.autograd import cut_off
from dy2st_runtime.errors import ConversionError, EngineError, Location, PeerError, SpecError
from dy2st_runtime.ir import Program, Variable
from dy2st_runtime.ir.checks.broken_sizes import check_inputs
from dy2st_runtime.ir.definition import Effect as Kind
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.exceptions import is_of_program
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.location import place_of, warn_user
from dy2st_runtime.ir.tracing.gradient_flow import Settings, refuse_leaf
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import cached_property, load_module
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state
from dy2st_runtime.storage import without_views
from dy2st_runtime.tensor import EagerTensor, wrapped
from dy2st_runtime.trained_program import TrainedProgram

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
        what Python must do at each call, which is traced anew for it; none, if it is for all.
    apart
        what it takes to be objects of their own.
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
    >>> concrete.effects, concrete.optimized, concrete.compiling()
    ((), None, [])
    >>> concrete.gets_the_same(CallContext()), concrete.may_run_again
    (True, True)
    >>> x, arrays = np.ones((5, 3), "float32"), [one.numpy() for one in concrete.parameters]
    >>> [y.shape for y in concrete.executable.run([x], arrays)]
    [(5, 2)]
    """

    main_program: Program
    live: LiveState = field(repr=False)
    function: Callable[..., Any]
    finished: Finished
    guards: Guards
    passes: Any
    report: Report
    apart: Apart
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

    def gets_the_same(self, call: CallContext) -> bool:
        """Whether the caches that the function asks give what they gave."""
        if self.answers:
            call.place = 0
        return all(answer.holds(call) for answer in self.answers)

    @property
    def executable(self) -> engines.Executable:
        """The traced Program compiled, once."""
        if self._executable is None:
            self._executable = engines.compile(self.main_program, self.engine)
        return self._executable  # type: ignore[no-any-return]

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
        """What is being compiled in the background now, a line a Program."""
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
        # Nobody knows after such a call what a tensor holds that a buffer was before.
        for name, at in self.finished.unknown:
            raise ConversionError(
                f"the buffer `{name}` is changed in place after a branch or loop that depends on "
                "a tensor may have made it another tensor",
                at=at,
                why="whether the tensor that it was before the call is changed, is known only when "
                "the Program runs, and whoever else holds it would see that",
                hint=f"begin with a copy: let `{name}` be its own clone()",
            )
        for place, _ in self.finished.leaves:
            check_leaf(self.main_program, place, tensors[place])
        for place, _ in self._changed:
            self._check_leaf(tensors[place], call)
        state = self.live.now()
        held = (*tensors, *state.values())
        if self.apart:
            self.apart.check(tensors, containers, state)
        has_gone_back = self.finished.has_gone_back
        # Settings of None are decided by a branch, or begin gradients: only a run operator by
        # operator knows the tensors to set.
        is_taped = self.settings is None or (is_grad_enabled() and is_any_open(held))
        is_taped = is_taped and not has_gone_back
        aliasing = self.aliasing
        if aliasing is not None and self.passes is None:
            is_taped = is_taped or aliasing.needs_objects(held)
        compiled = self._compiled(tensors, held, state) if is_taped else self._run
        run = compiled or self._run_taped
        # If the run raises, Python makes the call and draws the same numbers once more.
        random = get_rng_state() if self.finished.writes and self._draws else None
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
            aliasing.put(outputs, held, compiled is not None, ends)
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
        """Whether nobody can tell that a run which has raised was made once more."""
        return self.finished.may_run_again and not self._draws

    def _check_leaf(self, tensor: EagerTensor, call: Any) -> None:
        """Let Python make a call that changes what gradients begin in: mostly it raises."""
        if tensor.stopped or tensor.node is not None or not is_grad_enabled():
            return
        if call is not None and self.finished.may_run_again:  # nothing was run yet
            call.is_lost = True
        refuse_leaf()

    @cached_property
    def _draws(self) -> bool:
        """Whether a run draws random numbers."""
        operators = self.main_program.walk()
        return any(lookup(one.name).effect is Kind.RANDOM for one in operators)

    def _lose(self, call: Any) -> None:
        """Let Python make a call that raises, or tell that it must not."""
        if self.finished.may_run_again:
            call.is_lost = True
            return
        warn_user(
            f"{self.main_program.name}() raises, and what it has written outside before that is "
            "lost, since it has also printed, or done what must not be done twice",
            place_of(self.function),
        )

    def _run(self, tensors: Sequence[EagerTensor], state: State) -> tuple[list[Any], State]:
        better = self.optimized or self
        read = (state if better is self else better.state).values()
        inputs, updates = [t.array for t in tensors], better.main_program.updates
        if self.aliasing is None:
            results = engines.run_live(better.executable, inputs, read)
        else:
            arrays = [t.array for t in read]
            results = better.executable.run(inputs, arrays, *self._aliased(better is not self))
        count = len(results) - len(updates)
        outputs, changed = [wrapped(result) for result in results[:count]], results[count:]
        if self.aliasing is not None:  # which asks tensors for their arrays
            changed = [wrapped(array) for array in changed]
        return outputs, dict(zip(updates, changed, strict=True))

    def _compiled(
        self, tensors: Sequence[EagerTensor], held: Sequence[EagerTensor], state: State
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
        if not was_taped or self.effects:
            return None
        better = self._to_train()
        read = state if better is self else better.state
        if self._trained is None or self._trained.program is not better.main_program:
            self._trained = TrainedProgram(better.main_program, self.engine)
        parts = self._trained.parts([*tensors, *read.values()])
        if parts is None:
            return None
        # It leaves a Node behind that knows the gradients of it all.
        aliased, run = self._aliased(better is not self), parts.run
        return lambda tensors, _: run(tensors, read, *aliased)

    def _to_train(self) -> ConcreteProgram | OptimizedProgram:
        """What runs where gradients are wanted."""
        known = self._optimized
        # Where parameters are built in, gradients need none of what the passes would make anew.
        better = known if known is not None and known.frozen else self.optimized
        return self if better is None or better.frozen else better

    def _aliased(self, has_passes: bool) -> tuple[Collection[int], Collection[int]]:
        """The outputs whose arrays are those of tensors, and those of which two may be one."""
        aliasing = self.aliasing or OutputAliasing()
        return aliasing.as_is(has_passes), () if has_passes else aliasing.merged

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
        # Else passes know values, and not which tensor has them.
        better = self._to_train() if self.settings == [] else self
        read = state if better is self else better.state
        return interpret(better.main_program, tensors, read)


# -- passes of `build_strategy` and `pipeline` --------------------------------------------------

Array = np.ndarray[Any, Any]

_array = attrgetter("array")


def as_pass(wanted: Any) -> Any:
    """A pass for a pass, a list of passes or the name of a pipeline; else None."""
    if wanted is None or isinstance(wanted, BuildStrategy):
        return None
    # Loading all passes takes longer than loading the rest: only who asks for passes waits.
    return load_module("dy2st.passes").as_pass(wanted)


class OptimizedProgram:
    """A traced Program after passes, and the tensors and arrays that it reads.

    Passes may have built arrays into the Program: it holds as long as the tensors have those.
    """

    def __init__(self, program: Program, live: LiveState, applied: Any, engine: str | None = None):
        """Run the passes on a copy; `engine` names what will run it."""
        state = live.now()
        arrays = {name: tensor.array for name, tensor in state.items()}
        transformed = load_module("dy2st.passes.pipelines").transformed
        module = transformed(applied, {program.name: program}, dict(arrays))
        self.main_program: Program = module.programs[program.name]
        # A name that is kept with another array behind it was computed from the tensor's: it counts
        # as built in.
        replaced = {n for n, array in arrays.items() if module.state.get(n, array) is not array}
        built_in = module.frozen | replaced
        own = {
            name: wrapped(exported_buffers.constant_of(module.state[name]))
            for name in self.main_program.state
            if name not in arrays or name in built_in
        }
        tensors = {n: own[n] if n in own else state[n] for n in self.main_program.state}
        self.engine, self._own = engine, own.keys()
        self._live = LiveState(tensors, {n: p for n, p in live.places.items() if n not in own})
        self.frozen = [(name, arrays[name]) for name in sorted(built_in)]
        self._source = LiveState({name: state[name] for name, _ in self.frozen}, live.places)
        self._arrays = [array for _, array in self.frozen]

    @property
    def state(self) -> dict[str, EagerTensor]:
        """The live parameters and buffers that the Program reads, by name."""
        return self._live.now()

    @property
    def arrays(self) -> list[Array] | None:
        """The arrays that it reads, if they are its own: the same in every call."""
        own = self._live.now()
        is_own = not self._live.places and own.keys() <= self._own
        return [tensor.array for tensor in own.values()] if is_own else None

    def is_current(self) -> bool:
        """Whether all arrays that were built in are still those of the tensors."""
        return all(map(is_, map(_array, self._source.now().values()), self._arrays))

    @cached_property
    def executable(self) -> Any:
        """The compiled Program."""
        return engines.compile(self.main_program, self.engine)


class BuildStrategy:
    """Wishes about fusions and compilers: kept, and without effect on what is computed.

    `to_static(build_strategy="inference")` names passes of dy2st.

    >>> strategy = BuildStrategy()
    >>> strategy.build_cinn_pass = True
    """

    def __init__(self) -> None:
        """No wishes."""
        self.build_cinn_pass = False


# -- the everyday call ------------------------------------------------------------------------

Full = Callable[[Sequence[EagerTensor]], Any]
Call = Callable[[Sequence[EagerTensor], Full], Any]

# More tensors of the state are not named one by one.
_MOST_NAMED = 16


def is_pure(concrete: ConcreteProgram) -> bool:
    """Whether a call without gradients does no more than run, and give tensors back."""
    end = concrete.finished
    does_more = end.writes or end.effects or end.unknown or end.leaves or end.has_gone_back
    if does_more or end.given or concrete.apart or concrete.settings != []:
        return False
    # Arrays alone must decide which tensors of the call are returned.
    aliasing, outputs = concrete.aliasing or OutputAliasing(), concrete.main_program.outputs
    has_lists = any(isinstance(outputs[index].type, ArrayType) for index in aliasing.perhaps)
    return aliasing.by_arrays and not aliasing.merged and not has_lists


def straight(concrete: ConcreteProgram) -> Call:
    """The function of such a call. It holds no ConcreteProgram, which holds it."""
    better = concrete.optimized
    executable = (better or concrete).executable
    if engines.has_resident_state(executable):
        return lambda tensors, in_full: in_full(tensors)
    return _Writer(concrete, executable, better).compiled()


class _Writer:
    """Writes the function of a Program.

    held     the names of the tensors of a call: its inputs, then those of the state.
    in_full  the conditions under which the call is made in full.
    arrays   the expression of the arrays of the state.
    """

    def __init__(self, concrete: ConcreteProgram, executable: Any, better: OptimizedProgram | None):
        """Take what is run: the Program, or what passes have made of it."""
        self.concrete, self.executable = concrete, executable
        self.aliasing = concrete.aliasing or OutputAliasing()
        self.names: dict[str, Any] = {
            **{"Tensor": EagerTensor, "wrapped": wrapped, "rebuild": rebuild},
            **{"executable": executable, "records": is_grad_enabled},
            "as_is": self.aliasing.as_is(better is not None),
        }
        self.inputs = [f"x{n}" for n in range(len(concrete.inputs))]
        self.results = [f"r{n}" for n in range(len(concrete.main_program.outputs))]
        state = list(concrete.state.values())
        self.is_named = not concrete.live.places and len(state) <= _MOST_NAMED
        stem = "s{}" if self.is_named else "state[{}]"
        of_state = [stem.format(n) for n in range(len(state))]
        self.held = self.inputs + of_state
        if self.is_named:
            self.names |= zip(of_state, state, strict=True)
            are_stopped = " and ".join(f"{one}.stopped" for one in self.held) or "True"
            self.in_full = [f"not ({are_stopped}) and records()"]
            self.arrays = f"[{_arrays(of_state)}]"
        else:
            self.names |= {"now": concrete.live.now, "any_open": is_any_open}
            self.in_full = ["records() and (any_open(tensors) or any_open(state))"]
            self.arrays = "[one.array for one in state]"
        # Two tensors that may be returned must not have one array.
        perhaps = self.aliasing.perhaps.values()
        for first, second in dict.fromkeys(p for one in perhaps for p in combinations(one, 2)):
            one, other = self.held[first], self.held[second]
            self.in_full.append(f"{one}.array is {other}.array and {one} is not {other}")
        if better is not None:
            self.take_passes(better)

    def take_passes(self, better: OptimizedProgram) -> None:
        """What passes have built in holds as long as the tensors have the same arrays."""
        self.names |= {"is_current": better.is_current, "own": better.arrays, "better": better}
        of_state = "[one.array for one in better.state.values()]"
        self.arrays = of_state if better.arrays is None else "own"
        if not self.is_named:
            self.in_full.append("not is_current()")
            return
        tensors = list(self.concrete.state)
        for n, (name, array) in enumerate(better.frozen):
            self.names[f"b{n}"] = array
            self.in_full.append(f"s{tensors.index(name)}.array is not b{n}")

    def compiled(self) -> Call:
        """The function."""
        lines = [
            "def call(tensors, in_full):",
            f"  {_unpacked(self.inputs)} = tensors",
            *([] if self.is_named else ["  state = list(now().values())"]),
            f"  if {' or '.join(self.in_full)}: return in_full(tensors)",
            *self.run(),
            f"  {_unpacked(self.results)} = results",
            *(f"  t{index} = {one}" for index, one in enumerate(self.made())),
            f"  return {self.result()}",
        ]
        exec(compile("\n".join(lines), "<dy2st call>", "exec"), self.names)
        # `names` are its globals: with itself among them it would be a cycle.
        found: Call = self.names.pop("call")
        return found

    def run(self) -> list[str]:
        """How results are computed: by the entry of the engine, if it has one."""
        inputs, state = _arrays(self.inputs), self.arrays
        run = f"results = executable.run([{inputs}], {state}, as_is)"
        if getattr(self.executable, "entry", None) is None:
            return [f"  {run}"]
        # The entry takes arrays one by one, and gives None for what it was not compiled for.
        is_listed = state[0] == "[" and "for" not in state
        listed = ", ".join(filter(None, (inputs, state[1:-1] if is_listed else f"*{state}")))
        return [f"  results = executable.entry({listed})", f"  if results is None: {run}"]

    def made(self) -> list[str]:
        """The tensor of each result, some of which are those of the call, as by `put`."""
        made, aliasing, held = list[str](), self.aliasing, self.held
        for index, variable in enumerate(self.concrete.main_program.outputs):
            kind = "wrapped" if isinstance(variable.type, ArrayType) else "Tensor"
            made.append(f"{kind}({self.results[index]})")
            # Wrapped from last to first, so that the first place is asked first, as `put` does.
            for place in reversed(aliasing.perhaps.get(index, ())):
                made[index] = (
                    f"{held[place]} if {self.results[index]} is {held[place]}.array else {made[-1]}"
                )
        for index, place in aliasing.sure.items():
            made[index] = held[place]
        for index, before in aliasing.again.items():
            made[index] = f"t{before}"
        return made

    def result(self) -> str:
        """What a call gives back."""
        tree = self.concrete.finished.result
        if found := _expression(tree, self.names, set()):
            return found
        self.names["tree"] = tree
        return f"rebuild(tree, [{', '.join(f't{one[1:]}' for one in self.results)}], {{}})"


def _unpacked(names: Sequence[str]) -> str:
    return f"{', '.join(names)}," if names else "_"


def _arrays(tensors: Sequence[str]) -> str:
    return ", ".join(f"{one}.array" for one in tensors)


# -- what is given back -------------------------------------------------------------------------


def _expression(tree: Any, names: dict[str, Any], met: set[int]) -> str:
    """Tensors and constants in new containers, of which each is met once; "" of anything else."""
    kind = type(tree)
    if kind is Out:
        if tree.number is None:
            return f"t{tree.index}"
        has_type = info(tree.number).dtype is not None
        return f"{tree.number.__name__}(r{tree.index}.item())" if has_type else ""
    if kind is Known:
        return f"{_constant(tree.get, names)}()"
    if kind is not Made:
        return "" if issubclass(kind, Tree) or tree is MISSING else _constant(tree, names)
    # An expression would make an object that stands in two places twice.
    is_new = tree.like is None and info(tree.kind).display and id(tree) not in met
    met.add(id(tree))
    items = [_expression(item, names, met) for item in tree.items] if is_new else [""]
    if not all(items):
        return ""
    if tree.kind is dict:
        keys = [_constant(key, names) for key in tree.keys]
        items = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)]
    display = info(tree.kind).display if items else f"{tree.kind.__name__}()"
    return display.format(", ".join(items))


def _constant(value: Any, names: dict[str, Any]) -> str:
    name = f"k{len(names)}"
    names[name] = value
    return name


def is_any_open(tensors: Iterable[EagerTensor]) -> bool:
    """Whether gradients flow through one of some tensors."""
    for tensor in tensors:  # noqa: SIM110  twice as fast as any()
        if not tensor.stopped:
            return True
    return False
