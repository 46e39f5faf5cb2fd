"""What a function is traced on: inputs of the Program, and names of its tensors."""

from __future__ import annotations

from collections.abc import Sequence

from dy2st.jit.declared_sizes import Requirement, resolve
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.number_inputs import NumberSpec
from dy2st_runtime.ir import Program
from dy2st_runtime.nn.layer import Layer


def add_inputs(program: Program, specs: Sequence[InputSpec]) -> list[Requirement]:
    """Give the Program its inputs; returns what the InputSpecs say of sizes, with the reasons."""
    names = [spec.name or f"input_{index}" for index, spec in enumerate(specs)]
    types, declared = resolve(specs, names)
    for name, type in zip(names, types, strict=True):
        program.inputs.append(program.block.add_parameter(type, name))
    for spec, variable in zip(specs, program.inputs, strict=True):
        variable.number = spec.number if isinstance(spec, NumberSpec) else None
    return declared


def names_of(layer: object) -> dict[int, str]:
    """Structured names of a Layer's tensors, by identity; the first name of a shared one."""
    names: dict[int, str] = {}
    if isinstance(layer, Layer):
        for name, tensor in (*layer.named_parameters(), *layer.named_buffers()):
            names.setdefault(id(tensor), name)
    return names
