"""Limits on gradients, applied by an optimizer before its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class GradientClip:
    """Takes the gradients of all parameters and returns limited ones."""

    def __call__(self, gradients: Sequence[Array]) -> list[Array]:
        """Limited gradients, in the same order."""
        raise NotImplementedError


class ClipGradByValue(GradientClip):
    """Every element between `min` and `max`; `min` is `-max` if it is left out."""

    def __init__(self, max: float, min: float | None = None):
        """Take the limits."""
        self.max, self.min = float(max), -float(max) if min is None else float(min)

    def __call__(self, gradients: Sequence[Array]) -> list[Array]:
        """Limited gradients, in the same order."""
        return [np.clip(g, self.min, self.max) for g in gradients]


class ClipGradByNorm(GradientClip):
    """Each gradient g becomes g * min(1, clip_norm / |g|)."""

    def __init__(self, clip_norm: float):
        """Take the largest norm."""
        self.clip_norm = float(clip_norm)

    def __call__(self, gradients: Sequence[Array]) -> list[Array]:
        """Limited gradients, in the same order."""
        return [_scaled(g, self.clip_norm, float(np.linalg.norm(g.ravel()))) for g in gradients]


class ClipGradByGlobalNorm(GradientClip):
    """All gradients times min(1, clip_norm / |all of them together|)."""

    def __init__(self, clip_norm: float):
        """Take the largest norm."""
        self.clip_norm = float(clip_norm)

    def __call__(self, gradients: Sequence[Array]) -> list[Array]:
        """Limited gradients, in the same order."""
        squares = [float(np.square(g.astype(np.float64)).sum()) for g in gradients]
        norm = float(np.sqrt(sum(squares)))
        return [_scaled(g, self.clip_norm, norm) for g in gradients]


def _scaled(gradient: Array, limit: float, norm: float) -> Array:
    if norm <= limit:
        return gradient
    return np.asarray(gradient * gradient.dtype.type(limit / norm))
