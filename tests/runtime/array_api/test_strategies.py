"""Hypothesis draws tensors by the array API alone; indices and masks are NumPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

from dy2st_runtime import array_api as xp
from tests.effort import effort

OURS = make_strategies_namespace(xp)
SHAPES = OURS.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
TENSORS = OURS.arrays(dtype=OURS.scalar_dtypes(), shape=SHAPES)


def drawn(test):
    few = settings(
        max_examples=effort(25, 1000),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    return few(given(st.data())(test))


def check(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(np.asarray(found), wanted)


@drawn
def test_numbers_slices_and_new_axes_pick_what_numpy_picks(data):
    x = data.draw(TENSORS)
    place = data.draw(OURS.indices(x.shape, allow_newaxis=True))
    check(x[place], np.asarray(x)[place])


@drawn
def test_elements_are_put_where_numpy_puts_them(data):
    x = data.draw(TENSORS)
    place, wanted = data.draw(OURS.indices(x.shape)), np.array(x)
    value = data.draw(OURS.arrays(dtype=x.dtype, shape=wanted[place].shape))
    x[place], wanted[place] = value, np.asarray(value)
    check(x, wanted)


@drawn
def test_a_mask_picks_and_puts_as_in_numpy(data):
    x = data.draw(TENSORS)
    mask = data.draw(OURS.arrays(dtype=xp.bool, shape=st.sampled_from([x.shape, ()])))
    check(x[mask], np.asarray(x)[np.asarray(mask)])
    wanted, value = np.array(x), data.draw(OURS.arrays(dtype=x.dtype, shape=()))
    x[mask], wanted[np.asarray(mask)] = value, np.asarray(value)
    check(x, wanted)


@drawn
def test_a_shape_that_fits_is_one_to_broadcast_to(data):
    x = data.draw(TENSORS)
    drawn_shapes = OURS.mutually_broadcastable_shapes(1, base_shape=x.shape)
    shape = data.draw(drawn_shapes).result_shape
    check(xp.broadcast_to(x, shape), np.broadcast_to(np.asarray(x), shape))
