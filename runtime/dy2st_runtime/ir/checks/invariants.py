"""States the invariants of Programs, one function a rule; `verifier.py` applies them.

A rule yields one sentence for every way in which it is broken. Its name and first line are shown
with the finding, so they say what ought to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dy2st_runtime.dims import (
    Condition,
    Dim,
    collect,
    current,
    decided,
    is_symbol,
    stages,
    symbols,
    using,
)
from dy2st_runtime.errors import Dy2stError, ShapeError
from dy2st_runtime.ir.definition import OperatorDefinition, find
from dy2st_runtime.ir.functions import CALL, fitting_sizes, result_types
from dy2st_runtime.ir.placement import are_placements, is_mesh, misfit
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.promotion import is_promoted
from dy2st_runtime.ir.sizes import fresh_symbols_from, origins
from dy2st_runtime.ir.structure import wrong_entries
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.ir.type_match import matches
from dy2st_runtime.ir.types import MAX_LIST_DEPTH, ArrayType, TensorType, ValueType, element_text

Texts = Iterator[str]

CONTROL_FLOW = ("cond", "while")
_TYPED_BY_THEMSELVES = (*CONTROL_FLOW, CALL)
MAX_BLOCK_DEPTH = 150
# What is known of sizes grows with the square of them.
MAX_CONSTRAINTS = 1_000
# Symbols that a shape rule makes while it is checked are numbered from here, apart from all others.
_FRESH = 10**9
# What a shape rule may raise when operands or attributes are not what it was written for.
_REFUSALS = (
    Dy2stError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


@dataclass
class Scope:
    """What is known at one place of a Program, in the order of its text.

    symbols, values     what can be used here: symbols also in nested Blocks, values not.
    missing             what the rule of the operator at hand needs, and nobody requires.
    made, bound         all Variables made, and all symbols bound, anywhere in the Program so far.
    functions           what calls may name.
    """

    block: Block
    functions: Mapping[str, Block] = field(default_factory=dict)
    depth: int = 0
    symbols: set[Dim] = field(default_factory=set)
    values: set[Variable] = field(default_factory=set)
    made: set[Variable] = field(default_factory=set)
    bound: dict[Dim, None] = field(default_factory=dict)
    missing: list[Condition] = field(default_factory=list)

    def inside(self, block: Block) -> Scope:
        """The scope at the beginning of a nested Block."""
        return replace(
            self,
            block=block,
            depth=self.depth + 1,
            symbols=set(self.symbols),
            values=set(),
        )

    def bind(self, symbol: Dim) -> None:
        """Let a symbol be known from here on."""
        self.symbols.add(symbol)
        self.bound[symbol] = None

    def is_free(self, symbol: Dim) -> bool:
        """Whether a symbol is not bound yet."""
        return symbol not in self.symbols


Rule = Callable[[Operator, Scope], Texts]


# -- operators --------------------------------------------------------------------------------


def operands_are_defined(operator: Operator, scope: Scope) -> Texts:
    """A value is read in the Block that made it, after it is made."""
    for index, operand in enumerate(operator.operands):
        if operand not in scope.values:
            yield f"operand {index} ({_shown(operand)}) is not made before it in this Block"


def operator_knows_its_block(operator: Operator, scope: Scope) -> Texts:
    """`operator.block` is the Block that lists it, and is the parent of its Blocks."""
    if operator.block is not scope.block:
        yield "it says that it is in another Block"
    for block in operator.blocks:
        if block.parent is not scope.block:
            yield "one of its Blocks names another Block as its parent"


def record_exists(operator: Operator, scope: Scope) -> Texts:
    """Every operator has a record."""
    if find(operator.name) is None:
        yield f"there is no operator {operator.name!r}"


def operands_fit_record(operator: Operator, scope: Scope) -> Texts:
    """There are as many operands as the record names."""
    definition = find(operator.name)
    if definition is None or operator.name in CONTROL_FLOW:
        return
    count, names = len(operator.operands), definition.inputs
    needed = sum(1 for name in names if name[-1] not in "?*")
    if count < needed or (count > len(names) and not definition.is_variadic):
        yield f"it takes ({', '.join(names)}) and has {count} operands"


def lists_stand_where_they_may(operator: Operator, scope: Scope) -> Texts:
    """A list stands where the record says `array`, either where `item`, else a tensor."""
    definition = find(operator.name)
    if definition is None or operator.name in CONTROL_FLOW:
        return
    if operator.name == CALL:
        return
    names = definition.inputs
    for index, operand in enumerate(operator.operands):
        name = names[min(index, len(names) - 1)] if names else ""
        if name.startswith("item"):
            continue
        if isinstance(operand.type, ArrayType) is not name.startswith("array"):
            yield f"operand {index} of the operands ({', '.join(names)}) is {operand.type}"


def operands_share_dtype(operator: Operator, scope: Scope) -> Texts:
    """Operands that the record promotes have one dtype."""
    definition = find(operator.name)
    if definition is None or not definition.promote:
        return
    dtypes = {
        operand.type.dtype.name: None
        for index, operand in enumerate(operator.operands)
        if is_promoted(definition, index) and isinstance(operand.type, TensorType)
    }
    if len(dtypes) > 1:
        yield f"its operands have the dtypes {', '.join(dtypes)}"


def attributes_fit_record(operator: Operator, scope: Scope) -> Texts:
    """All attributes of the record are given, and no others."""
    definition = find(operator.name)
    if definition is None:
        return
    for name in definition.attributes:
        if name not in operator.attributes:
            yield f"the attribute `{name}` is missing"
    for name in operator.attributes:
        if name not in definition.attributes:
            yield f"its record has no attribute `{name}`"


def attributes_are_of_their_kind(operator: Operator, scope: Scope) -> Texts:
    """Every attribute has a value of the kind that the record names."""
    definition = find(operator.name)
    if definition is None:
        return
    types = [operand.type for operand in operator.operands]
    for name, kind in definition.allowed.items():
        value = operator.attributes.get(name, kind.default)
        if value is not kind.default and not kind.fits(value, types):
            yield f"`{name}` is {value!r:.80}, not {kind.what}"


def results_are_typed_by_rule(operator: Operator, scope: Scope) -> Texts:
    """The results have the types that the shape rule gives."""
    definition = find(operator.name)
    if definition is None or operator.name in _TYPED_BY_THEMSELVES:
        return
    if set(operator.attributes) != set(definition.attributes):
        return  # said by another rule
    if any(attributes_are_of_their_kind(operator, scope)):
        return
    try:
        wrong, missing = _by_rule(operator, definition, scope)
    except _REFUSALS as error:
        if isinstance(error, ShapeError) and current().is_impossible:
            return  # nothing runs here that sizes could stop
        yield f"the shape rule refuses: {error or type(error).__name__}"
        return
    if (wrong or missing) and not _was_known(operator, definition, scope):
        yield from wrong
        scope.missing = missing


def _by_rule(
    operator: Operator, definition: OperatorDefinition, scope: Scope
) -> tuple[list[str], list[Condition]]:
    """What is wrong with the types of the results, and what the rule needs that is not known."""
    with collect() as required, fresh_symbols_from(_FRESH):
        types = infer(definition, [v.type for v in operator.operands], operator.attributes)
    recorded, wrong = [result.type for result in operator.results], []
    # Types of lists have no ranges of sizes that differ by element: engines check those.
    in_range = not any(isinstance(v.type, ArrayType) for v in operator.operands)
    if len(recorded) == len(types) and all(a is b for a, b in zip(recorded, types, strict=True)):
        agree = True
    else:
        # Sizes that only the data decides have other symbols each time the rule is asked: both ways
        # symbols of one's own stand for symbols of the other, and for nothing else.
        is_free = scope.is_free
        agree = matches(types, recorded, is_free, in_range) and matches(
            recorded, types, is_free, False
        )
    if not agree:
        given = f"the rule gives {_types_shown(types)}"
        wrong.append(f"its results have {_types_shown(recorded)}; {given}")
    missing = [
        constraint.condition
        for constraint in required
        if all(symbol in scope.symbols for symbol in symbols(constraint.condition))
    ]
    return wrong, missing


def _was_known(operator: Operator, definition: OperatorDefinition, scope: Scope) -> bool:
    """Whether the rule is fulfilled by what was known when the operator was recorded."""
    if current().is_impossible:
        return False
    for earlier in stages(current()):
        try:
            with using(earlier):
                wrong, missing = _by_rule(operator, definition, scope)
        except _REFUSALS:  # sizes do not fit before later constraints say more
            continue
        if not wrong and all(decided(condition) for condition in missing):
            return True
    return False


def needs_are_required(operator: Operator, scope: Scope) -> Texts:
    """What a shape rule needs of sizes is required by the Program, or by an operator before."""
    for condition in scope.missing:
        yield f"its rule needs {condition}, which the Program does not require"
    scope.missing = []


# -- control flow -----------------------------------------------------------------------------


def blocks_belong_to_control_flow(operator: Operator, scope: Scope) -> Texts:
    """`cond` and `while` have two Blocks, all other operators none."""
    wanted = 2 if operator.name in CONTROL_FLOW else 0
    if find(operator.name) and len(operator.blocks) != wanted:
        yield f"it has {len(operator.blocks)} Blocks, not {wanted}"
    if operator.blocks and scope.depth >= MAX_BLOCK_DEPTH:
        yield f"Blocks are nested deeper than {MAX_BLOCK_DEPTH}"


def cond_is_closed(operator: Operator, scope: Scope) -> Texts:
    """A `cond` is a bool and what its Blocks take."""
    if operator.name != "cond" or len(operator.blocks) != 2:
        return
    if not operator.operands or not _is_bool(operator.operands[0].type):
        yield "the first operand is no 0-d bool"
    captured = operator.operands[1:]
    for what, block in zip(("true", "false"), operator.blocks, strict=True):
        yield from _fits(captured, block.parameters, f"the {what} Block's parameters", scope)


def block_yields_the_results(operator: Operator, index: int, scope: Scope) -> Texts:
    """Branches and iterations yield results, and what the next one takes, as is known there."""
    if len(operator.blocks) != 2:
        return
    yields = operator.blocks[index].yields
    if operator.name == "cond":
        place = f"the {('true', 'false')[index]} Block's yields"
        yield from _fits(yields, operator.results, place, scope)
    elif operator.name == "while" and index == 1:
        for what, block in zip(("condition", "body"), operator.blocks, strict=True):
            place = f"the iteration's yields as the {what}'s parameters"
            carried = block.parameters[: len(operator.results)]
            yield from _fits(yields, carried, place, scope)
        yield from _fits(yields, operator.results, "the body's yields", scope)


def while_is_closed(operator: Operator, scope: Scope) -> Texts:
    """A `while` is its loop variables and what its Blocks take."""
    if operator.name != "while" or len(operator.blocks) != 2:
        return
    condition, body = operator.blocks
    count = len(operator.results)
    if len(condition.yields) != 1 or not _is_bool(condition.yields[0].type):
        yield "the condition's Block does not yield one 0-d bool"
    for what, block in (("condition", condition), ("body", body)):
        yield from _fits(operator.operands, block.parameters, f"the {what}'s parameters", scope)
    yield from _fits(operator.operands[:count], operator.results, "the first values", scope)


def call_fits_its_function(operator: Operator, scope: Scope) -> Texts:
    """A `call` takes what the parameters of a function are, and gives what it yields."""
    if operator.name != CALL:
        return
    name = operator.attributes.get("function")
    function = scope.functions.get(name) if isinstance(name, str) else None
    if function is None:
        yield f"there is no function {name!r:.80}"
        return
    types = [operand.type for operand in operator.operands]
    if fitting_sizes(function, types) is None:
        wanted = [parameter.type for parameter in function.parameters]
        yield f"its operands do not fit: {_types_shown(types)} for {_types_shown(wanted)}"
        return
    with fresh_symbols_from(_FRESH):
        given = result_types(function, types)
    recorded = [result.type for result in operator.results]
    is_free = scope.is_free
    if not matches(given, recorded, is_free) or not matches(recorded, given, is_free, False):
        yield f"its results have {_types_shown(recorded)}; {name!r} gives {_types_shown(given)}"


def _is_bool(type: ValueType) -> bool:
    return isinstance(type, TensorType) and type.dtype.kind == "b" and type.rank == 0


def _fits(given: Sequence[Variable], places: Sequence[Variable], what: str, scope: Scope) -> Texts:
    """What is given may be more exact than its place: there a new symbol takes any size."""
    types, wanted = [v.type for v in given], [v.type for v in places]
    if not matches(types, wanted, scope.is_free):
        yield f"{what} do not fit: {_types_shown(types)} for {_types_shown(wanted)}"


# -- results and Blocks -----------------------------------------------------------------------


def results_are_made_once(operator: Operator, scope: Scope) -> Texts:
    """A Variable is made in one place, and knows it."""
    yield from _made(operator.results, operator, scope)


def _made(variables: Sequence[Variable], maker: Operator | Block, scope: Scope) -> Texts:
    for variable in variables:
        if variable in scope.made:
            yield f"{_shown(variable)} is made a second time"
        if variable.maker is not maker:
            yield f"{_shown(variable)} says that something else makes it"
        scope.made.add(variable)
        scope.values.add(variable)


def attribute_symbols_are_bound(operator: Operator, scope: Scope) -> Texts:
    """A symbol is used after a Variable whose size on some axis it is."""
    for name, value in operator.attributes.items():
        yield from _unbound(value, f"`{name}`", scope)


def result_symbols_are_bound(operator: Operator, scope: Scope) -> Texts:
    """A symbol is used after, or in, a Variable whose size on some axis it is."""
    yield from bind_symbols(operator.results, scope)


def bind_symbols(variables: Sequence[Variable], scope: Scope) -> Texts:
    """Bind the symbols that are sizes of these Variables, then look for others in their types."""
    for variable in variables:
        if isinstance(variable.type, TensorType):
            for size in variable.type.shape:
                if isinstance(size, Dim) and is_symbol(size):
                    scope.bind(size)
    for variable in variables:
        # The tensors of a list have sizes of their own: what is read from it binds them.
        if isinstance(variable.type, TensorType):
            yield from _unbound(variable.type.shape, f"the type of {_shown(variable)}", scope)


def _unbound(value: Any, where: str, scope: Scope) -> Texts:
    for symbol in symbols(value):
        if symbol not in scope.symbols:
            yield f"{where} has the size {symbol}, which nothing has bound before"


def types_are_sound(operator: Operator, scope: Scope) -> Texts:
    """Sizes are ints from 0 or Dims; element types are those that Programs have."""
    yield from _sound(operator.results)


def _sound(variables: Sequence[Variable]) -> Texts:
    for variable in variables:
        type = variable.type
        element = type.tensor if isinstance(type, ArrayType) else type
        if isinstance(type, ArrayType) and type.depth > MAX_LIST_DEPTH:
            yield f"{_shown(variable)} has lists nested deeper than {MAX_LIST_DEPTH}"
        if element is None:
            continue
        if not isinstance(element, TensorType):
            yield f"{_shown(variable)} has the type {type!r:.80}"
        elif element_text(element.dtype) is None:
            yield f"{_shown(variable)} has elements of {element.dtype}"
        elif not all(_is_size(size) for size in element.shape):
            yield f"{_shown(variable)} has the sizes {list(element.shape)}"


def _is_size(size: Any) -> bool:
    return isinstance(size, Dim) or (type(size) is int and size >= 0)


def block_parameters(block: Block, scope: Scope) -> Texts:
    """The parameters of a Block are made by it, once, and have sound types."""
    yield from _made(block.parameters, block, scope)
    yield from _sound(block.parameters)
    if scope.depth == 0:
        for symbol in origins(block.parameters):
            scope.bind(symbol)
    yield from bind_symbols(block.parameters, scope)


def block_yields(block: Block, scope: Scope) -> Texts:
    """A Block yields values that it has."""
    for index, variable in enumerate(block.yields):
        if variable not in scope.values:
            yield f"yield {index} ({_shown(variable)}) is not made in this Block"


# Those that hold before an operator runs, and so before its Blocks, and those of its results.
RULES_BEFORE: tuple[Rule, ...] = (
    record_exists,
    operator_knows_its_block,
    operands_are_defined,
    operands_fit_record,
    lists_stand_where_they_may,
    operands_share_dtype,
    attributes_fit_record,
    attributes_are_of_their_kind,
    blocks_belong_to_control_flow,
    cond_is_closed,
    while_is_closed,
    call_fits_its_function,
    results_are_typed_by_rule,
    needs_are_required,
    attribute_symbols_are_bound,
)
RULES_AFTER: tuple[Rule, ...] = (
    types_are_sound,
    results_are_made_once,
    result_symbols_are_bound,
)


# -- Programs ---------------------------------------------------------------------------------


def program_takes_inputs_and_state(program: Program) -> Texts:
    """The outermost Block takes the inputs, the parameters and the buffers, in this order."""
    wanted = [*program.inputs, *program.parameters.values(), *program.buffers.values()]
    if [id(v) for v in program.block.parameters] != [id(v) for v in wanted]:
        yield f"the Block takes {_names(program.block.parameters)}, not {_names(wanted)}"
    for name in program.parameters:
        if name in program.buffers:
            yield f"`{name}` is both a parameter and a buffer"
    for name, variable in program.state.items():
        type = variable.type
        if not isinstance(type, TensorType) or symbols(type.shape):
            yield f"`{name}` is {type}: parameters and buffers are tensors of known sizes"
    for name in program.trainable:
        if name not in program.state:
            yield f"`{name}` is trained and is no parameter or buffer"


def state_lies_on_a_mesh(program: Program) -> Texts:
    """What is said to lie on a mesh is there, and can lie so."""
    for name, (mesh, placements) in program.placements.items():
        known = program.state.get(name)
        if known is None:
            yield f"`{name}` lies on a mesh and is no parameter or buffer"
        elif not is_mesh(mesh) or not are_placements(placements):
            yield f"the placement of `{name}` is {mesh!r:.80}, {placements!r:.80}"
        elif isinstance(known.type, TensorType) and (
            why := misfit(mesh, placements, known.type.rank)
        ):
            yield f"the placement of `{name}` does not fit: {why}"


def updates_are_last_yields(program: Program) -> Texts:
    """The last yields are the new values of the buffers that are updated, with their types."""
    updates, yields = program.updates, program.block.yields
    if len(set(updates)) != len(updates) or len(updates) > len(yields):
        yield f"there are {len(yields)} yields, and updates of {', '.join(updates)}"
        return
    for name, variable in zip(updates, yields[len(yields) - len(updates) :], strict=True):
        known = program.state.get(name)
        if known is None:
            yield f"the update `{name}` is no parameter or buffer"
        elif known.type != variable.type:
            yield f"the update of `{name}` has type {variable.type}, not {known.type}"


def changes_are_outputs(program: Program) -> Texts:
    """What a call leaves in its arguments are outputs that exist."""
    count = len(program.outputs)
    for name, index in program.changes.items():
        if not 0 <= index < count:
            yield f"the new value of `{name}` is output {index} of {count}"


def structure_can_be_kept(program: Program) -> Texts:
    """The structure nests constants and outputs that exist; numbers are 0-d outputs."""
    yield from wrong_entries(program.structure, [output.type for output in program.outputs])


def symbols_have_one_range(scopes: Iterable[Scope]) -> Texts:
    """Symbols of one name have one range."""
    known: dict[str, Dim] = {}
    for symbol in (one for scope in scopes for one in scope.bound):
        other = known.setdefault(str(symbol), symbol)
        if other is not symbol:
            ranges = [f"{s.minimum} to {s.maximum}" for s in (other, symbol)]
            yield f"`{symbol}` ranges over {ranges[0]} and over {ranges[1]}"


def constraints_are_bound(program: Program, scope: Scope) -> Texts:
    """What the Program requires is about sizes that it has."""
    for located in program.constraints:
        for symbol in symbols(located.constraint.condition):
            if symbol not in scope.bound:
                yield f"{located.constraint.condition} has the size {symbol}, which nothing binds"


def constraints_are_few(program: Program) -> Texts:
    """What is required of sizes can be looked through in a second or two."""
    if len(program.constraints) > MAX_CONSTRAINTS:
        yield f"there are {len(program.constraints)} constraints, more than {MAX_CONSTRAINTS}"


def functions_are_blocks_of_their_own(program: Program) -> Texts:
    """A function is in no other Block, and knows its Program."""
    for name, block in program.functions.items():
        if block.parent is not None or block.program is not program:
            yield f"the function {name!r} is in another Block, or of another Program"


PROGRAM_RULES: tuple[Callable[[Program], Texts], ...] = (
    program_takes_inputs_and_state,
    state_lies_on_a_mesh,
    updates_are_last_yields,
    changes_are_outputs,
    structure_can_be_kept,
    functions_are_blocks_of_their_own,
    constraints_are_few,
)

# -- wording ----------------------------------------------------------------------------------


def _shown(variable: Variable) -> str:
    name = f"%{variable.name}" if variable.name else "a value"
    return f"{name}: {variable.type}"


def _names(variables: Sequence[Variable]) -> str:
    return f"({', '.join(variable.name or '?' for variable in variables)})"


def _types_shown(types: Sequence[Any]) -> str:
    return f"({', '.join(map(str, types))})"
