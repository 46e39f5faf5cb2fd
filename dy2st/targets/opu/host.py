"""Computes on the host what stands before and behind the layers.

The tail is a Program from values that layers make, and from inputs, to the outputs of the model. It
always exists; where layers make the outputs themselves it has no operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.network import Array, Network, Tail
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError, counted
from dy2st_runtime.ir import Operator, Program, TensorType, Variable, apply
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.tensor import from_numpy

VIEWS = frozenset(("reshape", "transpose", "concat"))
"""The same elements in another form."""

FREE = VIEWS | {"split", "slice", "index", "cast", "softmax", "log_softmax", "sigmoid", "argmax"}
"""What the host computes at outputs without being asked."""


def host_part(
    program: Program,
    arrays: Mapping[Variable, Array],
    variables: Sequence[Variable],
    operators: Sequence[Operator],
) -> Tail:
    """The Program that computes the outputs from `variables`, by `operators`; and its constants."""
    tail = Program(name=f"{program.name} on the host", structure=program.structure)
    made: dict[Variable, Variable] = {}
    is_read = {operand for operator in operators for operand in operator.operands}
    is_read.update(program.outputs)
    own_inputs = [v for v in program.inputs if v in is_read.difference(variables)]
    for variable in (*variables, *own_inputs):
        made[variable] = tail.block.add_parameter(variable.type, variable.name)
        tail.inputs.append(made[variable])
    state: dict[str, Array] = {}
    for variable in (v for v in arrays if v in is_read):
        name = f"constant_{len(state)}"
        state[name] = arrays[variable]
        kind = TensorType(arrays[variable].dtype, arrays[variable].shape)
        made[variable] = tail.buffers[name] = tail.block.add_parameter(kind, name)
    for operator in operators:
        copy = Operator(
            operator.name,
            [made[operand] for operand in operator.operands],
            dict(operator.attributes),
            tail.block,
            list(operator.blocks),
            location=operator.location,
        )
        for result in operator.results:
            made[result] = Variable(result.type, copy, result.name)
            copy.results.append(made[result])
        tail.block.operators.append(copy)
    tail.block.yields = [made[output] for output in program.outputs]
    places = {variable: place for place, variable in enumerate(program.inputs)}
    return Tail(tail, state, [places[v] for v in own_inputs])


def as_images(network: Network, inputs: Sequence[Any]) -> list[Array]:
    """The model's inputs, of any batch, as the Network's: (n, h, w, c) in float32."""
    if len(inputs) != len(network.input_sizes):
        raise ArgumentError(
            f"the model has {counted(len(network.input_sizes), 'input')}, not {len(inputs)}"
        )
    found = []
    for place, (array, size) in enumerate(zip(inputs, network.input_sizes, strict=True)):
        if prod(size):
            found.append(_as_image(np.asarray(array), network.input_orders[place], size, place))
        else:
            found.append(np.zeros((len(array), 0, 0, 0), np.float32))
    return found


def _as_image(array: Array, order: str, size: tuple[int, ...], place: int) -> Array:
    _, high, wide, channels = size
    if not np.issubdtype(array.dtype, np.floating):
        raise DTypeError(f"input {place} is {array.dtype}: an array of floats is expected")
    # a single pixel may have been of any form
    forms = {"NHWC": (high, wide, channels), "NCL": (channels, high * wide)}
    is_form = array.shape[1:] == forms.get(order, (channels, high, wide))
    has_all = bool(array.shape) and prod(array.shape[1:]) == prod(size)
    if not has_all or not (is_form or high * wide == 1 or order == "NC"):
        wanted = f"{high} x {wide} pixels of {channels} channels, {order}"
        raise ShapeError(f"input {place} has the shape {list(array.shape)}, not {wanted}")
    if order == "NHWC":
        return array.reshape(-1, high, wide, channels).astype(np.float32)
    image = array.reshape(-1, channels, high, wide).astype(np.float32)
    return np.ascontiguousarray(image.transpose(0, 2, 3, 1))


def run_tail(network: Network, made: Sequence[Array], inputs: Sequence[Any] = ()) -> list[Array]:
    """The model's outputs, from what the layers of `network.outputs` make: reals (n, h, w, c).

    `inputs` are the model's own, wanted only if the host reads them. Images go one by one. Layers
    that were read from a file of others have no host: outputs are what they make, channels first.
    """
    tail = network.tail
    if tail is None:
        # of layers from a file of others: (n, c, h, w), of matrices (n, c)
        found = []
        for index, array in zip(network.outputs, made, strict=True):
            image = np.ascontiguousarray(array.transpose(0, 3, 1, 2))
            is_matrix = network.layer(index).type == LayerType.FULLY_CONNECTED
            found.append(image.reshape(len(image), -1) if is_matrix else image)
        return found
    if tail.inputs and not inputs:
        raise ArgumentError("the host reads inputs of the model: give them too")
    count = len(made[0])
    runs = []
    for n in range(count):
        values = []
        # Inputs of the model come after those that the OPU made, see the line below the loop.
        for array, variable in zip(made, tail.program.inputs, strict=False):
            shape = variable.tensor_type.shape
            first = array[n : n + 1].transpose(0, 3, 1, 2).reshape(shape)
            values.append(from_numpy(first.astype(variable.dtype, order="C")))
        values += [from_numpy(np.asarray(inputs[place])[n : n + 1]) for place in tail.inputs]
        state = {name: from_numpy(array) for name, array in tail.state.items()}
        outputs, _ = interpret(tail.program, values, state)
        for index, (name, attributes) in network.epilogues.items():
            outputs[index] = apply(name, outputs[index], **attributes)
        runs.append([np.asarray(output.numpy()) for output in outputs])
    return [np.concatenate([*map(np.atleast_1d, rows)]) for rows in zip(*runs, strict=True)]


__all__ = ["FREE", "VIEWS", "as_images", "host_part", "run_tail"]
