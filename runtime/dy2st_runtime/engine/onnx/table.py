"""What each operator is in ONNX: a function that writes nodes, by the operator's name.

A function takes the graph in the making, the operands in order and the attributes by name, with
sizes as they are, and gives one value or a tuple. What it gives is cast to the dtypes that the
Program says. Operators without a row are made of others, where their records say of which.

Beside it stands in which dtypes ONNX's operators are to be had, so that others are cast before and
behind: less than the standard allows, namely what onnxruntime's kernels for processors take, too,
from version 1.20 on. An operator that does not stand there takes every dtype. Where no wider dtype
helps, as for the float64 of `Erf`, the standard's is written as it is: it is right, and a runtime
that lacks the kernel says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dy2st_runtime.engine.onnx.library import DType

Writer = Callable[..., Any]

WRITERS: dict[str, Writer] = {}
# Operators that are written as others of ours: a function of Variables.
MADE_OF: dict[str, Callable[..., Any]] = {}
# Operators of which the model has nothing: they compute nothing, or pass their operands on.
LEFT_OUT: set[str] = set()
# From which version of ONNX's operators on a call of one can be written.
NEEDED: dict[str, Callable[..., int]] = {}
# Operators that are not written, with the reason.
REFUSED: dict[str, str] = {}


def rows(table: Mapping[str, Writer]) -> None:
    """Enter many functions, by the names of operators."""
    for name, function in table.items():
        assert name not in WRITERS, f"operator {name!r} is written twice"
        WRITERS[name] = function


def write(*names: str) -> Callable[[Writer], Writer]:
    """Enter the decorated function for these operators."""

    def enter(function: Writer) -> Writer:
        rows(dict.fromkeys(names, function))
        return function

    return enter


def made_of(*names: str) -> Callable[[Writer], Writer]:
    """Enter the decorated function of Variables, written with operators, for these operators."""

    def enter(function: Writer) -> Writer:
        MADE_OF.update(dict.fromkeys(names, function))
        return function

    return enter


# -- dtypes --------------------------------------------------------------------------------------

_LETTERS = {
    **{"h": "float16", "b": "bfloat16", "f": "float32", "d": "float64", "?": "bool"},
    **{"c": "int8", "s": "int16", "i": "int32", "l": "int64"},
    **{"B": "uint8", "H": "uint16", "I": "uint32", "L": "uint64"},
}
_WIDER = {
    **{"float16": "float32", "bfloat16": "float32", "float32": "float64"},
    **{"bool": "uint8", "uint8": "int32", "int8": "int32", "int16": "int32", "uint16": "int32"},
    **{"int32": "int64", "uint32": "int64"},
    **dict.fromkeys(
        ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"), "float32"
    ),
    **dict.fromkeys(("float4_e2m1fn", "float8_e8m0fnu"), "float32"),
    **dict.fromkeys(("int4", "uint4", "int2", "uint2"), "int32"),
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


__all__ = [
    "LEFT_OUT",
    "MADE_OF",
    "NEEDED",
    "REFUSED",
    "WRITERS",
    "Writer",
    "computed_in",
    "made_of",
    "rows",
    "write",
]
