"""Passes made of functions, for tests of what watches passes."""

from __future__ import annotations

from dy2st.passes import function_pass
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import DEFINITIONS, TensorType


def made(function, name="Made", **facts):
    """A pass that does something to a Program in place."""

    def run(program, module, context):
        function(program)
        return program

    return function_pass(opt_level=0, name=name, **facts)(run)


def names_of(kind):
    """The names of all operators of a kind."""
    return {name for name, definition in DEFINITIONS.items() if definition.kind is kind}


def dtype_for(name):
    """A dtype that an operator of two tensors takes: float32, or that of its samples."""
    definition, number = DEFINITIONS[name], TensorType("float32", ())
    try:
        definition.infer(number, number)
    except DTypeError:
        return definition.samples[0].dtypes[0]
    return "float32"
