"""Recomputation, and what processes do together with gradients: of one process, nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.distributed.fleet.meta_parallel import ColumnParallelLinear, RowParallelLinear
from dy2st.mirrors import mirrors
from dy2st_runtime.ir.tracing.converting import converted

ColumnSequenceParallelLinear, RowSequenceParallelLinear = ColumnParallelLinear, RowParallelLinear


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args)`; its values are kept for the gradient, not computed again.

    >>> recompute(max, 1, 2, use_reentrant=False)
    2
    """
    for option in ("preserve_rng_state", "use_reentrant"):
        kwargs.pop(option, None)
    return converted(function)(*args, **kwargs)


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
