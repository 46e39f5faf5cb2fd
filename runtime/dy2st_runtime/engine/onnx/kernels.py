"""In which dtypes ONNX's operators are to be had, so that others are cast before and behind.

What stands here is less than the standard allows: it is what onnxruntime's kernels for processors
take as well, from version 1.20 on. An operator that does not stand here takes every dtype. Where
no wider dtype helps, as for the float64 of `Erf`, the standard's is written as it is: it is right,
and a runtime that lacks the kernel says so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dy2st_runtime.engine.onnx.library import DType

_LETTERS = {
    **{"h": "float16", "b": "bfloat16", "f": "float32", "d": "float64", "?": "bool"},
    **{"c": "int8", "s": "int16", "i": "int32", "l": "int64"},
    **{"B": "uint8", "H": "uint16", "I": "uint32", "L": "uint64"},
}
_WIDER = {
    **{"float16": "float32", "bfloat16": "float32", "float32": "float64"},
    **{"bool": "uint8", "uint8": "int32", "int8": "int32", "int16": "int32", "uint16": "int32"},
    **{"int32": "int64", "uint32": "int64"},
}
_TYPES = {
    "dfil": "Add Sub Mul Div Pow CumSum Range ReduceMean ReduceSum ReduceProd TopK Less Greater "
    "LessOrEqual GreaterOrEqual Einsum",
    "?dfil": "Equal Trilu",
    "dficB": "ReduceMax ReduceMin",
    "dfi": "ArgMax ArgMin",
    "dfilIL": "Max Min MatMul",
    "dfilcsIBHL": "Abs Sign",
    "dfilc": "Neg",
    "dfilB": "Where",
    "dfilcsHILB": "Mod",
    "df": "Exp Log Sqrt Reciprocal Sin Cos Tanh Sigmoid Floor Ceil Round Softmax LogSoftmax Gemm "
    "BatchNormalization LayerNormalization GridSample RandomUniformLike RandomNormalLike Erf Tan "
    "Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Relu LeakyRelu Elu Softplus Gelu Conv "
    "ConvTranspose AveragePool InstanceNormalization IsInf IsNaN Det DFT",
    "f": "Resize",
    "dfcB": "MaxPool",
    "?dfhilcsHILB": "Expand Tile ConstantOfShape",
    "?dfilcILB": "Pad",
    "?filB": "NonZero",
    "dflc": "Unique",
    "csilBHIL": "BitwiseAnd BitwiseOr BitwiseXor BitwiseNot",
    "HILB": "BitShift",
    "dfilL": "EyeLike",
    "dfhl": "ScatterND:add ScatterND:mul ScatterND:max ScatterND:min",
}
_KERNELS: dict[str, frozenset[str]] = {
    name: frozenset(_LETTERS[letter] for letter in letters)
    for letters, names in _TYPES.items()
    for name in names.split()
}


def _wider(name: str) -> Iterator[str]:
    wider = _WIDER.get(name)
    while wider is not None:
        yield wider
        wider = _WIDER.get(wider)


def computed_in(kind: str, dtype: DType) -> DType:
    """The dtype in which an operator computes what is given in another one.

    >>> computed_in("Add", np.dtype("float16")), computed_in("Add", np.dtype("float64"))
    (dtype('float32'), dtype('float64'))
    """
    known = _KERNELS.get(kind)
    if known is None or dtype.name in known:
        return dtype
    found = next((name for name in _wider(dtype.name) if name in known), None)
    return dtype if found is None else np.dtype(found)


__all__ = ["computed_in"]
