"""Groups the operators of a Program, after the passes of the pipeline `opu`, to a Network.

Operators become Nodes (`lowering.py`), Nodes become layers (`drafts.py`). What no layer computes is
refused with operator, line and reason, or left to the host together with all that follows it. What
is left to the host in any case moves or rounds off outputs: see `host.FREE`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dy2st.passes.core.module import Module
from dy2st.targets.opu import arithmetic, moves  # noqa: F401  (enter their rules)
from dy2st.targets.opu.canonical import connect, local
from dy2st.targets.opu.drafts import Draft, Grouping, reachable
from dy2st.targets.opu.host import FREE, VIEWS, host_part
from dy2st.targets.opu.layer import Activation, Layer, LayerType, Pooling
from dy2st.targets.opu.lowering import Lowering, View
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.nodes import Concat, Input, Node, problem
from dy2st.targets.opu.unmapped import Failure, Unmapped, UnmappedError
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import Operator, Variable


def group(
    module: Module, name: str = "", *, unmapped: str = "refuse", leaky: str = "approximate"
) -> Network:
    """A Network of the Program of that name in the Module, or of its only one.

    unmapped   "refuse" raises UnmappedError for what no layer computes, "host" leaves it, and what
               follows, to the host.
    leaky      "approximate" takes 1 / 8 for other slopes of a leaky relu, and says so in the notes;
               "refuse" takes them for unmapped.

    Raises ShapeError for a size that is not known, or a batch that is not 1.
    """
    if unmapped not in ("refuse", "host"):
        raise ArgumentError(f"unmapped is 'refuse' or 'host', not {unmapped!r}")
    if not name:
        if len(module.programs) != 1:
            names = ", ".join(module.programs)
            raise ArgumentError(f"the Module has the Programs {names}: name the one that is meant")
        name = next(iter(module.programs))
    if name not in module.programs:
        raise ArgumentError(f"there is no Program {name!r}; there are {', '.join(module.programs)}")
    low = Lowering(module.programs[name], module.state, leaky).run()
    # failures in place of values that need a step that no layer has
    bad: dict[Node, bool] = {}
    views = [view.node for view in low.values.values() if isinstance(view, View)]
    reasons: dict[Operator, str] = {}
    for node in reachable(views):
        reason = problem(node)
        bad[node] = bool(reason) or any(bad[source] for source in node.inputs)
        if reason and node.operator is not None:
            reasons.setdefault(node.operator, reason)
    for variable, view in low.values.items():
        if isinstance(view, View) and bad[view.node]:
            maker = variable.maker
            assert isinstance(maker, Operator)
            low.values[variable] = Failure(maker, reasons.get(maker, ""))
    cut = _cut(low)
    if unmapped == "refuse":
        # the host may have moves and epilogues to do, and nothing else
        blamed: set[Operator] = set()
        for operator in reversed(cut.operators):
            readers = {o for o in cut.operators if set(operator.results) & set(o.operands)}
            if operator.name not in FREE or readers & blamed or not cut.variables:
                blamed.add(operator)
        entries = _reasons([operator for operator in cut.operators if operator in blamed], low)
        if entries:
            raise UnmappedError(entries)
    else:
        low.notes += [f"{entry}: on the host" for entry in _reasons(cut.operators, low)]
    if not cut.variables:
        raise ArgumentError(f"nothing of the Program {name!r} is left for the OPU to compute")
    network = _network(low, cut)
    network.epilogues = dict(module.epilogues.get(name, {}))
    return network


# -- what runs where ------------------------------------------------------------------------------


@dataclass
class _Cut:
    """Values that layers make for the host, in the order in which they are first needed."""

    variables: list[Variable]
    operators: list[Operator]


def _cut(low: Lowering) -> _Cut:
    """Where the layers end: the host computes all that its outputs need from there on."""
    operators: set[Operator] = set()
    variables: dict[Variable, None] = {}
    todo = list(reversed(low.program.outputs))
    while todo:
        variable = todo.pop()
        if variable in variables or variable in low.arrays or variable.maker in operators:
            continue
        view, maker = low.values.get(variable), variable.maker
        # Parts are joined where the outputs are.
        if (
            isinstance(view, View)
            and isinstance(maker, Operator)
            and not (isinstance(view.node, Concat) and maker.name in VIEWS)
        ):
            variables[variable] = None
        elif isinstance(variable.maker, Operator):
            operators.add(variable.maker)
            todo += reversed(variable.maker.operands)
    order = [operator for operator in low.program.operators if operator in operators]
    return _Cut(list(variables), order)


_COMPARISONS = ("less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal")


def _reasons(operators: list[Operator], low: Lowering) -> list[Unmapped]:
    """Why operators have no layer, without those that only follow others."""
    entries = []
    for operator in operators:
        found = low.values.get(operator.results[0])
        if isinstance(found, Failure) and found.reason:
            entries.append(found.entry())
    # What compares only serves what chooses.
    return [entry for entry in entries if entry.operator not in _COMPARISONS] or entries


# -- layers ---------------------------------------------------------------------------------------


def _network(low: Lowering, cut: _Cut) -> Network:
    wanted = []
    for variable in cut.variables:
        view = low.values[variable]
        assert isinstance(view, View)
        wanted.append(view.node)
    grouping = Grouping(wanted)
    drafts = grouping.in_order()
    numbers = {draft.last: index for index, draft in enumerate(drafts, 1)}
    network = Network([])
    for index, draft in enumerate(drafts, 1):
        _add_layer(network, index, draft, numbers)
    network.outputs = [numbers[node] for node in wanted]
    inputs = {node.place: node for node in grouping.nodes if isinstance(node, Input)}
    for place in range(len(low.program.inputs)):  # zeros where no layer reads it
        channels, high, wide = inputs[place].shape if place in inputs else (0, 0, 0)
        network.input_sizes.append((int(place in inputs), high, wide, channels))
    network.input_orders = list(low.orders)
    network.notes = list(low.notes)
    network.tail = host_part(low.program, low.arrays, cut.variables, cut.operators)
    connect(network)
    return network


def _add_layer(network: Network, index: int, draft: Draft, numbers: dict[Node, int]) -> None:
    conv = draft.conv
    # the layers that make the sources, or the input that the only one is
    first = draft.sources[0]
    if isinstance(first, Input) and len(draft.sources) == 1:
        sources = [-first.place]
    else:
        sources = [numbers[source] for source in draft.sources]
    _, high, wide = draft.sources[0].shape
    channels = [source.channels for source in draft.sources]
    depth, tall, broad = draft.last.shape
    layer = Layer(
        index,
        _type_of(draft),
        sources,
        [],
        [1, high, wide, sum(channels)],
        [1, tall, broad, depth],
        padding_size=list(draft.pads),
        res_position=draft.res_position,
        upsample=draft.upsample,
        input_channels=channels,
    )
    if conv is not None:
        layer.ker_size = list(conv.weights.shape[:2])
        layer.ker_stride = list(conv.strides)
        layer.dilation = list(conv.dilations)
        layer.padding_size = [a + b for a, b in zip(conv.pads, draft.pads, strict=True)]
        layer.group = conv.group
        network.weights[index], network.biases[index] = conv.weights, conv.bias
    if draft.pool is not None:
        layer.pooling_type = Pooling(draft.pool.kind)
        layer.pooling_size = list(draft.pool.kernel)
        layer.pooling_stride = list(draft.pool.strides)
        layer.pool_padding_size = list(draft.pool.pads)
    if draft.act is not None:
        if draft.act.is_hard_swish:
            layer.activation_type = Activation.HARD_SWISH
        else:
            layer.activation_type = Activation.RELU if draft.act.slope is None else Activation.LEAKY
        layer.activation_limit = draft.act.high
    if draft.scale is not None:
        layer.scale_source = [numbers[draft.scale]]
    if draft.residual is not None:
        layer.residual_source = [numbers[draft.residual]]
        layer.residual = 1
    # the weight's name or the first operator's, and its line
    operators = [step.operator for step in (conv, *draft.steps) if step is not None]
    step = next((operator for operator in operators if operator is not None), None)
    is_named = conv is not None and conv.name
    layer.name = conv.name if is_named and conv else step.name if step else "copy"
    layer.location = str(step.location) if step is not None and step.location else ""
    network.layers.append(local(layer))


def _type_of(draft: Draft) -> LayerType:
    conv = draft.conv
    if conv is None:
        return LayerType.NONE if draft.scale is None else LayerType.SCALE
    if conv.is_dense:
        return LayerType.FULLY_CONNECTED
    return LayerType.TRANSPOSED if conv.is_transposed else LayerType.CONVOLUTION


__all__ = ["group"]
