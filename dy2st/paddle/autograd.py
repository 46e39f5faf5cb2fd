"""Takes gradients under PaddlePaddle's names: of tensors, by functions with their own gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.autograd import grad
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.lazy import public_dir
from dy2st_runtime.pylayer import PyLayer, PyLayerContext


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Add the gradients of the sum of the tensors to `.grad` of the leaves behind them.

    `grad_tensors` are the gradients to start from; None is 1 for a tensor with one element.

    >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
    >>> dy2st.autograd.backward([x * x, x])
    >>> x.grad.tolist()
    [7.0]
    """
    outputs = [*tensors] if isinstance(tensors, (list, tuple)) else [tensors]
    starts = [*grad_tensors] if isinstance(grad_tensors, (list, tuple)) else [grad_tensors]
    starts = starts * len(outputs) if grad_tensors is None else starts
    if len(starts) != len(outputs):
        raise ArgumentError(f"{len(outputs)} tensors have {len(starts)} gradients to start from")
    for place, (output, start) in enumerate(zip(outputs, starts, strict=True)):
        output.backward(start, retain_graph=retain_graph or place + 1 < len(outputs))


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """d ys / d xs, (n,), (m,) -> (n, m); with batch_axis 0 (b, n), (b, m) -> (b, n, m).

    The tensors have at most one axis beside that of the batch. Of tuples: a tuple of tuples. The
    result can be differentiated again.

    >>> x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> print(dy2st.autograd.jacobian(x * x, x)[:])
    [[2. 0.]
     [0. 4.]]
    """
    return _nested(ys, lambda y: _nested(xs, lambda x: _jacobian(y, x, batch_axis)))


def hessian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The second derivatives of one number, (m,) -> (m, m); of a batch (b, m) -> (b, m, m).

    >>> x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> print(dy2st.autograd.hessian((x * x).sum(), x)[:])
    [[2. 0.]
     [0. 2.]]
    """
    if len(ys.shape) > 1 or (batch_axis is None and [*ys.shape] not in ([], [1])):
        raise ArgumentError(f"hessian() is of one number, or one a sample, not of {ys.shape}")

    def row(x: Any) -> Any:
        (slope,) = grad(F.sum(ys), x, create_graph=True)
        return _nested(xs, lambda other: _jacobian(slope, other, batch_axis))

    return _nested(xs, row)


def _nested(values: Any, function: Callable[[Any], Any]) -> Any:
    return tuple(map(function, values)) if isinstance(values, (list, tuple)) else function(values)


def _jacobian(y: Any, x: Any, batch_axis: int | None) -> Any:
    if batch_axis not in (None, 0):
        raise ArgumentError(f"batch_axis is None or 0, not {batch_axis}")
    batched = batch_axis == 0
    if len(y.shape) > 1 + batched or len(x.shape) > 1 + batched:
        raise ArgumentError(
            f"jacobian() takes tensors of one axis beside the batch, not {y.shape} by {x.shape}: "
            "flatten them first"
        )
    rows = y.shape[batched:]
    parts = [y[:, i] if batched else y[i] for i in range(rows[0])] if rows else [y]
    slopes = []
    for part in parts:
        (slope,) = grad(F.sum(part), x, retain_graph=True, create_graph=True, allow_unused=True)
        slopes.append(F.zeros_like(x) if slope is None else slope)  # it may not depend on x
    return F.stack(slopes, axis=int(batched)) if rows else slopes[0]


__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "set_grad_enabled",
]
__dir__ = public_dir(__name__)
without_own_frames_in(__name__)

private_modules(__name__)
