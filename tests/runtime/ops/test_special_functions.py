"""Special functions against SciPy, and draws from distributions against their moments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError

RNG = np.random.default_rng(5)
SHAPES, UPTO = RNG.gamma(1, 20, (2, 500)) + 0.01
POSITIVE = np.linspace(0.01, 60, 500)

ROWS = {
    "polygamma": (lambda x: dy2st.polygamma(x, 4), lambda x: scipy.special.polygamma(4, x), POSITIVE),
    "multigammaln": (
        lambda x: dy2st.multigammaln(x, 3),
        lambda x: np.array([scipy.special.multigammaln(v, 3) for v in x]),
        POSITIVE + 1,
    ),
    "gammainc": (dy2st.gammainc, scipy.special.gammainc, SHAPES, UPTO),
    "gammaincc": (dy2st.gammaincc, scipy.special.gammaincc, SHAPES, UPTO),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("name", ROWS)
def test_scipy_says_the_same(name, engine):
    function, reference, *arrays = ROWS[name]
    function = dy2st.to_static(function, engine=engine)
    found = function(*map(dy2st.to_tensor, arrays)).numpy()
    np.testing.assert_allclose(found, reference(*arrays), rtol=2e-12, atol=1e-300)
    short = [dy2st.to_tensor(array.astype("float32")) for array in arrays]
    assert function(*short).dtype == dy2st.float32


@pytest.mark.parametrize("name", ["lgamma", "digamma", "i0", "i0e", "i1", "i1e", "erfinv"])
def test_integers_become_floats_and_gradients_are_traced(name):
    function = getattr(dy2st, name)
    assert function(dy2st.to_tensor([0, 1])).dtype == dy2st.float32
    program = dy2st.to_static(lambda x: function(x), input_spec=[InputSpec([None], "float64")])
    x = dy2st.to_tensor([0.3, 0.8], "float64", stop_gradient=False)
    program(x).sum().backward()
    ends = [function(dy2st.to_tensor([0.3 + d, 0.8 + d], "float64")).numpy() for d in (1e-6, -1e-6)]
    np.testing.assert_allclose(x.grad.numpy(), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_poles_and_ends():
    poles = dy2st.to_tensor([0.0, -1.0])
    assert dy2st.lgamma(poles).tolist() == [np.inf, np.inf]
    assert dy2st.digamma(poles)[0].item() == -np.inf and dy2st.digamma(poles).isnan()[1]
    assert dy2st.erfinv(dy2st.to_tensor([-1.0, 1.0])).tolist() == [-np.inf, np.inf]
    x, y = (dy2st.to_tensor([v], "float64", stop_gradient=False) for v in (3.0, 2.0))
    dy2st.gammainc(x.detach(), y).backward()
    np.testing.assert_allclose(y.grad.numpy(), [2.0 * np.exp(-2.0)])  # y**2 * exp(-y) / gamma(3)
    with pytest.raises(ArgumentError, match="first argument"):
        dy2st.gammainc(x, dy2st.ones([1])).backward()


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_a_program_of_any_arguments_has_no_gradient_of_the_first(name, tmp_path):
    spec = [dy2st.static.InputSpec([None], "float32", one) for one in "xy"]
    traced = dy2st.to_static(getattr(dy2st, name), input_spec=spec)
    dy2st.jit.save(traced, str(tmp_path / "gamma"))
    x, y = dy2st.to_tensor([3.0, 0.5]), dy2st.to_tensor([2.0, 1.0], stop_gradient=False)
    found = dy2st.jit.load(str(tmp_path / "gamma"))(x, y)
    np.testing.assert_allclose(
        found.numpy(), getattr(scipy.special, name)(x.numpy(), y.numpy()), 1e-6
    )
    with pytest.raises(ArgumentError, match="first argument"):
        x.stop_gradient = False
        traced(x, y).sum().backward()


def test_derivatives_of_digamma_are_reflected_at_0():
    x = np.array([-0.5, -20.25, -123456.75])
    expected = [8.934802200544679, 19.69102535100871, 19.73920070220889]  # of 40 digits
    np.testing.assert_allclose(dy2st.polygamma(dy2st.to_tensor(x), 1).numpy(), expected, 1e-12)
    expected = [-0.82879664423432, 124.02278552474384, -124.02510672126489]
    np.testing.assert_allclose(dy2st.polygamma(dy2st.to_tensor(x), 2).numpy(), expected, 1e-11)
    poles = dy2st.to_tensor([0.0, -0.0, -1.0, -7.0], "float64")
    assert dy2st.polygamma(poles, 1).tolist() == [np.inf] * 4
    assert dy2st.polygamma(poles, 2).tolist() == [-np.inf, np.inf, -np.inf, -np.inf]


def test_bessel_functions_are_finite_beyond_the_largest_power():
    x = dy2st.to_tensor([-np.inf, 712.0, 1.7e308], "float64")
    np.testing.assert_allclose(dy2st.i0(x).numpy(), [np.inf, 2.46841105776275e307, np.inf], 1e-12)
    np.testing.assert_allclose(dy2st.i1(x).numpy(), [-np.inf, 2.46667701352462e307, np.inf], 1e-12)
    np.testing.assert_allclose(dy2st.i0e(x).numpy()[2], (2 * np.pi) ** -0.5 / 1.7e308**0.5)


@pytest.mark.parametrize(
    ("draw", "mean", "spread"),
    [
        (lambda x: dy2st.poisson(x * 4), 4, 2),
        (lambda x: dy2st.standard_gamma(x * 9), 9, 3),
        (lambda x: dy2st.binomial(x * 100, x * 0.5), 50, 5),
        (lambda x: dy2st.log_normal(0.0, 0.25, x.shape).log(), 0, 0.25),
        (lambda x: dy2st.standard_normal(x.shape), 0, 1),
        (dy2st.randn_like, 0, 1),
        (lambda x: dy2st.rand_like(x) * 12**0.5, 3**0.5, 1),
        (lambda x: dy2st.randint_like(x, 0, 2) * 2, 1, 1),
        (lambda x: x.random_(0, 2) * 2, 1, 1),
    ],
)
def test_draws_have_the_moments_of_their_distributions(draw, mean, spread):
    dy2st.seed(1)
    drawn = draw(dy2st.ones([4000])).astype("float64")
    assert drawn.shape == [4000]
    assert abs(drawn.mean().item() - mean) < 0.06 * spread
    assert abs(drawn.std().item() - spread) < 0.06 * spread


def test_powers_are_spaced_evenly_by_their_exponents():
    np.testing.assert_allclose(dy2st.logspace(0, 2, 3).numpy(), [1, 10, 100], rtol=1e-6)
    made = dy2st.logspace(0, 2, 3, 2, "int32")
    assert (made.tolist(), made.dtype) == ([1, 2, 4], dy2st.int32)


@pytest.mark.parametrize(
    "draw",
    [dy2st.poisson, dy2st.standard_gamma, lambda x: dy2st.binomial(x * 4, x * 0.5)],
    ids=["poisson", "standard_gamma", "binomial"],
)
def test_one_parameter_alone_draws_one_number(draw):
    assert draw(dy2st.to_tensor(1.0)).shape == []
