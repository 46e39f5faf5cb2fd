"""The everyday call of a Program, arrays in and tensors out, as one flat function.

What must hold for it is a row: a condition of Python under which the call is made in full. Of
`def f(x): return x + self.w` the function is

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

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dy2st.convert.replay.result import Known, Made, Out, Tree, rebuild
from dy2st.convert.types import info
from dy2st.convert.values.special import MISSING
from dy2st.jit.program_passes import OptimizedProgram
from dy2st_runtime import engine as engines
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.tensor import EagerTensor, wrapped

if TYPE_CHECKING:
    from dy2st.jit.concrete_program import ConcreteProgram

Full = Callable[[Sequence[EagerTensor]], Any]
Call = Callable[[Sequence[EagerTensor], Full], Any]

# More tensors of the state are not named one by one.
_MOST_NAMED = 16


def is_pure(concrete: ConcreteProgram) -> bool:
    """Whether a call without gradients does no more than run, and give tensors back."""
    end = concrete.finished
    does_more = end.writes or end.effects or end.unknown or end.leaves or end.has_gone_back
    does_more = does_more or end.given or end.outside
    is_bound = concrete.main_program.updates or concrete.distinct
    if does_more or is_bound or concrete.settings != []:
        return False
    # Arrays alone must decide which tensors of the call are returned.
    aliasing, outputs = concrete.aliasing, concrete.main_program.outputs
    if aliasing is None:
        return True
    has_lists = any(isinstance(outputs[index].type, ArrayType) for index in aliasing.perhaps)
    return aliasing.by_arrays and not aliasing.merged and not has_lists


def straight(concrete: ConcreteProgram) -> Call:
    """The function of such a call. It holds no ConcreteProgram, which holds it."""
    better = concrete.optimized
    executable = concrete.executable if better is None else better.executable
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
        self.concrete, self.executable, self.aliasing = concrete, executable, concrete.aliasing
        self.names: dict[str, Any] = {
            **{"Tensor": EagerTensor, "wrapped": wrapped, "rebuild": rebuild},
            **{"executable": executable, "records": is_grad_enabled},
            "as_is": () if self.aliasing is None else self.aliasing.as_is(better is not None),
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
        perhaps = [] if self.aliasing is None else self.aliasing.perhaps.values()
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
            f"  return {_result(self.concrete.finished.result, self.results, self.names)}",
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
            for place in reversed(aliasing.perhaps.get(index, ()) if aliasing else ()):
                made[index] = (
                    f"{held[place]} if {self.results[index]} is {held[place]}.array else {made[-1]}"
                )
        if aliasing is not None:
            for index, place in aliasing.sure.items():
                made[index] = held[place]
            for index, before in aliasing.again.items():
                made[index] = f"t{before}"
        return made


def _unpacked(names: Sequence[str]) -> str:
    return f"{', '.join(names)}," if names else "_"


def _arrays(tensors: Sequence[str]) -> str:
    return ", ".join(f"{one}.array" for one in tensors)


# -- what is given back -------------------------------------------------------------------------


def _result(tree: Any, results: list[str], names: dict[str, Any]) -> str:
    """An expression of what a call gives back, over its results."""
    if _is_plain(tree, set()):
        return _expression(tree, names)
    names["tree"] = tree
    return f"rebuild(tree, [{', '.join(f't{one[1:]}' for one in results)}], {{}})"


def _is_plain(tree: Any, met: set[int]) -> bool:
    """Whether it is tensors and constants in new containers, of which each is met once."""
    kind = type(tree)
    if kind is Out:
        return tree.number is None or info(tree.number).dtype is not None
    if kind is not Made:
        return kind is Known or not issubclass(kind, Tree)
    # An expression would make an object that stands in two places twice.
    is_new = tree.like is None and info(tree.kind).display and id(tree) not in met
    met.add(id(tree))
    return bool(is_new) and all(item is not MISSING and _is_plain(item, met) for item in tree.items)


def _expression(tree: Any, names: dict[str, Any]) -> str:
    kind = type(tree)
    if kind is Out:
        return f"{tree.number.__name__}(r{tree.index}.item())" if tree.number else f"t{tree.index}"
    if kind is Known:
        return f"{_constant(tree.get, names)}()"
    if kind is not Made:
        return _constant(tree, names)
    items = [_expression(item, names) for item in tree.items]
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
