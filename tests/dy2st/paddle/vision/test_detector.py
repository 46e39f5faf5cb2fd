"""A small network that finds objects in two stages: one Program, saved, run without the compiler."""

import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.paddle.vision import ops
from dy2st.static import InputSpec

F = nn.functional
RNG = np.random.default_rng(0)


class Detector(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            ops.ConvNormActivation(3, 8, 3, 4), ops.ConvNormActivation(8, 8, 3, 4)
        )
        self.objects, self.deltas = nn.Conv2D(8, 3, 1), nn.Conv2D(8, 12, 1)
        self.align = ops.RoIAlign(3, 1 / 16)
        self.classes = nn.Linear(8 * 9, 5)

    def proposals(self, features, picture, sizes):
        anchors, variances = ops.prior_box(features, picture, [24.0], None, [2.0], flip=True)
        height, width = picture.shape[2:]
        scale = dy2st.cast(dy2st.to_tensor([width, height, width, height]), "float32")
        scores, deltas = F.sigmoid(self.objects(features)), self.deltas(features)
        given = (scores, deltas, sizes, anchors * scale, variances)
        return ops.generate_proposals(*given, 40, 8, 0.6, return_rois_num=True)

    def forward(self, picture, sizes):
        features = self.body(picture)
        boxes, _, counts = self.proposals(features, picture, sizes)
        scores = F.softmax(self.classes(self.align(features, boxes, counts).flatten(1)))
        kept = ops.nms(boxes, 0.5, scores.max(1))
        return dy2st.gather(boxes, kept), dy2st.gather(scores, kept), counts


SPECS = [InputSpec([None, 3, None, None]), InputSpec([None, 2])]


def inputs(count, height, width):
    picture = RNG.normal(size=(count, 3, height, width)).astype("float32")
    return picture, np.array([[height, width]] * count, "float32")


@pytest.fixture(scope="module")
def detector():
    dy2st.seed(0)
    model = Detector()
    model.eval()
    return model


def test_one_program_finds_objects_in_pictures_of_any_size(detector):
    static = dy2st.jit.to_static(detector.forward, input_spec=SPECS)
    for shape in [(2, 64, 96), (1, 80, 48)]:
        given = [dy2st.to_tensor(array) for array in inputs(*shape)]
        for ours, wanted in zip(static(*given), detector(*given), strict=True):
            np.testing.assert_allclose(ours.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)


RUN = """
import sys
import numpy as np
import dy2st_runtime.io
path = sys.argv[1]
given = np.load(path + "/inputs.npz")
found = dy2st_runtime.io.load(path + "/model")(given["picture"], given["sizes"])
assert "dy2st" not in sys.modules
np.save(path + "/found.npy", np.asarray(found[0]))
"""


def test_it_is_run_without_the_compiler(detector, tmp_path):
    picture, sizes = inputs(1, 64, 64)
    dy2st.jit.save(detector, str(tmp_path / "model"), input_spec=SPECS)
    np.savez(tmp_path / "inputs.npz", picture=picture, sizes=sizes)
    subprocess.run([sys.executable, "-c", RUN, str(tmp_path)], check=True)
    wanted = detector(dy2st.to_tensor(picture), dy2st.to_tensor(sizes))[0]
    found = np.load(tmp_path / "found.npy")
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_its_head_is_trained_through_a_program(detector):
    def loss(picture, boxes, counts, labels):
        features = detector.align(detector.body(picture), boxes, counts)
        return F.cross_entropy(detector.classes(features.flatten(1)), labels)

    arrays = [
        inputs(2, 64, 64)[0],
        np.array([[0, 0, 30, 40], [8, 9, 60, 30], [5, 5, 50, 60]], "float32"),
        np.array([1, 2]),
        np.array([1, 0, 4]),
    ]
    given = [dy2st.to_tensor(array) for array in arrays]
    weight = detector.body[0][0].weight
    slopes = []
    for function in (loss, dy2st.jit.to_static(loss)):
        weight.clear_gradient()
        function(*given).backward()
        slopes.append(weight.grad.numpy().copy())
    assert np.abs(slopes[0]).max() > 0
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-3, atol=1e-6)
