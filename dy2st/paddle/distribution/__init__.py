"""Gives probability distributions under PaddlePaddle's names."""

from dy2st_runtime.lazy import lazy_names, places, public_dir

_HERE = "dy2st.paddle.distribution"
_PLACES = places(
    {
        f"{_HERE}.bernoulli": "Bernoulli",
        f"{_HERE}.beta": "Beta",
        f"{_HERE}.binomial": "Binomial",
        f"{_HERE}.categorical": "Categorical",
        f"{_HERE}.cauchy": "Cauchy",
        f"{_HERE}.chi2": "Chi2",
        f"{_HERE}.continuous_bernoulli": "ContinuousBernoulli",
        f"{_HERE}.dirichlet": "Dirichlet",
        f"{_HERE}.distribution": "Distribution",
        f"{_HERE}.exponential": "Exponential",
        f"{_HERE}.exponential_family": "ExponentialFamily",
        f"{_HERE}.gamma": "Gamma",
        f"{_HERE}.geometric": "Geometric",
        f"{_HERE}.gumbel": "Gumbel",
        f"{_HERE}.independent": "Independent",
        f"{_HERE}.kl": "kl_divergence register_kl",
        f"{_HERE}.laplace": "Laplace",
        f"{_HERE}.lkj_cholesky": "LKJCholesky",
        f"{_HERE}.lognormal": "LogNormal",
        f"{_HERE}.multinomial": "Multinomial",
        f"{_HERE}.multivariate_normal": "MultivariateNormal",
        f"{_HERE}.normal": "Normal",
        f"{_HERE}.poisson": "Poisson",
        f"{_HERE}.student_t": "StudentT",
        f"{_HERE}.transform": "AbsTransform AffineTransform ChainTransform ExpTransform "
        "IndependentTransform PowerTransform ReshapeTransform SigmoidTransform SoftmaxTransform "
        "StackTransform StickBreakingTransform TanhTransform Transform",
        f"{_HERE}.transformed_distribution": "TransformedDistribution",
        f"{_HERE}.uniform": "Uniform",
    }
)
_MODULES = {place.partition(":")[0] for place in _PLACES.values()}
_MODULES |= {f"{_HERE}.constraint", f"{_HERE}.variable"}

__all__ = sorted(_PLACES)
__dir__ = public_dir(__name__)

__getattr__ = lazy_names(
    __name__, {**_PLACES, **{module.rpartition(".")[2]: module for module in _MODULES}}
)
