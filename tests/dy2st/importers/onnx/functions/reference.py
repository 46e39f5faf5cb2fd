"""Our functions beside the reference implementation that comes with ONNX."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

from dy2st.importers.recording import layer_of, record
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import to_tensor
from tests.effort import IS_FULL

ENGINES = ("numpy", "native") if IS_FULL else ("numpy",)


def model_of(
    op: str, inputs: Any, outputs: int, opset: int, domain: str = "", **attributes: Any
) -> onnx.ModelProto:
    """A model of one node; None stands for an input that is left out."""
    names = ["" if one is None else f"x{n}" for n, one in enumerate(inputs)]
    results = [f"y{n}" for n in range(outputs)]
    given = {
        key: helper.np_dtype_to_tensor_dtype(value) if isinstance(value, np.dtype) else value
        for key, value in attributes.items()
    }
    node = helper.make_node(op, names, results, domain=domain, **given)
    types = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for n, one in zip(names, inputs, strict=True)
        if n
    ]
    graph = helper.make_graph(
        [node], "one", types, [helper.make_empty_tensor_value_info(name) for name in results]
    )
    imports = [helper.make_opsetid("", opset)] + (
        [helper.make_opsetid(domain, 1)] if domain else []
    )
    return helper.make_model(
        graph,
        opset_imports=imports,
        ir_version=min(onnx.IR_VERSION, 10) if opset < 21 else onnx.IR_VERSION,
    )


def reference(
    op: str, inputs: Any, outputs: int = 1, opset: int = 23, domain: str = "", **attributes: Any
) -> list[Any]:
    """What onnx.reference computes for one node."""
    model = model_of(op, inputs, outputs, opset, domain, **attributes)
    feed = {f"x{n}": one for n, one in enumerate(inputs) if one is not None}
    with np.errstate(all="ignore"):
        return list(ReferenceEvaluator(model).run(None, feed))


def check(
    op: str,
    function: Any,
    *inputs: Any,
    outputs: int = 1,
    known: Any = (),
    unknown: Any = None,
    opset: int = 23,
    domain: str = "",
    rtol: float = 1e-5,
    atol: float = 1e-6,
    expected: Any = None,
    engines: Any = ENGINES,
    late: bool = True,
    **attributes: Any,
) -> None:
    """A function gives what the reference does, eagerly and in a Program of unknown sizes.

    `known`: the inputs that are given as lists, and if `late` once more as tensors. `unknown`: the axes of each input whose sizes are
    symbols, those of the first one by default all.
    """
    arrays = [None if one is None else np.asarray(one) for one in inputs]
    if expected is None:
        expected = reference(op, arrays, outputs, opset, domain, **attributes)
    lists = [n for n in known if n < len(arrays) and arrays[n] is not None]
    _compare(_called(function, arrays, lists, attributes, outputs), expected, rtol, atol)
    if unknown is None:
        unknown = {} if arrays[0] is None or 0 in lists else {0: range(arrays[0].ndim)}
    for given in (lists, ()) if lists and late else (lists,):
        program, fed = recorded(function, arrays, attributes, given, outputs, unknown)
        for engine in engines:
            found = layer_of(program, {}, engine)(*fed)
            found = found if isinstance(found, (tuple, list)) else [found]
            _compare(found, expected, rtol, atol)


def _called(function: Any, arrays: Any, lists: Any, attributes: Any, outputs: int) -> list[Any]:
    given = [
        one if one is None else one.tolist() if n in lists else to_tensor(one)
        for n, one in enumerate(arrays)
    ]
    return _results(function(*given, **attributes), outputs)


def _results(found: Any, outputs: int) -> list[Any]:
    return list(found)[:outputs] if isinstance(found, tuple) else [found]


def recorded(
    function: Any,
    arrays: Any,
    attributes: Any,
    lists: Any = (),
    outputs: int = 1,
    unknown: Any = MappingProxyType({}),
) -> tuple[Any, list[Any]]:
    """A Program of the function, in which `lists` are numbers, and the arrays that it takes."""
    fed = {n: one for n, one in enumerate(arrays) if one is not None and n not in lists}
    types = {f"x{n}": TensorType(a.dtype, _shape(a, n, unknown.get(n, ()))) for n, a in fed.items()}

    def compute(variables: Any, state: Any) -> Any:
        found = dict(zip(fed, variables, strict=True))
        given = [arrays[n].tolist() if n in lists else found.get(n) for n in range(len(arrays))]
        return _results(function(*given, **attributes), outputs)

    return record("one", types, {}, (), compute), list(fed.values())


def _shape(array: Any, number: int, axes: Any) -> tuple[Any, ...]:
    marked = [axis % array.ndim for axis in axes] if array.ndim else []
    return tuple(
        symbol(f"n{number}_{axis}", minimum=0) if axis in marked else size
        for axis, size in enumerate(array.shape)
    )


def _compare(found: Any, expected: Any, rtol: float, atol: float) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        wide = [
            one if one.dtype.kind in "biufc" else one.astype("float64") for one in (ours, theirs)
        ]
        np.testing.assert_allclose(*wide, rtol=rtol, atol=atol)


def by_runtime(
    op: str, inputs: Any, outputs: int = 1, opset: int = 20, **attributes: Any
) -> list[Any]:
    """What onnxruntime computes for one node."""
    model = model_of(op, inputs, outputs, opset, **attributes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feed = {f"x{n}": one for n, one in enumerate(inputs) if one is not None}
    return list(session.run(None, feed))
