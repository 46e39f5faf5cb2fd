"""Limits on gradients, applied by an optimizer before its step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dy2st_runtime import parameter_updates
from dy2st_runtime.parameter_updates import Value, norm, scaled, tensor_of, value_of

Pairs = list[tuple[Any, Any]]


class ClipGradBase:
    """Takes pairs of a parameter and its gradient, and returns pairs with limited gradients.

    A parameter whose `need_clip` is False keeps its gradient. A class of one's own writes
    `limited`, on arrays, or on tensors in a converted function, or `_dygraph_clip`, on pairs.

    >>> class Halve(dy2st.nn.ClipGradBase):
    ...     def limited(self, gradients):
    ...         return [g / 2 for g in gradients]
    >>> [(_, half)] = Halve()([(dy2st.ones([1]), dy2st.ones([1]))])
    >>> half.item(), Halve().limited([3.0])
    (0.5, [1.5])
    """

    def __call__(self, params_grads: Iterable[tuple[Any, Any]]) -> Pairs:
        """Pairs in the same order."""
        return self._dygraph_clip(list(params_grads))

    def _dygraph_clip(self, params_grads: Pairs) -> Pairs:
        concerned = [
            i
            for i, (parameter, gradient) in enumerate(params_grads)
            if gradient is not None and getattr(parameter, "need_clip", True)
        ]
        limited = self.limited([value_of(params_grads[i][1]) for i in concerned])
        result = list(params_grads)
        for i, gradient in zip(concerned, limited, strict=True):
            result[i] = (params_grads[i][0], tensor_of(gradient))
        return result

    def limited(self, gradients: Sequence[Value]) -> list[Value]:
        """Limited gradients, in the same order."""
        raise NotImplementedError


class ClipGradByValue(ClipGradBase):
    """Every element between `min` and `max`; `min` is `-max` if it is left out.

    >>> clip = dy2st.nn.ClipGradByValue(1.0)
    >>> [(_, gradient)] = clip([(dy2st.ones([2]), dy2st.to_tensor([-3.0, 0.5]))])
    >>> gradient.tolist()
    [-1.0, 0.5]
    """

    def __init__(self, max: float, min: float | None = None):
        """Take the limits."""
        self.max, self.min = float(max), -float(max) if min is None else float(min)

    def __str__(self) -> str:
        """The limits."""
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def limited(self, gradients: Sequence[Value]) -> list[Value]:
        """Limited gradients, in the same order."""
        return [parameter_updates.clip(g, self.min, self.max) for g in gradients]


class ClipGradByNorm(ClipGradBase):
    """Each gradient g becomes g * min(1, clip_norm / |g|).

    >>> clip = dy2st.nn.ClipGradByNorm(1.0)
    >>> [(_, gradient)] = clip([(dy2st.ones([2]), dy2st.to_tensor([3.0, 4.0]))])
    >>> print(gradient.round(4))
    [0.6 0.8]
    """

    def __init__(self, clip_norm: float):
        """Take the largest norm."""
        self.clip_norm = float(clip_norm)

    def __str__(self) -> str:
        """The largest norm."""
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def limited(self, gradients: Sequence[Value]) -> list[Value]:
        """Limited gradients, in the same order."""
        return [scaled(g, _factor(self.clip_norm, norm([g]))) for g in gradients]


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients times min(1, clip_norm / |all of them together|) (Pascanu et al. 2012).

    `group_name` and `auto_skip_clip` have no effect.

    >>> clip = dy2st.nn.ClipGradByGlobalNorm(1.0)
    >>> pairs = [(dy2st.ones([1]), dy2st.to_tensor([g])) for g in (3.0, 4.0)]
    >>> [round(gradient.item(), 4) for _, gradient in clip(pairs)]
    [0.6, 0.8]
    """

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ):
        """Take the largest norm; the other two are accepted and have no effect."""
        self.clip_norm = float(clip_norm)
        self.group_name, self.auto_skip_clip = group_name, auto_skip_clip

    def __str__(self) -> str:
        """The largest norm."""
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def limited(self, gradients: Sequence[Value]) -> list[Value]:
        """Limited gradients, in the same order."""
        factor = _factor(self.clip_norm, norm(gradients))
        return [scaled(g, factor) for g in gradients]


def _factor(limit: float, norm: float) -> float:
    """What makes a norm at most the limit."""
    return 1.0 if norm <= limit else limit / norm


__all__ = ["ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]
