"""The everyday call of a Program: arrays in, arrays out, and new tensors of these.

It is one generated function, in which nothing is asked that is known of the Program. Where
gradients are wanted it makes the call `in_full`, as all others are made. `x + 1` takes 2.5 us in
all as machine code, and 4 us more than its kernel in NumPy's engine; names of arguments, numbers,
lists and dicts take 1 us more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dy2st.convert.replay.rebuild import rebuild
from dy2st.convert.replay.result import TREES, Known, Made, Out
from dy2st.convert.values.special import MISSING
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.tensor import EagerTensor, wrapped

if TYPE_CHECKING:
    from dy2st.jit.concrete_program import ConcreteProgram

Full = Callable[[Sequence[EagerTensor]], Any]
Call = Callable[[Sequence[EagerTensor], Full], Any]

# More tensors of the state are not named one by one.
_MOST_NAMED = 16
_BRACKETS = {tuple: "({},)", list: "[{}]", dict: "{{{}}}"}
_NUMBERS = (None, bool, int, float)


def is_pure(concrete: ConcreteProgram) -> bool:
    """Whether a call without gradients does no more than run, and give tensors back."""
    end = concrete.finished
    does_more = end.writes or end.effects or end.unknown or end.leaves or end.has_gone_back
    is_bound = concrete.main_program.updates or concrete.distinct
    return not (does_more or is_bound) and concrete.settings == [] and _arrays_decide(concrete)


def _arrays_decide(concrete: ConcreteProgram) -> bool:
    """Whether arrays alone decide which tensors of the call are returned."""
    aliasing, outputs = concrete.aliasing, concrete.main_program.outputs
    if aliasing is None:
        return True
    has_lists = any(isinstance(outputs[index].type, ArrayType) for index in aliasing.perhaps)
    return aliasing.by_arrays and not aliasing.merged and not has_lists


def straight(concrete: ConcreteProgram) -> Call:
    """The function of such a call. It holds no ConcreteProgram, which holds it.

    Of `def f(x): return x + self.w` it is

        def call(tensors, in_full):
          x0, = tensors
          if not (x0.stopped and s0.stopped) and records(): return in_full(tensors)
          results = executable.entry(x0.array, s0.array)
          if results is None: results = executable.run([x0.array], [s0.array], as_is)
          r0, = results
          t0 = Tensor(r0)
          return t0

    What passes have made is run as long as the arrays are the same that they have built in.
    """
    better = concrete.optimized
    inputs = [f"x{n}" for n in range(len(concrete.inputs))]
    results = [f"r{n}" for n in range(len(concrete.main_program.outputs))]
    aliasing = concrete.aliasing
    names: dict[str, Any] = {"Tensor": EagerTensor, "wrapped": wrapped, "rebuild": rebuild}
    executable = concrete.executable if better is None else better.executable
    names |= {"executable": executable, "records": is_grad_enabled}
    names["as_is"] = () if aliasing is None else aliasing.as_is(better is not None)
    state, held, is_open, arrays = _state(concrete, inputs, names)
    made = _made(concrete, results, inputs + held)
    full_if = [is_open, *_same_arrays(concrete, inputs + held)]
    if better is not None:
        names |= {"is_current": better.is_current, "own": better.arrays, "better": better}
        of_state = "[one.array for one in better.state.values()]"
        arrays = of_state if better.arrays is None else "own"
        # What passes have built in holds as long as the tensors have the same arrays.
        tensors = list(concrete.state)
        if concrete.live.places or len(tensors) > _MOST_NAMED:
            full_if.append("not is_current()")
        else:
            names |= {f"b{n}": array for n, (_, array) in enumerate(better.frozen)}
            places = [tensors.index(name) for name, _ in better.frozen]
            full_if += [f"s{place}.array is not b{n}" for n, place in enumerate(places)]
    is_full = " or ".join(full_if)
    lines = [
        "def call(tensors, in_full):",
        f"  {_unpacked(inputs)} = tensors",
        *state,
        f"  if {is_full}: return in_full(tensors)",
        *_run(executable, _arrays(inputs), arrays),
        f"  {_unpacked(results)} = results",
        *(f"  t{index} = {one}" for index, one in enumerate(made)),
        f"  return {_result(concrete.finished.result, results, names)}",
    ]
    exec(compile("\n".join(lines), "<dy2st call>", "exec"), names)
    # `names` are its globals: with itself among them it would be a cycle.
    found: Call = names.pop("call")
    return found


def _run(executable: Any, inputs: str, state: str) -> list[str]:
    """How results are computed: by the entry of the engine, if it has one."""
    run = f"results = executable.run([{inputs}], {state}, as_is)"
    if getattr(executable, "entry", None) is None:
        return [f"  {run}"]
    # The entry takes arrays one by one, and gives None for what it was not compiled for.
    is_named = state[0] == "[" and "for" not in state
    listed = ", ".join(filter(None, (inputs, state[1:-1] if is_named else f"*{state}")))
    return [f"  results = executable.entry({listed})", f"  if results is None: {run}"]


def _unpacked(names: Sequence[str]) -> str:
    return f"{', '.join(names)}," if names else "_"


def _arrays(tensors: Sequence[str]) -> str:
    return ", ".join(f"{one}.array" for one in tensors)


def _state(
    concrete: ConcreteProgram, inputs: list[str], names: dict[str, Any]
) -> tuple[list[str], list[str], str, str]:
    """How the state is found, its tensors, whether gradients are wanted, and its arrays."""
    state = list(concrete.state.values())
    if concrete.live.places or len(state) > _MOST_NAMED:
        names |= {"now": concrete.live.now, "any_open": is_any_open}
        held = [f"state[{n}]" for n in range(len(state))]
        is_open = "records() and (any_open(tensors) or any_open(state))"
        lines = ["  state = list(now().values())"]
        return lines, held, is_open, "[one.array for one in state]"
    held = [f"s{n}" for n in range(len(state))]
    names |= zip(held, state, strict=True)
    are_stopped = " and ".join(f"{one}.stopped" for one in inputs + held) or "True"
    return [], held, f"not ({are_stopped}) and records()", f"[{_arrays(held)}]"


def _same_arrays(concrete: ConcreteProgram, held: Sequence[str]) -> list[str]:
    """The conditions under which two tensors that may be returned have one array."""
    places = [] if concrete.aliasing is None else concrete.aliasing.perhaps.values()
    pairs = {pair: None for chosen in places for pair in combinations(chosen, 2)}
    named = [(held[one], held[other]) for one, other in pairs]
    return [f"{one}.array is {other}.array and {one} is not {other}" for one, other in named]


def _made(concrete: ConcreteProgram, results: Sequence[str], held: Sequence[str]) -> list[str]:
    """The tensor of each result, of which some are those of the call: see `OutputAliasing.put`."""
    made, aliasing = [], concrete.aliasing
    for index, variable in enumerate(concrete.main_program.outputs):
        kind = "wrapped" if isinstance(variable.type, ArrayType) else "Tensor"
        made.append(f"{kind}({results[index]})")
        # Wrapped from last to first, so that the first place is asked first, as `put` does.
        for place in reversed(aliasing.perhaps.get(index, ()) if aliasing else ()):
            made[index] = (
                f"{held[place]} if {results[index]} is {held[place]}.array else {made[-1]}"
            )
    if aliasing is not None:
        for index, place in aliasing.sure.items():
            made[index] = held[place]
        for index, before in aliasing.again.items():
            made[index] = f"t{before}"
    return made


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
        return tree.number in _NUMBERS
    if kind is not Made:
        return kind is Known or kind not in TREES
    # An expression would make an object that stands in two places twice.
    is_new = tree.like is None and tree.kind in _BRACKETS and id(tree) not in met
    met.add(id(tree))
    return is_new and all(item is not MISSING and _is_plain(item, met) for item in tree.items)


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
    return _BRACKETS[tree.kind].format(", ".join(items)) if items else f"{tree.kind.__name__}()"


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


__all__ = ["is_any_open", "is_pure", "straight"]
