"""Recomputation: what it saves in memory is not saved here, what it computes is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.nn.layer import converted


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function(*args)`; its values are kept for the gradient, not computed again.

    >>> recompute(max, 1, 2, use_reentrant=False)
    2
    """
    for option in ("preserve_rng_state", "use_reentrant"):
        kwargs.pop(option, None)
    return converted(function)(*args, **kwargs)
