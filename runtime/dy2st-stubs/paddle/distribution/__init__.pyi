"""Gives probability distributions under PaddlePaddle's names."""

from collections.abc import Sequence
from dy2st.paddle.distribution import (
    bernoulli as bernoulli,
    beta as beta,
    binomial as binomial,
    categorical as categorical,
    cauchy as cauchy,
    chi2 as chi2,
    constraint as constraint,
    continuous_bernoulli as continuous_bernoulli,
    dirichlet as dirichlet,
    distribution as distribution,
    exponential as exponential,
    exponential_family as exponential_family,
    gamma as gamma,
    geometric as geometric,
    gumbel as gumbel,
    independent as independent,
    kl as kl,
    laplace as laplace,
    lkj_cholesky as lkj_cholesky,
    lognormal as lognormal,
    multinomial as multinomial,
    multivariate_normal as multivariate_normal,
    normal as normal,
    poisson as poisson,
    student_t as student_t,
    transform as transform,
    transformed_distribution as transformed_distribution,
    uniform as uniform,
    variable as variable,
)
from dy2st.paddle.distribution.bernoulli import Bernoulli as _Bernoulli
from dy2st.paddle.distribution.beta import Beta as _Beta
from dy2st.paddle.distribution.binomial import Binomial as _Binomial
from dy2st.paddle.distribution.categorical import Categorical as _Categorical
from dy2st.paddle.distribution.cauchy import Cauchy as _Cauchy
from dy2st.paddle.distribution.chi2 import Chi2 as _Chi2
from dy2st.paddle.distribution.continuous_bernoulli import (
    ContinuousBernoulli as _ContinuousBernoulli,
)
from dy2st.paddle.distribution.dirichlet import Dirichlet as _Dirichlet
from dy2st.paddle.distribution.distribution import Distribution as _Distribution
from dy2st.paddle.distribution.exponential import Exponential as _Exponential
from dy2st.paddle.distribution.exponential_family import ExponentialFamily as _ExponentialFamily
from dy2st.paddle.distribution.gamma import Gamma as _Gamma
from dy2st.paddle.distribution.geometric import Geometric as _Geometric
from dy2st.paddle.distribution.gumbel import Gumbel as _Gumbel
from dy2st.paddle.distribution.independent import Independent as _Independent
from dy2st.paddle.distribution.kl import register_kl as register_kl
from dy2st.paddle.distribution.laplace import Laplace as _Laplace
from dy2st.paddle.distribution.lkj_cholesky import LKJCholesky as _LKJCholesky
from dy2st.paddle.distribution.lognormal import LogNormal as _LogNormal
from dy2st.paddle.distribution.multinomial import Multinomial as _Multinomial
from dy2st.paddle.distribution.multivariate_normal import MultivariateNormal as _MultivariateNormal
from dy2st.paddle.distribution.normal import Normal as _Normal
from dy2st.paddle.distribution.poisson import Poisson as _Poisson
from dy2st.paddle.distribution.student_t import StudentT as _StudentT
from dy2st.paddle.distribution.transform_base import (
    ChainTransform as _ChainTransform,
    IndependentTransform as _IndependentTransform,
    StackTransform as _StackTransform,
    Transform as _Transform,
)
from dy2st.paddle.distribution.transformed_distribution import (
    TransformedDistribution as _TransformedDistribution,
)
from dy2st.paddle.distribution.transforms import (
    AbsTransform as _AbsTransform,
    AffineTransform as _AffineTransform,
    ExpTransform as _ExpTransform,
    PowerTransform as _PowerTransform,
    ReshapeTransform as _ReshapeTransform,
    SigmoidTransform as _SigmoidTransform,
    SoftmaxTransform as _SoftmaxTransform,
    StickBreakingTransform as _StickBreakingTransform,
    TanhTransform as _TanhTransform,
)
from dy2st.paddle.distribution.uniform import Uniform as _Uniform
from dy2st_runtime.ir.tensor import ShapeLike, Tensor, TensorLike
from typing import Any, Literal, overload

class AbsTransform(_AbsTransform, Transform):
    """|x|: of one value there are two arguments, which `inverse` both gives."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class AffineTransform(_AffineTransform, Transform):
    """loc + scale * x."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any]) -> None:
        """Take what is added, and the factors."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
    @property
    def loc(self) -> Tensor:
        """What is added."""
    @property
    def scale(self) -> Tensor:
        """The factors."""
class Bernoulli(_Bernoulli, ExponentialFamily):
    """1 with probability `probs`, else 0; probabilities are kept from 0 and 1 by one float's step."""
    def __init__(self, probs: TensorLike | Sequence[Any], name: str | None = None) -> None:
        """Take probabilities."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """The probability of at most the value."""
    def entropy(self) -> Tensor:
        """-probs * log(probs) - (1 - probs) * log(1 - probs)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another Bernoulli distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """value * log(probs) + (1 - value) * log(1 - probs)."""
    @property
    def mean(self) -> Tensor:
        """The probabilities."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ..., temperature: float = 1.0) -> Tensor:
        """Logits of relaxed draws, through which gradients reach the probabilities."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws of 0 and 1 as floats; no gradient reaches the probabilities."""
    @property
    def variance(self) -> Tensor:
        """probs * (1 - probs)."""
class Beta(_Beta, ExponentialFamily):
    """Density x**(alpha - 1) * (1 - x)**(beta - 1) / B(alpha, beta): the first of two shares."""
    def __init__(self, alpha: TensorLike, beta: Any) -> None:
        """Take the concentrations, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy, by digamma."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another beta distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """alpha / (alpha + beta)."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """mean * (1 - mean) / (alpha + beta + 1)."""
class Binomial(_Binomial, Distribution):
    """How many of `total_count` tries succeed, each with probability `probs`."""
    def __init__(self, total_count: Any, probs: TensorLike | Sequence[Any]) -> None:
        """Take counts and probabilities, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """-sum(p * log(p)) over all counts."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another binomial distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the probability: -inf above `total_count`."""
    @property
    def mean(self) -> Tensor:
        """total_count * probs."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws, as floats."""
    @property
    def variance(self) -> Tensor:
        """total_count * probs * (1 - probs)."""
class Categorical(_Categorical, Distribution):
    """An index of the last axis of `logits`: (*batch, n)."""
    def __init__(self, logits: TensorLike, name: str | None = None) -> None:
        """Take the weights of the classes in the last axis."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """-sum(p * log(p)) with p = softmax(logits)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """sum(p * (log(p) - log(q))) with p and q = softmax(logits): (*batch, 1)."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of `probs`."""
    @property
    def mean(self) -> Tensor:
        """The mean of each."""
    def prob(self, value: TensorLike) -> Tensor:
        """The same as `probs`."""
    def probs(self, value: TensorLike) -> Tensor:
        """logits / sum(logits) at indices: a 1-d value holds for all of a batch."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Indices with the probabilities softmax(logits): (*shape, *batch) int64."""
    @property
    def variance(self) -> Tensor:
        """The variance of each."""
class Cauchy(_Cauchy, Distribution):
    """Density 1 / (pi * scale * (1 + ((x - loc) / scale)**2))."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any], name: str | None = None) -> None:
        """Take centres and scales, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """The probability of at most the value."""
    def entropy(self) -> Tensor:
        """log(4 * pi * scale)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another Cauchy distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """There is none: ArgumentError."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    @overload
    def rsample(self, shape: ShapeLike = ..., name: str | None = None) -> Tensor:
        """Draws through which gradients reach the parameters."""
    @overload
    def rsample(self, *shape: int | Tensor, name: str | None = None) -> Tensor:
        """Draws through which gradients reach the parameters."""
    @overload
    def sample(self, shape: ShapeLike = ..., name: str | None = None) -> Tensor:
        """Draws without gradients."""
    @overload
    def sample(self, *shape: int | Tensor, name: str | None = None) -> Tensor:
        """Draws without gradients."""
    @property
    def stddev(self) -> Tensor:
        """There is none: ArgumentError."""
    @property
    def variance(self) -> Tensor:
        """There is none: ArgumentError."""
class ChainTransform(_ChainTransform, Transform):
    """Transforms one after the other."""
    def __init__(self, transforms: Sequence[Transform]) -> None:
        """Take the transforms, the first one first."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class Chi2(_Chi2, Gamma):
    """The sum of the squares of `df` normal numbers: a gamma distribution (df / 2, 1/2)."""
    def __init__(self, df: TensorLike | Sequence[Any]) -> None:
        """Take the degrees of freedom."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """c - log(rate) + log(gamma(c)) + (1 - c) * digamma(c)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another gamma distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """concentration / rate."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the rates alone, as in PaddlePaddle."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """concentration / rate**2."""
class ContinuousBernoulli(_ContinuousBernoulli, Distribution):
    """Density C * probs**x * (1 - probs)**(1 - x) from 0 to 1; a number is a batch of one."""
    def __init__(self, probs: TensorLike | Sequence[Any], lims: Any = ...) -> None:
        """Take the parameters, and between which of them series are used."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """The probability of at most the value."""
    def entropy(self) -> Tensor:
        """The entropy: 0 where probs is 1/2."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def icdf(self, value: TensorLike) -> Tensor:
        """The value whose `cdf` is given."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another continuous Bernoulli distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """p / (2 * p - 1) - 1 / log(p / (1 - p))."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """1 / log(p / (1 - p))**2 - p * (1 - p) / (1 - 2 * p)**2."""
class Dirichlet(_Dirichlet, ExponentialFamily):
    """Density prod(x**(c - 1)) * gamma(sum(c)) / prod(gamma(c)) of shares x: events (n,)."""
    def __init__(self, concentration: TensorLike | Sequence[Any]) -> None:
        """Take the concentrations: (*batch, n)."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy, by digamma."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another Dirichlet distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """concentration / sum(concentration)."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Shares, without gradients."""
    @property
    def variance(self) -> Tensor:
        """mean * (1 - mean) / (sum(concentration) + 1)."""
class Distribution(_Distribution):
    """A probability distribution: a batch of them, each of events of one shape."""
    def __init__(self, batch_shape: Sequence[int] = ..., event_shape: Sequence[int] = ...) -> None:
        """Keep the shapes."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy of each, in nats."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the probability or density at a value."""
    @property
    def mean(self) -> Tensor:
        """The mean of each."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws of shape (*shape, *batch_shape, *event_shape)."""
    @property
    def variance(self) -> Tensor:
        """The variance of each."""
class ExpTransform(_ExpTransform, Transform):
    """exp(x)."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class Exponential(_Exponential, ExponentialFamily):
    """Density rate * exp(-rate * x) for x >= 0."""
    def __init__(self, rate: TensorLike) -> None:
        """Take the rates."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """1 - exp(-rate * value)."""
    def entropy(self) -> Tensor:
        """1 - log(rate)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def icdf(self, value: TensorLike) -> Tensor:
        """The value whose `cdf` is given."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another exponential distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """log(rate) - rate * value."""
    @property
    def mean(self) -> Tensor:
        """1 / rate."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the rates."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """1 / rate**2."""
class ExponentialFamily(_ExponentialFamily, Distribution):
    """Density exp(sum(statistics(x) * natural) - log_normalizer(natural) + carrier(x))."""
    def __init__(self, batch_shape: Sequence[int] = ..., event_shape: Sequence[int] = ...) -> None:
        """Keep the shapes."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy, by Bregman's divergence of the normaliser."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the probability or density at a value."""
    @property
    def mean(self) -> Tensor:
        """The mean of each."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws of shape (*shape, *batch_shape, *event_shape)."""
    @property
    def variance(self) -> Tensor:
        """The variance of each."""
class Gamma(_Gamma, ExponentialFamily):
    """Density rate**c / gamma(c) * x**(c - 1) * exp(-rate * x), with the concentration c."""
    def __init__(self, concentration: TensorLike | Sequence[Any], rate: TensorLike) -> None:
        """Take concentrations and rates, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """c - log(rate) + log(gamma(c)) + (1 - c) * digamma(c)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another gamma distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """concentration / rate."""
    def natural_slopes(self) -> tuple[list[Tensor], Tensor, list[Tensor]]:
        """The natural parameters, the logarithm of the normaliser, and its gradient by them."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the rates alone, as in PaddlePaddle."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """concentration / rate**2."""
class Geometric(_Geometric, Distribution):
    """How often a trial fails before it first succeeds: (1 - probs)**k * probs for k = 0, 1, ..."""
    def __init__(self, probs: TensorLike | Sequence[Any]) -> None:
        """Take probabilities of success."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, k: TensorLike) -> Tensor:
        """The probability of at most k failures."""
    def entropy(self) -> Tensor:
        """The entropy of a trial, divided by `probs`."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another geometric distribution."""
    def log_pmf(self, k: TensorLike) -> Tensor:
        """The logarithm of `pmf`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The same as `log_pmf`."""
    @property
    def mean(self) -> Tensor:
        """(1 - probs) / probs."""
    def pmf(self, k: TensorLike) -> Tensor:
        """The probability of k failures."""
    def prob(self, value: TensorLike) -> Tensor:
        """The same as `pmf`."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws, as floats: the gradient is 0, for they are whole numbers."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws, as floats."""
    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
    @property
    def variance(self) -> Tensor:
        """(1 - probs) / probs**2."""
class Gumbel(_Gumbel, Distribution):
    """The distribution function is exp(-exp(-(x - loc) / scale))."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any]) -> None:
        """Take modes and scales, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """The probability of at most the value."""
    def entropy(self) -> Tensor:
        """log(scale) + 1 + Euler's constant."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """-(z + exp(-z)) - log(scale), z = (value - loc) / scale."""
    @property
    def mean(self) -> Tensor:
        """loc + scale * Euler's constant."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
    @property
    def variance(self) -> Tensor:
        """(pi * scale)**2 / 6."""
class Independent(_Independent, Distribution):
    """A distribution of which some batch axes are taken as axes of one event."""
    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        """Take the distribution, and how many of its last batch axes are meant."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The sum of the entropies over an event."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The sum of the logarithms over an event."""
    @property
    def mean(self) -> Tensor:
        """The means."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws."""
    @property
    def variance(self) -> Tensor:
        """The variances."""
class IndependentTransform(_IndependentTransform, Transform):
    """A transform of which more axes are one event."""
    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        """Take the transform and how many axes are added."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class LKJCholesky(_LKJCholesky, Distribution):
    """Lower triangles L of correlation matrices L @ L.T: events (dim, dim)."""
    def __init__(self, dim: int = 2, concentration: TensorLike | Sequence[Any] = 1.0, sample_method: Literal['onion', 'cvine'] = 'onion') -> None:
        """Take the number of rows, the concentrations, and one of two ways to draw."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy of each, in nats."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density of a triangle."""
    @property
    def mean(self) -> Tensor:
        """The mean of each."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, sample_shape: Any = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """The variance of each."""
class Laplace(_Laplace, Distribution):
    """Density exp(-|x - loc| / scale) / (2 * scale)."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any]) -> None:
        """Take centres and scales, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def cdf(self, value: TensorLike) -> Tensor:
        """The probability of at most the value."""
    def entropy(self) -> Tensor:
        """1 + log(2 * scale)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def icdf(self, value: TensorLike) -> Tensor:
        """The value whose `cdf` is given."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another Laplace distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """-|value - loc| / scale - log(2 * scale)."""
    @property
    def mean(self) -> Tensor:
        """The centres."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def stddev(self) -> Tensor:
        """sqrt(2) * scale."""
    @property
    def variance(self) -> Tensor:
        """2 * scale**2."""
class LogNormal(_LogNormal, TransformedDistribution):
    """exp of a normal distribution."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any]) -> None:
        """Take means and deviations of the logarithm, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The normal distribution's, plus loc."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of the normal distributions."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The base's at the inverse, less the logarithms of the slopes."""
    @property
    def mean(self) -> Tensor:
        """exp(loc + scale**2 / 2)."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters of the base."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws of the base, transformed."""
    @property
    def variance(self) -> Tensor:
        """(exp(scale**2) - 1) * exp(2 * loc + scale**2)."""
class Multinomial(_Multinomial, Distribution):
    """How often each of n classes comes up in `total_count` draws: events (n,), probs (*batch, n)."""
    def __init__(self, total_count: int, probs: TensorLike | Sequence[Any]) -> None:
        """Take the number of draws, and probabilities, which are divided by their sum."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy, by the sum over what each class may count."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """log(n! / prod(value!) * prod(probs**value)), with 0**0 = 1."""
    @property
    def mean(self) -> Tensor:
        """total_count * probs."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws, as floats: their sum over the last axis is `total_count`."""
    @property
    def variance(self) -> Tensor:
        """total_count * probs * (1 - probs), of each class."""
class MultivariateNormal(_MultivariateNormal, Distribution):
    """Normal vectors with a mean and one of a covariance, its inverse, or its lower triangle."""
    def __init__(self, loc: TensorLike | Sequence[Any], covariance_matrix: TensorLike | None = None, precision_matrix: TensorLike | None = None, scale_tril: TensorLike | None = None) -> None:
        """Take the means and one matrix."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """n / 2 * (1 + log(2 * pi)) + half the logarithm of the determinant."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another of these distributions."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """The means."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws without gradients."""
    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
class Normal(_Normal, Distribution):
    """Density exp(-((x - loc) / scale)**2 / 2) / (scale * sqrt(2 * pi))."""
    def __init__(self, loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any], name: str | None = None) -> None:
        """Take means and deviations, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """1/2 + log(2 * pi) / 2 + log(scale)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another normal distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """The means."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ..., seed: int = 0) -> Tensor:
        """Draws; any seed but 0 gives the same ones at each call."""
    @property
    def variance(self) -> Tensor:
        """The squares of the deviations."""
class Poisson(_Poisson, Distribution):
    """Counts k with the probability rate**k * exp(-rate) / k!; a plain number is a batch of one."""
    def __init__(self, rate: TensorLike) -> None:
        """Take the rates."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """-sum(p * log(p)) over the counts up to 30 deviations beyond the rate."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another Poisson distribution."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """value * log(rate) - rate - log(value!), with 0 * log(0) = 0."""
    @property
    def mean(self) -> Tensor:
        """The rates."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws, as floats."""
    @property
    def variance(self) -> Tensor:
        """The rates."""
class PowerTransform(_PowerTransform, Transform):
    """x**power of numbers above 0."""
    def __init__(self, power: Any) -> None:
        """Take the exponents."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
    @property
    def power(self) -> Tensor:
        """The exponents."""
class ReshapeTransform(_ReshapeTransform, Transform):
    """Events of one shape in another: (*batch, *in_event_shape) -> (*batch, *out_event_shape)."""
    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        """Take two shapes of as many elements."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape before."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape after."""
class SigmoidTransform(_SigmoidTransform, Transform):
    """1 / (1 + exp(-x))."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class SoftmaxTransform(_SoftmaxTransform, Transform):
    """softmax(x) along the last axis; `inverse` is the logarithm."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class StackTransform(_StackTransform, Transform):
    """Transforms side by side along an axis."""
    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        """Take one transform for each entry of the axis."""
    @property
    def axis(self) -> int:
        """The axis."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms."""
class StickBreakingTransform(_StickBreakingTransform, Transform):
    """Shares of a stick, of which one after the other is broken off: (..., n) -> (..., n + 1)."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class StudentT(_StudentT, Distribution):
    """loc + scale * z / sqrt(chi2(df) / df), with a normal z."""
    def __init__(self, df: TensorLike | Sequence[Any], loc: TensorLike | Sequence[Any], scale: TensorLike | Sequence[Any], name: str | None = None) -> None:
        """Take degrees of freedom, centres and scales, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy, by digamma."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density."""
    @property
    def mean(self) -> Tensor:
        """loc where df > 1, else NaN."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws; gradients reach loc and scale."""
    @property
    def variance(self) -> Tensor:
        """scale**2 * df / (df - 2) where df > 2, inf from there to 1, else NaN."""
class TanhTransform(_TanhTransform, Transform):
    """tanh(x)."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class Transform(_Transform):
    """A function of tensors."""
    def __init__(self) -> None:
        """Take nothing."""
    def forward(self, x: TensorLike) -> Tensor:
        """The value at x."""
    def forward_log_det_jacobian(self, x: TensorLike) -> Tensor:
        """The logarithm of the size of the slope at x, of each event."""
    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value of an argument of a shape."""
    def inverse(self, y: TensorLike) -> Tensor:
        """The argument whose value is y."""
    def inverse_log_det_jacobian(self, y: TensorLike) -> Tensor:
        """The logarithm of the size of the slope of the inverse at y."""
    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument of a value of a shape."""
class TransformedDistribution(_TransformedDistribution, Distribution):
    """The distribution of t_n(...t_1(x)), with x of a base."""
    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        """Take the base and the transforms in the order in which they are applied."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """The entropy of each, in nats."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence of Kullback and Leibler from `other`."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The base's at the inverse, less the logarithms of the slopes."""
    @property
    def mean(self) -> Tensor:
        """The mean of each."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The same as `prob`, by an older name."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters of the base."""
    def sample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws of the base, transformed."""
    @property
    def variance(self) -> Tensor:
        """The variance of each."""
class Uniform(_Uniform, Distribution):
    """Density 1 / (high - low) between low and high, 0 elsewhere and at both ends."""
    def __init__(self, low: TensorLike, high: TensorLike, name: str | None = None) -> None:
        """Take the ends, which broadcast."""
    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions that are one object."""
    def entropy(self) -> Tensor:
        """log(high - low)."""
    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one draw from one of them."""
    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from another uniform distribution: inf if that does not cover this."""
    def log_prob(self, value: TensorLike) -> Tensor:
        """The logarithm of the density: -inf outside."""
    @property
    def mean(self) -> Tensor:
        """The middles."""
    def prob(self, value: TensorLike) -> Tensor:
        """The probability or density at a value."""
    def probs(self, value: TensorLike) -> Tensor:
        """The density."""
    def rsample(self, shape: ShapeLike = ...) -> Tensor:
        """Draws through which gradients reach the parameters."""
    def sample(self, shape: ShapeLike = ..., seed: int = 0) -> Tensor:
        """Draws; any seed but 0 gives the same ones at each call."""
    @property
    def variance(self) -> Tensor:
        """(high - low)**2 / 12."""
def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence of Kullback and Leibler, by the entry of the nearest classes."""
