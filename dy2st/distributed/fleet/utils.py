"""Recomputation, and what processes do together with gradients: of one process, nothing."""

from __future__ import annotations

from typing import Any

from dy2st.distributed.fleet.meta_parallel import ColumnParallelLinear, RowParallelLinear
from dy2st.distributed.fleet.recomputing import recompute as recompute
from dy2st.mirrors import mirrors

ColumnSequenceParallelLinear, RowSequenceParallelLinear = ColumnParallelLinear, RowParallelLinear


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Sum gradients over processes: they are what they are."""


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Say that processes have different gradients of a parameter: there is one process."""


def register_sequence_parallel_allreduce_hooks(model: Any, *_: Any, **__: Any) -> None:
    """Sum gradients of such parameters over processes: they are what they are."""


class _Whole:
    """Parts of a sequence to processes, or from them: one process has the whole."""

    @staticmethod
    def apply(x: Any, *_: Any) -> Any:
        """The tensor."""
        return x


ScatterOp = GatherOp = AllGatherOp = ReduceScatterOp = _Whole

mirrors(__name__, "hybrid_parallel_util sequence_parallel_utils", [__name__])
