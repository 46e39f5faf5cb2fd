"""FoldConstant: what is made of constants alone is computed now.

    %0 = constant() {value = 2.0}               %0 = constant() {value = 6.0}
    %1 = constant() {value = 3.0}       =>      %1 = multiply(%x, %0)
    %2 = multiply(%0, %1)
    %3 = multiply(%x, %2)

The kernels are the engine's own, so a folded value has the very bits that it would have had. What
draws random numbers or has other effects stays, so does an operation that fails for its operands
(the Program fails there when it runs), and results that are much larger than what they are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, constant_operator
from dy2st.passes.core.module import Array, Module
from dy2st.passes.parameters import localise_constants
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import (
    DEFINITIONS,
    Effect,
    Operator,
    Program,
    TensorType,
    Variable,
    apply,
    eagerly,
)
from dy2st_runtime.ir.dead_code import drop_dead
from dy2st_runtime.ir.grad_mode import no_grad

LARGEST_CREATED = 1024
"""Elements of a constant that is made from no operand, like zeros: larger ones stay operators."""

_GROWTH = 4


@function_pass(opt_level=2)
class FoldConstant(FunctionPass):
    """Computes what is made of constants alone, now instead of at each call.

    The option `fold_constant.most_elements` bounds what is made of small constants.

    >>> f = dy2st.to_static(lambda x: x * (dy2st.ones([3]) + 1.0), [dy2st.static.InputSpec([3])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> [one.name for one in better.operators]
    ['constant', 'multiply']
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with constants in place of what is made of constants."""
        most = context.option("fold_constant.most_elements")
        for block in blocks_of(program):
            replaced: dict[Variable, Variable] = {}
            operators: list[Operator] = []
            known = {v for o in block.operators if o.name == "constant" for v in o.results}
            for operator in block.operators:
                if replaced:
                    operator.operands = [replaced.get(v, v) for v in operator.operands]
                if operator.name == "constant" or not known.issuperset(operator.operands):
                    operators.append(operator)
                    continue
                arrays = folded(operator, most, context)
                if arrays is None:
                    operators.append(operator)
                    continue
                for result, array in zip(operator.results, arrays, strict=True):
                    made = constant_operator(block, array, result)
                    made.location = operator.location
                    operators.append(made)
                    replaced[result] = made.results[0]
                    known.add(made.results[0])
            block.operators[:] = operators
            block.yields = [replaced.get(v, v) for v in block.yields]
            localise_constants(block)
        drop_dead(program)
        return program


def folded(operator: Operator, most: int, context: PassContext) -> list[Array] | None:
    """The results of an operator on constants; None, with the reason noted, if it must stay."""
    reason = _why_not(operator, most)
    if reason is not None:
        if operator.operands:
            context.explain("fold", operator, reason)
        return None
    arrays = [constant_of(operand) for operand in operator.operands]
    results = computed(operator, arrays)
    if results is None:
        context.explain("fold", operator, "it fails for these constants, when the Program runs")
    return results


def _why_not(operator: Operator, most: int) -> str | None:
    definition = DEFINITIONS[operator.name]
    if definition.effect is not Effect.PURE:
        return "it does more than compute its results"
    if operator.blocks:
        return "it holds Blocks"
    if any(_is_symbolic(value) for value in operator.attributes.values()):
        return "an attribute is known only when the Program runs"
    limit = most if operator.operands else LARGEST_CREATED
    limit = max(limit, _GROWTH * sum(_elements(v) or 0 for v in operator.operands))
    for result in operator.results:
        count = _elements(result)
        if count is None:
            return f"the size of its result {result.type} is not known"
        if count > limit:
            return f"its result has {count} elements, more than {limit}"
    return None


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_symbolic, value))
    return isinstance(value, (Dim, Condition))


def _elements(variable: Variable) -> int | None:
    type = variable.type
    if not isinstance(type, TensorType):
        return None
    count = 1
    for size in type.shape:
        if not isinstance(size, int):
            return None
        count *= size
    return count


def computed(operator: Operator, arrays: Sequence[Any]) -> list[Array] | None:
    """What the kernel gives; None where it fails or warns of integers that it cannot divide."""
    kernel = DEFINITIONS[operator.name].kernel
    integers = all(v.type.dtype.kind in "iub" for v in operator.results)  # type: ignore[union-attr]
    try:
        with np.errstate(all="raise" if integers and operator.operands else "ignore"):
            if kernel is not None:
                result = kernel(*arrays, **operator.attributes)
            else:
                with eagerly(as_recorded=True), no_grad():
                    given = apply(operator.name, *arrays, **operator.attributes)
                given = given if isinstance(given, (tuple, list)) else (given,)
                result = tuple(np.asarray(entry) for entry in given)
    except (ArithmeticError, ValueError, IndexError, Dy2stError):
        return None
    results = result if isinstance(result, (tuple, list)) else (result,)
    found = [np.asarray(entry) for entry in results]
    fits = all(
        isinstance(v.type, TensorType) and v.type.dtype == a.dtype and v.type.shape == a.shape
        for v, a in zip(operator.results, found, strict=True)
    )
    return found if fits else None


__all__ = ["LARGEST_CREATED", "FoldConstant", "computed", "folded"]
