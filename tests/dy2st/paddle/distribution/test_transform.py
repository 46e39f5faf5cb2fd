"""Transforms: their inverses, slopes against differences, shapes; what they make of laws."""

import numpy as np
import pytest
from scipy import stats

import dy2st
from dy2st.paddle.distribution import (
    AbsTransform,
    AffineTransform,
    ChainTransform,
    ExpTransform,
    Independent,
    IndependentTransform,
    Laplace,
    LogNormal,
    Multinomial,
    Normal,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    TransformedDistribution,
    variable,
)

X = np.array([0.3, 0.9, 1.4])


def tensor(values):
    return dy2st.to_tensor(np.asarray(values, "float64"))


def affine():
    return AffineTransform(tensor(0.5), tensor([2.0, -3.0, 1.0]))


ELEMENTWISE = {
    "affine": affine(),
    "exp": ExpTransform(),
    "power": PowerTransform(tensor(2.5)),
    "sigmoid": SigmoidTransform(),
    "tanh": TanhTransform(),
    "chain": ChainTransform([TanhTransform(), ExpTransform()]),
    "stack": StackTransform([ExpTransform(), TanhTransform(), SigmoidTransform()]),
}


@pytest.mark.parametrize("transform", ELEMENTWISE.values(), ids=[*ELEMENTWISE])
def test_inverses_undo_and_slopes_are_those_of_differences(transform):
    y = transform.forward(tensor(X))
    np.testing.assert_allclose(transform.inverse(y).numpy(), X, rtol=1e-9)
    step = 1e-6
    change = transform.forward(tensor(X + step)) - transform.forward(tensor(X - step))
    expected = np.log(np.abs(change.numpy() / (2 * step)))
    found = transform.forward_log_det_jacobian(tensor(X))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-8)
    back = transform.inverse_log_det_jacobian(y)
    np.testing.assert_allclose(back.numpy(), -expected, rtol=1e-6, atol=1e-8)
    assert tuple(transform.forward_shape((2, 3))) == (2, 3)


def test_sticks_are_broken_into_shares():
    transform, x = StickBreakingTransform(), tensor([[0.3, -0.5, 1.0], [0.0, 0.0, 0.0]])
    y = transform.forward(x)
    np.testing.assert_allclose(y.numpy().sum(-1), [1, 1])
    np.testing.assert_allclose(y.numpy()[1], [0.25] * 4)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x.numpy(), atol=1e-9)
    steps = np.eye(3) * 1e-6
    rows = [
        (transform.forward(x + tensor(s)) - transform.forward(x - tensor(s))).numpy() / 2e-6
        for s in steps
    ]
    slopes = np.stack(rows, -1)[:, :3]  # (batch, out, in)
    expected = np.log(np.abs(np.linalg.det(slopes)))
    np.testing.assert_allclose(transform.forward_log_det_jacobian(x).numpy(), expected, rtol=1e-6)
    assert transform.forward_shape((2, 3)) == (2, 4) and transform.inverse_shape((4,)) == (3,)


def test_softmax_and_the_size_of_a_number_have_no_slope():
    y = SoftmaxTransform().forward(tensor([[1.0, 3.0], [100.0, 100.0]]))
    np.testing.assert_allclose(y.numpy().sum(-1), [1, 1])
    low, high = AbsTransform().inverse(tensor(2.0))
    assert (float(low), float(high)) == (-2, 2)
    for transform in (SoftmaxTransform(), AbsTransform()):
        with pytest.raises(NotImplementedError, match="no slope"):
            transform.forward_log_det_jacobian(tensor([1.0, 2.0]))


def test_events_are_reshaped_and_joined():
    transform = ReshapeTransform((2, 3), (6,))
    x = tensor(np.arange(24).reshape(4, 2, 3))
    assert transform.forward(x).shape == [4, 6]
    np.testing.assert_array_equal(transform.inverse(transform.forward(x)).numpy(), x.numpy())
    assert transform.forward_log_det_jacobian(x).shape == [4]
    assert transform.forward_shape((4, 2, 3)) == (4, 6)
    with pytest.raises(dy2st.errors.ArgumentError, match="elements"):
        ReshapeTransform((2, 3), (5,))
    with pytest.raises(dy2st.errors.ArgumentError, match="events of the shape"):
        transform.forward_shape((3, 2))
    joint = IndependentTransform(ExpTransform(), 1)
    assert joint.forward_log_det_jacobian(x).shape == [4, 2]


def test_laws_through_chains_have_the_density_of_the_result():
    base = Normal(tensor([0.0, 0.3, 1.0]), tensor([1.0, 0.5, 2.0]))
    made = TransformedDistribution(base, [affine(), ExpTransform()])
    assert made.batch_shape == (3,) and made.sample([5]).shape == [5, 3]
    y = np.array([0.7, 1.2, 3.0])
    scale = np.array([2.0, 3.0, 1.0]) * [1.0, 0.5, 2.0]
    loc = 0.5 + np.array([2.0, -3.0, 1.0]) * [0.0, 0.3, 1.0]
    expected = stats.lognorm(scale, scale=np.exp(loc)).logpdf(y)
    np.testing.assert_allclose(made.log_prob(tensor(y)).numpy(), expected, rtol=1e-9)


def test_events_of_a_transform_take_axes_of_the_batch():
    base = Normal(tensor(np.zeros((5, 3))), tensor(np.ones((5, 3))))
    made = TransformedDistribution(base, [StickBreakingTransform()])
    assert made.batch_shape == (5,) and made.event_shape == (4,)
    drawn = made.sample([2])
    assert drawn.shape == [2, 5, 4] and made.log_prob(drawn).shape == [2, 5]
    moved = TransformedDistribution(base, [AffineTransform(1.0, 2.0), StickBreakingTransform()])
    assert moved.log_prob(drawn).shape == [2, 5]
    x = StickBreakingTransform().inverse(drawn)
    half = (x - 1.0) / 2.0
    expected = base.log_prob(half).sum(-1) - 3 * np.log(2.0)
    expected = expected - StickBreakingTransform().forward_log_det_jacobian(x)
    np.testing.assert_allclose(moved.log_prob(drawn).numpy(), expected.numpy(), rtol=1e-5)
    with pytest.raises(dy2st.errors.ArgumentError, match="events of 1 axes"):
        TransformedDistribution(Normal(0.0, 1.0), [StickBreakingTransform()])


def test_a_transform_of_a_users_own_is_called_on_tensors_laws_and_transforms():
    class Shift(Transform):
        def _forward(self, x):
            return x + 1

        def _inverse(self, y):
            return y - 1

        def _inverse_log_det_jacobian(self, y):
            return dy2st.zeros_like(y)

        @property
        def _domain(self):
            return variable.Real()

    shift = Shift()
    assert float(shift(tensor(1.0))) == 2
    assert isinstance(shift(ExpTransform()), ChainTransform)
    law = shift(Normal(0.0, 1.0))
    assert float(law.log_prob(dy2st.to_tensor(1.0))) == pytest.approx(-0.9189385)
    with pytest.raises(NotImplementedError, match="Transform has no _forward"):
        Transform().forward(tensor(1.0))
    with pytest.raises(TypeError, match="takes a tensor"):
        shift.forward(1.0)


def test_independent_axes_are_summed():
    base = Laplace(tensor(np.zeros((4, 3))), tensor(np.ones((4, 3))))
    joint = Independent(base, 1)
    assert joint.batch_shape == (4,) and joint.event_shape == (3,)
    value = tensor(X)
    np.testing.assert_allclose(
        joint.log_prob(value).numpy(), base.log_prob(value).numpy().sum(-1), rtol=1e-12
    )
    assert joint.entropy().shape == [4] and joint.rsample([2]).shape == [2, 4, 3]
    with pytest.raises(dy2st.errors.ArgumentError, match="from 1 to 2"):
        Independent(base, 3)


def test_counts_of_several_classes_are_multinomial():
    shares = np.array([0.2, 0.3, 0.5])
    ours, law = Multinomial(6, tensor(2 * shares)), stats.multinomial(6, shares)
    values = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 6.0]])
    np.testing.assert_allclose(ours.log_prob(tensor(values)).numpy(), law.logpmf(values), rtol=1e-9)
    assert float(ours.entropy()) == pytest.approx(law.entropy(), rel=1e-6)
    dy2st.seed(3)
    drawn = ours.sample([8000]).numpy()
    assert (drawn.sum(-1) == 6).all()
    np.testing.assert_allclose(drawn.mean(0), 6 * shares, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), law.cov(), atol=0.08)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(law.cov()))


def test_a_converted_flow_scores_batches_of_unknown_size():
    def score(x):
        law = TransformedDistribution(
            Normal(x, x + 1.0), [TanhTransform(), AffineTransform(0.0, 2.0)]
        )
        return law.log_prob(law.rsample([2])), LogNormal(x, x + 1.0).rsample()

    score = dy2st.jit.to_static(
        score, input_spec=[dy2st.static.InputSpec([None, 3], "float32", "x")]
    )
    for size in (1, 4):
        found, drawn = score(dy2st.full([size, 3], 0.5))
        assert found.shape == [2, size, 3] and drawn.shape == [size, 3]
