"""`load`: from a file of ONNX to a Layer."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.onnx.graphs import Graph, GraphReader, Model, check_texts
from dy2st.importers.onnx.package import onnx
from dy2st.importers.onnx.reader import Reader, is_small
from dy2st.importers.onnx.tables import ROWS
from dy2st.importers.onnx.tensors import Array, TensorReader, dtype_of
from dy2st.importers.recording import layer_of, record
from dy2st_runtime.dims import Size, symbol
from dy2st_runtime.errors import ArgumentError, FormatError, MissingFile, SpecError
from dy2st_runtime.files import meant_file, naming
from dy2st_runtime.io import LoadedModel
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.join import size_of_elements
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType, is_floating

Shapes = Mapping[str, Sequence["int | str | None"]]
_LARGEST = 2**31 - 1


def load(path: Any, engine: str | None = None, *, shapes: Shapes | None = None) -> LoadedModel:
    """The model of an ONNX file as a Layer: call it with its inputs, in order or by name.

    Sizes that the model names (`dim_param`) are symbols of the Program; its float initialisers are
    parameters, which `train()` lets go. `shapes` replaces what the model says of inputs: a size is
    a number, a name, or None. `path` may be a `ModelProto`, or its bytes. `engine` names what runs
    it. Nothing outside of the model's folder is opened. Raises FormatError for what is no sound
    model, NotImplementedError for operators that are not read, all in one message.

    >>> from onnx import TensorProto, helper
    >>> x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 2]) for n in "xy")
    >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "net", [x], [y])
    >>> net = load(helper.make_model(graph))
    >>> net
    LoadedModel(forward(x: float32[batch, 2]))
    >>> import numpy
    >>> net(numpy.array([[-1.0, 2.0]], "float32")).tolist()
    [[0.0, 2.0]]
    """
    return layer_of(*program_of(path, shapes), engine)


def program_of(path: Any, shapes: Shapes | None = None) -> tuple[Program, dict[str, Array]]:
    """The Program of an ONNX model, and the arrays of its parameters and buffers: see `load`."""
    proto, folder, name = _proto_of(path)
    if not proto.HasField("graph") or not proto.ir_version:
        raise FormatError(f"{name} is no ONNX model: it has no graph")
    try:
        graph_reader = GraphReader(TensorReader(folder), ROWS)
        model = graph_reader.model(proto)
        proto = None
        reader = Reader(model, name, graph_reader)
        reader.checker.check()
        return _recorded(model, reader, shapes or {})
    except FormatError as error:
        text = str(error)
        raise FormatError(text if text.startswith(name) else f"{name}: {text}") from error


def _proto_of(path: Any) -> tuple[Any, Path | None, str]:
    """The parsed model, its folder, and how messages name it."""
    package = onnx()
    if isinstance(path, package.ModelProto):
        return path, None, path.graph.name or "the model"
    if isinstance(path, bytes):
        return _parsed(path, "the model"), None, "the model"
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"a model is named by its path, not {type(path).__name__}")
    file = Path(path)
    if not file.is_file():
        raise MissingFile(f"there is no file {file}{meant_file(file)}")
    with naming(file):
        if file.stat().st_size > _LARGEST:
            raise FormatError(
                f"{file.name} is larger than 2 GiB, which ONNX files never are: weights of that "
                "size lie beside the model (external data)"
            )
        data = file.read_bytes()
    return _parsed(data, file.name), file.parent, file.name


def _parsed(data: bytes, name: str) -> Any:
    proto = onnx().ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception as error:  # of protobuf, whose classes differ by its version
        if isinstance(error, (MemoryError, KeyboardInterrupt)):
            raise
        raise FormatError(f"{name} is no ONNX model, or is cut: {error}") from None
    return proto


def _recorded(model: Model, reader: Reader, shapes: Shapes) -> tuple[Program, dict[str, Array]]:
    graph = model.graph
    state: dict[str, Array] = {}
    trained = set()
    # What batch normalisation subtracts and divides by was measured, and is no weight.
    measured = {
        name
        for node in graph.walk()
        if node.operator == "BatchNormalization"
        for name in node.inputs[3:5]
    }
    for name, array, may_train in _arrays(graph):
        if not is_small(array) and not (array.size == 1 and not may_train):
            key = _free(name, state)
            state[key] = array
            if may_train and is_floating(array.dtype) and name not in measured:
                trained.add(key)
    sizes = _Sizes(graph)
    given = [one for one in graph.inputs if one.name not in graph.arrays]
    types = {one.name: sizes.type_of(one.type, one.name, shapes.get(one.name)) for one in given}
    unknown = [name for name in shapes if name not in types]
    if unknown:
        raise SpecError(f"the model has no input {unknown[0]!r}; it has {', '.join(types)}")

    def compute(inputs: Sequence[Any], variables: Mapping[str, Any]) -> Sequence[Any]:
        reader.arrays.update((variables[key], state[key]) for key in state)
        by_array = {id(state[key]): variables[key] for key in state}
        outputs = reader.record(dict(zip(types, inputs, strict=True)), by_array)
        return [reader.output(value) for value in outputs]

    program = record("forward", types, state, trained, compute)
    return program, {key: state[key] for key in program.state}


def _arrays(graph: Graph) -> list[tuple[str, Array, bool]]:
    """The arrays of a model by name, and whether they are initialisers."""
    found = [(name, array, True) for name, array in graph.arrays.items()]
    for node in graph.walk():
        for inner in node.graphs():
            found += [(name, array, True) for name, array in inner.arrays.items()]
        value = node.attributes.get("value")
        if node.operator == "Constant" and node.outputs and isinstance(value, np.ndarray):
            found.append((node.outputs[0], value, False))
    return found


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """A name that is not taken."""
    count, free = 1, name
    while free in taken:
        count, free = count + 1, f"{name}.{count}"
    return free


class _Sizes:
    """The symbols of a model's sizes, by the names that it gives them."""

    def __init__(self, graph: Graph):
        self._symbols: dict[str, Size] = {}
        self._taken: set[str] = set()

    def type_of(
        self,
        proto: Any,
        name: str,
        shape: Sequence[int | str | None] | None,
        in_list: bool = False,
    ) -> ValueType:
        """The type of an input; sizes that the tensors of a list have may differ."""
        kind = proto.WhichOneof("value")
        if kind in ("sequence_type", "optional_type"):
            inner = getattr(proto, kind).elem_type
            has_axes = shape is not None or inner.tensor_type.HasField("shape")
            is_tensor = inner.WhichOneof("value") == "tensor_type"
            if is_tensor and not has_axes:
                return ArrayType(None)  # as if nothing had been put into the list
            return ArrayType(self.type_of(inner, name, shape, True))
        if kind != "tensor_type":
            raise FormatError(f"the input {name!r} is no tensor, but {kind or 'nothing'}")
        tensor = proto.tensor_type
        dtype = dtype_of(tensor.elem_type)
        if shape is None:
            if not tensor.HasField("shape"):
                raise FormatError(
                    f"the model does not say how many axes its input {name!r} has: give "
                    f"shapes={{{name!r}: [...]}}, where a size is a number, a name, or None"
                )
            shape = [_given(dim) for dim in tensor.shape.dim]
        if in_list:
            return TensorType(
                dtype, [s if isinstance(s, int) else size_of_elements() for s in shape]
            )
        return TensorType(dtype, [self._size(one, name, axis) for axis, one in enumerate(shape)])

    def _size(self, given: int | str | None, name: str, axis: int) -> Size:
        if isinstance(given, int):
            if given < 0:
                raise FormatError(f"the input {name!r} has the size {given}")
            return given
        label = given or f"{name}_{axis}"
        if given is None or label not in self._symbols:
            plain = re.sub(r"\W", "_", label) or "size"
            plain = plain if plain.isidentifier() else f"size_{plain}"
            while plain in self._taken:
                plain += "_"
            self._taken.add(plain)
            made = symbol(plain)
            if given is None:
                return made
            self._symbols[label] = made
        return self._symbols[label]


def _given(dim: Any) -> int | str | None:
    kind = dim.WhichOneof("value")
    if kind == "dim_value":
        return int(dim.dim_value)
    check_texts([dim.dim_param], "the name of a size")
    return dim.dim_param or None
