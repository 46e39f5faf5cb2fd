"""Random numbers: drawn by our generator, so they are others than torch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.importers.torch.table import Call, as_tensor, row, rows
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as N


@row("aten.native_dropout.default")
def _dropped(at: Call, x: Any, p: float, train: Any = True) -> Any:
    if not train or p == 0:
        return F.assign(x), F.ones_like(x, "bool")
    return N.dropout(x, p), None


rows(
    {
        "dropout": lambda at, x, p, train: N.dropout(x, p, training=train),
        "alpha_dropout": lambda at, x, p, train: N.alpha_dropout(x, p, train),
        "feature_alpha_dropout": lambda at, x, p, train: (
            N.feature_alpha_dropout(x, p) if train else x
        ),
        "rand": lambda at, size, **_: F.rand(list(size), at.dtype),
        "rand_like": lambda at, x, **_: F.rand(list(x.shape), at.dtype),
        "randn": lambda at, size, **_: F.randn(list(size), at.dtype),
        "randn_like": lambda at, x, **_: F.randn(list(x.shape), at.dtype),
        "randint": lambda at, high, size, **_: F.randint(0, high, list(size), at.dtype),
        "randint.low": lambda at, low, high, size, **_: F.randint(low, high, list(size), at.dtype),
        "randint_like": lambda at, x, high, **_: F.randint(0, high, list(x.shape), at.dtype),
        "randint_like.low_dtype": lambda at, x, low, high, **_: F.randint(
            low, high, list(x.shape), at.dtype
        ),
        "randperm": lambda at, n, **_: F.randperm(n, at.dtype),
        "bernoulli": lambda at, x: F.bernoulli(x),
        "bernoulli.p": lambda at, x, p: F.bernoulli(F.full_like(x, p)),
        "multinomial": lambda at, x, n, replacement=False: F.multinomial(x, n, replacement),
        "poisson": lambda at, x: F.poisson(x),
        "uniform": lambda at, x, low=0.0, high=1.0: F.uniform(list(x.shape), at.dtype, low, high),
        "normal_functional": lambda at, x, mean=0.0, std=1.0: _normal(at, x.shape, mean, std),
        "normal.float_float": lambda at, mean, std, size, **_: _normal(at, size, mean, std),
        "normal.Tensor_float normal.Tensor_Tensor normal.float_Tensor": (
            lambda at, mean, std=1.0: _normal(
                at, F.add(as_tensor(mean), as_tensor(std)).shape, mean, std
            )
        ),
    }
)


def _normal(at: Call, size: Any, mean: Any, std: Any) -> Any:
    made = F.randn(list(size), at.dtype)
    return F.add(F.multiply(made, at.cast(std)), at.cast(mean))


@row("aten.feature_dropout.default")
def _whole_channels(at: Call, x: Any, p: float, train: bool) -> Any:
    """Each channel of each sample is dropped as a whole."""
    if not train:
        return F.assign(x)
    ones = F.ones([*x.shape[:2], *[1] * (x.ndim - 2)], x.dtype)
    return F.multiply(x, N.dropout(ones, p))


@row("aten.cauchy.default")
def _cauchy(at: Call, x: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    angle = F.multiply(F.subtract(F.rand(list(x.shape), at.dtype), at.cast(0.5)), at.cast(np.pi))
    return F.add(F.multiply(F.tan(angle), at.cast(sigma)), at.cast(median))


@row("aten.log_normal.default")
def _log_normal(at: Call, x: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    return F.exp(_normal(at, x.shape, mean, std))


@row("aten.geometric.default")
def _geometric(at: Call, x: Any, p: float) -> Any:
    drawn = F.log1p(F.neg(F.rand(list(x.shape), "float64")))
    return F.cast(F.ceil(F.divide(drawn, as_tensor(np.log1p(-p), drawn.dtype))), at.dtype)


@row("aten.exponential.default")
def _exponential(at: Call, x: Any, rate: float = 1.0) -> Any:
    drawn = F.rand(list(x.shape), at.dtype)
    return F.divide(F.neg(F.log1p(F.neg(drawn))), at.cast(rate))
