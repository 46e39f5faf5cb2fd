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


REGIONS = np.random.RandomState(0)
CORNERS = REGIONS.uniform(0, 40, (9, 3, 2))
CORNERS = np.concatenate([CORNERS, CORNERS + REGIONS.uniform(5, 40, (9, 3, 2))], -1)
OF_REGIONS = [*(T(one.astype("float32")) for one in (CORNERS, REGIONS.uniform(0, 1, (9, 3))))]


def nms_of_regions(boxes, scores, counts, top=2, keep=3, background=-1):
    attributes = ("background_label", background, "score_threshold", 0.2, "nms_top_k", top)
    attributes += ("nms_threshold", 0.4, "keep_top_k", keep)
    return _legacy_C_ops.multiclass_nms3(boxes, scores, counts, *attributes)


@pytest.mark.parametrize(
    ("limits", "places", "counts"),  # as PaddlePaddle has them
    [
        (
            (-1, -1, -1),
            [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]
            + [12, 15, 21, 13, 16, 19, 22, 25, 14, 17, 20, 23, 26],
            [12, 0, 13],
        ),
        ((2, 3, -1), [1, 10, 8, 12, 14, 20], [3, 0, 3]),
        ((3, 2, 0), [1, 10, 14, 20], [2, 0, 2]),
    ],
)
def test_regions_have_a_box_for_each_class(limits, places, counts):
    boxes, scores = OF_REGIONS
    rows, index, found = nms_of_regions(boxes, scores, T([4, 0, 5]), *limits)
    assert index.flatten().tolist() == places and found.tolist() == counts
    np.testing.assert_array_equal(rows[:, 0], index.flatten() % 3)
    np.testing.assert_array_equal(rows[:, 1], scores.flatten()[index.flatten()])
    np.testing.assert_array_equal(rows[:, 2:], boxes.reshape([-1, 4])[index.flatten()])


def test_one_program_is_for_any_number_of_regions():
    spec = [InputSpec([None, 3, 4]), InputSpec([None, 3]), InputSpec([None], "int64")]
    static = dy2st.jit.to_static(nms_of_regions, input_spec=spec)
    for counts in ([4, 0, 5], [2, 1]):
        given = [one[: sum(counts)] for one in OF_REGIONS]
        pairs = zip(static(*given, T(counts)), nms_of_regions(*given, T(counts)), strict=True)
        for found, wanted in pairs:
            np.testing.assert_array_equal(found, wanted)


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
