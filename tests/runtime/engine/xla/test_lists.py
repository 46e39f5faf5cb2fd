"""Lists whose bound is a size are buffers of XLA; all others are lists of the host."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from dy2st_runtime.engine.xla import lists

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")


def each(x):
    rows = []
    for row in x:
        rows.append(row * 2)
    return rows


def some(x):
    kept, state = [], x.sum(0) * 0
    for row in x:
        state = state * 0.5 + row
        if state.sum() > 0:
            kept.append(state)
    return kept


def until(x):
    kept = [x.sum(0)]
    for row in x:
        if row.sum() > 5:
            break
        kept.append(row)
        kept.append(row + kept[-2])
    return kept, len(kept)


def pairs(x):
    sums = []
    for row in x:
        for other in x:
            sums.append((row * other).sum())
    return sums


def replaced(x):
    rows = []
    for row in x:
        rows.append(row)
        rows[0] = rows[0] + row
    return rows


def nothing(x):
    rows = []
    for row in x[:0]:
        rows.append(row)
    return rows, x.sum()


def some_of_other_shapes(x):
    rows = []
    for row in x:
        rows.append(x[: row.sum().astype("int64")])
    return rows


def halves(x):
    kept, left = [], x.sum()
    while left > 1:
        left = left / 2
        kept.append(left)
    return kept


def taken_back(x):
    kept = []
    for row in x:
        kept.append(row)
        if row.sum() > 2:
            kept.pop()
    return kept


BUFFERS = (each, some, until, pairs, replaced, nothing)
LISTS = (some_of_other_shapes, halves, taken_back)


def flat(value):
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    return [value.numpy() if hasattr(value, "numpy") else np.asarray(value)]


def assert_alike(found, wanted):
    assert len(flat(found)) == len(flat(wanted))
    for one, other in zip(flat(found), flat(wanted), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("function", [*BUFFERS, *LISTS])
def test_a_list_that_a_loop_fills_is_that_of_python(function):
    static = to_static(function, input_spec=[InputSpec([None, 2])], engine="xla")
    for count in (3, 1, 7, 0):
        x = dy2st.to_tensor(np.sin(np.arange(2.0 * count)).astype("float32").reshape(count, 2) * 4)
        assert_alike(static(x), function(x))
        assert_alike(static(x), function(x))
    text = static.program_cache.last().executable.explain()
    assert ("while" in text) == (function in LISTS), text


@pytest.mark.parametrize("count", [1, 2, 6])
def test_gradients_through_a_loop_over_rows_need_no_list_of_the_host(count):
    def loss(x, weight):
        state = x[0] * 0
        for row in x:
            state = dy2st.tanh(dy2st.matmul(state, weight) + row)
        return state.sum()

    static = to_static(loss, engine="xla", input_spec=[InputSpec([None, 2]), InputSpec([2, 2])])
    found = []
    for function in (loss, static, static):  # the second call is the first that is compiled
        x = dy2st.to_tensor(np.arange(2.0 * count, dtype="float32").reshape(count, 2) / 9)
        weight = dy2st.to_tensor([[0.5, -1.0], [0.25, 2.0]])
        x.stop_gradient = weight.stop_gradient = False
        function(x, weight).backward()
        found.append([x.grad, weight.grad])
    assert_alike(found[1], found[0])
    assert_alike(found[2], found[0])
    parts = next(iter(static.program_cache.last()._trained._parts.values()))
    backward = next(iter(parts._second.values()))[1]
    assert "numpy" not in parts._executable.explain() + backward.explain()


def test_a_buffer_that_would_be_too_large_is_a_list_of_numpy(monkeypatch):
    monkeypatch.setattr(lists, "MOST", 50)
    static = to_static(pairs, input_spec=[InputSpec([None, 2])], engine="xla")
    for count in (3, 4):
        x = dy2st.ones([count, 2])
        if count == 4:
            with pytest.warns(RuntimeWarning, match="a list of up to 16 tensors might take"):
                assert_alike(static(x), pairs(x))
        assert_alike(static(x), pairs(x))


def test_a_place_that_a_buffer_does_not_have_raises_as_a_list_does():
    def read(x, place):
        rows, total = [], x.sum(0) * 0
        for row in x:
            rows.append(row)
            total = total + rows[place]
        return total

    specs = [InputSpec([None, 2]), InputSpec([], "int64")]
    static = to_static(read, input_spec=specs, engine="xla")
    x = dy2st.ones([3, 2])
    assert static(x, dy2st.to_tensor(-1)).tolist() == [3.0, 3.0]
    assert static(x, dy2st.to_tensor(0)).tolist() == [3.0, 3.0]
    for place in (1, -2, 3):
        with pytest.raises(IndexError, match="list index out of range"):
            static(x, dy2st.to_tensor(place))
