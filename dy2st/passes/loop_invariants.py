"""HoistLoopInvariants: what every iteration of a loop computes anew is computed once, before it.

    %0 = while(%i, %x) ({ ... }, {              %0 = exp(%x)
      %1 = exp(%x)                      =>      %1 = while(%i, %0) ({ ... }, {
      ...                                         ...

A pure operator goes if its operands do not change from iteration to iteration and it cannot fail:
the loop may have no iteration, and the Program must not fail where the user's code would not. So
what comes after a check inside the loop goes only if it works for all sizes. Constants stay.
"""

from __future__ import annotations

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.capture import captured, first_captured
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import constant_of, constant_operator, replace_values
from dy2st.passes.core.module import Module
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir import (
    DEFINITIONS,
    Block,
    Effect,
    Kind,
    Operator,
    Program,
    TensorType,
    Variable,
)
from dy2st_runtime.ir.dead_code import drop_dead, is_pure
from dy2st_runtime.ir.failures import may_fail


@function_pass(opt_level=2)
class HoistLoopInvariants(FunctionPass):
    """Takes what every iteration computes alike out of loops.

    >>> def f(x, n):
    ...     y = x
    ...     for _ in range(n):
    ...         y = y + dy2st.exp(x)
    ...     return y
    >>> specs = [dy2st.static.InputSpec([3]), dy2st.static.InputSpec([], "int64")]
    >>> f = dy2st.to_static(f, specs)
    >>> better = dy2st.passes.HoistLoopInvariants()(f.main_program)
    >>> "exp" in [one.name for one in f.main_program.operators]
    False
    >>> "exp" in [one.name for one in better.operators]
    True
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with less work in its loops."""
        known: set[Dim] = set()
        for parameter in program.block.parameters:
            if isinstance(parameter.type, TensorType):
                known.update(symbols(parameter.type.shape))
        if _hoist_from(program.block, known):
            drop_dead(program)
        return program


def _hoist_from(block: Block, known: set[Dim]) -> int:
    """Take what is invariant out of the loops of a Block, inner loops first."""
    hoisted = 0
    old, block.operators = block.operators, []
    for operator in old:
        for inner in operator.blocks:
            hoisted += _hoist_from(inner, known)
        if operator.name == "while":
            is_checked = False
            for inner in operator.blocks:
                hoisted += _hoist(operator, inner, block, known, is_checked)
                is_checked = is_checked or any(map(_may_stop, inner.operators))
        block.operators.append(operator)
    return hoisted


def _hoist(loop: Operator, inner: Block, block: Block, known: set[Dim], is_checked: bool) -> int:
    """Take what is invariant out of one Block; is_checked: something before it may stop."""
    begin, own = first_captured(loop)
    pairs = zip(inner.parameters[own:], loop.operands[begin:], strict=True)
    outer: dict[Variable, Variable] = {p: v for p, v in pairs if p.type == v.type}
    kept: list[Operator] = []
    moved: list[Variable] = []
    for operator in inner.operators:
        may_go = _may_go(operator, outer, known)
        if not may_go or (is_checked and not _fits_all_sizes(operator)):
            kept.append(operator)
            is_checked = is_checked or _may_stop(operator)
            continue
        operator.operands = [_outside(v, outer, block) for v in operator.operands]
        operator.block = block
        block.operators.append(operator)
        for result in operator.results:
            outer[result] = result
            moved.append(result)
    inner.operators[:] = kept
    read = {v for o in kept for v in o.operands} | set(inner.yields)
    replaced = {v: captured(v, ((loop, inner),)) for v in moved if v in read}
    replace_values(inner, replaced)
    return len(moved)


def _may_go(operator: Operator, outer: dict[Variable, Variable], known: set[Dim]) -> bool:
    if operator.blocks or operator.name == "constant" or not operator.results:
        return False
    if DEFINITIONS[operator.name].effect is not Effect.PURE:
        return False
    if not all(v in outer or constant_of(v) is not None for v in operator.operands):
        return False
    if not all(isinstance(v.type, TensorType) for v in operator.operands):
        return False
    types = [v.type for v in operator.results]
    if not all(isinstance(type, TensorType) for type in types):
        return False
    sizes = [type.shape for type in types if isinstance(type, TensorType)]
    are_known = known.issuperset(symbols((*sizes, *operator.attributes.values())))
    return are_known and not may_fail(operator)


def _may_stop(operator: Operator) -> bool:
    """Whether what comes after it relies on its not having stopped the Program."""
    return not is_pure(operator) and DEFINITIONS[operator.name].effect is not Effect.RANDOM


def _fits_all_sizes(operator: Operator) -> bool:
    """Whether no relation of sizes has to hold for it."""
    kind = DEFINITIONS[operator.name].kind
    if kind is Kind.ELEMENTWISE:
        return True
    types = [v.tensor_type for v in (*operator.operands, *operator.results)]
    if kind is Kind.BROADCAST:
        return all(not t.rank or t.with_dtype(types[-1].dtype) == types[-1] for t in types)
    return not symbols((*(t.shape for t in types), *operator.attributes.values()))


def _outside(variable: Variable, outer: dict[Variable, Variable], block: Block) -> Variable:
    """The value before the loop; a constant is made there again."""
    if variable in outer:
        return outer[variable]
    array = constant_of(variable)
    assert array is not None
    made = constant_operator(block, array, variable)
    block.operators.append(made)
    return made.results[0]


__all__ = ["HoistLoopInvariants"]
