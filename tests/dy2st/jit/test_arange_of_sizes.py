"""`arange` between sizes that are not known, with steps that are floats of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec


@pytest.mark.parametrize("step", [-1.0, -2.0, -3.0])
def test_arange_counts_down_from_a_size_by_a_float_of_a_whole_number(step):
    static = to_static(
        lambda x: dy2st.arange(x.shape[0], -x.shape[0], step), input_spec=[InputSpec([None])]
    )
    for n in (1, 2, 5, 8):
        given = static(dy2st.zeros([n]))
        assert given.dtype == dy2st.float32
        assert given.tolist() == np.arange(n, -n, step).tolist()
    assert len(static.program_cache) == 1


def test_arange_takes_a_start_that_is_a_float_of_a_whole_number():
    static = to_static(lambda x: dy2st.arange(1.0, x.shape[0]), input_spec=[InputSpec([None])])
    for n in (1, 2, 7):
        assert static(dy2st.zeros([n])).tolist() == np.arange(1.0, n).tolist()
