"""Functions of a Program: what a call gives, who calls whom, and calls replaced by operators.

A function is a Block of `Program.functions` that is in no other: its parameters, operators and
yields. The operator `call` names it. Whatever it reads, parameters of Layers included, is one of
its parameters; it writes nothing: a buffer that it changes is one of its results. Its symbols are
its own: they are bound by the shapes of its parameters, at each call anew, and what it requires of
them stands in it as `require`. A call has operands of the types of the parameters, with other sizes
in place of the symbols, and results of the types of the yields. Locations in a function name Layers
from that of the call on.

Functions may call each other and themselves: NumPy's engine makes a function of Python of each, and
the engine `native` one of machine code where written out they would be too many operators. All
else works on an `inlined` Program, in which functions stay that may come back to themselves: they
are refused, with words, by engines that cannot run them and by gradients.

    def define(program, name, block)        block becomes program.functions[name]
    program.functions, program.roots        Blocks by name; the Program's own and theirs
    program.walk()                          all operators, those of functions once each
    ops.control_flow.call(name, operands)   records a call
    result_types(block, types)              what it gives
    recursive(program)                      functions that may come back to themselves
    inline(program, names)                  operators in place of calls, in place
    written_out(call, function, new)        the operators for one call
    without_functions(program, who)         the same; recursive ones are refused
    inlined(program)                        a Program without calls, but of recursive functions
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dy2st_runtime.dims import Condition, Dim, Size, is_symbol, symbol, symbols
from dy2st_runtime.errors import EngineError, LimitExceeded
from dy2st_runtime.ir.clone import clone, copy_block, copy_functions, copy_operator
from dy2st_runtime.ir.data import carry
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.join import differs_by_element
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.sizes import fresh_symbol, origins
from dy2st_runtime.ir.substitution import typed_with, value_with
from dy2st_runtime.ir.type_match import is_in_range, matches
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

CALL = "call"
MOST = 1_000_000
"""The operators that a Program may have where those of functions are put in place of calls."""


def define(program: Program, name: str, block: Block) -> None:
    """Let a closed Block be the function of a name that is free.

    >>> from dy2st_runtime.ir import Program, TensorType, functions
    >>> from dy2st_runtime.ir.program import Block
    >>> program, block = Program(), Block()
    >>> block.yields = [block.add_parameter(TensorType("float32", (2,)), "x")]
    >>> functions.define(program, "same", block)
    >>> [*program.functions], block.program is program
    (['same'], True)
    """
    assert name not in program.functions, f"there is a function {name!r}"
    block.parent, block.program = None, program
    program.functions[name] = block


def relative_layers(block: Block, layer: str) -> str | None:
    """Name Layers in a Block from one on; "" if there are none, None if they are elsewhere.

    Returns the path of that one, in which alone the Block may run.
    """
    placed = [one for one in block.walk() if one.location is not None and one.layer != layer]
    start = f"{layer}." if layer else ""
    if not all(one.layer.startswith(start) for one in placed):
        return None
    inside = {one: one.layer[len(start) :] for one in placed}
    for one in block.walk():
        if one.location is not None and one.layer:
            one.location = replace(one.location, layer=inside.get(one, ""))
    return layer if placed else ""


def called_by(block: Block) -> list[str]:
    """The functions that a Block calls, each once, in order."""
    return list(dict.fromkeys(o.attributes["function"] for o in block.walk() if o.name == CALL))


def root_name(operator: Operator) -> str:
    """The name of the function, or of the Program, that an operator is part of."""
    root = _root(operator)
    if root.program is None:
        return ""
    functions = root.program.functions.items()
    return next((name for name, block in functions if block is root), root.program.name)


def _root(operator: Operator) -> Block:
    *_, outermost = operator.block.outwards()
    return outermost


def function_of(operator: Operator) -> Block | None:
    """What a `call` calls, None where its Block is of no Program that has the function."""
    program = _root(operator).program
    return None if program is None else program.functions.get(operator.attributes["function"])


def program_of(program: Program, name: str) -> Program:
    """A Program of its own that computes what a function does."""
    made = Program(name)
    copy_functions(program, made)
    copy_block(program.functions[name], made.block, {})
    made.inputs = list(made.block.parameters)
    return made


# -- types ------------------------------------------------------------------------------------


def bound_sizes(block: Block, types: Sequence[ValueType]) -> dict[Dim, Size]:
    """The sizes that a call with operands of these types puts in place of a function's symbols."""
    place = {variable: index for index, variable in enumerate(block.parameters)}
    found: dict[Dim, Size] = {}
    for own, origin in origins(block.parameters).items():
        _, factor, offset = origin.solved
        size = _shape(types[place[origin.variable]])[origin.axis]
        found[own] = size if (factor, offset) == (1, 0) else (size - offset) // factor
    return found


def fitting_sizes(block: Block, types: Sequence[ValueType]) -> dict[Dim, Size] | None:
    """The same; None if a call cannot have operands of these types."""
    wanted = [parameter.type for parameter in block.parameters]
    if not matches([_kind(one) for one in types], [_kind(one) for one in wanted], _none_is_free):
        return None
    sizes = bound_sizes(block, types)
    if not all(is_in_range(own, size) for own, size in sizes.items()):
        return None
    # Elements of a list have any size in either.
    fits = matches(types, [typed_with(one, sizes) for one in wanted], differs_by_element)
    return sizes if fits else None


def _kind(type: ValueType) -> ValueType:
    """The type without its sizes."""
    if isinstance(type, ArrayType):
        return ArrayType(None if type.element is None else _kind(type.element))
    return type.with_shape([0] * type.rank)


def _none_is_free(_: Dim) -> bool:
    return False


def result_types(block: Block, types: Sequence[ValueType]) -> list[ValueType]:
    """The types of what a call of a function gives; sizes that only its run decides are new."""
    sizes = bound_sizes(block, types)
    for variable in block.yields:
        for own in symbols(_shape(variable.type)):
            if own not in sizes:
                sizes[own] = fresh_symbol(*parts_of(own))
    return [typed_with(variable.type, sizes) for variable in block.yields]


def parts_of(size: Dim) -> tuple[str, int, int | None]:
    """What a symbol like this is made of, but for the number in its name."""
    return str(size).rpartition("_")[0], size.minimum, size.maximum


def _shape(type: ValueType) -> tuple[Size, ...]:
    tensor = type.tensor if isinstance(type, ArrayType) else type
    return () if tensor is None else tensor.shape


# -- who calls whom ---------------------------------------------------------------------------


def reached_from(program: Program, names: Iterable[str]) -> dict[str, None]:
    """These functions and all that they call."""
    found: dict[str, None] = {}
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found and name in program.functions:
            found[name] = None
            todo += called_by(program.functions[name])
    return found


def recursive(program: Program) -> set[str]:
    """The functions of which a call may come to call them again, and what lies between them."""
    calls = {name: called_by(block) for name, block in program.functions.items()}
    callers: dict[str, list[str]] = {name: [] for name in calls}
    for name, called in calls.items():
        for one in called:
            if one in callers:
                callers[one].append(name)
    # Neither what comes to an end by itself nor what no such function calls.
    ends = _in_order(calls)
    left = {k: [one for one in found if one not in ends] for k, found in callers.items()}
    starts = _in_order({k: found for k, found in left.items() if k not in ends})
    return calls.keys() - ends.keys() - starts.keys()


def _in_order(before: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """The names behind all that stands before them, as far as there are no circles."""
    after: dict[str, list[str]] = {}
    for name, needed in before.items():
        for one in needed:
            after.setdefault(one, []).append(name)
    counts = {name: sum(one in before for one in needed) for name, needed in before.items()}
    found: dict[str, None] = {}
    todo = [name for name, count in counts.items() if not count]
    while todo:
        name = todo.pop()
        found[name] = None
        for one in after.get(name, ()):
            counts[one] -= 1
            if not counts[one]:
                todo.append(one)
    return found


def drop_unused(program: Program) -> None:
    """Forget the functions that nothing calls."""
    used = reached_from(program, called_by(program.block))
    program.functions = {k: block for k, block in program.functions.items() if k in used}


# -- operators in place of calls --------------------------------------------------------------


def inlined(program: Program, most: int = MOST) -> Program:
    """A Program without calls, but of recursive functions; the given one if it is such.

    Raises LimitExceeded if it would have more than `most` operators.

    >>> from dy2st_runtime.ir import functions
    >>> f = dy2st.to_static(lambda x: x * 2, [dy2st.static.InputSpec([2])])
    >>> functions.inlined(f.main_program) is f.main_program
    True
    """
    names = program.functions.keys() - recursive(program) if program.functions else ()
    if not names:
        return program
    made = clone(program)
    inline(made, names, most)
    return made


def without_functions(program: Program, who: str) -> Program:
    """The same for what runs no functions; EngineError, which says who, for recursive ones."""
    made = inlined(program)
    if made.functions:
        names = ", ".join(f"`{name}`" for name in made.functions)
        raise EngineError(
            f"{who} runs no functions that call themselves, as {names} of {program.name!r}: "
            "the engines 'numpy' and 'native' do; where a Python number, no tensor, says how deep "
            "the calls go, and it is small, they are written out"
        )
    return made


def inline(program: Program, names: Collection[str], most: int = MOST) -> None:
    """Put operators in place of all calls of these functions, none of which is recursive.

    Raises LimitExceeded, before anything is changed, if there would be more than `most` operators.
    """
    # Callees first: what is copied has no more calls to replace.
    order = _in_order({name: called_by(program.functions[name]) for name in names})
    sizes: dict[str, int] = {}
    for name in order:
        sizes[name] = _count(program.functions[name], sizes)
    if _count(program.block, sizes) > most:
        raise LimitExceeded(
            f"with operators in place of its calls {program.name!r} would have more than {most} of "
            "them: run it on the engine 'numpy', which calls functions"
        )
    functions = {name: program.functions[name] for name in order}
    kept = [block for name, block in program.functions.items() if name not in functions]
    kept.append(program.block)
    taken = {str(size) for block in kept for size in symbols_in(block)}
    for root in (*functions.values(), *kept):
        for block in [root, *(b for operator in root.walk() for b in operator.blocks)]:
            if any(operator.name == CALL for operator in block.operators):
                made = []
                for operator in block.operators:
                    function = None
                    if operator.name == CALL:
                        function = functions.get(operator.attributes["function"])
                    if function is None:
                        made.append(operator)
                    else:
                        made += written_out(operator, function, partial(_unused, taken))
                block.operators[:] = made
    program.functions = {k: block for k, block in program.functions.items() if k not in functions}


def _unused(taken: set[str], like: Dim) -> Dim:
    """A symbol whose name is not taken yet."""
    name, stem, count = str(like), str(like).rpartition("_")[0], 0
    while name in taken:
        name, count = f"{stem}_{count}", count + 1
    taken.add(name)
    return symbol(name, like.minimum, like.maximum)


def _count(block: Block, sizes: Mapping[str, int]) -> int:
    """How many operators a Block has with those of functions in place of calls, up to a limit."""
    count = 0
    for operator in block.walk():
        count += sizes.get(operator.attributes["function"], 1) if operator.name == CALL else 1
    return min(count, MOST + 1)


def written_out(call: Operator, function: Block, new: Callable[[Dim], Dim]) -> list[Operator]:
    """The operators of a function that give the results of a call, for its place in its Block.

    `new` gives a symbol in place of one that only a run of the function decides.
    """
    block = call.block
    values = dict(zip(function.parameters, call.operands, strict=True))
    sizes = _sizes(function, call, new)
    made: list[Operator] = []
    for operator in function.operators:
        copied = copy_operator(operator, block, values)
        for inner in operator.blocks:
            copied.blocks.append(Block(parent=block))
            copy_block(inner, copied.blocks[-1], values)
        if sizes:
            _put_in(copied, sizes)
        if copied.name != "require" or copied.attributes["condition"] is not True:
            made.append(copied)
        for one in (copied, *(o for b in copied.blocks for o in b.walk())):
            _place(one, call)
    own = {result: operator for operator in made for result in operator.results}
    given: dict[Variable, Variable] = {}  # the results of the call, by what makes them
    ends: list[Operator] = []
    for result, yielded in zip(call.results, function.yields, strict=True):
        value = values[yielded]
        if value not in own or value in given:  # a parameter, or what has been yielded before
            ends += _copied(value, result, call)
        else:
            given[value], result.maker = result, own[value]
    made += ends
    for operator in made:
        operator.operands = [given.get(v, v) for v in operator.operands]
        operator.results = [given.get(v, v) for v in operator.results]
    return made


def _copied(value: Variable, result: Variable, call: Operator) -> list[Operator]:
    """Operators whose result, which they are given, is another value."""
    block, place = call.block, call.location
    if isinstance(value.type, TensorType):
        result.maker = Operator("assign", [value], {}, block, [], [result], place)
        return [result.maker]
    step = Operator("constant", [], {"value": np.array(1)}, block, location=place)
    one = Variable(TensorType("int64", ()), step)
    step.results = [one]
    whole = {"has_start": False, "has_stop": False}
    result.maker = Operator(
        "array_slice", [value, one, one, one], whole, block, [], [result], place
    )
    return [step, result.maker]


def _sizes(function: Block, call: Operator, new: Callable[[Dim], Dim]) -> dict[Dim, Size]:
    """What stands for the function's symbols: sizes of the operands, of results, new ones."""
    sizes = bound_sizes(function, [operand.type for operand in call.operands])
    for value, result in zip(function.yields, call.results, strict=True):
        for own, given in zip(_shape(value.type), _shape(result.type), strict=True):
            is_own = isinstance(own, Dim) and is_symbol(own) and own not in sizes
            if is_own and isinstance(given, Dim) and is_symbol(given):
                sizes[own] = given  # type: ignore[index]
    for own in symbols_in(function):
        if own not in sizes:
            sizes[own] = new(own)
    return {own: size for own, size in sizes.items() if own is not size}


def symbols_in(block: Block) -> dict[Dim, None]:
    """All symbols in types and attributes, in order."""
    found: dict[Dim, None] = {}
    variables = list(block.parameters)
    for operator in block.walk():
        variables += operator.results
        for inner in operator.blocks:
            variables += inner.parameters
        found.update(dict.fromkeys(symbols(tuple(operator.attributes.values()))))
    for variable in variables:
        found.update(dict.fromkeys(symbols(_shape(variable.type))))
    return found


def _put_in(operator: Operator, sizes: dict[Dim, Size]) -> None:
    """Put sizes in place of symbols in an operator and all inside; what they decide is constant."""
    for one in (operator, *(o for block in operator.blocks for o in block.walk())):
        one.attributes = {k: value_with(v, sizes) for k, v in one.attributes.items()}
        for variable in (*one.results, *(p for block in one.blocks for p in block.parameters)):
            variable.type, variable.held = typed_with(variable.type, sizes), None
        if one.name == "from_dim" and not isinstance(one.attributes["value"], (Dim, Condition)):
            value = np.array(one.attributes["value"], one.attributes["dtype"])
            one.name, one.attributes = "constant", {"value": value}
        if not one.blocks and one.results:
            carry(lookup(one.name), one)


def _place(operator: Operator, call: Operator) -> None:
    """Let an operator be of the Layer, and of the recomputed part, that the call is of."""
    operator.recompute_call = operator.recompute_call or call.recompute_call
    if call.layer and operator.location is not None:
        path = f"{call.layer}.{operator.layer}" if operator.layer else call.layer
        operator.location = replace(operator.location, layer=path)


__all__ = [
    "CALL",
    "bound_sizes",
    "called_by",
    "define",
    "drop_unused",
    "fitting_sizes",
    "function_of",
    "inline",
    "inlined",
    "parts_of",
    "program_of",
    "reached_from",
    "recursive",
    "result_types",
    "root_name",
    "symbols_in",
    "without_functions",
    "written_out",
]
