"""Programs as portable artifacts: StableHLO with symbolic sizes, as `jax.export` has it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.engine.xla.library import exactly, export, jax, jnp
from dy2st_runtime.engine.xla.plan import Island, Planner
from dy2st_runtime.engine.xla.trace import Trace, number
from dy2st_runtime.errors import ArgumentError, EngineError
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.functions import without_functions
from dy2st_runtime.ir.program import Operator, Program
from dy2st_runtime.ir.types import ArrayType


@dataclass
class Artifact:
    """A Program for others who have jax, or read StableHLO.

    data   what `jax.export.deserialize` reads. Its `call` takes inputs, then state, and gives the
           outputs, then new values of updated buffers, then, if `has_check`, whether all is well: a
           Program that would raise an error here has no right results where that is False.
    text   the StableHLO.
    """

    data: bytes
    text: str
    has_check: bool


def exported(
    program: Program, platforms: Sequence[str] = ("cpu", "cuda", "rocm", "tpu")
) -> Artifact:
    """The artifact of a Program; unknown sizes stay unknown, from 1 on.

    Raises ArgumentError for what XLA does not compute, and EngineError where jax wants a size.
    """
    for module in ("jax", "flatbuffers"):
        if importlib.util.find_spec(module) is None:
            raise ArgumentError(f"export needs {module}: pip install 'dy2st[jax]'")
    program = without_functions(program, "StableHLO")
    planner = Planner(program.block)
    _require_exportable(program, planner)
    may_fail = any(planner.may_fail(operator) for operator in program.operators)
    with exactly():
        sizes = _named_sizes(program)

        def run(*arguments: Any) -> list[Any]:
            trace = Trace(planner, sizes)
            results = trace.block(program.block, arguments)
            return [*results, jnp.asarray(trace.well)] if may_fail else results

        types = [variable.tensor_type for variable in program.block.parameters]
        given = [jax.ShapeDtypeStruct(number(t.shape, sizes), t.dtype) for t in types]
        try:
            made = export.export(jax.jit(run), platforms=platforms)(*given)
            return Artifact(bytes(made.serialize()), str(made.mlir_module()), may_fail)
        except Exception as error:  # whatever jax has to say
            raise EngineError(
                f"jax cannot export {program.name!r} with unknown sizes: "
                f"{type(error).__name__}: {error}"
            ) from error


def _named_sizes(program: Program) -> dict[Dim, Any]:
    """jax's name for each symbol, with the limits that it has."""
    shapes = [variable.tensor_type.shape for variable in program.block.parameters]
    found: list[Dim] = list(dict.fromkeys(symbols(tuple(shapes))))
    names = {symbol: f"s{place}" for place, symbol in enumerate(found)}
    limits = [f"{name} >= {s.minimum}" for s, name in names.items() if s.minimum > 1]
    limits += [f"{name} <= {s.maximum}" for s, name in names.items() if s.maximum is not None]
    scope = export.SymbolicScope(limits)
    return {s: export.symbolic_shape(name, scope=scope)[0] for s, name in names.items()}


def _require_exportable(program: Program, planner: Planner) -> None:
    """ArgumentError, with the operators and their lines, unless XLA computes all of it."""
    refused = []
    for plan in planner.plans.values():
        for step in plan.steps:
            if isinstance(step, Operator) and step in planner.reasons and not step.blocks:
                refused.append((step, planner.reasons[step]))
            elif isinstance(step, Island) and step.calls_back:
                refused.append((step.operators[0], "random numbers are drawn by NumPy"))
    for variable in program.block.yields:
        if isinstance(variable.type, ArrayType) and isinstance(variable.maker, Operator):
            refused.append((variable.maker, "a result is a list of tensors"))
    if refused:
        lines = [
            f"  {operator.name}: {reason}"
            + (f" ({place_text(operator.location)})" if operator.location else "")
            for operator, reason in refused
        ]
        raise ArgumentError(
            "\n".join([f"{program.name!r} cannot be exported, since XLA does not compute:", *lines])
        )


__all__ = ["Artifact", "exported"]
