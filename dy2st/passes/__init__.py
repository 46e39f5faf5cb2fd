"""Passes: make a better Program of one, which computes the same.

    better = FoldConstant()(program)
    module = Module({"forward": program}, {"fc.weight": array})
    module = pipeline("inference")(module)

Every pass has a file that says what it does; `core` has what they need, `patterns` the language of
their rules. Other packages add passes and rules by entry points: see `core/registry.py`.
"""

from dy2st.passes.algebra import SimplifyAlgebra
from dy2st.passes.backward_fold_scale_axis import BackwardFoldScaleAxis
from dy2st.passes.bias import CanonicalizeOps, FoldBias
from dy2st.passes.cancel_moves import CancelMoves
from dy2st.passes.canonicalize_cast import CanonicalizeCast
from dy2st.passes.combine_parallel import (
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
)
from dy2st.passes.common_subexpressions import EliminateCommonSubexpr
from dy2st.passes.concat_position import CanonicalizeConcatPos
from dy2st.passes.control_flow import SimplifyControlFlow
from dy2st.passes.core.base import (
    CreateFunctionPass,
    CreateModulePass,
    Pass,
    Sequential,
    function_pass,
    module_pass,
)
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.instrument import PassInstrument
from dy2st.passes.core.module import Module
from dy2st.passes.core.registry import find, pass_names
from dy2st.passes.core.select import ApplyPassToFunction, apply_to_function
from dy2st.passes.core.statistics import Statistics, statistics
from dy2st.passes.dead_code import EliminateDeadCode
from dy2st.passes.decompose import (
    DecomposeOps,
    DecomposeOpsForInference,
    DecomposeOpsForTraining,
    MutateOpsForTraining,
)
from dy2st.passes.dynamic_to_static import DynamicToStatic
from dy2st.passes.fold_constant import FoldConstant
from dy2st.passes.forward_fold_scale_axis import FoldScaleAxis, ForwardFoldScaleAxis
from dy2st.passes.fuse import FusionGroup, fusion_groups
from dy2st.passes.inline_functions import InlineFunctions
from dy2st.passes.instruments import (
    CheckNumbers,
    DumpIR,
    PassPrinting,
    PassStatistics,
    PassTiming,
    VerifyAfter,
)
from dy2st.passes.layout import ToNCHWLayout, ToNHWCLayout
from dy2st.passes.legalize import LEGALIZATIONS, Legalize
from dy2st.passes.loop_invariants import HoistLoopInvariants
from dy2st.passes.mixed_precision import ToMixedPrecision
from dy2st.passes.parameters import FreezeParameters, LiftConstants
from dy2st.passes.patterns.rewrite_pass import Explanation, explain, rewrite_pass
from dy2st.passes.patterns.rule import Rule, rule
from dy2st.passes.peephole import (
    Peephole,
    Peephole1,
    Peephole2,
    Peephole3,
    Peephole4,
    Peephole5,
    SkipOutputSoftmax,
)
from dy2st.passes.pipelines import PIPELINES, as_pass, pipeline
from dy2st.passes.plan_memory import MemoryPlan, plan_memory
from dy2st.passes.print_ir import PrintIR
from dy2st.passes.simplify_inference import SimplifyInference
from dy2st_runtime.lazy import public_dir

__all__ = [
    "LEGALIZATIONS",
    "PIPELINES",
    "ApplyPassToFunction",
    "BackwardFoldScaleAxis",
    "CancelMoves",
    "CanonicalizeCast",
    "CanonicalizeConcatPos",
    "CanonicalizeOps",
    "CheckNumbers",
    "CombineParallelBatchMatmul",
    "CombineParallelConv2D",
    "CombineParallelDense",
    "CreateFunctionPass",
    "CreateModulePass",
    "DecomposeOps",
    "DecomposeOpsForInference",
    "DecomposeOpsForTraining",
    "DumpIR",
    "DynamicToStatic",
    "EliminateCommonSubexpr",
    "EliminateDeadCode",
    "Explanation",
    "FoldBias",
    "FoldConstant",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "FreezeParameters",
    "FusionGroup",
    "HoistLoopInvariants",
    "InlineFunctions",
    "Legalize",
    "LiftConstants",
    "MemoryPlan",
    "Module",
    "MutateOpsForTraining",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "PassPrinting",
    "PassStatistics",
    "PassTiming",
    "Peephole",
    "Peephole1",
    "Peephole2",
    "Peephole3",
    "Peephole4",
    "Peephole5",
    "PrintIR",
    "Rule",
    "Sequential",
    "SimplifyAlgebra",
    "SimplifyControlFlow",
    "SimplifyInference",
    "SkipOutputSoftmax",
    "Statistics",
    "ToMixedPrecision",
    "ToNCHWLayout",
    "ToNHWCLayout",
    "VerifyAfter",
    "apply_to_function",
    "as_pass",
    "explain",
    "find",
    "function_pass",
    "fusion_groups",
    "module_pass",
    "pass_names",
    "pipeline",
    "plan_memory",
    "rewrite_pass",
    "rule",
    "statistics",
]
__dir__ = public_dir(__name__)
