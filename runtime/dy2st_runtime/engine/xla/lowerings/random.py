"""Random numbers that the device draws itself, from a key: other numbers than NumPy's for a seed.

Each function takes a key of its own before the operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.engine.xla.library import jax, jnp
from dy2st_runtime.engine.xla.table import check, draw


def _wide(dtype: Any) -> Any:
    """The dtype in which floats are drawn for a dtype of results, as NumPy draws in float64."""
    return dtype if np.dtype(dtype).kind == "f" and np.dtype(dtype).itemsize >= 4 else jnp.float32


@draw("uniform")
def _uniform(key: Any, shape: Any, low: float, high: float, dtype: Any) -> Any:
    return jax.random.uniform(key, shape, _wide(dtype), low, high)


@draw("gaussian")
def _gaussian(key: Any, shape: Any, mean: float, std: float, dtype: Any) -> Any:
    return mean + std * jax.random.normal(key, shape, _wide(dtype))


@draw("randint")
def _integers(key: Any, shape: Any, low: int, high: int, dtype: Any) -> Any:
    return jax.random.randint(key, shape, low, high, jnp.int64)


@draw("randperm")
def _permutation(key: Any, n: int, dtype: Any) -> Any:
    return jax.random.permutation(key, n)


@draw("bernoulli")
def _bernoulli(key: Any, x: Any) -> Any:
    return jax.random.uniform(key, x.shape, _wide(x.dtype)) < x


@draw("poisson")
def _poisson(key: Any, x: Any) -> Any:
    return jax.random.poisson(key, x, x.shape)


@draw("standard_gamma")
def _gamma(key: Any, x: Any) -> Any:
    return jax.random.gamma(key, x.astype(_wide(x.dtype)))


@draw("binomial")
def _binomial(key: Any, count: Any, prob: Any) -> Any:
    shape = jnp.broadcast_shapes(count.shape, prob.shape)
    return jax.random.binomial(key, jnp.trunc(count), prob, shape)


@draw("multinomial")
def _categories(key: Any, x: Any, num_samples: int, replacement: bool) -> Any:
    scores = jnp.log(x.astype(_wide(x.dtype)))
    if replacement:
        drawn = jax.random.categorical(key, scores, shape=(num_samples, *x.shape[:-1]))
        return jnp.moveaxis(drawn, 0, -1)
    # The largest of scores with Gumbel noise are a draw without replacement.
    noise = jax.random.gumbel(key, scores.shape, scores.dtype)
    return jax.lax.top_k(scores + noise, num_samples)[1]


@check("randint")
def _is_not_empty(made: Any, low: int, high: int, **_: Any) -> bool:
    return low < high


@check("uniform")
def _are_in_order(made: Any, low: float, high: float, **_: Any) -> bool:
    return low <= high


@check("gaussian")
def _is_a_deviation(made: Any, std: float, **_: Any) -> bool:
    return std >= 0


@check("poisson", "standard_gamma")
def _is_not_negative(made: Any, x: Any) -> Any:
    return jnp.all(x >= 0)


@check("binomial")
def _counts_and_probabilities(made: Any, count: Any, prob: Any) -> Any:
    return jnp.all((prob >= 0) & (prob <= 1)) & jnp.all(count >= 0)


@check("multinomial")
def _are_weights(made: Any, x: Any, num_samples: int, replacement: bool) -> Any:
    well = jnp.all((x >= 0) & jnp.isfinite(x)) & jnp.all(x.sum(-1) > 0)
    return well if replacement else well & jnp.all((x > 0).sum(-1) >= num_samples)
