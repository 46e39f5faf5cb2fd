"""Makes one of several: CombineParallelConv2D, CombineParallelDense, CombineParallelBatchMatmul.

    %0 = matmul(%x, %a)                         %0 = matmul(%x, [a b c])
    %1 = matmul(%x, %b)             =>          %1, %2, %3 = split(%0)
    %2 = matmul(%x, %c)

Operators that multiply the same data with constant weights become one, and its result is split.
What follows every branch in one way comes along: elementwise operators, and constants by channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import (
    blocks_of,
    constant_of,
    count_uses,
    place_of,
    readers_of,
    recorded,
    replace_values,
)
from dy2st.passes.core.module import Array, Module
from dy2st_runtime.dims import same_shape, using
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import DEFINITIONS, Block, Operator, Program, TensorType, Variable, apply
from dy2st_runtime.ir.dead_code import drop_dead
from dy2st_runtime.ir.sizes import facts_of

Followers = list[tuple[list[Operator], int]]
"""Operators that all branches have in common, step by step, with the place of the data."""


class _CombineParallel(FunctionPass):
    """Every kind says which operators belong together, and along which axes things go."""

    weight_axis = 0

    def __init__(self, min_num_branches: int = 3):
        """How many branches there must be at least; ArgumentError below two."""
        if min_num_branches < 2:
            raise ArgumentError(f"there must be 2 branches or more, not {min_num_branches}")
        self.min_num_branches = min_num_branches

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with parallel operators combined."""
        uses = count_uses(program)
        combined = 0
        with using(facts_of(program)):
            for block in blocks_of(program):
                groups: dict[Any, list[Operator]] = {}
                for operator in block.operators:
                    key = self.key(operator)
                    if key is not None:
                        groups.setdefault(key, []).append(operator)
                readers, yields = readers_of(block), set(block.yields)
                replaced: dict[Variable, Variable] = {}
                before: dict[Operator, list[Operator]] = {}
                for group in groups.values():
                    if len(group) >= self.min_num_branches:
                        chain = _followers(group, *self._widths(group), readers, uses, yields)
                        made = self._combined(program, block, group, chain, replaced)
                        if made is not None:
                            before[group[0]] = made
                    elif len(group) > 1:
                        context.explain(self.info.name, group[0], f"only {len(group)} branches")
                if before:
                    block.operators = [
                        entry for o in block.operators for entry in (*before.get(o, ()), o)
                    ]
                    replace_values(block, replaced)
                combined += len(before)
        if combined:
            drop_dead(program)
        return program

    def key(self, operator: Operator) -> Any:
        """What operators of one group have in common, None for those that do not take part."""
        raise NotImplementedError

    def channel_axis(self, rank: int) -> int:
        """The axis of the result along which the branches lie side by side."""
        raise NotImplementedError

    def _combined(
        self,
        program: Program,
        block: Block,
        group: list[Operator],
        chain: Followers,
        replaced: dict[Variable, Variable],
    ) -> list[Operator] | None:
        """One operator, what follows it, and a split; what takes whose place is noted."""
        axis, widths = self._widths(group)
        data = group[0].operands[0]

        def record() -> Any:
            operands: list[Any] = [replaced.get(data, data)]
            for index in range(1, len(group[0].operands)):
                arrays = [constant_of(operator.operands[index]) for operator in group]
                along = self.weight_axis if index == 1 else 0
                operands.append(np.concatenate([a for a in arrays if a is not None], along))
            y = apply(group[0].name, *operands, **group[0].attributes)
            for followers, place in chain:
                operands = []
                for index in range(len(followers[0].operands)):
                    if index == place:
                        operands.append(y)
                        continue
                    pairs = zip(followers, widths, strict=True)
                    parts = [_along(o.operands[index], y.ndim, axis, width) for o, width in pairs]
                    operands.append(_together([part for part in parts if part is not None], axis))
                y = apply(followers[0].name, *operands, **followers[0].attributes)
            return apply("split", y, sections=tuple(widths), axis=axis)

        made = recorded(program, block, record)
        if made is None:
            return None
        operators, results = made
        for operator in operators:
            operator.location = group[0].location
        last = chain[-1][0] if chain else group
        for operator, new in zip(last, results, strict=True):
            old = operator.results[0]
            replaced[old] = new
            new.name = new.name or old.name
        return operators

    def _widths(self, group: Sequence[Operator]) -> tuple[int, list[int]]:
        """The axis along which the branches lie side by side, and how wide each of them is."""
        axis = self.channel_axis(group[0].results[0].tensor_type.rank)
        return axis, [_width(operator, axis) for operator in group]


def _width(operator: Operator, axis: int) -> int:
    size = operator.results[0].tensor_type.shape[axis]
    assert isinstance(size, int)
    return size


def _followers(
    group: list[Operator],
    axis: int,
    widths: list[int],
    readers: dict[Variable, list[Operator]],
    uses: dict[Variable, int],
    yields: set[Variable],
) -> Followers:
    """Operators that all branches have in common, step by step, with the place of the data."""
    chain: Followers = []
    values = [operator.results[0] for operator in group]
    while True:
        if any(uses.get(v, 0) != 1 or v in yields or v not in readers for v in values):
            return chain
        step = [readers[value][0] for value in values]
        places = [place_of(v, o.operands) for o, v in zip(step, values, strict=True)]
        if len(set(places)) > 1 or not _go_along(step, places[0], axis, widths):
            return chain
        chain.append((step, places[0]))
        values = [operator.results[0] for operator in step]


def _go_along(step: list[Operator], place: int, axis: int, widths: list[int]) -> bool:
    first = step[0]
    if not DEFINITIONS[first.name].is_elementwise:
        return False
    if any(o.name != first.name or o.attributes != first.attributes for o in step):
        return False
    for operator, width in zip(step, widths, strict=True):
        data, result = operator.operands[place].tensor_type, operator.results[0].tensor_type
        if data.with_dtype(result.dtype) != result:
            return False
        others = [v for i, v in enumerate(operator.operands) if i != place]
        if any(_along(v, data.rank, axis, width) is None for v in others):
            return False
    return True


def _along(variable: Variable, rank: int, axis: int, width: int) -> Array | None:
    """A constant, brought to the width of its branch; None if it cannot be."""
    array = constant_of(variable)
    if array is None or array.ndim > rank:
        return None
    array = array.reshape((1,) * (rank - array.ndim) + array.shape)
    if array.shape[axis] == width:
        return array
    if array.shape[axis] != 1:
        return None
    return np.repeat(array, width, axis)


def _together(parts: list[Array], axis: int) -> Array:
    shapes = [[*part.shape] for part in parts]
    for shape in shapes:
        shape[axis] = 1
    common = [max(sizes) for sizes in zip(*shapes, strict=True)]
    wide = []
    for part in parts:
        shape = [*common]
        shape[axis] = part.shape[axis]
        wide.append(np.broadcast_to(part, shape))
    return np.concatenate(wide, axis)


def _common_key(operator: Operator) -> tuple[Any, ...] | None:
    """Data, dtype, attributes; None unless all other operands are constants."""
    if any(constant_of(v) is None for v in operator.operands[1:]):
        return None
    if constant_of(operator.operands[0]) is not None:
        return None
    dtypes = tuple([v.tensor_type.dtype for v in operator.operands])
    attributes = tuple(operator.attributes.values())
    return (id(operator.operands[0]), dtypes, attributes, operator.results[0].tensor_type.rank)


@function_pass(opt_level=4)
class CombineParallelConv2D(_CombineParallel):
    """Convolutions of the same data, with the same kernel size and geometry and one group.

    >>> def f(x):
    ...     one, other = (dy2st.ones([2, 3, 1, 1]) * factor for factor in (1.0, 2.0))
    ...     return dy2st.nn.functional.conv2d(x, one), dy2st.nn.functional.conv2d(x, other)
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> better = dy2st.passes.CombineParallelConv2D()(better)
    >>> [one.name for one in better.operators].count("conv")
    2
    """

    def key(self, operator: Operator) -> Any:
        """Convolutions of one geometry."""
        if operator.name != "conv" or not same_shape([operator.attributes["groups"]], [1]):
            return None
        key = _common_key(operator)
        if key is None or operator.operands[1].tensor_type.rank != 4:
            return None
        return (*key, operator.operands[1].tensor_type.shape[1:])

    def channel_axis(self, rank: int) -> int:
        """The channels of the result."""
        return 1


@function_pass(opt_level=4)
class CombineParallelDense(_CombineParallel):
    """Matmuls of the same data with constant matrices, like query, key and value.

    >>> def f(x):
    ...     one, other = (dy2st.ones([3, 2]) * factor for factor in (1.0, 2.0))
    ...     return x @ one, x @ other
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([4, 3])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> better = dy2st.passes.CombineParallelDense()(better)
    >>> [one.name for one in better.operators].count("matmul")
    2
    """

    weight_axis = 1

    def key(self, operator: Operator) -> Any:
        """Products with matrices."""
        if operator.name != "matmul" or operator.operands[1].tensor_type.rank != 2:
            return None
        if operator.operands[0].tensor_type.rank < 2:
            return None
        return _common_key(operator)

    def channel_axis(self, rank: int) -> int:
        """The columns."""
        return rank - 1


@function_pass(opt_level=4)
class CombineParallelBatchMatmul(_CombineParallel):
    """Matmuls of the same data with constant stacks of matrices of the same number.

    >>> def f(x):
    ...     one, other = (dy2st.ones([5, 3, 2]) * factor for factor in (1.0, 2.0))
    ...     return x @ one, x @ other
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([5, 4, 3])])
    >>> better = dy2st.passes.FoldConstant()(f.main_program)
    >>> better = dy2st.passes.CombineParallelBatchMatmul()(better)
    >>> [one.name for one in better.operators].count("matmul")
    2
    """

    weight_axis = -1

    def key(self, operator: Operator) -> Any:
        """Products with stacks of matrices."""
        if operator.name != "matmul" or operator.operands[1].tensor_type.rank < 3:
            return None
        if operator.operands[0].tensor_type.rank < 2:
            return None
        key = _common_key(operator)
        type = operator.operands[1].type
        assert isinstance(type, TensorType)
        return key and (*key, type.shape[:-1])

    def channel_axis(self, rank: int) -> int:
        """The columns."""
        return rank - 1


__all__ = ["CombineParallelBatchMatmul", "CombineParallelConv2D", "CombineParallelDense"]
