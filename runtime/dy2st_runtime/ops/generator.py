"""The one source of random numbers, for operators and first values of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

# Made on first use: numpy.random takes a third of the time of importing all the rest.
_generator: np.random.Generator | None = None


def seed(seed: int) -> None:
    """Start the random numbers anew: the same seed gives the same numbers, eagerly and static.

    >>> dy2st.seed(0)
    >>> x = dy2st.rand([2])
    >>> dy2st.seed(0)
    >>> bool((x == dy2st.rand([2])).all())
    True
    """
    global _generator
    _generator = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """The generator that everything random draws from."""
    global _generator
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


def get_rng_state(device: Any = None) -> dict[str, Any]:
    """Where the one generator stands, for `set_rng_state`.

    >>> state = dy2st.get_rng_state()
    >>> x = dy2st.rand([2])
    >>> dy2st.set_rng_state(state)
    >>> bool((x == dy2st.rand([2])).all())
    True
    """
    return dict(generator().bit_generator.state)


def set_rng_state(state_list: dict[str, Any], device: Any = None) -> None:
    """Go back to where the generator stood when `get_rng_state` gave the state.

    >>> state = dy2st.get_rng_state()
    >>> x = dy2st.rand([2])
    >>> dy2st.set_rng_state(state)
    >>> bool((x == dy2st.rand([2])).all())
    True
    """
    generator().bit_generator.state = state_list
