"""Distances as layers."""

from __future__ import annotations

from dy2st_runtime.nn.functions.distances import pairwise_distance
from dy2st_runtime.nn.layers.of_function import OfFunction, settings


class PairwiseDistance(
    OfFunction, calls=pairwise_distance, takes=settings(p=2.0, epsilon=1e-6, keepdim=False)
):
    """(n, d), (n, d) -> (n,): (sum |x - y + epsilon|**p)**(1/p)."""
