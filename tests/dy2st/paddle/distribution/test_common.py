"""Normal, Uniform, Bernoulli, Categorical: against scipy, in shapes, by moments, converted."""

import numpy as np
import pytest
from scipy import stats

import dy2st
from dy2st.paddle.distribution import (
    Bernoulli,
    Categorical,
    Distribution,
    Normal,
    Uniform,
    kl_divergence,
    register_kl,
)
from dy2st.static import InputSpec

LOC, SCALE = np.array([0.5, -1.0, 2.0], "float32"), np.array([1.0, 0.5, 2.0], "float32")
RATE = np.array([0.2, 0.5, 0.9], "float32")
VALUES = np.array([[0.3, -0.2, 2.5], [1.4, -1.4, 0.1]], "float32")
ONES = np.array([[0, 1, 1], [1, 0, 1]], "float32")

PAIRS = [
    (Normal, (LOC, SCALE), stats.norm(LOC, SCALE), VALUES),
    (Uniform, (LOC, LOC + SCALE), stats.uniform(LOC, SCALE), VALUES),
    (Bernoulli, (RATE,), stats.bernoulli(RATE), ONES),
]


def ids(entry):
    return entry.__name__ if isinstance(entry, type) else ""


def made(kind, arguments):
    return kind(*(dy2st.to_tensor(value) for value in arguments))


@pytest.mark.parametrize("kind, arguments, law, values", PAIRS, ids=ids)
def test_logarithms_entropies_and_moments_are_those_of_scipy(kind, arguments, law, values):
    ours = made(kind, arguments)
    log = law.logpdf if hasattr(law.dist, "logpdf") else law.logpmf
    found = ours.log_prob(dy2st.to_tensor(values)).numpy()
    np.testing.assert_allclose(found, log(values), rtol=2e-5)
    np.testing.assert_allclose(
        ours.prob(dy2st.to_tensor(values)).numpy(), np.exp(found), rtol=2e-5, atol=1e-7
    )
    np.testing.assert_allclose(ours.entropy().numpy(), law.entropy(), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(ours.mean.numpy(), law.mean(), rtol=1e-5)
    np.testing.assert_allclose(ours.variance.numpy(), law.var(), rtol=1e-5)


@pytest.mark.parametrize("kind, arguments, law, values", PAIRS, ids=ids)
def test_samples_have_the_shape_and_the_moments(kind, arguments, law, values):
    dy2st.seed(7)
    ours = made(kind, arguments)
    assert ours.batch_shape == (3,) and ours.event_shape == ()
    assert ours.sample().shape == [3] and ours.sample((2, 4)).shape == [2, 4, 3]
    drawn = ours.sample([20000]).numpy()
    np.testing.assert_allclose(drawn.mean(0), law.mean(), atol=0.05)
    np.testing.assert_allclose(drawn.var(0), law.var(), rtol=0.05)


@pytest.mark.parametrize("kind", [Normal, Uniform])
def test_parameters_are_numbers_lists_arrays_or_tensors(kind):
    assert kind(1, 2).sample().shape == [] and kind(1.0, 2.0).sample([3]).shape == [3]
    listed = kind([0.0, 1.0], 3.0)
    assert listed.batch_shape == (2,) and listed.sample().dtype == np.float32
    assert kind(np.zeros(2), np.ones(2)).sample().dtype == np.float64
    mixed = kind(dy2st.zeros([2, 1]), dy2st.ones([3]))
    assert mixed.batch_shape == (2, 3) and mixed.sample([4]).shape == [4, 2, 3]
    with pytest.raises(TypeError, match="shape of samples"):
        listed.sample(2)


@pytest.mark.parametrize("kind", [Normal, Uniform])
def test_a_seed_fixes_what_is_drawn(kind):
    ours = kind([0.0, 1.0], [2.0, 3.0])
    dy2st.seed(1)
    first, free = ours.sample([3], seed=5).numpy(), ours.sample([3]).numpy()
    dy2st.seed(2)
    np.testing.assert_array_equal(first, ours.sample([3], 5).numpy())
    assert (free != ours.sample([3]).numpy()).all()


def test_a_uniform_density_is_zero_at_both_ends_and_beyond():
    density = Uniform(0.0, 2.0).probs(dy2st.to_tensor([-1.0, 0.0, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(density.numpy(), [0, 0, 0.5, 0, 0])


def test_bernoulli_has_a_distribution_function_and_relaxed_draws():
    coin = Bernoulli(dy2st.to_tensor([0.25, 0.75]))
    values = dy2st.to_tensor([[-0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(coin.cdf(values).numpy(), [[0, 0.25], [0.75, 1]])
    dy2st.seed(3)
    relaxed = dy2st.nn.functional.sigmoid(coin.rsample([5000], temperature=0.1)).numpy()
    np.testing.assert_allclose((relaxed > 0.5).mean(0), [0.25, 0.75], atol=0.02)
    assert np.isfinite(Bernoulli(1.0).log_prob(dy2st.to_tensor(0.0)).numpy())


def test_categorical_divides_for_probabilities_and_takes_softmax_for_draws():
    weights = np.array([[1.0, 2.0, 5.0], [4.0, 3.0, 1.0]], "float32")
    ours = Categorical(dy2st.to_tensor(weights))
    shares = weights / weights.sum(1, keepdims=True)
    soft = np.exp(weights) / np.exp(weights).sum(1, keepdims=True)
    np.testing.assert_allclose(ours.probs(dy2st.to_tensor([2, 0])).numpy(), shares[:, [2, 0]])
    picked = ours.log_prob(dy2st.to_tensor([[1], [2]])).numpy()
    np.testing.assert_allclose(picked, np.log([[shares[0, 1]], [shares[1, 2]]]), rtol=1e-6)
    np.testing.assert_allclose(ours.entropy().numpy(), stats.entropy(soft, axis=1), rtol=1e-5)
    dy2st.seed(5)
    drawn = ours.sample([20000])
    assert drawn.shape == [20000, 2] and drawn.dtype == np.int64
    counts = np.stack([np.bincount(row, minlength=3) for row in drawn.numpy().T])
    np.testing.assert_allclose(counts / 20000, soft, atol=0.02)
    other = Categorical(dy2st.to_tensor(weights[::-1].copy()))
    expected = stats.entropy(soft, soft[::-1], axis=1)[:, None]
    np.testing.assert_allclose(kl_divergence(ours, other).numpy(), expected, rtol=1e-5)


def test_one_categorical_takes_indices_of_any_shape():
    ours = Categorical([1.0, 3.0])
    assert ours.sample().shape == [] and ours.sample([2, 3]).shape == [2, 3]
    np.testing.assert_allclose(
        ours.probs(dy2st.to_tensor([[0, 1], [1, 1]])).numpy(), [[0.25, 0.75], [0.75, 0.75]]
    )


def quadrature(p, q, points, width):
    log_p, log_q = (law.log_prob(dy2st.to_tensor(points)).numpy() for law in (p, q))
    return float(np.sum(np.exp(log_p) * (log_p - log_q)) * width)


def test_divergences_are_the_integrals_they_stand_for():
    points = np.linspace(-12, 14, 26001)
    p, q = Normal(np.array(0.5), np.array(1.2)), Normal(np.array(-0.3), np.array(2.0))
    assert float(kl_divergence(p, q)) == pytest.approx(quadrature(p, q, points, 1e-3), rel=1e-5)
    coins = [Bernoulli(np.array(0.3)), Bernoulli(np.array(0.6))]
    expected = quadrature(*coins, np.array([0.0, 1.0]), 1)
    assert float(kl_divergence(*coins)) == pytest.approx(expected, rel=1e-6)
    assert float(kl_divergence(Uniform(0.0, 1.0), Uniform(-1.0, 3.0))) == pytest.approx(np.log(4))
    assert float(kl_divergence(Uniform(0.0, 3.0), Uniform(1.0, 2.0))) == np.inf


def test_users_enter_divergences_and_unknown_pairs_are_refused():
    class Mine(Normal):
        pass

    class Strange(Distribution):
        pass

    assert float(kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0))) == 0

    @register_kl(Mine, Normal)
    def own(p, q):
        return "own"

    assert kl_divergence(Mine(0.0, 1.0), Normal(0.0, 1.0)) == "own"
    with pytest.raises(NotImplementedError, match="@register_kl"):
        kl_divergence(Strange(), Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="Strange has no entropy"):
        Strange().entropy()
    with pytest.raises(TypeError, match="subclasses of Distribution"):
        register_kl(int, Normal)


def test_gradients_reach_parameters_through_draws_and_logarithms():
    loc, scale = (dy2st.to_tensor(value, stop_gradient=False) for value in (LOC, SCALE))
    ours = Normal(loc, scale)
    dy2st.seed(0)
    drawn = ours.rsample([4])
    drawn.sum().backward()
    np.testing.assert_allclose(loc.grad.numpy(), [4, 4, 4])
    np.testing.assert_allclose(
        scale.grad.numpy(), ((drawn.numpy() - LOC) / SCALE).sum(0), rtol=1e-4, atol=1e-5
    )
    loc.clear_grad()
    ours.log_prob(dy2st.to_tensor(VALUES)).sum().backward()
    np.testing.assert_allclose(
        loc.grad.numpy(), ((VALUES - LOC) / SCALE**2).sum(0), rtol=1e-5, atol=1e-6
    )


def test_a_converted_policy_samples_and_scores_batches_of_unknown_size():
    prior = Normal(0.0, 1.0)

    class Policy(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = dy2st.nn.Linear(4, 3)
            self.prior = prior

        def forward(self, x):
            made = dy2st.nn.functional.softmax(self.linear(x), axis=-1)
            choice = Categorical(made)
            action = choice.sample([1])[0]
            score = choice.log_prob(action.unsqueeze(-1))
            latent = Normal(made, made + 1.0)
            coin = Bernoulli(made)
            if score.sum() > 0:
                score = score * 0
            drawn = latent.rsample()
            parts = [kl_divergence(latent, self.prior), latent.log_prob(drawn), coin.sample([2])]
            return action, score, choice.entropy(), made, *parts

    policy = Policy()
    call = dy2st.jit.to_static(policy.forward, input_spec=[InputSpec([None, 4], "float32")])
    dy2st.seed(11)
    for size in (2, 5):
        found = call(dy2st.ones([size, 4]))
        action, score, entropy, made, divergence, log_prob, coins = (x.numpy() for x in found)
        assert action.shape == (size,) and coins.shape == (2, size, 3)
        np.testing.assert_allclose(
            score, np.log(np.take_along_axis(made, action[:, None], 1)), rtol=1e-5
        )
        np.testing.assert_allclose(
            divergence, (made**2 + (made + 1) ** 2 - 1) / 2 - np.log(made + 1), rtol=1e-4
        )
        assert log_prob.shape == (size, 3) and entropy.shape == (size,)


def test_a_seed_for_a_size_that_is_not_known_is_refused():
    def draw(x):
        return Normal(x, x).sample([2], seed=3)

    draw = dy2st.jit.to_static(draw, input_spec=[InputSpec([None], "float32")])
    with pytest.raises(dy2st.errors.ArgumentError, match=r"dy2st\.seed"):
        draw(dy2st.ones([2]))
