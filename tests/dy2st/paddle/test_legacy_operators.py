"""Operators of `paddle._legacy_C_ops` that find objects, and `LayerHelper` beside them."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import _legacy_C_ops
from dy2st.common_ops_import import LayerHelper, in_dygraph_mode
from dy2st.static import InputSpec

T = dy2st.to_tensor
BOXES = [[[0.0, 0.0, 8.0, 8.0], [0.0, 0.0, 8.0, 7.0], [20.0, 20.0, 30.0, 30.0]]]
SCORES = [[[0.6, 0.9, 0.3], [0.1, 0.2, 0.8]]]


def nms(boxes, scores, rois_num=None, keep_top_k=10):
    """As PaddleDetection calls it."""
    helper = LayerHelper("multiclass_nms3", **locals())
    if in_dygraph_mode():
        attributes = ("background_label", -1, "score_threshold", 0.15, "nms_top_k", 5)
        attributes += ("nms_threshold", 0.5, "keep_top_k", keep_top_k, "nms_eta", 1.0)
        return _legacy_C_ops.multiclass_nms3(boxes, scores, rois_num, *attributes)
    return helper.append_op(type="multiclass_nms3")


def test_an_operator_takes_tensors_and_then_names_and_values_of_attributes():
    rows, places, counts = nms(T(BOXES), T(SCORES))
    assert rows[:, 0].tolist() == [0, 0, 1, 1] and places.flatten().tolist() == [1, 2, 2, 1]
    np.testing.assert_allclose(rows[:, 1], [0.9, 0.3, 0.8, 0.2])
    assert counts.tolist() == [4]


def test_results_stand_in_the_order_of_the_old_operator():
    levels = ("min_level", 2, "max_level", 3, "refer_level", 2, "refer_scale", 8)
    boxes = T([[0.0, 0.0, 40.0, 40.0], [0.0, 0.0, 8.0, 8.0]])
    parts, restore, counts = _legacy_C_ops.distribute_fpn_proposals(boxes, T([2]), *levels)
    assert [part[:, 2].tolist() for part in parts] == [[8.0], [40.0]]
    assert restore.tolist() == [[1], [0]] and [one.tolist() for one in counts] == [[1], [1]]


def test_a_program_has_what_the_operator_does():
    spec = [InputSpec([None, None, 4]), InputSpec([None, 2, None])]
    static = dy2st.jit.to_static(nms, input_spec=spec)
    for images in (1, 2):
        given = [dy2st.tile(T(one), [images, 1, 1]) for one in (BOXES, SCORES)]
        for found, wanted in zip(static(*given), nms(*given), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_helper_of_static_graphs_appends_no_operator():
    with pytest.raises(dy2st.errors.ArgumentError, match=r"append_op is not here: static graphs"):
        LayerHelper("relu").append_op(type="relu")
    with pytest.raises(dy2st.errors.ArgumentError, match=r"anchor_generator is an operator"):
        _legacy_C_ops.anchor_generator(T([1.0]))
