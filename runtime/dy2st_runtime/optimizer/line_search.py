"""Searches along a direction by the strong Wolfe conditions (Nocedal and Wright 2006)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

_DESCENT, _CURVATURE = 1e-4, 0.9
_LEAST_WIDTH, _MOST_ITERATIONS = 1e-9, 25


class _Point(NamedTuple):
    """A distance, the loss and gradient there, and the slope of the loss."""

    far: float
    loss: float
    gradient: Array
    slope: float


def strong_wolfe(
    at: Callable[[float], tuple[float, Array]],
    direction: Array,
    far: float,
    start: tuple[float, Array],
    slope: float,
) -> tuple[float, float, Array, int]:
    """A distance where the loss is lower and flatter, what is there, and how often `at` was called.

    loss(t) <= loss(0) + 1e-4 t slope(0) and |slope(t)| <= 0.9 |slope(0)|.
    """
    origin = last = _Point(0.0, *start, slope)

    def point(far: float) -> _Point:
        loss, gradient = at(far)
        return _Point(far, loss, gradient, float(gradient @ direction))

    def is_too_high(p: _Point) -> bool:
        return p.loss > origin.loss + _DESCENT * p.far * slope

    def is_flat(p: _Point) -> bool:
        return abs(p.slope) <= -_CURVATURE * slope

    new, count = point(far), 1
    ends = [origin, new]
    for iteration in range(_MOST_ITERATIONS):
        if is_too_high(new) or (iteration > 0 and new.loss >= last.loss) or new.slope >= 0:
            if not is_too_high(new) and is_flat(new):
                return *_outcome(new), count
            ends = [last, new]
            break
        if is_flat(new):
            return *_outcome(new), count
        low, high = new.far + 0.01 * (new.far - last.far), new.far * 10
        far = _cubic(last, new, low, high)
        last, new, count = new, point(far), count + 1
    width = float(np.abs(direction).max())
    ends.sort(key=lambda p: p.loss)
    found, more = _zoom(point, ends, is_too_high, is_flat, width, _MOST_ITERATIONS - iteration)
    return *_outcome(found), count + more


def _outcome(p: _Point) -> tuple[float, float, Array]:
    return p.far, p.loss, p.gradient


def _zoom(
    point: Callable[[float], _Point],
    ends: list[_Point],
    is_too_high: Callable[[_Point], bool],
    is_flat: Callable[[_Point], bool],
    width: float,
    iterations: int,
) -> tuple[_Point, int]:
    """The best point between two, the first of which is the lower one."""
    low, high = ends
    was_near_the_end, count = False, 0
    for _ in range(iterations):
        if abs(high.far - low.far) * width < _LEAST_WIDTH:
            break
        left, right = sorted((low.far, high.far))
        far = _cubic(low, high, left, right)
        margin = 0.1 * (right - left)
        is_near = min(right - far, far - left) < margin
        if is_near and (was_near_the_end or far >= right or far <= left):
            far = right - margin if abs(far - right) < abs(far - left) else left + margin
            is_near = False
        was_near_the_end = is_near
        new, count = point(far), count + 1
        if is_too_high(new) or new.loss >= low.loss:
            high = new
            continue
        if is_flat(new):
            return new, count
        if new.slope * (high.far - low.far) >= 0:
            high = low
        low = new
    return low, count


def _cubic(one: _Point, two: _Point, least: float, most: float) -> float:
    """Where the cubic through two points with their slopes is lowest, within limits."""
    a, b = (one, two) if one.far <= two.far else (two, one)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.far - b.far)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (least + most) / 2
    d2 = math.sqrt(square)
    far = b.far - (b.far - a.far) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(far, least), most)


__all__ = ["strong_wolfe"]
