"""A converted function takes and gives back an OrderedDict as the plain function does."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

import dy2st
from dy2st.static import InputSpec


def features(x):
    found = OrderedDict(low=x)
    for name in ("middle", "high"):
        x = x * 2
        found[name] = x
    found.move_to_end("low")
    return found, OrderedDict([(0, [x.sum()])])


def test_a_result_is_an_ordered_dict_with_python_s_order(tmp_path):
    x = dy2st.to_tensor([1.0, 2.0])
    static = dy2st.to_static(features, input_spec=[InputSpec([None])])
    named, numbered = static(x)
    assert type(named) is type(numbered) is OrderedDict
    assert list(named) == ["middle", "high", "low"] == list(features(x)[0])
    np.testing.assert_array_equal(named["high"].numpy(), [4, 8])

    dy2st.jit.save(static, str(tmp_path / "features"))
    loaded, _ = dy2st.jit.load(str(tmp_path / "features"))(x)
    assert list(loaded) == list(named)
    np.testing.assert_array_equal(loaded["low"].numpy(), [1, 2])


def test_an_argument_may_be_one():
    def total(parts):
        return sum(parts[name] for name in parts) * len(parts)

    parts = OrderedDict(b=dy2st.ones([2]), a=dy2st.ones([2]) * 2)
    static = dy2st.to_static(total)
    for _ in range(2):
        np.testing.assert_array_equal(static(parts).numpy(), [6, 6])
    spec = OrderedDict(b=InputSpec([None]), a=InputSpec([None]))
    np.testing.assert_array_equal(dy2st.to_static(total, [spec])(parts).numpy(), [6, 6])


def test_one_of_two_is_chosen_by_a_tensor():
    def chosen(x):
        if x.sum() > 0:
            found = OrderedDict(y=x)
        else:
            found = OrderedDict(y=-x)
        return found["y"], found

    static = dy2st.to_static(chosen)
    for sign in (1.0, -1.0):
        y, found = static(dy2st.ones([2]) * sign)
        np.testing.assert_array_equal(y.numpy(), [1, 1])
        assert type(found) is OrderedDict
