"""Losses as PaddlePaddle defines them, against their formulas in NumPy."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

import dy2st_runtime as rt
from dy2st_runtime import ops
from dy2st_runtime.nn import functional as F

X = np.array([[0.5, -1.25, 2.0, 0.0], [1.5, 0.25, -0.5, 1.0], [-2.0, 0.75, 0.5, 1.25]])
LABEL = np.array([2, 0, 3])
WEIGHT = np.array([0.5, 2.0, 1.5, 0.25])
LOG_P = log_softmax(X, -1)
ROWS = -LOG_P[np.arange(3), LABEL]
SOFT = softmax(X[::-1], -1)


def entropy(label, **options):
    options = {k: t(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    return np.asarray(F.cross_entropy(t(X), t(label), **options))


def t(array):
    return rt.to_tensor(array)


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_without_reduction_the_loss_has_the_shape_of_the_class_numbers(shape):
    found = entropy(LABEL.reshape(shape), reduction="none")
    np.testing.assert_allclose(found, ROWS.reshape(shape))


@pytest.mark.parametrize("shape", [(2,), (1,), (2, 1)])
def test_fewer_labels_than_rows_are_refused(shape):
    label = t(LABEL[: shape[0]].reshape(shape))
    with pytest.raises(rt.errors.ShapeError, match=r"the label \[\d\] does not fit \[3, 4\]"):
        F.cross_entropy(t(X), label)
    with pytest.raises(rt.errors.ShapeError, match=r"does not fit \[3, 4\]"):
        F.nll_loss(t(LOG_P), label)


def test_the_axis_of_the_classes_stays_where_the_label_has_it():
    x = t(np.stack([X.T, X.T]))
    label = np.stack([LABEL, LABEL])
    flat = F.cross_entropy(x, t(label), axis=1, reduction="none")
    deep = F.cross_entropy(x, t(label[:, None]), axis=1, reduction="none")
    assert flat.shape == [2, 3]
    assert deep.shape == [2, 1, 3]
    np.testing.assert_allclose(np.asarray(deep)[0, 0], ROWS)


def test_soft_labels_keep_the_axis():
    rows = -(SOFT * LOG_P).sum(-1, keepdims=True)
    np.testing.assert_allclose(entropy(SOFT, soft_label=True, reduction="none"), rows)
    np.testing.assert_allclose(entropy(SOFT, soft_label=True), rows.mean())


def test_a_soft_label_has_the_weight_of_its_classes_together():
    rows = -(SOFT * LOG_P).sum(-1, keepdims=True)
    weights = (SOFT * WEIGHT).sum(-1, keepdims=True)
    options = {"soft_label": True, "weight": WEIGHT}
    np.testing.assert_allclose(entropy(SOFT, reduction="none", **options), rows * weights)
    np.testing.assert_allclose(entropy(SOFT, **options), (rows * weights).sum() / weights.sum())


def test_smoothed_class_numbers_are_soft_labels():
    soft = np.eye(4)[LABEL] * 0.9 + 0.1 / 4
    for options in ({}, {"weight": WEIGHT}):
        found = entropy(LABEL, label_smoothing=0.1, **options)
        np.testing.assert_allclose(found, entropy(soft, soft_label=True, **options))
    assert entropy(LABEL, label_smoothing=0.1, reduction="none").shape == (3, 1)


def test_the_mean_counts_labels_that_a_negative_ignore_index_leaves_out():
    label = np.array([2, -100, 3])
    np.testing.assert_allclose(entropy(label), (ROWS[0] + ROWS[2]) / 3)
    label = np.array([2, 1, 3])
    np.testing.assert_allclose(entropy(label, ignore_index=1), (ROWS[0] + ROWS[2]) / 2)


def test_the_mean_of_no_labels_is_0():
    assert entropy(np.zeros(3, int), ignore_index=0) == 0
    assert entropy(np.full(3, -100)) == 0


def test_probabilities_can_be_given_in_place_of_scores():
    found = F.cross_entropy(t(softmax(X, -1)), t(LABEL), use_softmax=False, reduction="none")
    np.testing.assert_allclose(np.asarray(found), ROWS)


def test_the_softmax_comes_with_the_loss_if_it_is_wanted():
    loss, share = F.softmax_with_cross_entropy(t(X), t(LABEL[:, None]), return_softmax=True)
    np.testing.assert_allclose(np.asarray(loss), ROWS[:, None])
    np.testing.assert_allclose(np.asarray(share), softmax(X, -1))


def test_smooth_l1_divides_by_delta_unless_it_is_hubers():
    x, y = t(np.array([0.1, 2.0])), t(np.array([0.0, 0.0]))
    huber = ops.smooth_l1_loss(x, y, "none", 0.5)
    np.testing.assert_allclose(np.asarray(huber), [0.005, 0.875])
    plain = ops.smooth_l1_loss(x, y, "none", 0.5, False)
    np.testing.assert_allclose(np.asarray(plain), [0.01, 1.75])
