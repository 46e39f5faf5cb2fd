"""Peephole: prepares a Program for the OPU by transformations, each a pass of its own.

Peephole1   (conv(x) + c1) * c2       =>  conv(x) * c2 + c1 * c2, so that c2 can go into the weights
Peephole2   (x + c1) + c2             =>  x + (c1 + c2), and products likewise
Peephole3   add(concat(a, b), y)      =>  add(pad(b), add(pad(a), y)): no concat is materialised
Peephole4   matmul(flatten(transpose(x)), W)  =>  matmul(flatten(x), W with its rows permuted)
Peephole5   matmul(x, W)              =>  a 1 x 1 convolution, up to 2048 input channels
SkipOutputSoftmax                         the host computes the last softmax, on request only
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.core.base import FunctionPass, Sequential, function_pass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.graph import constant_of, count_uses
from dy2st.passes.core.module import Module
from dy2st.passes.core.registry import register
from dy2st.passes.forward_fold_scale_axis import FoldScaleAxis
from dy2st.passes.patterns.match import Match
from dy2st.passes.patterns.pattern import Operation, constant, made_by, op, value
from dy2st.passes.patterns.rewrite_pass import rewrite_pass
from dy2st.passes.patterns.rewriter import rewrite
from dy2st.passes.patterns.rule import Rule, rule
from dy2st_runtime.dims import Size, equal
from dy2st_runtime.ir import (
    F,
    Operator,
    Program,
    TensorType,
    Variable,
    apply,
    current_tracer,
    is_floating,
)

_x, _y = value(), value()
_c1, _c2 = constant(), constant()


def is_float(variable: Variable) -> bool:
    """Whether a tensor holds floats."""
    return is_floating(variable.tensor_type.dtype)


# -- 1: a scale through a bias --------------------------------------------------------------------


def _scale_rule(name: str) -> Rule:
    conv: Operation = getattr(op, name)(_x, _y)

    @rule(op.multiply(op.add(conv, _c1), _c2))
    def scale_through_bias(m: Match) -> Any:
        """(conv(x) + c1) * c2 -> conv(x) * c2 + c1 * c2."""
        m.require(is_float(m[conv]), "integers may overflow in another place")
        with np.errstate(all="ignore"):
            product = m.array(_c1) * m.array(_c2)
        are_finite = np.isfinite(m.array(_c2)).all() and np.isfinite(product).all()
        m.require(bool(are_finite), "infinity times x and times b may be inf - inf")
        return m[conv] * m[_c2] + m[_c1] * m[_c2]

    return scale_through_bias


Peephole1 = rewrite_pass(
    "Peephole1",
    [_scale_rule("conv"), _scale_rule("conv_transpose")],
    opt_level=1,
    required=["FoldConstant"],  # a bias is mostly a reshape of a constant
    doc="""A scale after a bias goes before it, where it can be put into the weights.

    >>> def f(x):
    ...     weight, bias = dy2st.ones([2, 3, 1, 1]), dy2st.arange(2.0)
    ...     return dy2st.nn.functional.conv2d(x, weight, bias) * 2.0
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> passes = dy2st.passes.Sequential([dy2st.passes.FoldBias(), dy2st.passes.Peephole1()])
    >>> [one.name for one in passes(f.main_program).operators][-1]
    'multiply'
    """,
)


# -- 2: constants in a row ------------------------------------------------------------------------


def _together(m: Match, function: Any) -> Any:
    """Both constants as one, so that the next in the row finds a constant again."""
    with np.errstate(all="ignore"):
        return np.asarray(function(m.array(_c1), m.array(_c2)))


@rule(op.add(op.add(_x, _c1), _c2))
def add_constants(m: Match) -> Any:
    """(x + c1) + c2 -> x + (c1 + c2)."""
    return m[_x] + _together(m, np.add)


@rule(op.multiply(op.multiply(_x, _c1), _c2))
def multiply_constants(m: Match) -> Any:
    """(x * c1) * c2 -> x * (c1 * c2)."""
    return m[_x] * _together(m, np.multiply)


@rule(op.subtract(op.subtract(_x, _c1), _c2))
def subtract_constants(m: Match) -> Any:
    """(x - c1) - c2 -> x - (c1 + c2)."""
    return m[_x] - _together(m, np.add)


def _where_exact(original: Rule, reassociate: bool) -> Rule:
    """The rule for integers, which wrap around the same way in any order; for floats on demand."""

    def replacement(m: Match) -> Any:
        m.require(constant_of(m[_x]) is None, "FoldConstant folds what is all constant")
        wanted = "floats are rounded in another order: set the option `reassociate` to allow it"
        m.require(reassociate or m[_x].dtype.kind in "iub", wanted)
        return original.replace(m)

    replacement.__name__, replacement.__doc__ = original.name, original.doc
    return Rule(original.patterns, replacement)


_IN_A_ROW = (add_constants, multiply_constants, subtract_constants)


@function_pass(opt_level=1)
class Peephole2(FunctionPass):
    """Constants that are added or multiplied in a row become one: floats under `reassociate`.

    >>> f = dy2st.to_static(lambda x: (x + 1) + 2, [dy2st.static.InputSpec([3], "int64")])
    >>> better = dy2st.passes.Peephole2()(f.main_program)
    >>> [one.name for one in better.operators].count("add")
    1
    """

    def __init__(self, reassociate: bool | None = None):
        """None asks the option of the context."""
        self.reassociate = reassociate

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with fewer constants."""
        allowed = self.reassociate
        allowed = context.option("reassociate") if allowed is None else allowed
        rewrite(program, [_where_exact(entry, allowed) for entry in _IN_A_ROW], context)
        return program


# -- 3: a residual addition to a concat -----------------------------------------------------------


_joined = made_by("concat")


@rule(op.add(_joined, _y))
def pad_parts(m: Match) -> Any:
    """add(concat(a, b), y) -> add(pad(b), add(pad(a), y))."""
    concat = m[_joined].maker
    assert isinstance(concat, Operator)
    m.require(m.is_used_once(m[_joined]), "the result of `concat` has other users")
    m.require(constant_of(m[_y]) is None, "a constant is added, which is no residual")
    m.require(m[_y].type == m[_joined].type, "the other operand is broadcast")
    rank, total = m[_joined].ndim, m[_y]
    axis = concat.attributes["axis"] % rank
    begin: Size = 0
    end = m[_joined].shape[axis]
    for part in concat.operands:
        size = part.shape[axis]
        pads: list[Any] = [(0, 0)] * rank
        pads[axis] = (begin, end - begin - size)
        padded = apply("pad", part, pads=tuple(pads), mode="constant", value=0)
        total, begin = padded + total, begin + size
    return total


Peephole3 = rewrite_pass(
    "Peephole3",
    [pad_parts],
    opt_level=1,
    doc="""A residual addition to a concat becomes additions of padded parts.

    >>> f = dy2st.to_static(
    ...     lambda x, y, z: dy2st.concat([x, y], axis=1) + z,
    ...     [dy2st.static.InputSpec([1, c, 4, 4]) for c in (2, 2, 4)],
    ... )
    >>> [one.name for one in dy2st.passes.Peephole3()(f.main_program).operators]
    ['pad', 'add', 'pad', 'add']
    """,
)


# -- 4: a transpose before a flattened dense layer ------------------------------------------------

_weights = constant()
_transposed = op.transpose(_x)
_flat = op.reshape(_transposed)


@rule(op.matmul(_flat, _weights))
def transpose_into_weights(m: Match) -> Any:
    """matmul(flatten(transpose(x)), W) -> matmul(flatten(x), W with its rows permuted)."""
    x, perm = m[_x], m.attributes(_transposed)["perm"]
    shape, flat = m[_transposed].shape, m[_flat].tensor_type
    m.require(perm[0] == 0, "the transpose moves the batch")
    m.require(m[_weights].ndim == 2 and flat.rank == 2, "the product is of other ranks")
    m.require(equal(flat.shape[0], shape[0]), "the batch is flattened too")
    sizes = shape[1:]
    m.require(all(isinstance(size, int) for size in sizes), "a size of x is not known")
    w = m.array(_weights)
    inverse = [perm.index(axis) - 1 for axis in range(1, x.ndim)]
    moved = w.reshape(*sizes, w.shape[1]).transpose(*inverse, len(sizes)).reshape(w.shape)
    return F.matmul(F.reshape(x, list(flat.shape)), np.ascontiguousarray(moved))


Peephole4 = rewrite_pass(
    "Peephole4",
    [transpose_into_weights],
    opt_level=1,
    doc="""A transpose before a flattened dense layer goes into its weights.

    >>> def f(x):
    ...     y = dy2st.transpose(x, [0, 2, 3, 1]).flatten(1)
    ...     return y @ dy2st.arange(24.0).reshape([12, 2])
    >>> f = dy2st.to_static(f, [dy2st.static.InputSpec([1, 3, 2, 2])])
    >>> better = dy2st.passes.Peephole4()(dy2st.passes.FoldConstant()(f.main_program))
    >>> "transpose" in [one.name for one in better.operators]
    False
    """,
)


# -- 5: a dense layer as a convolution ------------------------------------------------------------


def _dense_rule(threshold: int) -> Rule:
    @rule(op.matmul(_x, _weights))
    def dense_to_conv(m: Match) -> Any:
        """matmul(x, W) -> conv of x as (n, c, 1, 1) with W as (o, c, 1, 1)."""
        x, w = m[_x], m.array(_weights)
        m.require(x.ndim == 2 and w.ndim == 2, "x or W is no matrix")
        m.require(constant_of(x) is None, "both operands are constants")
        m.require(is_float(x), "only floats are convolved")
        m.require(w.shape[0] <= threshold, "there are more than {} input channels", threshold)
        c, o = w.shape
        type, batch = x.tensor_type, x.tensor_type.shape[0]
        image = _typed("reshape", [x], {"shape": (batch, c, 1, 1)}, type)
        transposed = np.ascontiguousarray(w.T).reshape(o, c, 1, 1)
        kernel = _typed("constant", [], {"value": transposed}, type, transposed.shape)
        y = _typed("conv", [image, kernel], _POINTWISE, type, (batch, o, 1, 1))
        return _typed("reshape", [y], {"shape": (batch, o)}, type)

    return dense_to_conv


def _typed(
    name: str,
    operands: list[Variable],
    attributes: dict[str, Any],
    like: TensorType,
    shape: tuple[Size, ...] | None = None,
) -> Variable:
    """What an operator of known type gives: nothing is left to a shape rule to find out."""
    tracer = current_tracer()
    assert tracer is not None
    type = like.with_shape(attributes["shape"] if shape is None else shape)
    return tracer.append(name, operands, attributes, [type]).results[0]


_POINTWISE = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 1}


@function_pass(opt_level=1)
class Peephole5(FunctionPass):
    """Dense layers of up to `threshold` input channels become 1 x 1 convolutions.

    >>> f = dy2st.to_static(lambda x: x @ dy2st.ones([3, 2]), [dy2st.static.InputSpec([4, 3])])
    >>> better = dy2st.passes.Peephole5()(dy2st.passes.FoldConstant()(f.main_program))
    >>> "conv" in [one.name for one in better.operators]
    True
    """

    def __init__(self, threshold: int = 2048):
        """Choose the largest number of input channels."""
        self.rule = _dense_rule(threshold)

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program with convolutions in place of dense layers."""
        rewrite(program, [self.rule], context)
        return program


# -- the last softmax -----------------------------------------------------------------------------

EPILOGUES = ("softmax", "log_softmax", "sigmoid", "argmax")


@function_pass(opt_level=1)
class SkipOutputSoftmax(FunctionPass):
    """Outputs are what the last softmax, log_softmax, sigmoid or argmax would take.

    What was left out is kept in `module.epilogues[name][index]`, as name and attributes, for the
    host to compute. An operator whose result has other users stays, and so does an argmax, whose
    type differs, unless `argmax` is set.

    >>> f = dy2st.to_static(lambda x: dy2st.nn.functional.softmax(x), [dy2st.static.InputSpec([3])])
    >>> module = dy2st.passes.SkipOutputSoftmax()(dy2st.passes.Module({"f": f.main_program}))
    >>> module.programs["f"].operators, module.epilogues
    ([], {'<lambda>': {0: ('softmax', {'axis': 0})}})
    """

    def __init__(self, argmax: bool = False):
        """Choose whether argmax may go too."""
        self.names = EPILOGUES if argmax else EPILOGUES[:-1]

    def transform_function(self, program: Program, module: Module, context: PassContext) -> Program:
        """The Program without epilogues."""
        uses = count_uses(program)
        for index, output in enumerate(program.outputs):
            maker = output.maker
            if not isinstance(maker, Operator) or maker.name not in self.names:
                continue
            if uses[output] > 1:
                context.explain("skip_softmax", maker, "the result has other users")
                continue
            kept = module.epilogues.setdefault(program.name, {})
            if index in kept:
                context.explain("skip_softmax", maker, "an operator after it was left out already")
                continue
            kept[index] = (maker.name, dict(maker.attributes))
            program.block.yields[index] = maker.operands[0]
            program.block.operators.remove(maker)
        return program


class Peephole(Sequential):
    """Peephole1 to Peephole5 and FoldScaleAxis, with Peephole3 and 5 only for targets that ask.

    >>> [one.info.name for one in dy2st.passes.Peephole().passes]
    ['Peephole1', 'Peephole2', 'Peephole4', 'FoldScaleAxis']
    """

    def __init__(self, dense_to_conv: bool = False, pad_residuals: bool = False):
        """Choose what pays on the target alone."""
        members: list[Any] = [Peephole1(), Peephole2(), Peephole4()]
        members += [Peephole3()] * pad_residuals + [Peephole5()] * dense_to_conv
        super().__init__([*members, FoldScaleAxis()], opt_level=1, name="Peephole")


register("Peephole", Peephole)

__all__ = [
    "Peephole",
    "Peephole1",
    "Peephole2",
    "Peephole3",
    "Peephole4",
    "Peephole5",
    "SkipOutputSoftmax",
    "is_float",
]
