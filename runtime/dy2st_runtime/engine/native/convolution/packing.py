"""Keeps what is made of arrays of weights, for all plans of a region, while those arrays come.

Plans that want the same layout share it. When other arrays come, what was made is given up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dy2st_runtime import exported_buffers
from dy2st_runtime.engine.native.convolution.library import Layout
from dy2st_runtime.engine.native.convolution.memory import Weights, aligned, reordered
from dy2st_runtime.engine.native.convolution.plan import Kept, Plan
from dy2st_runtime.ir.program import Variable

Array = np.ndarray[Any, Any]


class Packing:
    """The weights of some arrays."""

    def __init__(self, sources: Sequence[Array], values: Mapping[Variable, Array]) -> None:
        """Make nothing yet; `values` are the arrays, and constants."""
        self._sources, self._values = tuple(sources), values
        self._exported, self._is_constant = (
            int(exported_buffers.COUNT),
            all(map(exported_buffers.is_constant, sources)),
        )
        self._of_plans: WeakKeyDictionary[Plan, Weights] = WeakKeyDictionary()
        self._made: dict[tuple[Any, Any], list[tuple[Layout, Array]]] = {}

    def is_of(self, sources: Sequence[Array]) -> bool:
        """Whether it is still right, for these arrays."""
        # Only where memory was exported since can an array have become one that others may change.
        if self._exported != exported_buffers.COUNT:
            self._exported = int(exported_buffers.COUNT)
            self._is_constant = all(map(exported_buffers.is_constant, self._sources))
        return self._is_constant and all(map(is_, self._sources, sources))

    def weights(self, plan: Plan, threads: int) -> Weights:
        """Those that a plan reads."""
        found = self._of_plans.get(plan)
        if found is None:
            arrays = [self._array(kept, plan, threads) for kept in plan.kept]
            # Once for each packing: a look at all weights in each call would take as long as small
            # layers.
            is_finite = all(np.isfinite(array.view(np.float32)).all() for array in arrays)
            found = self._of_plans[plan] = Weights(arrays, is_finite)
        return found

    def _array(self, kept: Kept, plan: Plan, threads: int) -> Array:
        known = self._made.setdefault((kept.node.operator, kept.make), [])
        for layout, array in known:
            if layout.is_like(kept.layout):
                return array
        made = kept.make(kept.node, self._values)
        assert made is not None
        array = aligned(made.size * 4).view(np.float32)
        array[...] = made.reshape(-1)
        if kept.reorder is not None:
            array = reordered(plan.library, kept.reorder, array, threads)
        known.append((kept.layout, array))
        return array


__all__ = ["Packing"]
