"""Finds divergences of pairs of distributions in a table that users add to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dy2st.paddle.distribution.distribution import Distribution, sum_last
from dy2st.paddle.distribution.exponential_family import ExponentialFamily
from dy2st_runtime.errors import WrongKind
from dy2st_runtime.lazy import public_dir

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TABLE: dict[tuple[type, type], Callable[..., Any]] = {}


def register_kl(cls_p: type, cls_q: type) -> Callable[[_Function], _Function]:
    """Decorate a function of p and q that gives the divergence of two classes.

    >>> class Mine(dy2st.distribution.Normal):
    ...     "A class of one's own."
    >>> @dy2st.distribution.register_kl(Mine, Mine)
    ... def nothing(p, q):
    ...     return dy2st.zeros([])
    >>> dy2st.distribution.kl_divergence(Mine(0.0, 1.0), Mine(1.0, 1.0)).item()
    0.0
    """
    if not issubclass(cls_p, Distribution) or not issubclass(cls_q, Distribution):
        raise WrongKind("register_kl takes two classes that are subclasses of Distribution")

    def enter(function: _Function) -> _Function:
        _TABLE[cls_p, cls_q] = function
        return function

    return enter


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The divergence of Kullback and Leibler, by the entry of the nearest classes.

    >>> import dy2st
    >>> from dy2st.paddle.distribution import Normal
    >>> round(float(dy2st.distribution.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))), 4)
    0.5
    """
    # the entry whose classes come first among the bases of p, then of q
    pairs = ((left, right) for left in type(p).__mro__ for right in type(q).__mro__)
    found = next((_TABLE[pair] for pair in pairs if pair in _TABLE), None)
    if found is not None:
        return found(p, q)
    has_own = type(p).kl_divergence is not Distribution.kl_divergence
    if type(p) is type(q) and isinstance(p, ExponentialFamily) and not has_own:
        assert isinstance(q, ExponentialFamily)
        natural, normaliser, slopes = p.natural_slopes()
        others = q._natural_parameters
        total = q._log_normalizer(*others) - normaliser
        for mine, other, slope in zip(natural, others, slopes, strict=True):
            total = total - sum_last((other - mine) * slope, len(q.event_shape))
        return total
    if isinstance(q, type(p)) or isinstance(p, type(q)):
        return p.kl_divergence(q)
    raise NotImplementedError(
        f"no divergence of {type(p).__name__} from {type(q).__name__} is known: "
        "give one with @register_kl"
    )


__dir__ = public_dir(__name__)
