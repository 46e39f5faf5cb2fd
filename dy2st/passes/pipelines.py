"""Pipelines: order the passes for one purpose, with the reason for each place.

Every function makes the list anew, so a user's own pipeline may start from one of them:

    passes = inference()
    passes.insert(3, MyPass())
    Sequential(passes, name="mine")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.passes.algebra import SimplifyAlgebra
from dy2st.passes.bias import FoldBias
from dy2st.passes.cancel_moves import CancelMoves
from dy2st.passes.combine_parallel import CombineParallelConv2D, CombineParallelDense
from dy2st.passes.common_subexpressions import EliminateCommonSubexpr
from dy2st.passes.concat_position import CanonicalizeConcatPos
from dy2st.passes.control_flow import SimplifyControlFlow
from dy2st.passes.core.base import Pass, Sequential
from dy2st.passes.core.module import Array, Module
from dy2st.passes.core.registry import register
from dy2st.passes.dead_code import EliminateDeadCode
from dy2st.passes.dynamic_to_static import DynamicToStatic
from dy2st.passes.fold_constant import FoldConstant
from dy2st.passes.forward_fold_scale_axis import FoldScaleAxis
from dy2st.passes.layout import ToNCHWLayout
from dy2st.passes.loop_invariants import HoistLoopInvariants
from dy2st.passes.parameters import FreezeParameters, LiftConstants
from dy2st.passes.peephole import Peephole, Peephole1
from dy2st.passes.simplify_inference import SimplifyInference
from dy2st_runtime.errors import (
    ArgumentError,
    PassError,
    VerifyError,
    WrongKind,
    did_you_mean,
)
from dy2st_runtime.ir import Program
from dy2st_runtime.ir.checks.verifier import verify


def inference() -> list[Pass]:
    """For running a trained model on an engine: the parameters become part of the Program."""
    return [
        # Folding sees constants only, so the parameters are constants first of all.
        FreezeParameters(),
        # Dynamic shapes become known ones, and with them the types of all that follows.
        DynamicToStatic(),
        # What nobody reads is no second user, and needs no places of the largest in a pool.
        EliminateDeadCode(),
        # batch_norm as scale and shift, before anything is folded; layer_norm has a fast kernel.
        SimplifyInference(layer_norm=False),
        # One copy of a weight that several steps transpose: folded, each would be an array.
        EliminateCommonSubexpr(),
        # The scales and shifts become numbers, so that they can go into weights.
        FoldConstant(),
        # Known branches and iterations: what they hold is then seen by everything below.
        SimplifyControlFlow(),
        # One copy of what stands twice, so that single users are single.
        EliminateCommonSubexpr(),
        # Nothing in the way of patterns: no identities, no moves that undo each other.
        SimplifyAlgebra(),
        CancelMoves(),
        # Transposes of channels-last models meet and cancel, before weights are looked for.
        ToNCHWLayout(),
        # A scale after a bias goes before it, where FoldScaleAxis finds the convolution.
        Peephole1(),
        FoldScaleAxis(),
        # Only now are all additions after convolutions biases.
        FoldBias(),
        # Moves have gone that stood between operators.
        SimplifyAlgebra(),
        # Wide products in place of several; after folding, for branches must have equal structure.
        CombineParallelDense(),
        # What concatenated weights and folded biases are made of becomes numbers.
        FoldConstant(),
        # After all that could make loops' contents known.
        HoistLoopInvariants(),
        EliminateCommonSubexpr(),
        EliminateDeadCode(),
        # Large arrays leave the text again, last of all.
        LiftConstants(),
    ]


def training() -> list[Pass]:
    """For models that are trained on: parameters stay parameters, and every gradient stays."""
    return [
        # Types first.
        DynamicToStatic(),
        # Conditions and counters become numbers, so that branches and iterations are known.
        FoldConstant(),
        SimplifyControlFlow(),
        FoldConstant(),
        EliminateCommonSubexpr(),
        SimplifyAlgebra(),
        CancelMoves(),
        # What has become constant or equal by that.
        FoldConstant(),
        EliminateCommonSubexpr(),
        HoistLoopInvariants(),
        # Parameters that nobody reads stay: an optimiser may hold them.
        EliminateDeadCode(keep_parameters=True),
    ]


def opu() -> list[Pass]:
    """For the OPU back end: convolutions with bias, scales in weights, concats where it wants them.

    Legalising, grouping into layers and quantising are the target's own, behind this.
    """
    return [
        FreezeParameters(),
        DynamicToStatic(),
        EliminateDeadCode(),
        # The machine has no unit for statistics: all normalisations become arithmetic.
        SimplifyInference(),
        FoldConstant(),
        SimplifyControlFlow(),
        EliminateCommonSubexpr(),
        SimplifyAlgebra(),
        CancelMoves(),
        # Its memory is channel-major.
        ToNCHWLayout(),
        # One convolution over shared data in place of several that read it again.
        CombineParallelConv2D(),
        # Constants in a row, scales before biases, dense layers as 1 x 1 convolutions.
        Peephole(dense_to_conv=True),
        # Concats are free where a layer reads its input, so everything else goes before them ...
        CanonicalizeConcatPos(),
        # ... which brings scales next to convolutions again.
        Peephole(dense_to_conv=True),
        # What was split and is now concatenated again, and moves that have come to stand together.
        SimplifyAlgebra(),
        ToNCHWLayout(),
        CancelMoves(),
        FoldBias(),
        FoldConstant(),
        EliminateCommonSubexpr(),
        EliminateDeadCode(),
        LiftConstants(),
    ]


PIPELINES: dict[str, Callable[[], list[Pass]]] = {
    "inference": inference,
    "training": training,
    "opu": opu,
}
"""All pipelines by name."""


def pipeline(name: str) -> Sequential:
    """A pipeline as one pass; ArgumentError, with the nearest name, if there is none.

    >>> pipeline("inference").info.name
    'inference'
    """
    if name not in PIPELINES:
        raise ArgumentError(f"there is no pipeline {name!r}{did_you_mean(name, PIPELINES)}")
    return Sequential(PIPELINES[name](), name=name)


def as_pass(wanted: Any) -> Pass:
    """A pass for a pass, a list of passes, or the name of a pipeline; TypeError else.

    >>> dy2st.passes.as_pass("inference").info.name
    'inference'
    >>> dy2st.passes.as_pass([dy2st.passes.FoldConstant()]).info.name
    'passes'
    """
    if isinstance(wanted, str):
        return pipeline(wanted)
    if isinstance(wanted, Pass):
        return wanted
    if isinstance(wanted, (list, tuple)):
        return Sequential(wanted, name="passes")
    raise WrongKind(f"a pipeline is a pass, a list of passes or a name, not {wanted!r:.80}")


def transformed(applied: Pass, programs: dict[str, Program], state: dict[str, Array]) -> Module:
    """The Module that a pass makes of Programs and their arrays.

    Raises ArgumentError if it leaves work for the host, which nobody would do here, and PassError
    if it breaks a Program.
    """
    module = applied(Module(programs, state))
    for program in module.programs.values():
        try:
            verify(program)
        except VerifyError as error:
            raise PassError(
                f"the pass {applied.info.name} breaks the Program; the instrument VerifyAfter() of "
                f"a PassContext tells which of several passes does it: {error}"
            ) from None
    for name, entries in module.epilogues.items():
        operator = next(iter(entries.values()))[0]
        raise ArgumentError(
            f"the pass {applied.info.name} takes `{operator}` off an output of {name!r}, so the "
            "results would be others: use it with a back end whose host computes that operator"
        )
    return module


for _name in PIPELINES:
    register(_name, lambda name=_name: pipeline(name))

__all__ = ["PIPELINES", "as_pass", "inference", "opu", "pipeline", "training", "transformed"]
