"""Recomputes, and does what processes do together with gradients: for one process, nothing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from dy2st.paddle.distributed.data_parallel import means_of_gradients
from dy2st.paddle.distributed.fleet.hybrid import mesh
from dy2st.paddle.distributed.fleet.meta_parallel import ColumnParallelLinear, RowParallelLinear
from dy2st.paddle.distributed.fleet.recomputing import recompute as recompute
from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.processes.group import world

logger = logging.getLogger("paddle.distributed")
ColumnSequenceParallelLinear, RowSequenceParallelLinear = ColumnParallelLinear, RowParallelLinear


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Let gradients be their means over all processes; on a mesh they are those of all."""
    if mesh() is None:
        means_of_gradients(world(), [*parameter_list])


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

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)

__dir__ = public_dir(__name__)
