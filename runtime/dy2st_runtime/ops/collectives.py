"""Operators between processes: kernels of the host, so that all engines run them.

`ranks` are those of the processes that compute the operator together, in the order of the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import Effect, Sample, TensorType, apply, define
from dy2st_runtime.ir.attribute_kinds import INTEGER, one_of, several
from dy2st_runtime.processes import exchange
from dy2st_runtime.processes.channel import Channel
from dy2st_runtime.processes.exchange import NAMES, described
from dy2st_runtime.processes.group import Group, group_with

Array = np.ndarray[Any, Any]
Ranks = tuple[int, ...]

_SOME = several(INTEGER, "a list of ranks, each once, at least one", None)
_RANKS = _SOME._replace(
    fits=lambda ranks, types: _SOME.fits(ranks, types) and 0 < len(ranks) == len({*ranks})
)
_OP = one_of(*NAMES).or_else("sum")


def _together(ranks: Ranks, what: str, run: Callable[[Channel], Any], alone: Any) -> Any:
    """What the processes of these ranks compute together."""
    group: Group = group_with(ranks)
    if not group.is_member():
        raise ArgumentError(f"{what} is for the ranks {list(ranks)}, and this process is another")
    return alone if group.nranks == 1 else group.finish(group.start(what, run))


def _is_linear(op: str) -> bool:
    return op in ("sum", "avg")


def _all_reduce(x: Array, op: str, ranks: Ranks) -> Array:
    what, reduce = described("all_reduce", x, op), exchange.reducer(NAMES.index(op))
    return np.array(_together(ranks, what, lambda c: exchange.combine(c, what, x, reduce), x))


def _all_gather(x: Array, ranks: Ranks) -> Array:
    what = described("all_gather", x)
    return np.stack(_together(ranks, what, lambda c: exchange.gather(c, what, x), [x]))


def _reduce_scatter(x: Array, op: str, ranks: Ranks) -> Array:
    _one_each("reduce_scatter")(x, ranks)
    what, reduce = described("reduce_scatter", x[0], op), exchange.reducer(NAMES.index(op))
    found = _together(ranks, what, lambda c: exchange.swap(c, what, [*x]), [*x])
    return reduce(np.stack(found))


def _all_to_all(x: Array, ranks: Ranks) -> Array:
    _one_each("all_to_all")(x, ranks)
    what = described("alltoall", x[0])
    return np.stack(_together(ranks, what, lambda c: exchange.swap(c, what, [*x]), [*x]))


def _broadcast(x: Array, src: int, ranks: Ranks) -> Array:
    what, take = described("broadcast", x, f"src={src}"), exchange.from_rank(ranks.index(src))
    return np.array(_together(ranks, what, lambda c: exchange.combine(c, what, x, take), x))


def _check_src(x: TensorType, src: int, ranks: Ranks) -> TensorType:
    if src not in ranks:
        raise ArgumentError(f"broadcast: rank {src} is none of the ranks {list(ranks)}")
    return x


def _one_each(name: str) -> Callable[..., None]:
    def check(x: TensorType | Array, ranks: Ranks) -> None:
        if not x.shape:
            raise ShapeError(f"{name}: a 0-d tensor has no entry for each rank")
        require_equal(x.shape[0], len(ranks), f"{name}: {x.shape[0]} entries, {len(ranks)} ranks")

    return check


def _scattered(x: TensorType, op: str, ranks: Ranks) -> TensorType:
    _one_each("reduce_scatter")(x, ranks)
    return TensorType(x.dtype, x.shape[1:])


def _exchanged(x: TensorType, ranks: Ranks) -> TensorType:
    _one_each("all_to_all")(x, ranks)
    return x


# The loss is the sum of the losses of all ranks, so what came from a rank gives its gradient back.

define(
    "all_reduce",
    doc="The tensors of all ranks as one, by an operation: the same on every rank.",
    inputs="x",
    attributes={"op": _OP, "ranks": _RANKS},
    infer=lambda x, op, ranks: x,
    kernel=_all_reduce,
    gradient=lambda g, y, x, op, ranks: (
        apply("all_reduce", g, op=op, ranks=ranks) if _is_linear(op) else None
    ),
    effect=Effect.VISIBLE,
    samples=(Sample(((2, 3),), {"ranks": (0,)}),),
)
define(
    "all_gather",
    doc="The tensors of all ranks along a new first axis.",
    inputs="x",
    attributes={"ranks": _RANKS},
    infer=lambda x, ranks: TensorType(x.dtype, (len(ranks), *x.shape)),
    kernel=_all_gather,
    gradient=lambda g, y, x, ranks: apply("reduce_scatter", g, op="sum", ranks=ranks),
    effect=Effect.VISIBLE,
    samples=(Sample(((2, 3),), {"ranks": (0,)}),),
)
define(
    "reduce_scatter",
    doc="Entry i along the first axis of all ranks as one, on the i-th rank.",
    inputs="x",
    attributes={"op": _OP, "ranks": _RANKS},
    infer=_scattered,
    kernel=_reduce_scatter,
    gradient=lambda g, y, x, op, ranks: (
        apply("all_gather", g if op == "sum" else g / len(ranks), ranks=ranks)
        if _is_linear(op)
        else None
    ),
    effect=Effect.VISIBLE,
    samples=(Sample(((1, 3),), {"ranks": (0,)}),),
)
define(
    "all_to_all",
    doc="Entry i along the first axis to the i-th rank; those of all ranks along that axis.",
    inputs="x",
    attributes={"ranks": _RANKS},
    infer=_exchanged,
    kernel=_all_to_all,
    gradient=lambda g, y, x, ranks: apply("all_to_all", g, ranks=ranks),
    effect=Effect.VISIBLE,
    samples=(Sample(((1, 3),), {"ranks": (0,)}),),
)
define(
    "broadcast_from",
    doc="The tensor of rank `src` on all ranks.",
    inputs="x",
    attributes={"src": INTEGER, "ranks": _RANKS},
    infer=_check_src,
    kernel=_broadcast,
    effect=Effect.VISIBLE,
    samples=(Sample(((2, 3),), {"src": 0, "ranks": (0,)}),),
)
