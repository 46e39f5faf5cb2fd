"""Lowers the operators of a Program to Nodes.

Every Variable becomes a View: a Node, and the shape in which the Program sees its elements. What
has no Node becomes a Failure with the reason; whether that matters is decided later, for a pattern
over several operators, such as a leaky relu, may have no need of what lies in its middle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st.passes.core.graph import constant_of, count_uses, readers_of
from dy2st.targets.opu import nodes
from dy2st.targets.opu.layer import Pooling
from dy2st.targets.opu.nodes import Array, Concat, Conv, Input, Node, Pads, Pair, elements
from dy2st.targets.opu.unmapped import Failure, Unmappable
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import Operator, Program, TensorType, Variable, lookup
from dy2st_runtime.ir.definition import Effect
from dy2st_runtime.ir.functions import without_functions

Shape = tuple[int, ...]
LEAKY_SLOPE = 0.125
"""What the machine multiplies negative numbers by."""


@dataclass(frozen=True)
class View:
    """A Node's elements, in the order (c, h, w), as a tensor of some shape."""

    node: Node
    shape: Shape

    def image(self) -> Node:
        """The Node, if its axes are those of the tensor."""
        if as_image(self.shape) != (1, *self.node.shape):
            raise Unmappable("an image was reshaped before it")
        return self.node


def as_image(shape: Shape) -> Shape:
    """(n, c, h, w) of a tensor (n, c), (n, c, l) or (n, c, h, w); the shape as it is, of others."""
    if len(shape) == 3:
        return (shape[0], shape[1], 1, shape[2])
    return (*shape, 1, 1) if len(shape) == 2 else shape


def static_shape(variable: Variable) -> Shape:
    """The sizes as numbers."""
    sizes = variable.tensor_type.shape
    return tuple(size for size in sizes if isinstance(size, int))


Rule = Callable[["Lowering", Operator], View | list[View]]
RULES: dict[str, Rule] = {}
"""By operator: Views of its results; Unmappable if there are none."""


def rule_of(*names: str) -> Callable[[Rule], Rule]:
    """Enter the rule of some operators."""

    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


INSTEAD = {"sigmoid": "hardsigmoid", "silu": "hardswish", "gelu": "hardswish"}
"""Steps of the OPU that are like operators that it has not."""


@dataclass
class Lowering:
    """The Views of one Program.

    leaky   "approximate" takes any slope for 1 / 8, and notes it; "refuse" does not.
    orders  for every input how its arrays become images: "NCHW", "NHWC", "NCL" or "NC".
    """

    program: Program
    state: dict[str, Array]
    leaky: str = "approximate"
    values: dict[Variable, View | Failure] = field(default_factory=dict)
    orders: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    uses: dict[Variable, int] = field(default_factory=dict)
    arrays: dict[Variable, Array] = field(default_factory=dict)

    def run(self) -> Lowering:
        """Look at every operator, in order."""
        if self.leaky not in ("approximate", "refuse"):
            raise ArgumentError(f"leaky is 'approximate' or 'refuse', not {self.leaky!r}")
        missing = sorted(set(self.program.state) - set(self.state))
        if missing:
            raise ArgumentError(f"the Module has no arrays for {', '.join(missing)}")
        if self.program.updates or self.program.changes:
            changed = ", ".join(sorted([*self.program.updates, *self.program.changes]))
            raise ArgumentError(f"the Program changes {changed}: trace the model after eval()")
        self.program = without_functions(self.program, "the OPU")
        _check_sizes(self.program)
        self.uses = count_uses(self.program)
        for name, variable in self.program.state.items():
            if name in self.state:
                self.arrays[variable] = self.state[name]
        for place, variable in enumerate(self.program.inputs):
            shape = static_shape(variable)
            order = {4: "NCHW", 3: "NCL", 2: "NC"}.get(len(shape), "")
            readers = readers_of(self.program.block).get(variable, [])
            is_output = variable in set(self.program.outputs)
            if len(shape) == 4 and readers and not is_output:
                order = _order_of_readers(readers, shape) or order
            self.orders.append(order)
            if not order or not variable.tensor_type.is_floating:
                continue
            if order == "NHWC":
                sizes = (shape[3], shape[1], shape[2])
            else:
                image = as_image((1, elements(shape)) if order == "NC" else shape)
                sizes = (image[1], image[2], image[3])
            view = View(Input(inputs=[], shape=sizes, place=place), shape)
            self.values[variable] = view
            if order == "NHWC":
                for reader in readers:
                    self.values[reader.results[0]] = View(view.node, (1, *sizes))
        for operator in self.program.operators:
            is_visible = lookup(operator.name).effect is Effect.VISIBLE
            is_read = any(result in self.uses for result in operator.results)
            if not operator.results or (is_visible and not is_read):
                self.note(operator, f"`{operator.name}` is left out: the OPU has no such step")
            elif operator.results[0] not in self.values:
                self._take(operator)
        return self

    def _take(self, operator: Operator) -> None:
        if operator.name == "constant":
            self.arrays[operator.results[0]] = operator.attributes["value"]
            return
        try:
            if operator.blocks:
                raise Unmappable("its branches or iterations are not known before it runs")
            if operator.name not in RULES:
                other = INSTEAD.get(operator.name)
                hint = f"; F.{other} is one, if the network is trained with it" if other else ""
                raise Unmappable(f"the OPU has no such step{hint}")
            made = RULES[operator.name](self, operator)
            views = made if isinstance(made, list) else [made]
        except Unmappable as why:
            failure = Failure(operator, str(why), why.of)
            self.values.update(dict.fromkeys(operator.results, failure))
            return
        self.values.update(zip(operator.results, views, strict=True))

    def view(self, variable: Variable) -> View:
        """What an operand is; Unmappable, without a reason, if an earlier operator failed."""
        found = self.values.get(variable)
        if found is None:
            raise Unmappable("an operand is no image")
        if isinstance(found, Failure):
            raise Unmappable("")
        return found

    def array(self, variable: Variable) -> Array | None:
        """The array of an operand that is known."""
        known = self.arrays.get(variable)
        return constant_of(variable) if known is None else known

    def known(self, variable: Variable, what: str) -> Array:
        """An operand's array; Unmappable if it is computed."""
        found = self.array(variable)
        if found is None:
            raise Unmappable(f"{what} is computed while the network runs")
        return found

    def note(self, operator: Operator, text: str) -> None:
        """Keep what the user must know though it is no error."""
        place = f"{operator.location}: " if operator.location else ""
        if f"{place}{text}" not in self.notes:
            self.notes.append(f"{place}{text}")

    # -- inputs ------------------------------------------------------------------------------


def _order_of_readers(readers: list[Operator], shape: Shape) -> str:
    """NHWC or NC, if an input is only read behind a transpose or flattened."""
    if all(r.name == "transpose" and tuple(r.attributes["perm"]) == (0, 3, 1, 2) for r in readers):
        return "NHWC"
    flat = (elements(shape),)
    results = [static_shape(r.results[0])[1:] for r in readers if r.name == "reshape"]
    is_flat = all(found in (flat, (*flat, 1, 1)) for found in results)
    return "NC" if len(results) == len(readers) and is_flat else ""


def _check_sizes(program: Program) -> None:
    """ShapeError for a size that is not known, or another batch than 1."""
    hint = "freeze it (dy2st.static.freeze), or make Programs for some sizes (dy2st.static.bucket)"
    for variable in program.inputs:
        for axis, size in enumerate(_sizes(variable)):
            if not isinstance(size, int):
                what = f"axis {axis} of the input {variable.name!r} has the unknown size {size}"
                raise ShapeError(f"{what}: the OPU needs numbers; {hint}")
    for operator in program.operators:
        for result in operator.results:
            unknown = [size for size in _sizes(result) if not isinstance(size, int)]
            if unknown:
                place = f"{operator.location}: " if operator.location else ""
                what = f"{place}a result of `{operator.name}` has the unknown size {unknown[0]}"
                raise ShapeError(f"{what}: the OPU needs numbers; {hint}")
    for variable in program.inputs:
        if _sizes(variable)[:1] not in ((), (1,)):
            what = f"the input {variable.name!r} has a batch of {_sizes(variable)[0]}"
            raise ShapeError(
                f"{what}: the OPU takes one image at a time; trace it for a batch of 1"
            )


def _sizes(variable: Variable) -> tuple[Any, ...]:
    return variable.type.shape if isinstance(variable.type, TensorType) else ()


# -- convolutions and products ------------------------------------------------------------------


@rule_of("conv")
def _conv(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0])
    weights, bias = _weights(low, operator)
    facts = operator.attributes
    shape = static_shape(operator.results[0])
    image = as_image(x.shape)
    if weights.ndim != 4 or len(image) != 4:
        raise Unmappable(f"a convolution along {weights.ndim - 2} axes has no layer")
    if image != (1, *x.node.shape):
        # of a flattened image: the kernel is all of the image
        o, per_group, high, wide = weights.shape
        flat = as_image(x.shape) == (1, elements(x.node.shape), 1, 1)
        is_plain = (high, wide) == (1, 1) and per_group == elements(x.node.shape)
        pads = _pads(operator.attributes["pads"])
        if not (flat and is_plain) or any(pads):
            raise Unmappable("an image was reshaped before it")
        matrix = weights.reshape(o, per_group).T
        node = _fully_connected(low, operator, x.node, matrix, bias)
        return View(node, static_shape(operator.results[0]))
    strides, dilations = _pair(facts["strides"]), _pair(facts["dilations"])
    node = _convolution(low, operator, x.node, weights, bias, strides, dilations)
    return View(node, shape)


def _weights(low: Lowering, operator: Operator) -> tuple[Array, Array]:
    """Weights with two spatial axes, and a bias."""
    weights = low.known(operator.operands[1], "the weight")
    if weights.ndim == 3:
        weights = weights[:, :, None]
    rest = operator.operands[2:]
    channels = operator.results[0].tensor_type.shape[1]
    assert isinstance(channels, int)
    bias = low.known(rest[0], "the bias") if rest else np.zeros(channels)
    return weights.astype(np.float32), bias.astype(np.float32).reshape(-1)


def _pair(values: Any) -> Pair:
    high, wide = (1, *values) if len(values) == 1 else values
    return high, wide


def _pads(pads: Any) -> Pads:
    (top, bottom), (left, right) = ((0, 0), *pads) if len(pads) == 1 else pads
    return top, bottom, left, right


def _convolution(
    low: Lowering,
    operator: Operator,
    x: Node,
    weights: Array,
    bias: Array,
    strides: Pair,
    dilations: Pair,
) -> Node:
    pads, group = _pads(operator.attributes["pads"]), operator.attributes["groups"]
    if min(pads) < 0:
        raise Unmappable("a negative padding takes pixels away")
    o, _, high, wide = weights.shape
    if isinstance(x, Concat) and group == x.channels == o:
        # a depthwise convolution of every part
        made: list[Node] = []
        for part, begin, end in nodes.parts_of(x):
            cut = (weights[begin:end], bias[begin:end])
            node = _convolution(low, operator, part, *cut, strides, dilations)
            assert isinstance(node, Conv)
            node.group = part.channels
            made.append(node)
        return nodes.joined(made, operator)
    reach = (dilations[0] * (high - 1) + 1, dilations[1] * (wide - 1) + 1)
    return Conv(
        inputs=[x],
        shape=(o, *nodes.window_counts(x.shape, reach, strides, pads)),
        operator=operator,
        weights=np.ascontiguousarray(weights.transpose(2, 3, 1, 0)),
        bias=bias,
        strides=strides,
        pads=pads,
        dilations=dilations,
        group=group,
        is_dense=(high, wide, *x.shape[1:], *pads) == (1, 1, 1, 1, 0, 0, 0, 0) and group == 1,
        name=name_of(low, operator),
    )


def _fully_connected(
    low: Lowering, operator: Operator, x: Node, matrix: Array, bias: Array
) -> Node:
    """All of an image (c, h, w), in this order, times a matrix (c * h * w, o)."""
    kernel = matrix.astype(np.float32).reshape(*x.shape, -1).transpose(1, 2, 0, 3)
    return Conv(
        inputs=[x],
        shape=(matrix.shape[1], 1, 1),
        operator=operator,
        weights=np.ascontiguousarray(kernel),
        bias=bias.astype(np.float32),
        is_dense=True,
        name=name_of(low, operator),
    )


@rule_of("matmul")
def _matmul(low: Lowering, operator: Operator) -> View:
    first, second = operator.operands
    if low.array(first) is not None:
        raise Unmappable("a product is of an image and a known matrix on its right")
    x = low.view(first)
    matrix = low.known(second, "the right matrix")
    if matrix.ndim != 2 or x.shape[-1] != elements(x.node.shape) or elements(x.shape[:-1]) != 1:
        raise Unmappable("a product is of one vector and a matrix")
    node = _fully_connected(low, operator, x.node, matrix, np.zeros(matrix.shape[1]))
    return View(node, static_shape(operator.results[0]))


@rule_of("conv_transpose")
def _conv_transpose(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0]).image()
    weights, bias = _weights(low, operator)
    if weights.ndim != 4:
        raise Unmappable(f"a transposed convolution along {weights.ndim - 2} axes has no layer")
    shape = static_shape(operator.results[0])
    facts = operator.attributes
    # the weights (c, o / groups, ...) as (c, o, ...) with zeros between the groups
    c, per_group = weights.shape[:2]
    dense = np.zeros((c, per_group * facts["groups"], *weights.shape[2:]), np.float32)
    step = c // facts["groups"]
    for g in range(facts["groups"]):
        rows, columns = slice(g * step, (g + 1) * step), slice(g * per_group, (g + 1) * per_group)
        dense[rows, columns] = weights[rows]
    kernel = dense.transpose(2, 3, 0, 1)
    # zeros between the taps
    dilations = _pair(facts["dilations"])
    high, wide = ((n - 1) * d + 1 for n, d in zip(kernel.shape[:2], dilations, strict=True))
    whole = np.zeros((high, wide, *kernel.shape[2:]), np.float32)
    whole[:: dilations[0], :: dilations[1]] = kernel
    kernel = np.ascontiguousarray(whole)
    image, strides = as_image(shape), _pair(facts["strides"])
    # What is cut off behind: less than nothing, if the result is to be larger than the smallest.
    top, _, left, _ = _pads(facts["pads"])
    bottom = (x.shape[1] - 1) * strides[0] + kernel.shape[0] - top - image[2]
    right = (x.shape[2] - 1) * strides[1] + kernel.shape[1] - left - image[3]
    node = Conv(
        inputs=[x],
        shape=(image[1], image[2], image[3]),
        operator=operator,
        weights=kernel,
        bias=bias,
        strides=strides,
        pads=(top, bottom, left, right),
        is_transposed=True,
        name=name_of(low, operator),
    )
    return View(node, shape)


def name_of(low: Lowering, operator: Operator) -> str:
    """What the weight is called without `.weight`, or the path of the Layer, or the operator."""
    weight = operator.operands[1]
    names = [name for name, variable in low.program.state.items() if variable is weight]
    name = names[0] if names else weight.name
    own = operator.layer or operator.name
    return name.removesuffix(".weight") if name.endswith(".weight") else own


# -- pooling --------------------------------------------------------------------------------------


def _pooled(low: Lowering, operator: Operator, kind: Pooling) -> tuple[Node, View]:
    facts = operator.attributes
    x = low.view(operator.operands[0]).image()
    if len(facts["kernel"]) > 2:
        raise Unmappable("pooling along three axes has no layer")
    window = (_pair(facts["kernel"]), _pair(facts["strides"]), _pads(facts["pads"]))
    node = nodes.pool(x, kind, *window, operator)
    return node, View(node, static_shape(operator.results[0]))


@rule_of("window_max")
def _window_max(low: Lowering, operator: Operator) -> View:
    return _pooled(low, operator, Pooling.MAX)[1]


@rule_of("max_pool")
def _max_pool(low: Lowering, operator: Operator) -> list[View]:
    if low.uses.get(operator.results[1]):
        raise Unmappable("the places of the largest elements are used")
    return [_pooled(low, operator, Pooling.MAX)[1]] * 2


@rule_of("window_sum")
def _window_sum(low: Lowering, operator: Operator) -> View:
    mean, view = _pooled(low, operator, Pooling.AVERAGE)
    area = float(np.prod(operator.attributes["kernel"]))
    return View(_scaled(mean, area, operator), view.shape)


def _scaled(node: Node, factor: float, operator: Operator) -> Node:
    scale = np.full(node.channels, factor)
    return nodes.affine(node, scale, np.zeros(node.channels), operator)


@rule_of("mean", "max", "sum")
def _whole(low: Lowering, operator: Operator) -> View:
    x = low.view(operator.operands[0])
    # which of (n, c, h, w) every axis is
    place: tuple[int, ...]
    if len(x.shape) == 3 and x.shape == (1, *x.node.shape[:2]) and x.node.shape[2] == 1:
        place = (0, 1, 2)
    else:
        x.image()
        place = (0, 1, 3) if len(x.shape) == 3 else (0, 1, 2, 3)
    axes = {place[axis % len(x.shape)] for axis in operator.attributes["axis"]}
    spatial = {axis for axis in axes if (1, *x.node.shape)[axis] > 1}
    if not spatial <= {2, 3}:
        raise Unmappable("only the pixels of a channel are reduced, not channels")
    kind = Pooling.MAX if operator.name == "max" else Pooling.AVERAGE
    made = nodes.whole_pool(x.node, kind, (2 in spatial, 3 in spatial), operator)
    if operator.name == "sum":
        count = elements(x.node.shape[1:]) // elements(made.shape[1:])
        made = _scaled(made, float(count), operator)
    return View(made, static_shape(operator.results[0]))


__all__ = [
    "LEAKY_SLOPE",
    "RULES",
    "Lowering",
    "Rule",
    "Shape",
    "View",
    "as_image",
    "name_of",
    "rule_of",
    "static_shape",
]
