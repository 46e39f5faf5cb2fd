"""Distributions by the gamma function, of counts and of vectors: against scipy and by moments."""

import numpy as np
import pytest
from scipy import stats

import dy2st
from dy2st.paddle.distribution import (
    Beta,
    Binomial,
    Chi2,
    ContinuousBernoulli,
    Dirichlet,
    Exponential,
    ExponentialFamily,
    Gamma,
    LKJCholesky,
    MultivariateNormal,
    Poisson,
    StudentT,
    kl_divergence,
)

A, B = np.array([0.7, 2.0, 5.0]), np.array([1.5, 0.5, 2.0])
RATE = np.array([0.2, 0.5, 0.9])
SHARES = np.array([[0.3, 0.2, 0.6], [0.9, 0.5, 0.1]])
POSITIVE = np.array([[0.3, 0.2, 2.5], [1.4, 1.1, 0.1]])
COUNTS = np.array([[0.0, 1.0, 2.0], [4.0, 0.0, 1.0]])
TRIES = np.array([5.0, 3.0, 4.0])

LAWS = {
    "gamma": (Gamma, (A, B), stats.gamma(A, scale=1 / B), POSITIVE),
    "chi2": (Chi2, (A,), stats.chi2(A), POSITIVE),
    "beta": (Beta, (A, B), stats.beta(A, B), SHARES),
    "student_t": (StudentT, (A + 5, B, A), stats.t(A + 5, B, A), POSITIVE),
    "poisson": (Poisson, (B,), stats.poisson(B), COUNTS),
    "binomial": (Binomial, (TRIES, RATE), stats.binom(TRIES.astype(int), RATE), COUNTS),
    "truncated": (ContinuousBernoulli, (RATE,), None, SHARES),
}


def tensor(values):
    return dy2st.to_tensor(np.asarray(values, "float64"))


def made(name):
    kind, arguments, law, values = LAWS[name]
    if law is None:  # the density is rate * exp(-rate * x), cut off at 1
        odds = np.log((1 - RATE) / RATE) + 1e-9
        law = _Cut(odds)
    return kind(*map(tensor, arguments)), law, values


class _Cut:
    """exp(-odds * x) on [0, 1], by quadrature."""

    def __init__(self, odds):
        self.x = (np.arange(200000) + 0.5)[:, None] / 200000
        weights = np.exp(-odds * self.x)
        self.norm, self.odds = weights.mean(0), odds
        self.weights = weights / weights.sum(0)

    def logpdf(self, values):
        return -self.odds * values - np.log(self.norm)

    def mean(self):
        return (self.weights * self.x).sum(0)

    def var(self):
        return (self.weights * (self.x - self.mean()) ** 2).sum(0)

    def entropy(self):
        return -(self.weights * self.logpdf(self.x)).sum(0)


@pytest.mark.parametrize("name", LAWS)
def test_logarithms_entropies_and_moments_are_those_of_scipy(name):
    ours, law, values = made(name)
    expected = law.logpmf(values) if name in ("poisson", "binomial") else law.logpdf(values)
    found = ours.log_prob(tensor(values)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.prob(tensor(values)).numpy(), np.exp(expected), rtol=1e-6)
    np.testing.assert_allclose(ours.entropy().numpy(), law.entropy(), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ours.mean.numpy(), law.mean(), rtol=1e-6)
    np.testing.assert_allclose(ours.variance.numpy(), law.var(), rtol=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_samples_have_the_shape_and_the_moments(name):
    dy2st.seed(7)
    ours, law, _ = made(name)
    assert ours.batch_shape == (3,) and ours.event_shape == ()
    assert ours.sample().shape == [3] and ours.sample((2, 4)).shape == [2, 4, 3]
    drawn = ours.sample([20000]).numpy()
    assert np.isfinite(ours.log_prob(tensor(drawn)).numpy()).all()
    spread = np.sqrt(law.var())
    np.testing.assert_allclose((drawn.mean(0) - law.mean()) / spread, np.zeros(3), atol=0.04)
    np.testing.assert_allclose(drawn.std(0), spread, rtol=0.05)


def test_plain_numbers_make_one_or_a_batch_of_one():
    assert Gamma(1.0, 2.0).sample([2]).shape == [2] and Beta(1.0, 2.0).sample().shape == []
    assert Poisson(2.0).sample([3]).shape == [3, 1]
    assert ContinuousBernoulli(0.3).sample().shape == [1]
    assert (
        Binomial(4, 0.5).sample([2]).shape == [2] and StudentT(3.0, 0.0, 1.0).sample().shape == []
    )


@pytest.mark.parametrize(
    "kind, p, q, points, width",
    [
        (Gamma, (2.0, 1.5), (1.2, 0.7), np.linspace(5e-4, 40, 40000), 1e-3),
        (Beta, (2.0, 1.5), (1.2, 2.7), (np.arange(100000) + 0.5) / 100000, 1e-5),
        (Poisson, (2.0,), (3.5,), np.arange(60.0), 1),
        (Binomial, (5.0, 0.3), (5.0, 0.6), np.arange(6.0), 1),
        (Binomial, (5.0, 0.3), (8.0, 0.6), np.arange(6.0), 1),
        (ContinuousBernoulli, (0.3,), (0.8,), (np.arange(100000) + 0.5) / 100000, 1e-5),
        (ContinuousBernoulli, (0.5,), (0.8,), (np.arange(100000) + 0.5) / 100000, 1e-5),
    ],
)
def test_divergences_are_the_integrals_they_stand_for(kind, p, q, points, width):
    p, q = kind(*map(tensor, p)), kind(*map(tensor, q))
    log_p, log_q = (law.log_prob(tensor(points)).numpy() for law in (p, q))
    expected = np.sum(np.exp(log_p) * (log_p - log_q)) * width
    assert float(kl_divergence(p, q)) == pytest.approx(expected, rel=1e-3)


def test_more_tries_than_the_other_has_are_infinitely_far():
    assert float(kl_divergence(Binomial(5, 0.5), Binomial(4, 0.5))) == np.inf


def test_shares_of_a_dirichlet_distribution():
    ours, law = Dirichlet(tensor(A)), stats.dirichlet(A)
    value = np.array([0.2, 0.3, 0.5])
    assert float(ours.log_prob(tensor(value))) == pytest.approx(law.logpdf(value))
    assert float(ours.entropy()) == pytest.approx(law.entropy())
    np.testing.assert_allclose(ours.mean.numpy(), law.mean())
    np.testing.assert_allclose(ours.variance.numpy(), law.var())
    dy2st.seed(3)
    drawn = ours.sample([20000]).numpy()
    np.testing.assert_allclose(drawn.sum(-1), np.ones(20000))
    np.testing.assert_allclose(drawn.mean(0), law.mean(), atol=0.01)
    other = Dirichlet(tensor(B))
    apart = (ours.log_prob(tensor(drawn)) - other.log_prob(tensor(drawn))).numpy()
    assert float(kl_divergence(ours, other)) == pytest.approx(apart.mean(), abs=0.03)


@pytest.mark.parametrize("kind", [Exponential, Gamma, Beta, Dirichlet])
def test_the_normaliser_of_a_family_gives_entropies_and_divergences(kind):
    class Bare(kind):
        kl_divergence = ExponentialFamily.kl_divergence

        @property
        def _mean_carrier_measure(self):
            return self.carrier

    arguments = {Exponential: (A, B), Dirichlet: (A, B)}.get(kind, ((A, B), (B, A)))
    p, q = arguments if isinstance(arguments[0], tuple) else [(value,) for value in arguments]
    ours, bare = kind(*map(tensor, p)), Bare(*map(tensor, p))
    expected = kl_divergence(ours, kind(*map(tensor, q)))
    found = kl_divergence(bare, Bare(*map(tensor, q)))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-9)
    if kind is Exponential:
        bare.carrier = 0.0
        entropy = ExponentialFamily.entropy(bare)
        np.testing.assert_allclose(entropy.numpy(), ours.entropy().numpy(), rtol=1e-9)


def test_gradients_reach_what_gamma_functions_are_of():
    concentration, rate = (dy2st.to_tensor(value, stop_gradient=False) for value in (A, B))
    law = Gamma(concentration, rate)
    law.log_prob(tensor(POSITIVE)).sum().backward()
    step = 1e-6
    shifted = [stats.gamma(A + s, scale=1 / B).logpdf(POSITIVE).sum(0) for s in (step, -step)]
    expected = (shifted[0] - shifted[1]) / (2 * step)
    np.testing.assert_allclose(concentration.grad.numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(rate.grad.numpy(), (A / B - POSITIVE).sum(0), rtol=1e-9)


COVARIANCE = np.array([[2.0, 0.6, 0.2], [0.6, 1.0, -0.3], [0.2, -0.3, 0.5]])
MEAN = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_vectors_are_normal_with_one_of_three_matrices(given):
    matrix = {
        "covariance_matrix": COVARIANCE,
        "precision_matrix": np.linalg.inv(COVARIANCE),
        "scale_tril": np.linalg.cholesky(COVARIANCE),
    }[given]
    ours = MultivariateNormal(tensor(MEAN), **{given: tensor(matrix)})
    law = stats.multivariate_normal(MEAN, COVARIANCE)
    np.testing.assert_allclose(ours.log_prob(tensor(POSITIVE)).numpy(), law.logpdf(POSITIVE))
    assert float(ours.entropy()) == pytest.approx(law.entropy())
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(COVARIANCE))
    assert ours.event_shape == (3,) and ours.batch_shape == ()
    dy2st.seed(3)
    drawn = ours.sample([20000]).numpy()
    np.testing.assert_allclose(drawn.mean(0), MEAN, atol=0.04)
    np.testing.assert_allclose(np.cov(drawn.T), COVARIANCE, atol=0.06)
    other = np.diag([1.0, 2.0, 3.0])
    theirs = MultivariateNormal(tensor(np.zeros(3)), tensor(other))
    inverse = np.linalg.inv(other)
    expected = 0.5 * (np.trace(inverse @ COVARIANCE) + MEAN @ inverse @ MEAN - 3)
    expected += 0.5 * np.log(np.linalg.det(other) / np.linalg.det(COVARIANCE))
    assert float(kl_divergence(ours, theirs)) == pytest.approx(expected)


def test_batches_of_normal_vectors_broadcast():
    ours = MultivariateNormal(tensor(np.zeros((4, 3))), covariance_matrix=tensor(COVARIANCE))
    assert ours.batch_shape == (4,) and ours.sample([2]).shape == [2, 4, 3]
    assert ours.log_prob(tensor(POSITIVE[0])).shape == [4] and ours.entropy().shape == [4]
    with pytest.raises(dy2st.errors.ArgumentError, match="give one of"):
        MultivariateNormal(tensor(MEAN))


@pytest.mark.parametrize("method", ["onion", "cvine"])
def test_correlations_are_drawn_with_the_density_of_lewandowski_and_others(method):
    dy2st.seed(5)
    ours = LKJCholesky(3, 1.5, method)
    lower = ours.sample([8000]).numpy()
    matrices = lower @ lower.swapaxes(-1, -2)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2), 1, atol=1e-5)
    # Each correlation is 2 * beta - 1 with both parameters concentration + (dim - 2) / 2.
    law = stats.beta(2.0, 2.0, loc=-1, scale=2)
    for i, j in ((1, 0), (2, 0), (2, 1)):
        assert stats.kstest(matrices[:, i, j], law.cdf).pvalue > 1e-3
    assert LKJCholesky(3, dy2st.to_tensor([1.0, 2.0]), method).sample([4]).shape == [4, 2, 3, 3]


def test_the_density_of_a_triangle_of_correlations_integrates_to_one():
    # For two rows, L is (1, 0; r, sqrt(1 - r**2)), and r the coordinate.
    r = np.linspace(-1, 1, 20001)[1:-1]
    lower = np.zeros((len(r), 2, 2))
    lower[:, 0, 0], lower[:, 1, 0], lower[:, 1, 1] = 1, r, np.sqrt(1 - r**2)
    for concentration in (1.5, 3.0):
        density = LKJCholesky(2, concentration).prob(tensor(lower)).numpy()
        assert density.sum() * 1e-4 == pytest.approx(1, rel=1e-3)


def test_they_draw_and_score_batches_of_unknown_size_in_a_converted_function():
    def score(x):
        pairs = [(law, ()) for law in (Gamma(x, x), Beta(x, x), StudentT(x, x, x), Poisson(x))]
        share = dy2st.nn.functional.sigmoid(x)
        pairs += [(Binomial(4, share), ()), (ContinuousBernoulli(share), ()), (Dirichlet(x), ())]
        pairs += [(MultivariateNormal(x, dy2st.eye(3)), ())]
        found = [law.log_prob(law.sample([2])) for law, _ in pairs]
        return *found, Poisson(x).entropy(), Binomial(4, share).entropy()

    score = dy2st.jit.to_static(
        score, input_spec=[dy2st.static.InputSpec([None, 3], "float32", "x")]
    )
    for size in (1, 4):
        *found, poisson, binomial = score(dy2st.full([size, 3], 2.5))
        for logs in found:
            assert logs.shape[:2] == [2, size] and np.isfinite(logs.numpy()).all()
        np.testing.assert_allclose(poisson.numpy(), stats.poisson(2.5).entropy(), rtol=1e-4)
        assert binomial.shape == [size, 3]
