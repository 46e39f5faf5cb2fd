"""The operators `cond`, `while` and `call`, and functions that build them from closures.

cond    operands: the condition, then what the branches read. Blocks: true, false. Both have what
        is read as parameters, in the same order, and yield the results.
while   operands: the first values of the loop variables, then what the loop reads. Blocks:
        condition, body. Both have loop variables and what is read as parameters; the condition
        yields one bool, the body the next loop variables. Results: the last loop variables.
call    operands: what a function of the Program takes. Results: what it yields. See
        `ir/functions.py`.

Engines and interpreters run them by name; they have no kernels.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from dy2st_runtime.dims import Condition, Dim, symbols
from dy2st_runtime.errors import BranchMismatch, EscapedVariable, LoopMismatch
from dy2st_runtime.ir import (
    Block,
    Effect,
    F,
    Operator,
    Tensor,
    TensorType,
    Tracer,
    ValueType,
    Variable,
    current_tracer,
    define,
    lookup,
)
from dy2st_runtime.ir.attribute_kinds import TEXT
from dy2st_runtime.ir.functions import CALL, fitting_sizes, function_of, result_types, symbols_in
from dy2st_runtime.ir.functions import define as define_function
from dy2st_runtime.ir.join import (
    behind,
    facts_of_branches,
    facts_of_iterations,
    join_types,
    renewed,
)
from dy2st_runtime.ir.sizes import branch_condition, fresh_mark, made_since, origins
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.ir.tracing.path_state import Path


def _no_rule(*_: Any, **__: Any) -> Any:
    raise AssertionError("the results of control flow are typed by whoever builds it")


define(
    "cond",
    takes_complex=True,
    doc="The results of one of two Blocks, chosen by a bool.",
    inputs="condition, captured*",
    infer=_no_rule,
    effect=Effect.VISIBLE,
)
define(
    "while",
    takes_complex=True,
    doc="The loop variables after a Block has run as often as another one says.",
    inputs="values*",
    infer=_no_rule,
    effect=Effect.VISIBLE,
)
define(
    "call",
    takes_complex=True,
    doc="What a function of the Program gives.",
    inputs="operands*",
    attributes={"function": TEXT},
    infer=_no_rule,
    effect=Effect.VISIBLE,
)

Branch = Callable[[], Sequence[Any]]
Traceable = Callable[..., Sequence[Any]]
Shared = tuple[int, int]
"""A result of a function, and what may be one tensor with it, or share its memory: another one, or,
counted behind all of them, a parameter."""
_ROUNDS = 12


def cond(pred: Any, true_fn: Branch, false_fn: Branch, names: Sequence[str] = ()) -> list[Variable]:
    """Append a `cond` of two functions that take nothing and return as many values.

    Sizes that differ become symbols. Raises BranchMismatch, with the name of the result, where
    dtype or rank differ.

    >>> def f(x):
    ...     return dy2st.ops.cond(x > 0, lambda: [x * 2], lambda: [x - 1])
    >>> dy2st.to_static(f)(dy2st.to_tensor(3.0))[0].item()
    6.0
    """
    tracer = _tracer("cond")
    condition = _truth(pred)
    branches = [
        _trace(tracer, function, branch_condition(condition, taken))
        for function, taken in ((true_fn, True), (false_fn, False))
    ]
    true, false = (branch.block for branch in branches)
    if len(true.yields) != len(false.yields):
        raise BranchMismatch(
            f"one branch has {len(true.yields)} results, the other {len(false.yields)}",
        )
    # Let both Blocks yield the buffers that one of them changed.
    changed = {key: tensor for b in branches for key, (tensor, _) in b.tensors.items()}
    for branch in branches:
        with tracer.resumed(branch):
            branch.block.yields += map(tracer.variable, changed.values())
    tensors = list(changed.values())

    def joined() -> list[ValueType]:
        return [
            join_types(left.type, right.type, _branch_mismatch(_name(names, index), left, right))
            for index, (left, right) in enumerate(zip(true.yields, false.yields, strict=True))
        ]

    results = append_cond(tracer, condition, branches, joined)
    tracer.state.join(branches)
    return _assigned(tracer, results, tensors)


def append_cond(
    tracer: Tracer,
    condition: Variable,
    paths: Sequence[Path],
    join: Callable[[], Sequence[ValueType]],
) -> list[Variable]:
    """Append the `cond` of two paths; `join` gives the types of its results.

    These may be the tensors that the paths yield, and so those of the paths around.
    """
    blocks = [path.block for path in paths]
    # Before `join`, whose symbols are those of the results.
    inner = made_since(min(path.since for path in paths))
    types = [behind(type, inner) for type in join()]
    captured = close_blocks(tracer, blocks, own=0)
    operands = [tracer.local(condition), *captured]
    results = [*tracer.append("cond", operands, {}, types, blocks).results]
    for joined, left, right in zip(types, *(block.yields for block in blocks), strict=True):
        facts = facts_of_branches(joined, left.type, right.type)
        # Symbols that were made on a path mean nothing behind it.
        known = [fact for fact in facts if inner.isdisjoint(symbols(fact))]
        tracer.learn(known, "the size of one of the branches")
    changed = [dict.fromkeys(path.overwritten) for path in paths]
    outdated = [  # what a path has changed in place by another name
        result
        for block, overwritten in zip(blocks, changed, strict=True)
        for result, leaf in zip(results, block.yields, strict=True)
        if tracer.aliases.origin(leaf) in overwritten
    ]
    current = _current(tracer, captured)
    for variable in (*changed[0], *changed[1], *outdated):
        tracer.overwrite(variable)
    alone = zip(*(tracer.aliases.alone(block.yields) for block in blocks), strict=True)
    rows = zip(results, alone, strict=True)
    tracer.aliases.note_apart(result for result, paths in rows if all(paths))
    # A tensor that a path has changed takes the place of what it was: nobody looks at that again.
    count = len(results) - len({key for path in paths for key in path.tensors})
    others = current.difference(*changed)
    for block in blocks:
        outer = dict(zip(block.parameters, captured, strict=True))
        for place, (result, leaf) in enumerate(zip(results, block.yields, strict=True)):
            _note_yielded(tracer, result, leaf, outer, current if place < count else others)
        _note_pairs(tracer, block.yields, results)
    return results


def _assigned(tracer: Tracer, results: list[Variable], tensors: Sequence[Tensor]) -> list[Variable]:
    """The results without the last ones, which are from now on the values of the buffers."""
    count = len(results) - len(tensors)
    for tensor, variable in zip(tensors, results[count:], strict=True):
        tracer.assign(tensor, variable)
    return results[:count]


def while_loop(
    condition_fn: Traceable, body_fn: Traceable, initial: Sequence[Any], names: Sequence[str] = ()
) -> list[Variable]:
    """Append a `while`: the functions take the loop variables; the body returns the next ones.

    Sizes that change from iteration to iteration become symbols. Raises LoopMismatch, with the
    name of the loop variable, where dtype or rank change.

    >>> def f(x):
    ...     return dy2st.ops.while_loop(lambda x: [x < 100], lambda x: [x * 2], [x])
    >>> dy2st.to_static(f)(dy2st.to_tensor(3.0))[0].item()
    192.0
    """
    tracer = _tracer("while_loop")
    first = [tracer.variable(value) for value in initial]
    loop = _Loop(tracer, first, names)
    tested, iteration = loop.settle(condition_fn, body_fn)
    starts = [tracer.variable(v) for v in (*first, *loop.tensors)]
    types = [renewed(type, loop.free) for type in loop.types]
    results = append_while(tracer, (tested, iteration), starts, types, len(first))
    tracer.state.join((iteration,))
    for variable in tested.overwritten:
        if variable.maker is not tested.block:
            tracer.overwrite(variable)
    return _assigned(tracer, results, loop.tensors)


def append_while(
    tracer: Tracer,
    paths: Sequence[Path],
    starts: Sequence[Variable],
    types: Sequence[ValueType],
    of_variables: int,
) -> list[Variable]:
    """Append the `while` of a test and a body, which change tensors in place under any name.

    starts: of what is carried; `of_variables` of them are what the user's variables hold.
    """
    blocks = [path.block for path in paths]
    operands = [*starts, *close_blocks(tracer, blocks, own=len(types))]
    results = [*tracer.append("while", operands, {}, types, blocks).results]
    body = blocks[1]
    # Operands and parameters go on with what is captured, which has no result.
    for result, before, start, end in zip(
        results, operands, body.parameters, body.yields, strict=False
    ):
        facts = facts_of_iterations(result.type, before.type, start.type, end.type)
        tracer.learn(facts, "the size after any number of iterations")
    _note_iterations(tracer, paths[1], operands, results, of_variables)
    return results


# Operators with an effect that may stand in a function: they raise, or choose what runs.
_ALLOWED = frozenset(
    {"cond", "while", CALL, "assert", "assert_bound", "check_int", "raise", "require"}
)
_OF_GRADIENTS = frozenset({SETTER, "sealed", "sealed_results"})


def is_unseen(operator: Operator) -> bool:
    """Whether a function may have an operator: nobody sees how often it runs, or where."""
    if operator.name in _OF_GRADIENTS:
        return False
    return operator.name in _ALLOWED or lookup(operator.name).effect is not Effect.VISIBLE


def is_at_any_time(block: Block, *around: Block) -> bool:
    """Whether nobody sees when a Block runs: it shows and raises nothing, nor draws numbers."""
    for operator in block.walk():
        own = function_of(operator) if operator.name == CALL else None
        is_seen = not is_unseen(operator) or lookup(operator.name).effect is Effect.RANDOM
        if (
            is_seen
            or _is_statement_that_raises(operator)
            or not (own is None or own in around or is_at_any_time(own, *around, own))
        ):
            return False
    return True


def _is_statement_that_raises(operator: Operator) -> bool:
    """Whether the user's code says `raise` or `assert` here; an index may not fit anywhere."""
    if operator.name not in ("assert", "raise") or (at := operator.location) is None:
        return False
    text = linecache.getline(at.file, at.line)
    if sys.version_info < (3, 11):  # which has no columns
        return re.search(r"\b(assert|raise)\b", text) is not None
    return text[at.column - 1 :].startswith(("assert", "raise"))


def append_call(
    tracer: Tracer,
    name: str,
    operands: Sequence[Variable],
    types: Sequence[ValueType],
    shared: Collection[Shared],
) -> list[Variable]:
    """Append a `call` of a function, of which is known what its results may be."""
    results = [*tracer.append(CALL, operands, {"function": name}, types).results]
    others = [*results, *map(tracer.captured, operands)] if shared else ()
    for number, other in shared:
        tracer.aliases.note(results[number], others[other])
    return results


def function(name: str, body: Traceable, arguments: Sequence[Any]) -> list[Variable]:
    """Record a function of what it takes, and give what calls of it take, as seen from here.

    These are the arguments, whose types are those of its first parameters, and what the body reads
    of the Program's own Block besides. It changes nothing in place that is from outside of it.

    >>> def f(x, y):
    ...     operands = function("double", lambda v: [v * 2], [x])
    ...     return call("double", operands)[0] + call("double", [y])[0]
    >>> from dy2st_runtime.ops.control_flow import call, function
    >>> dy2st.to_static(f)(dy2st.to_tensor(3.0), dy2st.to_tensor(4.0)).item()
    14.0
    """
    tracer = _tracer("function")
    first = [tracer.variable(value) for value in arguments]
    mark = fresh_mark()

    def recorded() -> Sequence[Any]:
        own = [tracer.block.add_parameter(value.type, value.name) for value in first]
        return body(*own)

    # Nothing is known of the sizes around a call, since other calls have others.
    with tracer.apart():
        traced = _trace(tracer, recorded)
    assert not traced.tensors and not traced.overwritten, f"{name} changes what is outside of it"
    captured = close_blocks(tracer, (traced.block,), own=len(first))
    captured = list(map(tracer.as_seen, captured))
    captured += close_sizes(tracer, traced.block, made_since(mark))
    define_function(tracer.program, name, traced.block)
    return [*first, *captured]


def close_sizes(tracer: Tracer, block: Block, made: Collection[Dim]) -> list[Variable]:
    """Give a Block that is to be a function a parameter for each size that no other one binds.

    `made` are the symbols of its own values. Returns what binds the sizes around it.
    """
    captured: list[Variable] = []
    while missing := symbols_in(block).keys() - origins(block.parameters).keys() - set(made):
        first = next(size for size in symbols_in(block) if size in missing)
        outer = _binder(tracer, first)
        if outer is None:  # of the tensors of a list: what is read from it binds its own
            made = {*made, first}
            continue
        captured.append(tracer.as_seen(outer))
        block.add_parameter(outer.type, str(first))
    return captured


def _binder(tracer: Tracer, size: Dim) -> Variable | None:
    """A value of the current Block, or of one around it, of whose axes one has this size."""
    for block in tracer.block.outwards():
        made = (result for operator in block.operators for result in operator.results)
        for variable in (*block.parameters, *made):
            if isinstance(variable.type, TensorType) and any(
                s is size for s in variable.type.shape
            ):
                return variable
    return None


def call(name: str, operands: Sequence[Any]) -> list[Variable]:
    """Append a `call` of a function of the Program; see `function`."""
    tracer = _tracer("call")
    given = [tracer.variable(value) for value in operands]
    types = [value.type for value in given]
    block = tracer.program.functions[name]
    assert fitting_sizes(block, types) is not None, f"{name} takes {block.parameters}, not {types}"
    return tracer.append(CALL, given, {"function": name}, result_types(block, types)).results


class _Loop:
    """What is assumed of the loop variables: their types, and the buffers that are among them."""

    def __init__(self, tracer: Tracer, first: Sequence[Variable], names: Sequence[str]):
        self.tracer, self.names = tracer, names
        self.types: list[ValueType] = [variable.type for variable in first]
        self.labels = [variable.name for variable in first]
        self.tensors: list[Tensor] = []
        self.free: set[Dim] = set()

    def settle(self, condition: Traceable, body: Traceable) -> tuple[Path, Path]:
        """Trace both functions until an iteration gives what is assumed."""
        for _ in range(_ROUNDS):
            tested = self.trace(lambda *values: [_truth(condition(*values))])
            iteration = self.trace(body)
            if self.holds(iteration):
                return tested, iteration
        raise LoopMismatch(
            f"the types of the loop variables {', '.join(self.names)} do not settle",
            why=f"after {_ROUNDS} attempts every iteration still changes them",
            hint="start the loop with the variables as they are after an iteration",
        )

    def trace(self, function: Traceable) -> Path:
        """Record one call, with parameters for loop variables and for the buffers it changes."""

        def iteration() -> Sequence[Any]:
            block = self.tracer.block
            own = [
                block.add_parameter(renewed(type, self.free), label)
                for type, label in zip(self.types, self.labels, strict=True)
            ]
            count = len(own) - len(self.tensors)
            for tensor, parameter in zip(self.tensors, own[count:], strict=True):
                self.tracer.assign(tensor, parameter)
            return function(*own[:count])

        return _trace(self.tracer, iteration)

    def holds(self, iteration: Path) -> bool:
        """Whether an iteration gives the types that were assumed; if not, assume more of them."""
        yields, count = iteration.block.yields, len(self.types) - len(self.tensors)
        if len(yields) != count:
            raise LoopMismatch(
                f"the body returns {len(yields)} values for {count} loop variables",
            )
        if self.has_found_buffers(iteration):
            return False
        with self.tracer.resumed(iteration):
            yields += map(self.tracer.variable, self.tensors)
        joined = [
            join_types(old, new.type, _loop_mismatch(_name(self.names, i), old, new), self.free)
            for i, (old, new) in enumerate(zip(self.types, yields, strict=True))
        ]
        same = all(old is new for old, new in zip(self.types, joined, strict=True))
        self.types = joined
        return same

    def has_found_buffers(self, iteration: Path) -> bool:
        """Take buffers that an iteration changes for the first time among the loop variables."""
        known = {id(tensor) for tensor in self.tensors}
        found = [tensor for key, (tensor, _) in iteration.tensors.items() if key not in known]
        for tensor in found:
            variable = self.tracer.captured(tensor)
            self.tensors.append(tensor)
            self.types.append(variable.type)
            self.labels.append(variable.name)
        return bool(found)


def _trace(tracer: Tracer, function: Branch, condition: Condition | None = None) -> Path:
    """Record a closure into a new Block."""
    with tracer.path(Path, condition) as path:
        path.block.yields = [tracer.variable(value) for value in function()]
    return path


def close_blocks(tracer: Tracer, blocks: Sequence[Block], own: int) -> list[Variable]:
    """Give closed Blocks the same parameters: `own` first ones, then all that any captures.

    Returns the captured Variables of the current Block, in that order.
    """
    outer: dict[Variable, None] = {}
    for block in blocks:
        outer.update(dict.fromkeys(tracer.captured_by(block)))
    for block in blocks:
        inner = [tracer.import_into(block, variable) for variable in outer]
        block.parameters = [*block.parameters[:own], *inner]
    return list(outer)


def _tracer(name: str) -> Tracer:
    tracer = current_tracer()
    assert tracer is not None, f"{name} builds a Program: use Python's own statement on tensors"
    return tracer


def _truth(value: Any) -> Any:
    """The truth of a value (a list of one, as conditions may return) as a 0-d bool."""
    value = value[0] if isinstance(value, (list, tuple)) else value
    tracer = _tracer("a condition")
    variable = tracer.variable(value)
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    return variable if variable.dtype.kind == "b" else F.not_equal(variable, 0)


def _name(names: Sequence[str], index: int) -> str:
    return f"`{names[index]}`" if index < len(names) else f"number {index}"


def _branch_mismatch(name: str, left: Variable, right: Variable) -> Callable[[str], Exception]:
    def mismatch(_: str) -> Exception:
        return BranchMismatch(
            f"the result {name} is {left.type} in one branch and {right.type} in the other",
            why="both branches are part of the Program, and whatever follows them is there once",
            hint="cast or reshape it in one of the branches",
        )

    return mismatch


def _loop_mismatch(name: str, old: ValueType, new: Variable) -> Callable[[str], Exception]:
    def mismatch(_: str) -> Exception:
        return LoopMismatch(
            f"the loop variable {name} is {old} at the start of an iteration and {new.type} at its "
            "end",
            why="one Program must serve every iteration",
            hint=f"start with a tensor of type {new.type}, or cast or reshape it in the body",
        )

    return mismatch


# -- two names for one tensor ---------------------------------------------------------------------
# Where one of two names is changed in place, Python changes both. A Program does not, so the other
# name must not be read afterwards; what cannot be decided that way is refused here.


def _note_iterations(
    tracer: Tracer,
    path: Path,
    operands: Sequence[Variable],
    results: Sequence[Variable],
    of_variables: int,
) -> None:
    """Note what iterations change in place, under any name, and what the results may be.

    operands: the starts of what is carried, then what else the loop reads; `of_variables` of them
    are what variables hold.
    """
    block, count = path.block, len(results)
    starts, captured, ends = operands[:count], operands[count:], block.yields
    if tracer.flags.renewed:  # no name stands for what leaves are only to hand gradients to
        pairs, inside = zip(captured, block.parameters[count:], strict=True), _read_in(block)
        captured = [one for one, parameter in pairs if parameter in inside]
    aliases, came_from = tracer.aliases, _came_from(tracer, block, count)
    changed, own = frozenset(path.overwritten), frozenset(block.parameters)
    outside = frozenset(block.parameters[count:])
    # What changes names goes on under the other one: `a, b = b, a` lets both be changed.
    places = (place for place in range(count) if block.parameters[place] in changed)
    written = sorted({one for place in places for one in came_from[place]})
    # What a list holds, or a branch has chosen, is a view that is not made anew.
    kept = (aliases.origin(end) for end in ends if tracer.views.root_of_view(end) is None)
    bases = [aliases.origin(base) for end in kept for base in _looked_into(tracer, end)[1:]]
    # An iteration that yields what is out of date has changed the tensor under another name.
    has_two_names = any(aliases.origin(end) in changed for end in ends) or any(
        ends[index] in outside
        or _is_shared(tracer, [*starts, *captured], index, index < of_variables)
        or _is_shared(tracer, [*ends, *captured], index, index < of_variables)
        or any(aliases.may_be_one(aliases.origin(starts[index]), base) for base in bases)
        for index in written
    )
    # What is changed without being carried is out of date after the loop. If the loop also reads
    # it, or a view of it, the next iteration would read the old value. Views of what is carried are
    # made anew.
    beside = [variable for variable in path.overwritten if variable not in own]
    carried = frozenset(map(aliases.origin, operands[of_variables:count]))
    origins = frozenset(map(aliases.origin, captured))
    whole = (one for variable in origins for one in _looked_into(tracer, variable))
    read = origins.union(whole) - (carried - origins) if beside else frozenset()
    if has_two_names or any(aliases.origin(one) in read for one in beside):
        raise _two_names()
    current = _current(tracer, operands).difference(operands[index] for index in written)
    for one in (*(operands[index] for index in written), *beside):
        tracer.overwrite(one)
    _note_results(tracer, block, operands, results, came_from, current)


def _read_in(block: Block) -> set[Variable]:
    """What a Block reads or yields, but for what only gradients flow to."""
    found = set(block.yields)
    for operator in block.operators:
        operands = operator.operands[: 1 if operator.name == "straight_through" else None]
        if operator.blocks:
            first = operator.name == "cond"  # whose condition no Block has
            inner = [_read_in(one) for one in operator.blocks]
            found.update(operands[:first])
            for place, operand in enumerate(operands[first:]):
                if any(
                    one.parameters[place] in read
                    for one, read in zip(operator.blocks, inner, strict=True)
                ):
                    found.add(operand)
        else:
            found.update(operands)
    return found


def _note_results(
    tracer: Tracer,
    block: Block,
    operands: Sequence[Variable],
    results: Sequence[Variable],
    came_from: Sequence[Sequence[int]],
    current: Collection[Variable],
) -> None:
    """The results of a loop may be what an iteration yields, and what the loop began with.

    They may be that of others, too, if names change places.
    """
    count, aliases, ends = len(results), tracer.aliases, block.yields
    starts, captured = operands[:count], operands[count:]
    # Names that only change places among each other are names of several tensors for ever.
    outside = {aliases.origin(one) for one in block.parameters[count:]}
    origins = [aliases.of(aliases.origin(end)) for end in ends]
    is_new = [outside.isdisjoint(end) for end in origins]
    rows = zip(aliases.alone(starts), aliases.alone(ends), is_new, strict=True)
    fit = [all(row) for row in rows]
    aliases.note_apart(
        result
        for result, places in zip(results, came_from, strict=True)
        if all(fit[place] for place in places)
    )
    outer = dict(zip(block.parameters[count:], captured, strict=True))
    own = set(block.parameters[:count])
    for result, places in zip(results, came_from, strict=True):
        for place in places:
            if operands[place] in current:
                tracer.aliases.note(result, operands[place])
            if ends[place] not in own:
                _note_yielded(tracer, result, ends[place], outer, current)
    _note_pairs(tracer, ends, results)


def _came_from(tracer: Tracer, block: Block, count: int) -> list[list[int]]:
    """For each carried tensor those that it may be by some iterations; itself stands first."""
    places = {one: place for place, one in enumerate(block.parameters[:count])}
    before = [
        [places[one] for one in tracer.aliases.of(tracer.aliases.origin(end)) if one in places]
        for end in block.yields[:count]
    ]
    found = []
    for place in range(count):
        # A transitive closure: what one iteration passes to another name, the next ones pass on.
        own = {place: None}
        waiting = [place]
        while waiting:
            new = [one for one in before[waiting.pop()] if one not in own]
            own.update(dict.fromkeys(new))
            waiting += new
        found.append([*own])
    return found


def _is_shared(tracer: Tracer, variables: Sequence[Variable], index: int, has_views: bool) -> bool:
    """Whether one of several Variables may be another one of them.

    `has_views`: or what another one is a view of, of which a variable's new tensor knows nothing.
    """
    origins = [tracer.aliases.origin(one) for one in variables]
    found = [_looked_into(tracer, one) if has_views else [one] for one in origins]
    return any(
        tracer.aliases.may_be_one(origins[index], other)
        for place, others in enumerate(found)
        if place != index
        for other in others
    )


def _looked_into(tracer: Tracer, variable: Variable) -> list[Variable]:
    """A Variable, as the user's name has it, and the bases of which it may be a view."""
    bases = map(tracer.views.base_of_view, tracer.aliases.of(variable))
    return [variable, *(base for base in bases if base is not None)]


def _two_names() -> EscapedVariable:
    return EscapedVariable(
        "a tensor that may have another name, too, is changed in place in a loop that depends on a "
        "tensor",
        why="it has two names, or the names change places, as by `a, b = b, a`: Python changes it "
        "under each of them, a Program under one",
        hint="clone() what is changed where it gets its other name: a, b = b.clone(), a; or what a "
        "list is to keep of it: items.append(y[i].clone())",
    )


def _note_yielded(
    tracer: Tracer,
    result: Variable,
    inner: Variable,
    outer: Mapping[Variable, Variable],
    current: Collection[Variable],
) -> None:
    """A result may be what a Block yields; `outer`: what its parameters are around it."""
    if outer.get(inner, inner) in current or inner not in outer:
        tracer.aliases.note(result, outer.get(inner, inner))


def _current(tracer: Tracer, variables: Sequence[Variable]) -> set[Variable]:
    """Those that are not out of date before an operator that may change them on one path."""
    return {one for one in variables if tracer.aliases.origin(one).overwritten is None}


def _note_pairs(tracer: Tracer, inner: Sequence[Variable], results: Sequence[Variable]) -> None:
    """What may be one tensor at the end of a Block may be so behind it."""
    met: dict[Variable, Variable] = {}
    for variable, result in zip(inner, results, strict=True):
        variable = tracer.aliases.origin(variable)
        for one, earlier in met.items():
            if tracer.aliases.may_be_one(variable, one):
                tracer.aliases.note(result, earlier)
        met[variable] = result


def shared_by(tracer: Tracer, block: Block, of_variables: int) -> set[Shared]:
    """What the results of a function may be; to be asked before it is one.

    Behind the results for variables stand those for tensors that it changes in place.
    """
    aliases, yields = tracer.aliases, block.yields
    looked = (_looked_into(tracer, aliases.origin(one)) for one in yields)
    own = [{*map(aliases.origin, held)} for held in looked]
    found = {
        (number, other)
        for number, mine in enumerate(own)
        for other in range(number)
        if any(aliases.may_be_one(a, b) for a in mine for b in own[other])
    }
    places = {aliases.origin(one): place for place, one in enumerate(block.parameters, len(own))}
    for number, leaf in enumerate(yields[:of_variables]):
        for one in own[number] if leaf.number is None else ():
            memory = _looked_into(tracer, one) + aliases.of(one)
            known = places.keys() & map(aliases.origin, memory)
            found |= {(number, places[each]) for each in known}
    return found
