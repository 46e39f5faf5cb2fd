"""CTC against the sum over all paths, one by one, and its slope against finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dy2st_runtime.autograd import grad
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import apply
from dy2st_runtime.tensor import to_tensor


def log_p(steps, count, classes):
    scores = np.random.default_rng(4).normal(size=(steps, count, classes))
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))


def labels_of(path, blank):
    """A path without repeated symbols and blanks."""
    kept = [symbol for symbol, _ in itertools.groupby(path)]
    return [symbol for symbol in kept if symbol != blank]


def one_by_one(p, labels, blank):
    """-log of the sum over all paths that give the labels."""
    steps, classes = p.shape
    total = sum(
        np.exp(p[np.arange(steps), path].sum())
        for path in itertools.product(range(classes), repeat=steps)
        if labels_of(path, blank) == list(labels)
    )
    return -np.log(total)


def ctc(p, labels, steps, lengths, blank=0):
    return apply("ctc", *map(to_tensor, (p, labels, steps, lengths)), blank=blank)


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("labels", [[1], [1, 3], [1, 1], [3, 1, 3], []])
def test_all_paths_are_summed(labels, blank):
    p = log_p(5, 1, 4)
    padded = np.array([[*labels, *[3] * (4 - len(labels))]])
    for steps in (4, 5):
        loss = ctc(p, padded, np.array([steps]), np.array([len(labels)]), blank).item()
        assert loss == pytest.approx(one_by_one(p[:steps, 0], labels, blank), rel=1e-9)


def test_the_slope_is_that_of_finite_differences():
    p = log_p(5, 3, 4)
    others = (np.array([[1, 1], [2, 3], [3, 0]]), np.array([5, 4, 3]), np.array([2, 2, 1]))
    x = to_tensor(p, stop_gradient=False)
    weights = np.array([1.0, -2.0, 0.5])
    loss = apply("ctc", x, *map(to_tensor, others), blank=0)
    (loss * to_tensor(weights)).sum().backward()
    expected = np.zeros_like(p)
    for index in np.ndindex(*p.shape):
        moved = [p.copy(), p.copy()]
        moved[0][index] += 1e-6
        moved[1][index] -= 1e-6
        above, below = (ctc(part, *others).numpy() @ weights for part in moved)
        expected[index] = (above - below) / 2e-6
    np.testing.assert_allclose(x.grad.numpy(), expected, atol=1e-8)


def test_what_cannot_be_aligned_has_no_path_and_no_slope():
    p, labels = log_p(3, 2, 3), np.array([[1, 1], [1, 2]])
    steps, lengths = np.array([2, 0]), np.array([2, 1])
    assert np.isinf(ctc(p, labels, steps, lengths).numpy()).all()
    slope = apply("ctc_slope", *map(to_tensor, (p, labels, steps, lengths)), blank=0)
    assert not slope.numpy().any()


WRONG = {
    "too many steps": ({"steps": [4]}, IndexError),
    "too many labels": ({"lengths": [3]}, IndexError),
    "a label that is no class": ({"labels": [[1, 3]]}, IndexError),
    "a blank that is no class": ({"blank": 3}, ShapeError),
    "another number of sequences": ({"steps": [2, 2]}, ShapeError),
    "labels of another rank": ({"labels": [1, 1]}, ShapeError),
    "lengths that are no integers": ({"lengths": [2.0]}, DTypeError),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_alignment_is_refused(what):
    change, error = WRONG[what]
    given = {"labels": [[1, 1]], "steps": [3], "lengths": [2], "blank": 0, **change}
    blank = given.pop("blank")
    with pytest.raises(error):
        ctc(log_p(3, 1, 3), *map(np.array, given.values()), blank)


def test_a_second_derivative_is_refused():
    x = to_tensor(log_p(3, 1, 3), stop_gradient=False)
    others = [to_tensor(a) for a in ([[1]], [3], [1])]
    (first,) = grad(apply("ctc", x, *others, blank=0).sum(), [x], create_graph=True)
    with pytest.raises(ArgumentError, match="second"):
        first.sum().backward()
