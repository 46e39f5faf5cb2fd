"""Functions that PaddlePaddle answers otherwise, or only on a GPU, and those that draw numbers."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.nn import functional as F
from dy2st_runtime.errors import ArgumentError, ShapeError
from tests.runtime.nn.of_paddle.cases import wave

X = wave(3, 4, 5)


@pytest.fixture(autouse=True)
def _seed():
    dy2st.seed(3)


def gradient(function, array):
    """The gradient of the sum of a function at an array."""
    x = dy2st.to_tensor(array)
    x.stop_gradient = False
    function(x).sum().backward()
    return x.grad.numpy()


def test_slopes_at_zero_are_those_of_the_sigmoid():
    zero = np.zeros(1, "float32")
    assert gradient(F.softplus, zero) == 0.5
    assert gradient(F.log_sigmoid, zero) == 0.5
    one = dy2st.ones([1])
    assert gradient(lambda x: F.binary_cross_entropy_with_logits(x, one), zero) == -0.5
    weighted = gradient(
        lambda x: F.binary_cross_entropy_with_logits(x, one, pos_weight=3.0 * one), zero
    )
    assert weighted == -1.5


def test_the_leaves_of_a_tree_share_one_probability():
    layer = dy2st.nn.HSigmoidLoss(5, 6)
    layer.weight.set_value(wave(5, 5))
    x = dy2st.to_tensor(np.repeat(wave(1, 5), 6, axis=0))
    losses = layer(x, dy2st.arange(6)).numpy()
    assert np.exp(-losses).sum() == pytest.approx(1.0, rel=1e-6)


def test_nothing_behind_the_end_of_a_path_counts():
    weight, x = wave(4, 3), wave(1, 3, phase=1.0)
    table, code = np.array([[0, 2, -1]]), np.array([[1, 0, -1]])
    args = [dy2st.to_tensor(a) for a in (x, np.zeros((1, 1), int), weight, table, code)]
    loss = F.hsigmoid_loss(args[0], args[1], 5, args[2], None, args[3], args[4]).item()
    first, second = (weight[[0, 2]] @ x[0]).tolist()
    expected = np.log1p(np.exp(-first)) + np.log1p(np.exp(second))
    assert loss == pytest.approx(expected, rel=1e-6)


def test_the_classes_of_all_clusters_share_one_probability():
    layer = dy2st.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4, 9], div_value=2.0, head_bias=True)
    x = dy2st.to_tensor(wave(5, 8))
    log_p = layer.log_prob(x)
    np.testing.assert_allclose(np.exp(log_p.numpy()).sum(1), np.ones(5), rtol=1e-6)
    labels = np.array([0, 3, 5, 10, 11])
    output, loss = layer(x, dy2st.to_tensor(labels))
    np.testing.assert_allclose(output.numpy(), log_p.numpy()[np.arange(5), labels], rtol=1e-6)
    assert loss.item() == pytest.approx(-output.numpy().mean())
    assert layer.predict(x).tolist() == log_p.numpy().argmax(1).tolist()
    one, _ = layer(x[1], dy2st.to_tensor(3))
    assert one.item() == pytest.approx(output[1].item())
    with pytest.raises(AssertionError, match="0 to 11"):
        layer(x, dy2st.to_tensor([0, 1, 2, 3, 12]))
    with pytest.raises(ArgumentError, match="cutoffs"):
        dy2st.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [9, 4])


def test_a_variance_that_is_too_small_can_grow():
    variance = np.array([0.5, 1e-9], "float32")
    x, y = dy2st.to_tensor([0.3, 0.2]), dy2st.to_tensor([0.1, 0.2])
    slope = gradient(
        lambda v: F.gaussian_nll_loss(x, y, v, epsilon=0.25, reduction="sum"), variance
    )
    kept, square = np.maximum(variance, 0.25), np.array([0.04, 0.0])
    np.testing.assert_allclose(slope, (1 / kept - square / kept**2) / 2, rtol=1e-5)


def test_rms_norm_divides_by_the_root_of_the_mean_square():
    weight = wave(4, 5, low=0.5)
    y, share = F.rms_norm(dy2st.to_tensor(X), [4, 5], dy2st.to_tensor(weight), 1e-3)
    expected = 1 / np.sqrt((X.astype("f8") ** 2).mean((1, 2)) + 1e-3)
    np.testing.assert_allclose(share.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(y.numpy(), X * expected[:, None, None] * weight, rtol=1e-5)
    with pytest.raises(ShapeError, match="last sizes"):
        F.rms_norm(dy2st.to_tensor(X), 4)


def test_a_margin_turns_the_angle_of_the_own_class():
    cosines, labels = wave(3, 4, low=-0.9, high=0.9).astype("f8"), np.array([2, 0, 3])
    own = np.arange(4) == labels[:, None]
    moved = np.where(own, np.cos(1.2 * np.arccos(cosines) + 0.3) - 0.1, cosines) * 8.0
    p = np.exp(moved) / np.exp(moved).sum(1, keepdims=True)
    loss, softmax = F.margin_cross_entropy(
        dy2st.to_tensor(cosines), dy2st.to_tensor(labels), 1.2, 0.3, 0.1, 8.0, None, True, None
    )
    np.testing.assert_allclose(softmax.numpy(), p, rtol=1e-6)
    np.testing.assert_allclose(loss.numpy()[:, 0], -np.log(p[own]), rtol=1e-6)


def test_alpha_dropout_keeps_mean_and_variance():
    x = dy2st.randn([400, 300])
    for function in (F.alpha_dropout, F.feature_alpha_dropout):
        y = function(x, 0.3).numpy()
        assert abs(y.mean()) < 0.02 and abs(y.var() - 1) < 0.02
    assert not F.alpha_dropout(x, 1.0).numpy().any()
    assert F.alpha_dropout(x, 0.5, training=False) is x


@pytest.mark.parametrize(
    ("function", "shape", "along"),
    [
        (F.feature_alpha_dropout, (20, 30, 4, 5), (2, 3)),
        (F.dropout3d, (20, 30, 2, 2, 3), (2, 3, 4)),
        (lambda x: F.dropout3d(x, data_format="NDHWC"), (20, 2, 2, 3, 30), (1, 2, 3)),
        (F.dropout1d, (20, 30, 5), (2,)),
        (F.dropout1d, (30, 5), (1,)),
    ],
)
def test_whole_channels_are_dropped(function, shape, along):
    y = function(dy2st.ones(list(shape))).numpy()
    assert (y.max(along) == y.min(along)).all()
    share = (y.min(along) < 1).mean()
    assert 0.3 < share < 0.7


def test_rrelu_draws_slopes_between_its_limits():
    layer = dy2st.nn.RReLU(0.2, 0.6)
    slopes = -layer(-dy2st.ones([4000])).numpy()
    assert 0.2 <= slopes.min() and slopes.max() < 0.6
    assert slopes.mean() == pytest.approx(0.4, abs=0.01)
    assert layer.eval()(-dy2st.ones([1])).item() == pytest.approx(-0.4)


def test_gumbel_softmax_draws_classes_by_their_probabilities():
    logits = dy2st.log(dy2st.to_tensor([0.1, 0.6, 0.3])).expand([6000, 3])
    hard = F.gumbel_softmax(logits, hard=True).numpy()
    np.testing.assert_allclose(hard.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(hard.mean(0), [0.1, 0.6, 0.3], atol=0.03)
    soft = F.gumbel_softmax(logits, 0.5).numpy()
    np.testing.assert_allclose(soft.sum(1), 1, rtol=1e-5)
    weight = dy2st.to_tensor([1.0, 2.0, 3.0])
    slope = gradient(
        lambda x: F.gumbel_softmax(x, hard=True) * weight, np.array([[0.1, 0.2, 0.3]], "f4")
    )
    assert np.abs(slope).max() > 0 and abs(slope.sum()) < 1e-6


@pytest.mark.parametrize("count", [2, 3, 7])
def test_classes_are_sampled_besides_those_of_the_labels(count):
    labels = np.array([11, 5, 1, 5])
    for function in (
        F.class_center_sample,
        dy2st.to_static(lambda x, n, k: F.class_center_sample(x, n, k)),
    ):
        places, classes = (t.numpy() for t in function(dy2st.to_tensor(labels), 20, count))
        assert classes[places].tolist() == labels.tolist()
        assert len(set(classes.tolist())) == len(classes) == max(count, 3)
        assert classes[:3].tolist() == [1, 5, 11] and ((0 <= classes) & (classes < 20)).all()


def test_a_threshold_in_place():
    x = dy2st.to_tensor([0.5, 2.0])
    assert F.thresholded_relu_(x, value=-1.0) is x
    assert x.tolist() == [-1.0, 2.0]


def test_a_dict_of_parameters_is_registered():
    first, second = (dy2st.Parameter(np.zeros(size, "f4")) for size in (2, 3))
    table = dy2st.nn.ParameterDict([("a", first)])
    table["b"] = second
    table.update(dy2st.nn.ParameterDict({"a": second}))
    assert list(table) == list(table.keys()) == ["a", "b"] and "a" in table and len(table) == 2
    assert table["a"] is second and list(table.state_dict()) == ["a", "b"]
    assert [p.shape for p in table.values()] == [p.shape for _, p in table.items()] == [[3], [3]]


def test_windows_of_random_size_are_drawn():
    x = dy2st.to_tensor(np.arange(64.0, dtype="f4").reshape(1, 1, 8, 8))
    drawn = {tuple(F.fractional_max_pool2d(x, 3).numpy().ravel()) for _ in range(20)}
    assert len(drawn) > 1 and all(values[-1] == 63 for values in drawn)


REFUSED = {
    "more windows than elements": lambda: F.fractional_max_pool2d(dy2st.ones([1, 1, 2, 2]), 3),
    "a part that is no part": lambda: F.fractional_max_pool2d(
        dy2st.ones([1, 1, 2, 2]), 1, random_u=1.0
    ),
    "groups that do not divide": lambda: F.maxout(dy2st.ones([1, 3]), 2),
    "a wrong mode": lambda: F.grid_sample(dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1, 1, 2]), "x"),
    "a wrong padding": lambda: F.grid_sample(
        dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1, 1, 2]), padding_mode="x"
    ),
    "a grid of another rank": lambda: F.grid_sample(
        dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1, 1, 3])
    ),
    "a wrong reduction": lambda: F.soft_margin_loss(dy2st.ones([1]), dy2st.ones([1]), "x"),
    "windows that are not there": lambda: F.fold(dy2st.ones([1, 4, 5]), 3, 2),
    "frames that do not divide": lambda: F.temporal_shift(dy2st.ones([3, 4, 1, 1]), 2),
    "pixels that do not divide": lambda: F.pixel_unshuffle(dy2st.ones([1, 1, 3, 2]), 2),
    "a size that is too far": lambda: F.max_unpool1d(
        dy2st.ones([1, 1, 2]), dy2st.zeros([1, 1, 2], "int64"), 2, output_size=[6]
    ),
    "a place that is not there": lambda: F.max_unpool1d(
        dy2st.ones([1, 1, 2]), dy2st.full([1, 1, 2], 4, "int64"), 2
    ),
    "half a path": lambda: F.hsigmoid_loss(
        dy2st.ones([1, 2]), None, 2, dy2st.ones([1, 2]), path_table=dy2st.zeros([1, 1], "int64")
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what):
    with pytest.raises((ArgumentError, ShapeError, IndexError)):
        REFUSED[what]()
