"""Branches and loops: If, Loop, Scan, SequenceMap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.importers.onnx.calls import Call, Maybe, Value, is_array, row, scalar
from dy2st.importers.onnx.graphs import Graph
from dy2st.importers.onnx.tables.sequences import as_array
from dy2st_runtime.dims import Dim, less_equal, symbols
from dy2st_runtime.errors import UnknownOperators
from dy2st_runtime.ir.dispatch import F, apply
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops.control_flow import cond, while_loop

# -- values as Variables, and back ------------------------------------------------------------


def _leaf(value: Value, is_maybe: bool) -> Any:
    """The Variable that a branch or iteration gives for a value."""
    if is_maybe:
        absent_or_one = [] if value is None else [as_array(value)]
        return value.array if isinstance(value, Maybe) else F.array_of(absent_or_one)
    if value is None:
        raise ValueError("an optional that is not there is given where a value must be")
    return as_array(value)


def _back(variable: Any, is_maybe: bool) -> Value:
    return Maybe(variable) if is_maybe else variable


def _is_decided(known: Any) -> bool:
    """Whether a condition that is known depends on no size."""
    return isinstance(known.reshape(-1)[0], (bool, np.bool_))


# -- If ---------------------------------------------------------------------------------------


@row("If")
def _if(n: Call) -> tuple[Value, ...]:
    chosen = n.known(0)
    branches = n.graph("then_branch"), n.graph("else_branch")
    if chosen is not None and _is_decided(chosen):
        taken = branches[0 if chosen.reshape(-1)[0] else 1]
        return tuple(n.reader.call(taken, [], n.scope))
    maybes = [
        any(one.type.HasField("optional_type") for one in pair)
        for pair in zip(branches[0].outputs, branches[1].outputs, strict=True)
    ]

    def run(graph: Graph) -> list[Any]:
        values = n.reader.call(graph, [], n.scope)
        return [_leaf(value, maybe) for value, maybe in zip(values, maybes, strict=True)]

    made = cond(scalar(n[0]), lambda: run(branches[0]), lambda: run(branches[1]), n.node.outputs)
    return tuple(_back(value, maybe) for value, maybe in zip(made, maybes, strict=True))


# -- Loop -------------------------------------------------------------------------------------


def _goes_on(body: Graph) -> bool:
    """Whether a body gives its condition on, or gives true: the count alone ends the loop."""
    makers = {name: node for node in body.nodes for name in node.outputs}
    name = body.output_names[0]
    while name in makers and makers[name].operator == "Identity":
        name = makers[name].inputs[0]
    if name in body.arrays:
        return bool(body.arrays[name].all())
    if name in makers and makers[name].operator == "Constant":
        value = makers[name].attributes.get("value")
        return value is not None and bool(np.all(value))
    return name == body.input_names[1]


@row("Loop")
def _loop(n: Call) -> tuple[Value, ...]:
    body, carried = n.graph("body"), n.inputs[2:]
    first = n.known(1)
    goes_on = (
        n[1] is None or (first is not None and _is_decided(first) and first.all())
    ) and _goes_on(body)
    if n[0] is None and goes_on:
        raise UnknownOperators("it never ends")
    limit = None if n[0] is None else F.cast(scalar(n[0]), "int64")
    maybes = [value is None or isinstance(value, Maybe) for value in carried]
    own, scans = len(carried), len(body.outputs) - 1 - len(carried)

    def test(i: Any, keep: Any, *_: Any) -> Any:
        if limit is None:
            return keep
        is_next = F.less_than(i, limit)
        return is_next if goes_on else F.logical_and(is_next, keep)

    def step(i: Any, keep: Any, *rest: Any) -> list[Any]:
        given = [_back(one, maybe) for one, maybe in zip(rest[:own], maybes, strict=True)]
        values = n.reader.call(body, [i, keep, *given], n.scope)
        new = [_leaf(v, maybe) for v, maybe in zip(values[1 : own + 1], maybes, strict=True)]
        more = [F.array_append(a, v) for a, v in zip(rest[own:], values[own + 1 :], strict=True)]
        return [i + 1, keep if goes_on else scalar(values[0]), *new, *more]

    start = [F.full([], 0, "int64"), F.full([], True, "bool") if n[1] is None else scalar(n[1])]
    start += [_leaf(value, maybe) for value, maybe in zip(carried, maybes, strict=True)]
    start += [F.array_of([]) for _ in range(scans)]
    found = while_loop(test, step, start, ["iteration", "condition", *body.input_names[2:]])
    known_count = n.known(0) if goes_on and n[0] is not None else None
    count = None if known_count is None else known_count.reshape(-1)[0]
    results = [_back(one, maybe) for one, maybe in zip(found[2 : own + 2], maybes, strict=True)]
    return (*results, *(stacked(one, count) for one in found[own + 2 :]))


def stacked(array: Variable, count: Any = None) -> Any:
    """The tensors that iterations have left, along a new first axis; none where none ran."""
    element = getattr(array.type, "element", None)
    if not isinstance(element, TensorType):
        raise UnknownOperators("it leaves nothing, or sequences, for each iteration")
    if isinstance(count, int) and count <= 0:
        return F.zeros([0, *_inner(element)], element.dtype)
    if count is not None and less_equal(1, count) is True:
        made = F.array_stack(array)
    else:
        (made,) = cond(
            F.greater_than(F.array_length(array), 0),
            lambda: [F.array_stack(array)],
            lambda: [F.zeros([0, *_inner(element)], element.dtype)],
        )
    return made if count is None else apply("reshape", made, shape=(count, *made.shape[1:]))


def _inner(element: TensorType) -> list[Any]:
    """The sizes of an element where there is none: those that are known here, 0 for others."""
    return [size if isinstance(size, int) or _is_of_inputs(size) else 0 for size in element.shape]


def _is_of_inputs(size: Dim) -> bool:
    tracer = current_tracer()
    assert tracer is not None
    types = [v.type for v in tracer.program.inputs if isinstance(v.type, TensorType)]
    from_outside = {
        one for type in types for own in type.shape if isinstance(own, Dim) for one in symbols(own)
    }
    return from_outside.issuperset(symbols(size))


# -- Scan -------------------------------------------------------------------------------------


@row("Scan")
def _scan(n: Call) -> tuple[Value, ...]:
    if n.version >= 9:
        return _scanned(n, n.inputs, n.get("scan_input_axes"), n.get("scan_input_directions"))
    if n[0] is not None:
        raise UnknownOperators("`sequence_lens` of version 8 is not read")
    batch = n[1].shape[0]
    if not isinstance(batch, int) or batch < 1:
        raise UnknownOperators("version 8 needs a batch whose size the model knows")
    samples = [
        _scanned(n, [F.getitem(one, i) for one in n.inputs[1:]], None, n.get("directions"))
        for i in range(batch)
    ]
    return tuple(F.stack([*parts], 0) for parts in zip(*samples, strict=True))


def _scanned(n: Call, inputs: Sequence[Any], axes: Any, directions: Any) -> tuple[Value, ...]:
    body, count = n.graph("body"), n.attributes["num_scan_inputs"]
    states, scans = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = axes or [0] * count
    directions = directions or [0] * count
    fronts = [F.moveaxis(x, axis, 0) if axis else x for x, axis in zip(scans, axes, strict=True)]
    length, own = fronts[0].shape[0], len(states)
    outputs = len(body.outputs) - own

    def step(i: Any, *rest: Any) -> list[Any]:
        parts = [
            F.getitem(x, length - 1 - i if backwards else i)
            for x, backwards in zip(fronts, directions, strict=True)
        ]
        values = n.reader.call(body, [*rest[:own], *parts], n.scope)
        new = [as_array(value) for value in values[:own]]
        more = [F.array_append(a, v) for a, v in zip(rest[own:], values[own:], strict=True)]
        return [i + 1, *new, *more]

    start = [F.full([], 0, "int64"), *states, *(F.array_of([]) for _ in range(outputs))]
    found = while_loop(
        lambda i, *_: F.less_than(i, length), step, start, ["iteration", *body.input_names[:own]]
    )
    made = [stacked(one, length) for one in found[own + 1 :]]
    backwards = n.get("scan_output_directions") or [0] * outputs
    made = [F.flip(y, [0]) if back else y for y, back in zip(made, backwards, strict=True)]
    places = n.get("scan_output_axes") or [0] * outputs
    made = [F.moveaxis(y, 0, place) if place else y for y, place in zip(made, places, strict=True)]
    return (*found[1 : own + 1], *made)


# -- SequenceMap ------------------------------------------------------------------------------


@row("SequenceMap")
def _map(n: Call) -> tuple[Value, ...]:
    """A graph for each element of a sequence, and of others beside it; tensors stay."""
    body, first = n.graph("body"), n[0]
    if isinstance(first, list):
        calls = []
        for place in range(len(first)):
            given = [one[place] if isinstance(one, list) else one for one in n.inputs]
            given = [F.array_read(one, place) if is_array(one) else one for one in given]
            calls.append(n.reader.call(body, given, n.scope))
        return tuple([call[k] for call in calls] for k in range(len(body.outputs)))
    sequences = [as_array(one) if isinstance(one, list) else one for one in n.inputs]

    def step(i: Any, *made: Any) -> list[Any]:
        given = [F.array_read(one, i) if is_array(one) else one for one in sequences]
        values = n.reader.call(body, given, n.scope)
        return [i + 1, *(F.array_append(a, v) for a, v in zip(made, values, strict=True))]

    start = [F.full([], 0, "int64"), *(F.array_of([]) for _ in body.outputs)]
    length = F.array_length(first)
    return tuple(while_loop(lambda i, *_: F.less_than(i, length), step, start)[1:])
