"""Numbers in data that become lengths: NumPy's own sums of them overflow, and write anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.engine import compile as compiled
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import apply
from tests.recorded import program_of

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


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_size_that_its_dtype_does_not_hold_is_refused(engine):
    program = program_of(
        lambda x: apply("from_dim", value=x.shape[0] * 100, dtype=np.dtype("uint8")),
        ("float32", ("n",)),
    )
    executable = compiled(program, engine)
    assert executable.run([np.zeros(2, np.float32)], [])[0] == 200
    with pytest.raises(ShapeError, match="too large for uint8"):
        executable.run([np.zeros(3, np.float32)], [])


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("diagonal", [2**62, -(2**62)])
def test_a_diagonal_far_outside_of_a_matrix_leaves_all_or_nothing(engine, diagonal):
    static = dy2st.to_static(
        lambda x: (dy2st.tril(x, diagonal), dy2st.triu(x, diagonal)),
        input_spec=[InputSpec(["n", 3])],
        engine=engine,
    )
    lower, upper = (one.tolist() for one in static(dy2st.ones([2, 3])))
    ones, zeros = [[1.0] * 3] * 2, [[0.0] * 3] * 2
    assert (lower, upper) == ((ones, zeros) if diagonal > 0 else (zeros, ones))
