"""Metrics; the constants were obtained from PaddlePaddle 3."""

import numpy as np
import pytest

import dy2st
from dy2st import metric
from dy2st.errors import ArgumentError, DTypeError, ShapeError
from dy2st.static import InputSpec

SCORES = np.array(
    [
        [0.64, 0.27, 0.04, 0.02, 0.81],
        [0.91, 0.61, 0.73, 0.54, 0.94],
        [0.82, 0.0, 0.86, 0.03, 0.73],
        [0.18, 0.86, 0.54, 0.3, 0.42],
        [0.03, 0.12, 0.67, 0.65, 0.62],
        [0.38, 1.0, 0.98, 0.69, 0.65],
    ],
    "float32",
)
LABELS = np.array([0, 3, 2, 1, 4, 4])
TIES = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], "float32")
PROBABILITIES = np.array([0.1, 0.5, 0.6, 0.7, 1.5, 2.5, -0.6, 0.4999])
TRUTHS = np.array([0, 1, 1, 0, 1, 1, 0, 1])


def tensor(array):
    return dy2st.to_tensor(array)


@pytest.mark.parametrize(("k", "share"), [(1, 0.33333334), (2, 0.5), (5, 1.0)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_accuracy_of_scores(k, share, dtype):
    result = metric.accuracy(tensor(SCORES), tensor(LABELS[:, None].astype(dtype)), k=k)
    assert result.shape == [] and result.dtype == "float32"
    assert result.item() == np.float32(share)


@pytest.mark.parametrize(
    ("k", "shares"), [(1, [1, 0, 0, 0, 1, 0, 1, 0, 0]), (2, [1, 1, 0, 0, 1, 1, 1, 1, 0])]
)
def test_of_equal_scores_the_first_is_the_largest(k, shares):
    pairs = [(row, label) for row in TIES for label in range(3)]
    got = [float(metric.accuracy(tensor(row[None]), tensor([[label]]), k)) for row, label in pairs]
    assert got == shares


def test_accuracy_can_count_into_tensors():
    correct, total = dy2st.zeros([1], "int32"), dy2st.zeros([1], "int32")
    metric.accuracy(tensor(SCORES), tensor(LABELS[:, None]), 2, correct, total)
    assert (int(correct), int(total)) == (3, 6) and correct.dtype == "int32"


def test_accuracy_is_converted():
    def share(x, y):
        return metric.accuracy(dy2st.nn.functional.softmax(x), y, k=2)

    specs = [InputSpec([None, 5], "float32", "x"), InputSpec([None, 1], "int64", "y")]
    static = dy2st.to_static(share, input_spec=specs)
    for rows in (6, 4, 1):
        x, y = tensor(SCORES[:rows]), tensor(LABELS[:rows, None])
        assert float(static(x, y)) == float(share(x, y))


@pytest.mark.parametrize(
    ("input", "label", "error"),
    [
        ([2, 3], [2], ShapeError),
        ([2, 3], [2, 2], ShapeError),
        ([2, 4, 3], [2, 1], ShapeError),
        ([2, 3], [3, 1], ShapeError),
    ],
)
def test_accuracy_refuses_other_shapes(input, label, error):
    with pytest.raises(error):
        metric.accuracy(dy2st.ones(input), dy2st.zeros(label, "int64"))


def test_accuracy_refuses_labels_that_are_no_numbers_of_classes():
    with pytest.raises(DTypeError, match="float32"):
        metric.accuracy(dy2st.ones([2, 3]), dy2st.zeros([2, 1]))


CASES = [
    ((1,), ["acc"], 0.3333333333333333, 0.0, 0.25),
    ((2,), ["acc_top2"], 0.5, 0.5, 0.5),
    (
        (1, 3, 5),
        ["acc_top1", "acc_top3", "acc_top5"],
        [0.3333333333333333, 0.6666666666666666, 1.0],
        [0.0, 0.5, 1.0],
        [0.25, 0.625, 1.0],
    ),
]


@pytest.mark.parametrize(("topk", "names", "first", "second", "both"), CASES)
def test_accuracy_over_batches(topk, names, first, second, both):
    measured = metric.Accuracy(topk)
    assert measured.name() == names
    correct = measured.compute(tensor(SCORES), tensor(LABELS))
    assert correct.dtype == "float32" and correct.shape == [6, max(topk)]
    assert measured.update(correct) == first == measured.accumulate()
    correct = measured.compute(tensor(SCORES[:2]), tensor(LABELS[:2, None]))
    assert measured.update(correct.numpy()) == second
    assert measured.accumulate() == both
    measured.reset()
    assert np.all(np.array(measured.accumulate()) == 0)


def test_accuracy_takes_labels_that_are_one_of_the_classes():
    measured = metric.Accuracy((1, 2), "a")
    assert measured.name() == ["a_top1", "a_top2"]
    one = np.eye(5, dtype="float32")[LABELS]
    np.testing.assert_array_equal(
        measured.compute(tensor(SCORES), tensor(one)).numpy(),
        [[0, 1], [0, 0], [1, 0], [1, 0], [0, 0], [0, 0]],
    )
    steps = measured.compute(tensor(SCORES.reshape(2, 3, 5)), tensor(LABELS.reshape(2, 3, 1)))
    assert steps.shape == [2, 3, 2] and measured.update(steps) == [1 / 3, 0.5]


def test_accuracy_is_computed_in_a_converted_function():
    measured = metric.Accuracy((2,))
    specs = [InputSpec([None, 3], "float32", "x"), InputSpec([None], "int64", "y")]
    static = dy2st.to_static(measured.compute, input_spec=specs)
    correct = static(tensor(TIES), tensor([0, 1, 2]))
    assert correct.numpy().tolist() == [[1, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("kind", "name", "share", "counts"),
    [
        (metric.Precision, "precision", 0.6666666666666666, {"tp": 2, "fp": 1}),
        (metric.Recall, "recall", 0.2, {"tp": 1, "fn": 4}),
    ],
)
def test_precision_and_recall(kind, name, share, counts):
    measured = kind()
    measured.update(PROBABILITIES, TRUTHS)
    assert measured.accumulate() == share and measured.name() == name
    assert {key: getattr(measured, key) for key in counts} == counts
    measured.update(tensor(PROBABILITIES[:, None]), tensor(TRUTHS[:, None]))
    assert measured.accumulate() == share
    assert {key: getattr(measured, key) / 2 for key in counts} == counts
    measured.reset()
    assert measured.accumulate() == 0.0
    with pytest.raises(ShapeError):
        measured.update(PROBABILITIES, TRUTHS[:3])


@pytest.mark.parametrize(("thresholds", "area"), [(4095, 0.8), (10, 0.8)])
def test_auc(thresholds, area):
    values = np.clip(PROBABILITIES, 0, 1)
    pairs = np.stack([1 - values, values], 1)
    measured = metric.Auc(num_thresholds=thresholds)
    measured.update(pairs, TRUTHS)
    assert measured.accumulate() == pytest.approx(area, rel=1e-14)
    measured.reset()
    assert measured.accumulate() == 0.0 and measured.name() == "auc"


def test_auc_over_batches():
    values = np.clip(PROBABILITIES, 0, 1)
    measured = metric.Auc()
    measured.update(np.stack([1 - values, values], 1), TRUTHS[:, None])
    measured.update(tensor(SCORES[:, :2]), tensor((LABELS[:, None] > 2).astype("int64")))
    assert measured.accumulate() == pytest.approx(0.7708333333333334, rel=1e-14)


@pytest.mark.parametrize("value", [1.5, -0.5, np.nan])
def test_auc_refuses_what_is_no_probability(value):
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        metric.Auc().update(np.array([[0.5, value]]), np.array([1]))


def test_auc_refuses_another_curve():
    with pytest.raises(ArgumentError, match="PR"):
        metric.Auc("PR")


def test_a_metric_has_all_methods():
    with pytest.raises(TypeError, match="abstract"):
        metric.Metric()


def test_a_metric_of_ones_own_gets_predictions_and_labels():
    class Mean(metric.Metric):
        def reset(self):
            self.errors = []

        def update(self, preds, labels):
            self.errors.append(float(abs(preds - labels).mean()))

        def accumulate(self):
            return float(np.mean(self.errors))

        def name(self):
            return "mean"

    measured = Mean()
    measured.reset()
    measured.update(*measured.compute(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
    assert measured.accumulate() == 1.0
