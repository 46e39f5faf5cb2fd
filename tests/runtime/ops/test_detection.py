"""Boxes of networks that find objects: PaddlePaddle 3's results, plain loops, one Program."""

import json
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.errors import ArgumentError, ShapeError
from dy2st.paddle.vision import ops
from dy2st.static import InputSpec

# Calls with the results that PaddlePaddle 3 gives.
FILE = np.load(Path(__file__).parents[2] / "data" / "vision" / "detection.npz")
CALLS = json.loads(str(FILE["cases"]))


def read(value, make):
    if isinstance(value, dict) and "array" in value:
        return make(FILE[f"a{value['array']}"])
    return [read(entry, make) for entry in value] if isinstance(value, list) else value


def compare(ours, wanted):
    if wanted is None:
        assert ours is None
    elif isinstance(wanted, list):
        assert len(ours) == len(wanted)
        for one, other in zip(ours, wanted, strict=True):
            compare(one, other)
    else:
        assert ours.dtype == wanted.dtype
        np.testing.assert_allclose(ours.numpy(), wanted, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_results_are_paddlepaddles(call):
    name, args, settings, wanted = call
    given = [read(value, dy2st.to_tensor) for value in args]
    how = {key: read(value, dy2st.to_tensor) for key, value in settings.items()}
    compare(getattr(ops, name)(*given, **how), read(wanted, np.asarray))


RNG = np.random.default_rng(1)


def boxes(count, size=20.0):
    corners = RNG.uniform(0, size, (count, 2, 2))
    return np.concatenate([corners.min(1), corners.max(1)], 1).astype("float32")


def overlap(one, other):
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(wide, 0) * max(high, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return shared / (sum(areas) - shared)


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5])
def test_no_kept_box_overlaps_a_better_one(threshold):
    some, scores = boxes(400, 60.0), RNG.random(400)
    kept = []
    for place in np.argsort(-scores):
        if all(overlap(some[place], some[other]) <= threshold for other in kept):
            kept.append(place)
    found = ops.nms(dy2st.to_tensor(some), threshold, dy2st.to_tensor(scores))
    assert found.tolist() == kept
    assert ops.nms(*map(dy2st.to_tensor, (some,)), threshold).shape[0] > 0
    first = ops.nms(dy2st.to_tensor(some), threshold, dy2st.to_tensor(scores), top_k=2)
    assert first.tolist() == kept[:2]


def test_categories_are_for_themselves():
    some, scores, kinds = boxes(30), RNG.random(30), RNG.integers(0, 3, 30)
    args = [dy2st.to_tensor(some), 0.1, dy2st.to_tensor(scores), dy2st.to_tensor(kinds)]
    found = ops.nms(*args, categories=[0, 2]).tolist()
    parts = []
    for kind in (0, 2):
        places = np.flatnonzero(kinds == kind)
        best = ops.nms(*map(dy2st.to_tensor, [some[places]]), 0.1, dy2st.to_tensor(scores[places]))
        parts += places[best.numpy()].tolist()
    assert found == sorted(parts, key=lambda place: -scores[place])


def test_arguments_that_do_not_go_together_are_refused():
    some = dy2st.to_tensor(boxes(3))
    with pytest.raises(ArgumentError, match="both"):
        ops.nms(some, 0.3, dy2st.ones([3]), categories=[1])
    with pytest.raises(ArgumentError, match="with scores"):
        ops.nms(some, 0.3, None, dy2st.ones([3], "int64"), [1])
    with pytest.raises(ArgumentError, match="code_type"):
        ops.box_coder(some, None, some, "decode")
    with pytest.raises(ArgumentError, match="max_sizes"):
        ops.prior_box(dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1, 2, 2]), [1.0], [2.0, 3.0])
    with pytest.raises(ShapeError, match="are not 18"):
        ops.yolo_box(
            dy2st.ones([1, 17, 2, 2]), dy2st.ones([1, 2], "int64"), [1, 2, 3, 4, 5, 6], 1, 0.1, 8
        )
    with pytest.raises(ShapeError, match="a box is"):
        ops.nms(dy2st.ones([3, 5]))


def test_a_box_that_is_encoded_and_decoded_is_itself():
    prior, target = boxes(4), boxes(3)
    variances = [0.1, 0.1, 0.2, 0.2]
    prior, target = dy2st.to_tensor(prior + [0, 0, 1, 1]).astype("float32"), dy2st.to_tensor(target)
    codes = ops.box_coder(prior, variances, target)
    back = ops.box_coder(prior, variances, codes, "decode_center_size")
    for column in range(4):
        np.testing.assert_allclose(back.numpy()[:, column], target.numpy(), atol=1e-3)


def test_levels_put_together_are_all_boxes():
    some = dy2st.to_tensor(boxes(50, 900.0))
    levels, restore, counts = ops.distribute_fpn_proposals(some, 2, 5, 4, 224)
    joined = dy2st.concat(levels, 0)
    np.testing.assert_array_equal(dy2st.gather(joined, restore[:, 0]).numpy(), some.numpy())
    assert counts is None and sum(level.shape[0] for level in levels) == 50


def after_nms(some, scores):
    best = ops.nms(some, 0.2, scores)
    return dy2st.gather(some, best).sum(0), best.shape[0]


def yolo(x, sizes):
    return ops.yolo_box(x, sizes, [10, 13, 16, 30], 2, 0.3, 32)


def priors(x, image):
    return ops.prior_box(x, image, [4.0], [9.0], [2.0], flip=True)


def levels_of(rois, counts):
    levels, restore, numbers = ops.distribute_fpn_proposals(rois, 2, 4, 3, 10, rois_num=counts)
    return [*levels, restore, *numbers]


def proposals(scores, deltas, sizes, anchors):
    return ops.generate_proposals(
        scores, deltas, sizes, anchors, anchors, 20, 5, 0.3, return_rois_num=True
    )


def proposals_of_a_row(scores, deltas, sizes, anchors):
    return proposals(scores, deltas, sizes, anchors.reshape([-1, 4]))


def test_anchors_may_stand_in_a_row():
    shapes = [(2, 2, 3, 4), (2, 8, 3, 4), (2, 2), (3, 4, 2, 4)]
    given = [dy2st.to_tensor(RNG.uniform(0, 9, one).astype("float32")) for one in shapes]
    for found, wanted in zip(proposals_of_a_row(*given), proposals(*given), strict=True):
        np.testing.assert_array_equal(found, wanted)


def best_of_all(some, scores):
    return ops.matrix_nms(some, scores, 0.1, 0.0, 5, 4, return_index=True)


FLOAT = {"dtype": "float32"}
PROGRAMS = [
    (after_nms, [(None, 4), (None,)], [(12, 4), (12,)], [(3, 4), (3,)]),
    (yolo, [(None, 14, None, None), (None, 2)], [(2, 14, 3, 4), (2, 2)], [(1, 14, 2, 2), (1, 2)]),
    (
        priors,
        [(None, 3, None, None)] * 2,
        [(1, 3, 4, 5), (1, 3, 32, 40)],
        [(2, 3, 3, 3), (2, 3, 20, 30)],
    ),
    (
        proposals,
        [(None, 2, None, None), (None, 8, None, None), (None, 2), (None, None, 2, 4)],
        [(2, 2, 3, 4), (2, 8, 3, 4), (2, 2), (3, 4, 2, 4)],
        [(1, 2, 2, 2), (1, 8, 2, 2), (1, 2), (2, 2, 2, 4)],
    ),
    (
        proposals_of_a_row,
        [(None, 2, None, None), (None, 8, None, None), (None, 2), (None, None, 2, 4)],
        [(2, 2, 3, 4), (2, 8, 3, 4), (2, 2), (3, 4, 2, 4)],
        [(1, 2, 2, 2), (1, 8, 2, 2), (1, 2), (2, 2, 2, 4)],
    ),
    (
        best_of_all,
        [(None, None, 4), (None, 3, None)],
        [(2, 6, 4), (2, 3, 6)],
        [(1, 4, 4), (1, 3, 4)],
    ),
]


@pytest.mark.parametrize(("function", "specs", "first", "second"), PROGRAMS)
def test_one_program_is_for_all_sizes(function, specs, first, second):
    static = dy2st.jit.to_static(function, input_spec=[InputSpec(spec) for spec in specs])
    for shapes in (first, second):
        arrays = [RNG.uniform(0, 9, shape).astype("float32") for shape in shapes]
        given = [dy2st.to_tensor(array) for array in arrays]
        for ours, wanted in zip(static(*given), function(*given), strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(wanted), rtol=1e-5, atol=1e-5)


def test_levels_of_any_number_of_boxes_are_one_program():
    specs = [InputSpec([None, 4]), InputSpec([None], "int64")]
    static = dy2st.jit.to_static(levels_of, input_spec=specs)
    for counts in ([5, 7], [3]):
        given = [dy2st.to_tensor(boxes(sum(counts), 60)), dy2st.to_tensor(np.array(counts))]
        for ours, wanted in zip(static(*given), levels_of(*given), strict=True):
            np.testing.assert_array_equal(ours.numpy(), wanted.numpy())


def test_a_saved_program_finds_boxes_without_the_compiler(tmp_path):
    specs = [InputSpec([None, 4]), InputSpec([None])]
    dy2st.jit.save(after_nms, str(tmp_path / "model"), input_spec=specs)
    given = [dy2st.to_tensor(boxes(9)), dy2st.to_tensor(RNG.random(9).astype("float32"))]
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    np.testing.assert_allclose(
        np.asarray(loaded(*given)[0]), np.asarray(after_nms(*given)[0]), rtol=1e-6
    )
