"""Programs whose loop nests run as machine code, and all other operators in NumPy."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dy2st_runtime.dims import evaluate, using
from dy2st_runtime.engine.native.machine.llvm import Library, Processor, compile_object, load
from dy2st_runtime.engine.native.nests import emit, groups
from dy2st_runtime.engine.native.nests.nests import Nest, verify
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.tensor import EagerTensor

DECLARED = ["declare ptr @malloc(i64)", "declare void @free(ptr)"]


def blocks_of(block):
    """A Block and those inside."""
    yield block
    for operator in block.operators:
        for inner in operator.blocks:
            yield from blocks_of(inner)


@dataclass
class Compiled:
    """A Program with the steps of its Blocks, and the code of its nests by their texts."""

    program: Program
    steps: dict[Any, list[groups.Step]]
    names: dict[str, str]
    library: Library

    @property
    def nests(self) -> list[Nest]:
        """All nests of the outermost Block."""
        steps = self.steps[self.program.block]
        return [step.nest for step in steps if isinstance(step, groups.NestStep)]


def compiled(program, processor=None):
    """Plan and compile all nests of a Program."""
    processor = processor or Processor.host()
    with using(facts_of(program)):
        steps = {block: groups.plan(block) for block in blocks_of(program.block)}
    names, texts = {}, list(DECLARED)
    for step in (step for own in steps.values() for step in own):
        if isinstance(step, groups.NestStep) and step.nest.text not in names:
            verify(step.nest)
            name = names[step.nest.text] = f"nest{len(names)}"
            text = emit.function(step.nest, name, processor)
            texts.append(text.replace("define internal", "define", 1))
    return Compiled(
        program, steps, names, library("\n".join(texts), processor, tuple(names.values()))
    )


@cache
def library(text, processor, names):
    """What a text is compiled to, once: the Programs of unknown sizes of a test are often equal."""
    return load(compile_object(text, processor), names, {})


class _NestRun(Run):
    """As the interpreter, but with the nests of the plan."""

    def __init__(self, code):
        super().__init__(code.program)
        self.code = code

    def block(self, block, arguments, outer):
        sizes, known = dict(outer), {}
        for parameter, value in zip(block.parameters, arguments, strict=True):
            known[parameter] = value
            self.bind(parameter, value, sizes)
        for step in self.code.steps[block]:
            if isinstance(step, groups.NestStep):
                found = zip(step.nest.outputs, self.nest(step.nest, known, sizes), strict=True)
            else:
                self.operator = operator = step.operator
                operands = [self.shown(operand, known, sizes) for operand in operator.operands]
                results = self.operation(operator, operands, sizes)
                found = zip(operator.results, results, strict=True)
            for variable, value in found:
                known[variable] = value
                self.bind(variable, value, sizes)
        return [known[variable] for variable in block.yields]

    def shown(self, variable, known, sizes):
        """A value; products read what a transpose shows where it lies."""
        if variable not in known:
            operands = [self.shown(value, known, sizes) for value in variable.maker.operands]
            (known[variable],) = self.operation(variable.maker, operands, sizes)
        return known[variable]

    def nest(self, nest, known, sizes):
        """Run one nest through its address."""
        types, values, held = [], [], []
        for leaf in nest.leaves:
            array = np.ascontiguousarray(known[leaf.variable].array)
            assert array.dtype == leaf.variable.tensor_type.dtype
            held.append(array)
            if leaf.is_scalar:
                types.append(np.ctypeslib.as_ctypes_type(array.dtype))
                values.append(array.reshape(()).item())
            else:
                types.append(ctypes.c_void_p)
                values.append(array.ctypes.data)
        outputs = []
        for variable in nest.outputs:
            shape = [evaluate(size, sizes) for size in variable.tensor_type.shape]
            outputs.append(np.full(shape, 113).astype(variable.tensor_type.dtype))
        types += [ctypes.c_void_p] * len(outputs) + [ctypes.c_int64] * len(nest.sizes)
        values += [array.ctypes.data for array in outputs]
        values += [evaluate(size, sizes) for size in nest.sizes]
        address = self.code.library.addresses[self.code.names[nest.text]]
        result = ctypes.c_int32 if nest.has_checks else None
        if ctypes.CFUNCTYPE(result, *types)(address)(*values):
            raise IndexError("a check has failed")
        del held
        return [EagerTensor(array) for array in outputs]


def run(code, *inputs, state=None):
    """The outputs and updates of a compiled Program, as arrays."""
    run = _NestRun(code)
    arrays = [*inputs, *(state or {}).values()]
    values = [EagerTensor(np.array(array)) for array in arrays]
    with eagerly(as_recorded=True):
        return run.block(code.program.block, values, run.sizes_of(values))
