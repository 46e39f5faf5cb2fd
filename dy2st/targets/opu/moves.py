"""Lowers operators that move elements: shapes, concats, channels, padding, enlargement."""

from __future__ import annotations

import numpy as np

from dy2st.targets.opu import nodes
from dy2st.targets.opu.lowering import Lowering, View, as_image, rule_of, static_shape
from dy2st.targets.opu.unmapped import Unmappable
from dy2st_runtime.ir import Operator, Variable

_BY_CHANNEL = ("split", "slice", "index")


@rule_of("reshape", "assign", "detach", "cast")
def _reshape(low: Lowering, operator: Operator) -> View:
    shuffled = _shuffled(low, operator)
    if shuffled is not None:
        return shuffled
    x, result = low.view(operator.operands[0]), operator.results[0]
    if not result.tensor_type.is_floating:
        raise Unmappable("the OPU computes floats only")
    return View(x.node, static_shape(result))


def _shuffled(low: Lowering, operator: Operator) -> View | None:
    """Channels (g * k) as (k * g), written as reshape, transpose and reshape."""
    transposed = operator.operands[0].maker
    if not isinstance(transposed, Operator) or transposed.name != "transpose":
        return None
    cut = transposed.operands[0].maker
    if not isinstance(cut, Operator) or cut.name != "reshape":
        return None
    x = low.values.get(cut.operands[0])
    if not isinstance(x, View) or as_image(x.shape) != (1, *x.node.shape):
        return None
    middle, perm = static_shape(cut.results[0]), tuple(transposed.attributes["perm"])
    is_shuffle = len(middle) == len(x.shape) + 1 and perm == (0, 2, 1, *range(3, len(middle)))
    if not is_shuffle or (1, *middle[3:]) != (1, *x.shape[2:]):
        return None
    if static_shape(operator.results[0]) != x.shape:
        return None
    places = np.arange(x.node.channels).reshape(middle[1:3]).T.reshape(-1)
    push = low.uses[cut.operands[0]] == 1
    return View(nodes.chosen(x.node, places, operator, push), x.shape)


@rule_of("transpose")
def _transpose(low: Lowering, operator: Operator) -> View:
    x, perm = low.view(operator.operands[0]), operator.attributes["perm"]
    moved = [axis for axis in perm if x.shape[axis] > 1]
    if moved != sorted(moved):
        raise Unmappable("the OPU does not exchange axes")
    return View(x.node, static_shape(operator.results[0]))


@rule_of("concat")
def _concat(low: Lowering, operator: Operator) -> View:
    views = [low.view(operand) for operand in operator.operands]
    shape = static_shape(operator.results[0])
    if operator.attributes["axis"] % len(shape) != 1:
        raise Unmappable("parts are joined along channels only")
    sizes = {view.node.shape[1:] for view in views}
    flat = all(len(view.shape) == 2 for view in views)
    is_plain = all(as_image(view.shape) == (1, *view.node.shape) for view in views)
    if len(sizes) > 1 or not (flat or is_plain):
        raise Unmappable("parts of different heights and widths are joined")
    return View(nodes.joined([view.node for view in views], operator), shape)


# -- some channels ------------------------------------------------------------------------------


def _pushes(low: Lowering, variable: Variable) -> bool:
    """Whether all that is read of a map are some of its channels."""
    readers = [o for o in low.program.operators if variable in set(o.operands)]
    return all(reader.name in _BY_CHANNEL for reader in readers) and variable not in set(
        low.program.outputs
    )


@rule_of("split")
def _split(low: Lowering, operator: Operator) -> list[View]:
    variable = operator.operands[0]
    x = low.view(variable)
    node, facts = x.image(), operator.attributes
    if facts["axis"] % len(x.shape) != 1:
        raise Unmappable("an image is cut along its channels only")
    push, begin, made = _pushes(low, variable), 0, []
    for result in operator.results:
        shape = static_shape(result)
        places = np.arange(begin, begin + shape[1])
        begin += shape[1]
        made.append(View(nodes.chosen(node, places, operator, push), shape))
    return made


@rule_of("slice")
def _slice(low: Lowering, operator: Operator) -> View:
    variable, facts = operator.operands[0], operator.attributes
    x = low.view(variable)
    node = x.image()
    bounds = zip(facts["starts"], facts["stops"], facts["steps"], strict=True)
    taken = [list(range(*bound)) for bound in bounds]
    for axis, size in enumerate(x.shape):
        if axis != 1 and taken[axis] != list(range(size)):
            raise Unmappable("an image is cut along its channels only")
    if any(axis == 1 or x.shape[axis] > 1 for axis in facts["drop"]) or not taken[1]:
        raise Unmappable("no channels, or no pixels, are left")
    chosen = nodes.chosen(node, np.array(taken[1]), operator, _pushes(low, variable))
    return View(chosen, static_shape(operator.results[0]))


@rule_of("index")
def _index(low: Lowering, operator: Operator) -> View:
    """Channels in some order, or pixels that are repeated."""
    variable = operator.operands[0]
    x = low.view(variable)
    node, axes = x.image(), operator.attributes["axes"]
    places = low.known(operator.operands[1], "the place of an element")
    if len(axes) != 1 or len(operator.operands) != 2 or places.ndim != 1:
        raise Unmappable("single elements are looked up")
    shape = static_shape(operator.results[0])
    axis = axes[0] + (len(x.shape) == 3 and axes[0] == 2)
    if axis == 1:
        chosen = nodes.chosen(node, places % node.channels, operator, _pushes(low, variable))
        return View(chosen, shape)
    # how often each element is taken, in order
    size = (1, *node.shape)[axis]
    factor = len(places) // size
    if factor < 1 or not np.array_equal(places, np.repeat(np.arange(size), factor)):
        raise Unmappable("an image is enlarged by repeating every pixel equally often only")
    factors = (factor, 1) if axis == 2 else (1, factor)
    return View(nodes.upsample(node, factors, operator), shape)


# -- zeros around -------------------------------------------------------------------------------


@rule_of("pad")
def _pad(low: Lowering, operator: Operator) -> View:
    x, facts = low.view(operator.operands[0]), operator.attributes
    node, shape = x.image(), static_shape(operator.results[0])
    if facts["mode"] != "constant" or facts["value"] != 0:
        is_number = facts["mode"] == "constant"
        how = f"the number {facts['value']}" if is_number else f"the mode {facts['mode']!r}"
        raise Unmappable(f"the OPU pads with zeros, not by {how}")
    pads = [tuple(pair) for pair in facts["pads"]]
    if min(min(pair) for pair in pads) < 0:
        raise Unmappable("a negative padding takes pixels away")
    if any(pads[0]):
        raise Unmappable("the batch is padded")
    if any(pads[1]):
        before, after = pads[1]
        matrix = np.zeros((node.channels, before + node.channels + after))
        matrix[:, before : before + node.channels] = np.eye(node.channels)
        node = nodes.mixed(node, matrix, operator)
    high, wide = [(0, 0)] * (4 - len(shape)) + [(a, b) for a, b in pads[2:]]
    return View(nodes.padded(node, (*high, *wide), operator), shape)


__all__: list[str] = []
