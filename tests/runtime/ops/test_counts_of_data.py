"""Numbers in data that become lengths: NumPy's own sums of them overflow, and write anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError

HUGE = (2**48, 2**60, 2**62, 2**63 - 1)


@pytest.mark.parametrize("largest", HUGE)
def test_a_bin_for_each_of_too_many_integers_is_refused_eagerly(largest):
    with pytest.raises(ArgumentError, match=f"{largest} would be counted"):
        dy2st.bincount(dy2st.to_tensor([0, largest]))


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("weighted", [False, True])
def test_and_in_programs(engine, weighted):
    def count(x):
        return dy2st.bincount(x, x.astype("float32") if weighted else None)

    static = dy2st.to_static(count, input_spec=[InputSpec(["n"], "int64")], engine=engine)
    assert static(dy2st.to_tensor([2, 0, 2])).tolist() == ([0, 0, 4] if weighted else [1, 0, 2])
    for largest in HUGE:
        with pytest.raises(ArgumentError, match="would be counted"):
            static(dy2st.to_tensor([0, largest]))


def test_more_repeats_than_there_is_memory_are_refused():
    with pytest.raises(ArgumentError, match="do not fit into memory"):
        dy2st.repeat_interleave(dy2st.ones([4]), dy2st.to_tensor([2**62] * 4))
    with pytest.raises(ArgumentError, match="do not fit into memory"):
        dy2st.repeat_interleave(dy2st.ones([2]), np.array([2**63 - 1, 1]))
