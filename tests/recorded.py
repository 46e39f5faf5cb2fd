"""Programs of functions of Variables."""

from __future__ import annotations

from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.ir.checks.verifier import verify


def floats(*shape, dtype="float32"):
    """The type of a tensor; sizes given by name are symbols."""
    return TensorType(dtype, [symbol(s) if isinstance(s, str) else s for s in shape])


def program_of(function, *types, name="main", names=None, capture=None):
    """What a function of Variables records, verified; types may be ("float32", (2, "n")), too."""
    types = [floats(*t[1], dtype=t[0]) if isinstance(t, tuple) else t for t in types]
    names = names or [f"x{i}" for i in range(len(types))]
    program = Program(name)
    program.inputs = [program.block.add_parameter(*given) for given in zip(types, names)]
    tracer = Tracer(program, capture=capture)
    with tracer.tracing():
        results = function(*program.inputs)
        results = results if isinstance(results, (list, tuple)) else [results]
        program.block.yields = [tracer.variable(result) for result in results]
    return verify(program)
