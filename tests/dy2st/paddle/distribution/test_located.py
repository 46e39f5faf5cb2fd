"""Distributions moved and stretched, and those of counts: against scipy, by moments, converted."""

import numpy as np
import pytest
from scipy import stats

import dy2st
from dy2st.paddle.distribution import (
    Cauchy,
    Exponential,
    Geometric,
    Gumbel,
    Laplace,
    LogNormal,
    kl_divergence,
)

LOC, SCALE = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.5, 2.0])
RATE = np.array([0.2, 0.5, 0.9])
VALUES = np.array([[0.3, 0.2, 2.5], [1.4, 1.1, 0.1]])
COUNTS = np.array([[0.0, 1.0, 2.0], [4.0, 0.0, 1.0]])

LAWS = [
    (Exponential, (SCALE,), stats.expon(scale=1 / SCALE), VALUES),
    (Laplace, (LOC, SCALE), stats.laplace(LOC, SCALE), VALUES),
    (Gumbel, (LOC, SCALE), stats.gumbel_r(LOC, SCALE), VALUES),
    (Cauchy, (LOC, SCALE), stats.cauchy(LOC, SCALE), VALUES),
    (LogNormal, (LOC, SCALE), stats.lognorm(SCALE, scale=np.exp(LOC)), VALUES),
    (Geometric, (RATE,), stats.geom(RATE, loc=-1), COUNTS),
]


def ids(entry):
    return entry.__name__ if isinstance(entry, type) else ""


def made(kind, arguments):
    return kind(*(dy2st.to_tensor(value) for value in arguments))


@pytest.mark.parametrize("kind, arguments, law, values", LAWS, ids=ids)
def test_logarithms_and_entropies_are_those_of_scipy(kind, arguments, law, values):
    ours, given = made(kind, arguments), dy2st.to_tensor(values)
    expected = law.logpdf(values) if hasattr(law.dist, "logpdf") else law.logpmf(values)
    np.testing.assert_allclose(ours.log_prob(given).numpy(), expected, rtol=1e-10)
    np.testing.assert_allclose(ours.prob(given).numpy(), np.exp(expected), rtol=1e-10)
    np.testing.assert_allclose(ours.entropy().numpy(), law.entropy(), rtol=1e-6)
    if hasattr(ours, "cdf"):
        np.testing.assert_allclose(ours.cdf(given).numpy(), law.cdf(values), rtol=1e-10)


@pytest.mark.parametrize("kind, arguments, law, values", LAWS, ids=ids)
def test_samples_have_the_shape_and_the_law(kind, arguments, law, values):
    dy2st.seed(7)
    ours = made(kind, arguments)
    assert ours.batch_shape == (3,) and ours.event_shape == ()
    assert ours.sample().shape == [3] and ours.sample((2, 4)).shape == [2, 4, 3]
    drawn = ours.sample([20000]).numpy()
    for level in (0.1, 0.5, 0.9):
        border = law.ppf(level)
        np.testing.assert_allclose((drawn <= border).mean(0), law.cdf(border), atol=0.02)


@pytest.mark.parametrize("kind, arguments, law, values", LAWS, ids=ids)
def test_moments_are_those_of_scipy_where_there_are_any(kind, arguments, law, values):
    ours = made(kind, arguments)
    if kind is Cauchy:
        for name in ("mean", "variance", "stddev"):
            with pytest.raises(dy2st.errors.ArgumentError, match=f"no {name}"):
                getattr(ours, name)
        return
    np.testing.assert_allclose(ours.mean.numpy(), law.mean(), rtol=1e-10)
    np.testing.assert_allclose(ours.variance.numpy(), law.var(), rtol=1e-10)
    if hasattr(ours, "stddev"):
        np.testing.assert_allclose(ours.stddev.numpy(), law.std(), rtol=1e-10)


@pytest.mark.parametrize("kind", [Exponential, Laplace])
def test_the_inverse_of_the_distribution_function_undoes_it(kind):
    ours = kind(*[dy2st.to_tensor(0.7, dtype="float64")] * (1 + (kind is Laplace)))
    values = dy2st.to_tensor([0.1, 0.7, 2.0], dtype="float64")
    np.testing.assert_allclose(ours.icdf(ours.cdf(values)).numpy(), values.numpy(), rtol=1e-9)


@pytest.mark.parametrize(
    "kind, points, width, p, q",
    [
        (Exponential, np.linspace(5e-4, 40, 40000), 1e-3, (0.8,), (1.7,)),
        (Laplace, np.linspace(-30, 30, 60001), 1e-3, (0.5, 1.2), (-0.3, 2.0)),
        (LogNormal, np.linspace(1e-3, 200, 200000), 1e-3, (0.2, 0.6), (-0.3, 0.9)),
        (Cauchy, np.tan(np.linspace(-1.57, 1.57, 100001)), None, (0.5, 1.2), (-0.3, 2.0)),
        (Geometric, np.arange(400.0), 1, (0.3,), (0.6,)),
    ],
    ids=ids,
)
def test_divergences_are_the_integrals_they_stand_for(kind, points, width, p, q):
    p, q = made(kind, map(np.array, p)), made(kind, map(np.array, q))
    log_p, log_q = (law.log_prob(dy2st.to_tensor(points)).numpy() for law in (p, q))
    width = np.gradient(points) if width is None else width
    expected = np.sum(np.exp(log_p) * (log_p - log_q) * width)
    assert float(kl_divergence(p, q)) == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize("kind", [Laplace, Gumbel, Cauchy, LogNormal])
def test_gradients_reach_parameters_through_draws(kind):
    loc, scale = (dy2st.to_tensor(value, stop_gradient=False) for value in (LOC, SCALE))
    ours = kind(loc, scale)
    assert ours.sample([2]).stop_gradient or kind is LogNormal
    drawn = ours.rsample([5])
    drawn = dy2st.log(drawn) if kind is LogNormal else drawn
    drawn.sum().backward()
    np.testing.assert_allclose(loc.grad.numpy(), [5, 5, 5], rtol=1e-6)
    expected = ((drawn.numpy() - LOC) / SCALE).sum(0)
    np.testing.assert_allclose(scale.grad.numpy(), expected, rtol=1e-6)


def test_they_draw_and_score_batches_of_unknown_size_in_a_converted_function():
    def score(x):
        found = [kind(x, x + 1) for kind in (Laplace, Gumbel, Cauchy, LogNormal)]
        found += [Exponential(x), Geometric(dy2st.nn.functional.sigmoid(x))]
        return [law.log_prob(law.sample([2])) for law in found]

    score = dy2st.jit.to_static(
        score, input_spec=[dy2st.static.InputSpec([None, 3], "float32", "x")]
    )
    for size in (1, 4):
        for found in score(dy2st.full([size, 3], 0.5)):
            assert found.shape == [2, size, 3] and np.isfinite(found.numpy()).all()
