"""Elementwise machine code on arrays: a function of a loop over full vectors, then of a masked rest."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

import numpy as np

from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object, load
from dy2st_runtime.engine.native.rows import emit
from dy2st_runtime.engine.native.text.function import Function
from dy2st_runtime.engine.native.text.lanes import Lanes
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType


def operator_of(name, dtypes, attributes=None):
    """An operator on 1-d tensors; None where its shape rule refuses the dtypes."""
    definition, block = lookup(name), Block()
    attributes = {**definition.attributes, **(attributes or {})}
    operands = [Variable(TensorType(np.dtype(dtype), (4,)), block) for dtype in dtypes]
    operator = Operator(name, operands, attributes, block)
    found = definition.infer(*(operand.type for operand in operands), **attributes)
    operator.results = [Variable(found, operator)]
    return operator


def written(name, write, dtypes, result, count, scales=False):
    """The text of `void name(ptr result, ptr operand..., i64 length)`."""
    pointers = [f"%p{index}" for index in range(len(dtypes))]
    parameters = [("ptr", "%result"), *(("ptr", pointer) for pointer in pointers), ("i64", "%n")]
    function = Function(name, parameters, linkage="")
    function.scales = scales
    lanes = Lanes(function, count)

    def step(at, mask):
        places = [
            function.let(f"getelementptr i{8 * dtype.itemsize}, ptr {pointer}, i64 {at}")
            for pointer, dtype in zip(["%result", *pointers], [result, *dtypes])
        ]
        operands = [lanes.load(place, dtype, mask) for place, dtype in zip(places[1:], dtypes)]
        lanes.store(write(lanes, *operands), places[0], mask)

    rest = function.let(f"urem i64 %n, {count}")
    full = function.let(f"sub i64 %n, {rest}")
    with function.loop("0", full, str(count)) as at:
        step(at, None)
    if count > 1:
        step(full, masked(function, rest, count))
    function.line("ret void")
    return function.text()


def masked(function, rest, count):
    wide = f"<{count} x i32>"
    short = function.let(f"trunc i64 {rest} to i32")
    first = function.let(f"insertelement {wide} poison, i32 {short}, i64 0")
    ends = function.let(f"shufflevector {wide} {first}, {wide} poison, {wide} zeroinitializer")
    places = ", ".join(f"i32 {index}" for index in range(count))
    return function.let(f"icmp ult {wide} <{places}>, {ends}")


@dataclass
class Runner:
    """Functions of one module, called by name."""

    processor: Processor = field(default_factory=Processor.host)
    texts: list = field(default_factory=list)
    results: dict = field(default_factory=dict)
    library: object = None

    def add(self, name, write, dtypes, result, count=1):
        """`write(lanes, *operands)` as a function of this name."""
        dtypes, result = [np.dtype(dtype) for dtype in dtypes], np.dtype(result)
        self.texts.append(written(name, write, dtypes, result, count, self.processor.scales))
        self.results[name] = result

    def add_operator(self, name, operator, count=1):
        """An operator as a function of this name."""
        dtypes = [operand.type.dtype for operand in operator.operands]

        def write(lanes, *operands):
            return emit(lanes, operator, operands)

        self.add(name, write, dtypes, operator.results[0].type.dtype, count)

    def __call__(self, name, *arrays):
        """The result on arrays of one length."""
        if self.library is None:
            text = "\n".join(self.texts)
            self.library = load(compile_object(text, self.processor), list(self.results), {})
        arrays = [np.ascontiguousarray(array) for array in arrays]
        result = np.empty(arrays[0].shape, self.results[name])
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (1 + len(arrays)), ctypes.c_int64)
        pointers = [array.ctypes.data for array in (result, *arrays)]
        call(self.library.addresses[name])(*pointers, arrays[0].size)
        return result
