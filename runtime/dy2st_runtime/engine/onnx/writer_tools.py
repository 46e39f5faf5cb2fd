"""Nodes with graphs of their own, for single operators: a step along an axis, a repeated one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.graph import Graph
from dy2st_runtime.engine.onnx.library import DType
from dy2st_runtime.engine.onnx.nodes import BOOL, INT64, Value
from dy2st_runtime.engine.onnx.protos import graph_of


def scan(
    g: Graph,
    step: Callable[..., tuple[list[Value], list[Value]]],
    states: Sequence[Value],
    inputs: Sequence[Value],
    axis: int,
    dtypes: Sequence[DType],
    reverse: bool = False,
    axes: Sequence[int] | None = None,
) -> list[Value]:
    """What a step gives along an axis, from states and slices to states and slices."""
    # onnx.reference scans the first axis alone.
    axes = [axis] * len(inputs) if axes is None else axes
    rank = inputs[0].rank
    perm = [axis, *(place for place in range(rank) if place != axis)]
    inputs = [g.transpose(x, perm) if at == axis else x for x, at in zip(inputs, axes)]
    own = [Value(g.fresh("state"), one.dtype, one.shape) for one in states]
    rows = [Value(g.fresh("slice"), one.dtype, (one.shape or ())[1:]) for one in inputs]
    with g.nested() as scope:
        after, made = step(*own, *rows)
        outputs = [g.op("Identity", one) for one in (*after, *made)]
    body = graph_of(f"{g.place}_step", scope, [*own, *rows], outputs)
    names = [g.fresh(g.place) for _ in outputs]
    count = len(rows)
    directions = [int(reverse)] * count
    g.node(
        "Scan",
        [*states, *inputs],
        names,
        body=body,
        num_scan_inputs=count,
        scan_input_directions=directions if reverse else None,
        scan_output_directions=[1] * len(made) if reverse else None,
    )
    found = [
        Value(n, d, inputs[0].shape) for n, d in zip(names[len(states) :], dtypes, strict=True)
    ]
    back = [perm.index(place) for place in range(rank)]
    return [g.transpose(value, back) for value in found]


def repeat(
    g: Graph, count: Value, step: Callable[..., Sequence[Value]], states: Sequence[Value]
) -> list[Value]:
    """The states after so many steps; a step takes its number and the states."""
    number, going = Value(g.fresh("number"), INT64, ()), Value(g.fresh("going"), BOOL, ())
    own = [
        one.of_leaves(
            Value(g.fresh("state"), leaf.dtype, None, leaf.is_list) for leaf in one.leaves
        )
        for one in states
    ]
    with g.nested() as scope:
        after = [leaf for value in step(number, *own) for leaf in value.leaves]
        goes_on = g.op("Identity", going)
    inputs = [leaf for value in own for leaf in value.leaves]
    begin = [leaf for value in states for leaf in value.leaves]
    body = graph_of(f"{g.place}_step", scope, [number, going, *inputs], [goes_on, *after])
    made = [Value(g.fresh(g.place), one.dtype, None, one.is_list) for one in begin]
    names = [one.name for one in made]
    g.node("Loop", [count, g.const(np.True_), *begin], names, body=body)
    leaves = iter(made)
    return [one.of_leaves(leaves) for one in states]


def if_else(
    g: Graph, truth: Value, there: Callable[[], Value], otherwise: Callable[[], Value]
) -> Value:
    """What one of two functions writes, by a bool."""
    graphs: list[Any] = []
    value = truth
    for branch in (there, otherwise):
        with g.nested() as scope:
            value = branch()
        graphs.append(graph_of(f"{g.place}_branch", scope, [], [value]))
    name = g.fresh(g.place)
    g.node("If", [truth], [name], then_branch=graphs[0], else_branch=graphs[1])
    return Value(name, value.dtype, None, value.is_list)
