"""Lowers elementwise operators: scales and shifts by channel, residual sums, activations."""

from __future__ import annotations

import numpy as np

from dy2st.targets.opu import nodes
from dy2st.targets.opu.lowering import (
    LEAKY_SLOPE,
    Lowering,
    View,
    as_image,
    rule_of,
    static_shape,
)
from dy2st.targets.opu.nodes import Act, Add, Affine, Array, Concat, Node, Scale, Upsample
from dy2st.targets.opu.unmapped import Unmappable
from dy2st_runtime.ir import Operator, Variable

# -- scales, shifts and sums ----------------------------------------------------------------------


@rule_of("add", "subtract", "multiply", "divide")
def _arithmetic(low: Lowering, operator: Operator) -> View:
    left, right = operator.operands
    if low.array(right) is not None:
        return _with_constant(low, operator, left, right, is_reversed=False)
    if low.array(left) is not None:
        return _with_constant(low, operator, right, left, is_reversed=True)
    # a residual sum, or a product
    x = low.view(left)
    other = low.view(right)
    if operator.name == "subtract":
        minus = nodes.affine(
            other.node, -np.ones(other.node.channels), np.zeros(other.node.channels), operator
        )
        return _sum(operator, x, View(minus, other.shape))
    if operator.name == "multiply":
        shape = static_shape(operator.results[0])
        for one, two in ((x, other), (other, x)):
            swish = hard_swish(one.node, two.node, operator) if one.shape == two.shape else None
            if swish is not None:
                return View(swish, shape)
        for one, two in ((x, other), (other, x)):
            if _is_pixel(one, two) and one.shape == shape:
                scaled = Scale(inputs=[one.node, two.node], shape=one.node.shape, operator=operator)
                return View(scaled, shape)
        raise Unmappable("of two images, one has a single pixel for each channel of the other")
    if operator.name != "add":
        raise Unmappable("images are never divided by each other")
    return _sum(operator, x, other)


def _with_constant(
    low: Lowering, operator: Operator, image: Variable, number: Variable, is_reversed: bool
) -> View:
    """x * scale + shift."""
    x = low.view(image)
    shape = static_shape(operator.results[0])
    if shape != x.shape:
        raise Unmappable("a constant makes the image larger")
    constant = low.known(number, "a constant")
    if constant.size > 1:
        _check_mean(image)
    c = by_channel(constant, x).astype(np.float64)
    one, zero = np.ones_like(c), np.zeros_like(c)
    if operator.name == "divide" and is_reversed:
        raise Unmappable("the OPU does not divide by images")
    scale, shift = {
        "add": (one, c),
        "multiply": (c, zero),
        "subtract": (-one, c) if is_reversed else (one, -c),
        "divide": (one / c if c.all() else c * np.nan, zero),
    }[operator.name]
    if not np.isfinite(scale).all() or not np.isfinite(shift).all():
        raise Unmappable("a constant is not finite, or zero in a division")
    return View(nodes.affine(x.node, scale, shift, operator), shape)


def _check_mean(image: Variable) -> None:
    """Unmappable for a sum of windows that is divided by another number at the border."""
    maker = image.maker
    if not isinstance(maker, Operator) or maker.name != "window_sum":
        return
    pads, name = maker.attributes["pads"], f"avg_pool{len(maker.attributes['kernel'])}d"
    if not np.any(pads):
        return
    is_even = all(before == after for before, after in pads)
    cause = "`exclusive=True`" if is_even else "`exclusive=True` or `ceil_mode=True`"
    cure = "exclusive=False" if is_even else "exclusive=False, ceil_mode=False"
    raise Unmappable(
        f"{cause} leaves the padding out of the mean; the OPU divides every window by the same "
        f"number: write F.{name}(..., {cure})",
        name,
    )


def by_channel(array: Array, x: View) -> Array:
    """A constant as one number a channel."""
    channels = x.node.channels
    if array.size == 1:
        return np.full(channels, array.reshape(()))
    whole = array.reshape((1,) * (len(x.shape) - array.ndim) + array.shape)
    image = as_image(whole.shape) if len(whole.shape) in (2, 3, 4) else ()
    if as_image(x.shape) != (1, *x.node.shape) or image != (1, channels, 1, 1):
        raise Unmappable("a constant is one number, or one a channel, not one a pixel")
    return whole.reshape(channels)


def _is_pixel(x: View, scale: View) -> bool:
    """Whether a tensor has one number for every channel of an image."""
    channels = x.node.channels
    known = as_image(x.shape) == (1, *x.node.shape) and scale.node.shape == (channels, 1, 1)
    whole = (1,) * (len(x.shape) - len(scale.shape)) + scale.shape
    return known and as_image(whole) == (1, channels, 1, 1)


def _sum(operator: Operator, left: View, right: View) -> View:
    if left.shape != right.shape or left.node.shape != right.node.shape:
        raise Unmappable("a residual has the shape of what it is added to")
    return View(added(left.node, right.node, operator), left.shape)


def added(left: Node, right: Node, operator: Operator) -> Node:
    """The sum; of Concats with the same parts, those of the parts; x + x as 2 * x."""
    if left is right:
        twice = np.full(left.channels, 2.0)
        return nodes.affine(left, twice, np.zeros(left.channels), operator)
    if isinstance(left, Concat) and isinstance(right, Concat):
        pairs = list(zip(left.inputs, right.inputs, strict=False))
        if [a.channels for a, _ in pairs] == [b.channels for b in right.inputs]:
            return nodes.joined([added(a, b, operator) for a, b in pairs], operator)
    return Add(inputs=[left, right], shape=left.shape, operator=operator)


@rule_of("neg")
def _negative(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0])
    minus, zero = -np.ones(x.node.channels), np.zeros(x.node.channels)
    return View(nodes.affine(x.node, minus, zero, operator), x.shape)


def hard_swish(x: Node, gate: Node, operator: Operator) -> Node | None:
    """x * gate, if the gate is a number times min(max(x + 3, 0), 6); of Concats, by parts."""
    if isinstance(x, Concat) and isinstance(gate, Concat):
        if [part.channels for part in x.inputs] != [part.channels for part in gate.inputs]:
            return None
        pairs = zip(x.inputs, gate.inputs, strict=True)
        made = [hard_swish(part, of, operator) for part, of in pairs]
        known = [part for part in made if part is not None]
        return nodes.joined(known, operator) if len(known) == len(made) else None
    if isinstance(x, Upsample) and isinstance(gate, Upsample) and x.factors == gate.factors:
        small = hard_swish(x.inputs[0], gate.inputs[0], operator)
        return None if small is None else nodes.upsample(small, x.factors, operator)
    factor = _gate(x, gate)
    if factor is None:
        return None
    swish = nodes.act(x, operator, is_hard_swish=True)
    scale = np.full(x.channels, 6 * factor)
    return nodes.affine(swish, scale, np.zeros(x.channels), operator)


def _gate(x: Node, gate: Node) -> float | None:
    """k of a gate k * min(max(x + 3, 0), 6)."""
    factor = 1.0
    if isinstance(gate, Affine):
        if gate.shift.any() or np.ptp(gate.scale):
            return None
        factor, gate = float(gate.scale[0]), gate.inputs[0]
    if not isinstance(gate, Act) or not gate.has_limits or gate.low != 0 or gate.high is None:
        return None
    (base, scale, shift), (other, slope, offset) = _line(x), _line(gate.inputs[0])
    a = slope[0] / scale[0] if scale.all() else 0.0
    line = [a * scale, a * (shift + 3), np.full(x.channels, 6 * a)]
    wanted = [slope, offset, np.full(x.channels, gate.high)]
    is_same = all(np.allclose(p, q, rtol=1e-5, atol=1e-6) for p, q in zip(line, wanted))
    return factor * a if base is other and a > 0 and is_same else None


def _line(node: Node) -> tuple[Node, Array, Array]:
    """A node as base * scale + shift."""
    if isinstance(node, Affine):
        return node.inputs[0], node.scale, node.shift
    return node, np.ones(node.channels), np.zeros(node.channels)


# -- activations ----------------------------------------------------------------------------------


@rule_of("relu")
def _relu(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0])
    return View(nodes.act(x.node, operator, low=0.0), x.shape)


@rule_of("clip", "hardtanh", "relu6")
def _clip(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0])
    limits = {"min": 0.0, "max": 6.0} | operator.attributes
    node = x.node
    if limits["min"] is not None:
        node = nodes.act(node, operator, low=float(limits["min"]))
    if limits["max"] is not None:
        node = nodes.act(node, operator, high=float(limits["max"]))
    return View(node, x.shape)


@rule_of("leaky_relu")
def _leaky_relu(low: Lowering, operator: Operator) -> View:
    return _with_slope(low, operator, operator.operands[0], operator.attributes["negative_slope"])


@rule_of("maximum", "minimum")
def _extremum(low: Lowering, operator: Operator) -> View:
    left, right = operator.operands
    if low.array(left) is None and low.array(right) is None:
        # max(x, slope * x)
        x, other = (left, right) if _slope(low, left, right) is not None else (right, left)
        slope = _slope(low, x, other)
        if operator.name != "maximum" or slope is None or not 0 <= slope < 1:
            raise Unmappable("of two images, only x and a smaller slope * x are compared")
        return _with_slope(low, operator, x, slope)
    image, number = (left, right) if low.array(left) is None else (right, left)
    return _limited(low, operator, image, number, operator.name == "maximum")


def _slope(low: Lowering, x: Variable, other: Variable) -> float | None:
    """The number by which `other` is x times, if it is."""
    maker = other.maker
    is_product = isinstance(maker, Operator) and maker.name == "multiply"
    operands = maker.operands if is_product and isinstance(maker, Operator) else []
    if x not in set(operands):
        return None
    number = next((low.array(operand) for operand in operands if operand is not x), None)
    return None if number is None or number.size != 1 else float(number.reshape(()))


def _limited(
    low: Lowering, operator: Operator, image: Variable, number: Variable, is_lower: bool
) -> View:
    x = low.view(image)
    limit = low.known(number, "a limit")
    if limit.size != 1 or static_shape(operator.results[0]) != x.shape:
        raise Unmappable("a limit is one number for all channels")
    value = float(limit.reshape(()))
    node = nodes.act(
        x.node, operator, low=value if is_lower else None, high=None if is_lower else value
    )
    return View(node, x.shape)


_GREATER, _LESS = ("greater_than", "greater_equal"), ("less_than", "less_equal")


@rule_of("where")
def _where(low: Lowering, operator: Operator) -> View:
    """A limit, where(x < c, c, x); or a leaky relu, where(x > 0, x, x * slope)."""
    condition, yes, no = operator.operands
    test = condition.maker
    if not isinstance(test, Operator) or test.name not in (*_GREATER, *_LESS):
        raise Unmappable("a choice by element is a limit or a leaky relu only")
    x, bound = test.operands
    is_above = test.name in _GREATER
    if low.array(x) is not None:
        x, bound, is_above = bound, x, not is_above
    inside, other = (yes, no) if no is not x else (no, yes)
    if inside is not x or low.array(bound) is None:
        raise Unmappable("a choice by element is a limit or a leaky relu only")
    # `keeps` says that x stays where it is above the bound.
    keeps = is_above == (inside is yes)
    a, b = low.array(other), low.array(bound)
    if a is not None and b is not None and np.array_equal(np.squeeze(a), np.squeeze(b)):
        return _limited(low, operator, x, bound, is_lower=keeps)
    slope, zero = _slope(low, x, other), low.array(bound)
    if slope is None:
        raise Unmappable("a choice by element is a limit or a leaky relu only")
    if not keeps or zero is None or zero.any():
        raise Unmappable("a leaky relu has one slope, for numbers below zero")
    return _with_slope(low, operator, x, slope)


def _with_slope(low: Lowering, operator: Operator, x: Variable, slope: float) -> View:
    view = low.view(x)
    if static_shape(operator.results[0]) != view.shape:
        raise Unmappable("a constant makes the image larger")
    if slope == 0:
        return View(nodes.act(view.node, operator, low=0.0), view.shape)
    if slope != LEAKY_SLOPE and low.leaky == "refuse":
        raise Unmappable(f"the slope of a leaky relu is {LEAKY_SLOPE}, not {slope:g}")
    if slope != LEAKY_SLOPE:
        low.note(operator, f"the slope {slope:g} of a leaky relu becomes {LEAKY_SLOPE}")
    return View(nodes.act(view.node, operator, slope=LEAKY_SLOPE), view.shape)


__all__ = ["added", "by_channel"]
