"""Short ways to write models of ONNX for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def value(name: str, shape: Any = None, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def tensor(name: str, array: Any) -> Any:
    return numpy_helper.from_array(np.asarray(array), name)


def model(
    nodes: Any, inputs: Any, outputs: Any, initialisers: Any = (), opset: int = 20, **more: Any
) -> Any:
    """A model of nodes; inputs are shapes by name, or value infos, outputs are names."""
    given = [value(k, v) for k, v in inputs.items()] if isinstance(inputs, dict) else inputs
    arrays = [tensor(name, array) for name, array in dict(initialisers).items()]
    made = [value(name) if isinstance(name, str) else name for name in outputs]
    graph = helper.make_graph([*nodes], "net", [*given], made, arrays)
    opsets = [helper.make_opsetid("", opset), *more.pop("opsets", ())]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)


def reference(proto: Any, *inputs: Any) -> list[Any]:
    """What ONNX's own reference gives."""
    from onnx.reference import ReferenceEvaluator

    names = [one.name for one in proto.graph.input]
    return ReferenceEvaluator(proto).run(None, dict(zip(names, inputs)))


node = helper.make_node
__all__ = ["FLOAT", "model", "node", "onnx", "reference", "tensor", "value"]
