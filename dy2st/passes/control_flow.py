"""SimplifyControlFlow: branches and loops whose course is known go.

    %0 = constant() {value = true}
    %1 = cond(%0, %x) ({ relu }, { exp })           =>      %1 = relu(%x)

A `cond` on a constant becomes the branch that is taken. A `while` of which the number of iterations
follows from constants becomes as many copies of its body: none where it has no iteration, at
most `unroll.most_iterations`, and never more operators than `unroll.most_operators`. What a `cond`
or `while` merely passes through is read directly.
"""

from __future__ import annotations

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.capture import first_captured
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, place_of
from dy2st.passes.core.module import Array, Module
from dy2st.passes.fold_constant import computed
from dy2st.passes.parameters import localise_constants
from dy2st_runtime.dims import using
from dy2st_runtime.ir import Block, Operator, Program, TensorType, Variable
from dy2st_runtime.ir.clone import copy_block, copy_operator
from dy2st_runtime.ir.dead_code import drop_dead, is_pure
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.ir.type_match import written_alike

Known = dict[Variable, Array]


@function_pass(opt_level=2)
class SimplifyControlFlow(FunctionPass):
    """Takes out branches whose condition is a constant, and loops that never run.

    >>> def f(x):
    ...     if dy2st.ones([]) > 0:
    ...         x = x + 1.0
    ...     return x
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.SimplifyControlFlow()(dy2st.passes.FoldConstant()(f.main_program))
    >>> "cond" in [one.name for one in better.operators]
    False
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with fewer branches and loops."""
        for block in blocks_of(program):
            localise_constants(block)
        walk = _Walk(context)
        with using(facts_of(program)):
            changed = walk.block(program.block)
        if walk.is_inexact:
            return rebuild(program)  # sizes that were joined are known now
        if changed:
            drop_dead(program)
        return program


class _Walk:
    """One walk over a Program, inner Blocks first."""

    def __init__(self, context: PassContext):
        self.context, self.is_inexact = context, False
        self.most_iterations = context.option("unroll.most_iterations")
        self.most_operators = context.option("unroll.most_operators")

    def block(self, block: Block) -> int:
        """Simplify what stands in a Block; how much has changed."""
        if not any(operator.blocks for operator in block.operators):
            return 0
        changed = 0
        replaced: dict[Variable, Variable] = {}
        old, block.operators = block.operators, []
        for operator in old:
            operator.operands = [replaced.get(v, v) for v in operator.operands]
            for inner in operator.blocks:
                changed += self.block(inner)
            results = self.results(operator, block)
            if results is None:
                block.operators.append(operator)
                results = _passed(operator)
            changed += bool(results)
            replaced.update(results)
        block.yields = [replaced.get(v, v) for v in block.yields]
        return changed

    def results(self, operator: Operator, block: Block) -> dict[Variable, Variable] | None:
        """The values of control flow whose course is known, None if it is not."""
        if operator.name == "cond":
            truth = constant_of(operator.operands[0])
            if truth is None:
                return None
            taken = operator.blocks[0 if truth.item() else 1]
            if not _is_exact(taken, operator.operands[1:], operator.results):
                self.is_inexact = True
                return None
            values = _inlined(taken, operator.operands[1:], block)
        elif operator.name == "while":
            iterations = self.iterations(operator)
            if iterations is None:
                return None
            begin, _ = first_captured(operator)
            carried, outer = operator.operands[:begin], operator.operands[begin:]
            for _ in range(iterations):
                carried = _inlined(operator.blocks[1], [*carried, *outer], block)
            values = list(carried)
        else:
            return None
        return dict(zip(operator.results, values, strict=True))

    def iterations(self, operator: Operator) -> int | None:
        """How many iterations a loop has, None if that is not known or too many."""
        condition, body = operator.blocks
        begin, _ = first_captured(operator)
        if not _is_exact(body, operator.operands, operator.results):
            self.context.explain("unroll", operator, "sizes change from iteration to iteration")
            return None
        if not all(is_pure(o) for o in condition.operators):
            self.context.explain("unroll", operator, "its condition does more than compute")
            return None
        size = sum(1 for _ in body.walk())
        values = [constant_of(v) for v in operator.operands[:begin]]
        for count in range(self.most_iterations + 1):
            if count * size > self.most_operators:
                break
            truth = _evaluated(condition, values, self.context)[0]
            if truth is None:
                self.context.explain("unroll", operator, "the number of iterations is not known")
                return None
            if not truth.item():
                return count
            values = _evaluated(body, values, self.context)
        self.context.explain("unroll", operator, "it has too many iterations")
        return None


def _is_exact(block: Block, operands: list[Variable], results: list[Variable]) -> bool:
    """Whether a Block works on the very sizes that go in and come out, no symbols for any."""
    pairs = [
        *zip(block.parameters, operands, strict=True),
        *zip(block.yields, results, strict=True),
    ]
    return all(written_alike(inner.type, outer.type) for inner, outer in pairs)


def _evaluated(block: Block, first: list[Array | None], context: PassContext) -> list[Array | None]:
    """What a Block yields, as far as it is made of known values."""
    known: Known = {}
    for parameter, array in zip(block.parameters, first, strict=False):
        if array is not None:
            known[parameter] = array
    for operator in block.operators:
        if operator.name == "constant":
            known[operator.results[0]] = operator.attributes["value"]
        elif operator.operands and all(v in known for v in operator.operands):
            arrays = [known[v] for v in operator.operands]
            small = all(array.size <= 16 for array in arrays)
            results = computed(operator, arrays) if small and _is_plain(operator) else None
            if results is not None:
                known.update(zip(operator.results, results, strict=True))
    return [known.get(v) for v in block.yields]


def _is_plain(operator: Operator) -> bool:
    """Whether it can be computed now: it does nothing else, and all sizes are known."""
    if operator.blocks or not is_pure(operator):
        return False
    if not all(isinstance(v.type, TensorType) for v in operator.results):
        return False
    return all(
        isinstance(size, int)
        for v in operator.results
        if isinstance(v.type, TensorType)
        for size in v.type.shape
    )


def _inlined(block: Block, operands: list[Variable], target: Block) -> list[Variable]:
    """Copies of the operators of a Block, at the end of another; what it would yield."""
    values = dict(zip(block.parameters, operands, strict=True))
    for operator in block.operators:
        made = copy_operator(operator, target, values)
        target.operators.append(made)
        for inner in operator.blocks:
            copied = Block(parent=target)
            made.blocks.append(copied)
            copy_block(inner, copied, values)
    return [values[v] for v in block.yields]


def _passed(operator: Operator) -> dict[Variable, Variable]:
    """Results of control flow that are one of its operands, whatever happens inside."""
    if not operator.blocks:
        return {}
    begin, own = first_captured(operator)
    passed = {}
    for index, result in enumerate(operator.results):
        outer = [_outer(operator, block, index, begin, own) for block in operator.blocks]
        if operator.name == "while":
            same = operator.blocks[1].yields[index] is operator.blocks[1].parameters[index]
            outer = [operator.operands[index] if same else None]
        if outer[0] is not None and all(v is outer[0] for v in outer):
            passed[result] = outer[0]
    return {old: new for old, new in passed.items() if written_alike(old.type, new.type)}


def _outer(operator: Operator, block: Block, index: int, begin: int, own: int) -> Variable | None:
    if operator.name == "while":
        return None
    value = block.yields[index]
    if value.maker is not block:
        return None
    return operator.operands[begin + place_of(value, block.parameters) - own]


__all__ = ["SimplifyControlFlow"]
