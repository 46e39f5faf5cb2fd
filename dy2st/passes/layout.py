"""ToNCHWLayout and ToNHWCLayout: choose the axis order for operators between convolutions.

    %0 = transpose(%x) {perm = [0, 3, 1, 2]}        %0 = transpose(%x) {perm = [0, 3, 1, 2]}
    %1 = conv(%0, %w)                               %1 = conv(%0, %w)
    %2 = transpose(%1) {perm = [0, 2, 3, 1]}   =>   %2 = relu(%1)
    %3 = relu(%2)                                   %3 = conv(%2, %v)
    %4 = transpose(%3) {perm = [0, 3, 1, 2]}        ...
    %5 = conv(%4, %v)

A convolution is always (n, c, ...); a model written for (n, ..., c) is recorded with transposes
around each. They are carried on behind whatever comes after them, its axes renamed and its
constants transposed, until they meet and cancel. The signature stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.passes.cancel_moves import RULES as CANCELLING
from dy2st.passes.core.base import FunctionPass, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import blocks_of, constant_of, recorded
from dy2st.passes.core.module import Module
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, any_operator, op, value
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.scale_axis import is_same_shape
from dy2st_runtime.ir import (
    DEFINITIONS,
    Kind,
    Operator,
    Program,
    TensorType,
    Variable,
    apply,
)
from dy2st_runtime.ir.clone import clone

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
_UNKNOWN_SIZE = 64  # counts for a size that is not known, when transposes are compared

Perm = tuple[int, ...]


def _transpose(x: Any, perm: Sequence[int]) -> Any:
    return apply("transpose", x, perm=tuple(perm))


_x = value()


def _unary_rule(transposed: Operation) -> Rule:
    pattern = any_operator(lambda known: known.kind is Kind.ELEMENTWISE, transposed)

    @rule(pattern)
    def sink(m: Match) -> Any:
        """f(transpose(x)) -> transpose(f(x))."""
        y = apply(m.operators[pattern].name, m[_x], **m.attributes(pattern))
        return _transpose(y, m.attributes(transposed)["perm"])

    return sink


def _broadcast_rule(count: int, transposed: Operation) -> Rule:
    places = [value() for _ in range(count)]
    pattern = any_operator(lambda known: known.kind is Kind.BROADCAST, *places)

    @rule(pattern)
    def sink_all(m: Match) -> Any:
        """f(transpose(x), transpose(y), constant) -> transpose(f(x, y, transposed constant))."""
        operands = [m[place] for place in places]
        perms = {perm for perm in map(_perm_of, operands) if perm is not None}
        m.require(len(perms) == 1, "the operands are not transposed in one way")
        perm = perms.pop()
        m.require(
            perm == transposed.attributes.get("perm", perm), "it is transposed in another way"
        )
        m.require(len(perm) == m[pattern].ndim, "an operand has more axes")
        back = [_transposed_back(m, operand, perm) for operand in operands]
        operator = m.operators[pattern]
        return _transpose(apply(operator.name, *back, **operator.attributes), perm)

    return sink_all


def _perm_of(variable: Variable) -> Perm | None:
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != "transpose":
        return None
    perm: Perm = maker.attributes["perm"]
    return perm


def _transposed_back(m: Match, operand: Variable, perm: Perm) -> Any:
    if _perm_of(operand) == perm:
        assert isinstance(operand.maker, Operator)
        return operand.maker.operands[0]
    if operand.ndim == 0:
        return operand
    array = constant_of(operand)
    m.require(array is not None, "an operand is neither transposed nor a constant")
    assert array is not None
    wide = array.reshape((1,) * (len(perm) - array.ndim) + array.shape)
    return np.ascontiguousarray(wide.transpose(tuple(np.argsort(perm).tolist())))


def _reduction_rule(transposed: Operation) -> Rule:
    pattern = any_operator(
        lambda known: known.kind is Kind.REDUCTION and isinstance(known.along, str), transposed
    )

    @rule(pattern)
    def sink_reduction(m: Match) -> Any:
        """mean(transpose(x), axes) -> transpose(mean(x, renamed axes))."""
        perm = m.attributes(transposed)["perm"]
        y, axes = _along_renamed(m, pattern, perm)
        if y.ndim == len(perm):
            return _transpose(y, perm)
        axes = axes if isinstance(axes, tuple) else (axes,)
        left = [axis for axis in perm if axis not in axes]
        return _transpose(y, [sorted(left).index(axis) for axis in left])

    return sink_reduction


def _along_renamed(m: Match, pattern: Operation, perm: Perm) -> tuple[Any, Any]:
    """The operator on x, along the axes that are called otherwise after a transpose; and these."""
    operator = m.operators[pattern]
    name: Any = DEFINITIONS[operator.name].along
    axis = operator.attributes[name]
    axes = tuple(sorted(perm[a] for a in axis)) if isinstance(axis, tuple) else perm[axis]
    return apply(operator.name, m[_x], **{**operator.attributes, name: axes}), axes


def _axis_rule(transposed: Operation) -> Rule:
    pattern = any_operator(
        lambda known: known.kind is Kind.OPAQUE and isinstance(known.along, str), transposed
    )

    @rule(pattern)
    def sink_axis(m: Match) -> Any:
        """softmax(transpose(x), axis) -> transpose(softmax(x, renamed axis))."""
        perm = m.attributes(transposed)["perm"]
        m.require(is_same_shape(m[transposed], m[pattern]), "it changes the shape")
        return _transpose(_along_renamed(m, pattern, perm)[0], perm)

    return sink_axis


def _pad_rule(transposed: Operation) -> Rule:
    pattern = op.pad(transposed)

    @rule(pattern)
    def sink_pad(m: Match) -> Any:
        """pad(transpose(x)) -> transpose(pad(x))."""
        perm, attributes = m.attributes(transposed)["perm"], dict(m.attributes(pattern))
        pads: list[Any] = [None] * len(perm)
        for axis, pad in zip(perm, attributes["pads"], strict=True):
            pads[axis] = pad
        attributes["pads"] = tuple(pads)
        return _transpose(apply("pad", m[_x], **attributes), perm)

    return sink_pad


_index = value(lambda v: v.tensor_type.rank == 1, "a vector of indices")


def _index_rule(transposed: Operation) -> Rule:
    pattern = op.index(transposed, _index)

    @rule(pattern)
    def sink_index(m: Match) -> Any:
        """index(transpose(x), i) along one axis -> transpose(index(x, i)) along the renamed one."""
        perm, axes = m.attributes(transposed)["perm"], m.attributes(pattern)["axes"]
        return _transpose(apply("index", m[_x], m[_index], axes=(perm[axes[0]],)), perm)

    return sink_index


_statistics = [value() for _ in range(4)]


def _batch_norm_rule(count: int, transposed: Operation) -> Rule:
    pattern = op.batch_norm(transposed, *_statistics[:count])

    @rule(pattern)
    def sink_batch_norm(m: Match) -> Any:
        """batch_norm(transpose(x)) -> transpose(batch_norm(x)) along the renamed axis."""
        perm, attributes = m.attributes(transposed)["perm"], m.attributes(pattern)
        axis = perm[attributes["axis"] % len(perm)]
        operands = [m[entry] for entry in _statistics[:count]]
        epsilon = attributes["epsilon"]
        return _transpose(apply("batch_norm", m[_x], *operands, axis=axis, epsilon=epsilon), perm)

    return sink_batch_norm


def _concat_rule(count: int, transposed: Operation) -> Rule:
    parts = [value() for _ in range(count)]
    pattern = op.concat(*parts)

    @rule(pattern)
    def sink_concat(m: Match) -> Any:
        """concat(transpose(x), transpose(y)) -> transpose(concat(x, y))."""
        operands = [m[part] for part in parts]
        perms = set(map(_perm_of, operands))
        perm = perms.pop()
        m.require(not perms and perm is not None, "the parts are not transposed in one way")
        assert perm is not None
        m.require(
            perm == transposed.attributes.get("perm", perm), "it is transposed in another way"
        )
        axis = perm[m.attributes(pattern)["axis"] % len(perm)]
        inner = [v.maker.operands[0] for v in operands if isinstance(v.maker, Operator)]
        return _transpose(apply("concat", *inner, axis=axis), perm)

    return sink_concat


def _sinking(transposed: Operation) -> tuple[Rule, ...]:
    """The rules that carry on transposes that fit a pattern."""
    return (
        _unary_rule(transposed),
        *(_broadcast_rule(count, transposed) for count in (2, 3)),
        _reduction_rule(transposed),
        _axis_rule(transposed),
        *(_concat_rule(count, transposed) for count in range(1, 9)),
        *(_batch_norm_rule(count, transposed) for count in (2, 3, 4)),
        _pad_rule(transposed),
        _index_rule(transposed),
    )


SINKING = _sinking(op.transpose(_x).shared())
# The inverse pass carries on what leads back to (n, c, h, w) only: else the two transposes that it
# puts after a convolution would go on together, and cancel where they began.
_SINKING_BACK = _sinking(op.transpose(_x, perm=TO_NCHW).shared())


@function_pass(opt_level=2)
class ToNCHWLayout(FunctionPass):
    """Carries transposes on until they cancel, if that moves fewer elements.

    >>> def f(x):
    ...     y = dy2st.transpose(x, [0, 3, 1, 2])
    ...     return dy2st.transpose(dy2st.relu(y), [0, 2, 3, 1])
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 8, 8, 3])])
    >>> better = dy2st.passes.ToNCHWLayout()(f.main_program)
    >>> [one.name for one in better.operators]
    ['relu']
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program in one layout, or as it was if that moves less."""
        before = moved_elements(program)
        if not before:
            return program
        original = clone(program)
        rewrite(program, [*CANCELLING, *SINKING], context)
        if moved_elements(program) > before:
            context.explain("layout", program.name, "more elements would be moved")
            return original
        return program


@function_pass(opt_level=2)
class ToNHWCLayout(FunctionPass):
    """The inverse: between convolutions and pools everything works with channels last.

    >>> def f(x):
    ...     return dy2st.nn.functional.conv2d(x, dy2st.ones([2, 3, 1, 1]))
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> better = dy2st.passes.ToNHWCLayout()(f.main_program)
    >>> [one.name for one in better.operators].count("transpose")
    0
    """

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with transposes around convolutions and pools."""
        for block in blocks_of(program):
            # what reads a convolution reads it transposed to channels last, and back
            replaced: dict[Variable, Variable] = {}
            operators, block.operators = block.operators, []
            for operator in operators:
                operator.operands = [replaced.get(v, v) for v in operator.operands]
                block.operators.append(operator)
                # windows lie along the axes behind the channels
                has_windows = "strides" in DEFINITIONS[operator.name].attributes
                if not has_windows or operator.results[0].tensor_type.rank != 4:
                    continue
                y = operator.results[0]

                def twice(y: Variable = y) -> Any:
                    return _transpose(_transpose(y, TO_NHWC), TO_NCHW)

                found = recorded(program, block, twice)
                if found is not None:
                    made, (back,) = found
                    for entry in made:
                        entry.location = operator.location
                    block.operators += made
                    replaced[y] = back
            block.yields = [replaced.get(v, v) for v in block.yields]
        rewrite(program, _SINKING_BACK, context)
        rewrite(program, CANCELLING, context)
        return program


def moved_elements(program: Program) -> int:
    """How many elements transposes move; sizes that are not known count as 64."""
    total = 0
    for block in blocks_of(program):
        for operator in block.operators:
            if operator.name != "transpose" or constant_of(operator.operands[0]) is not None:
                continue
            type = operator.results[0].type
            assert isinstance(type, TensorType)
            sizes = [size if isinstance(size, int) else _UNKNOWN_SIZE for size in type.shape]
            total += int(np.prod(sizes))
    return total


__all__ = ["ToNCHWLayout", "ToNHWCLayout", "moved_elements"]
