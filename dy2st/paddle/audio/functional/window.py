"""Makes windows by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.tensor import to_tensor

_Array = Any


def get_window(
    window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: str = "float64"
) -> Any:
    """A window of `win_length` numbers: periodic for transforms with `fftbins`, else symmetric.

    window: a name, or a tuple of it and its parameters.

    >>> get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    name, *parameters = window if isinstance(window, tuple) else (window,)
    if name not in _WINDOWS:
        raise ArgumentError(f"{window!r} is no window: there are {', '.join(sorted(_WINDOWS))}")
    if name in ("exponential", "gaussian", "kaiser") and not parameters:
        raise ArgumentError(f'the window "{name}" has parameters: give a tuple ("{name}", ...)')
    if not isinstance(win_length, int) or win_length < 0:
        raise ArgumentError(f"win_length is an int from 0 on, not {win_length!r}")
    if win_length <= 1:
        return to_tensor(np.ones(win_length), dtype=dtype)
    made = _WINDOWS[name](win_length + fftbins, *parameters)
    return to_tensor(np.ascontiguousarray(made[:win_length]), dtype=dtype)


def _from_middle(count: int) -> _Array:
    """-1 at the first number, 1 at the last."""
    return np.linspace(-1, 1, count)


def _cosines(*weights: float) -> Callable[[int], _Array]:
    def made(count: int) -> _Array:
        angles = np.pi * _from_middle(count)
        return sum(weight * np.cos(index * angles) for index, weight in enumerate(weights))

    return made


def _bohman(count: int) -> _Array:
    size = np.abs(_from_middle(count))
    made = (1 - size) * np.cos(np.pi * size) + np.sin(np.pi * size) / np.pi
    made[[0, -1]] = 0
    return made


def _tukey(count: int, alpha: float = 0.5) -> _Array:
    if alpha <= 0:
        return np.ones(count)
    over = np.clip(np.abs(_from_middle(count)) - (1 - min(alpha, 1)), 0, None)
    return 0.5 + 0.5 * np.cos(np.pi * over / min(alpha, 1))


def _taylor(count: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> _Array:
    """Side lobes of equal height: Taylor's approximation of Dolph's window."""
    height = np.arccosh(10 ** (sll / 20)) / np.pi
    order = np.arange(1, nbar)
    dilation = nbar**2 / (height**2 + (nbar - 0.5) ** 2)
    weights = [
        (-1) ** (m + 1)
        * np.prod(1 - m**2 / dilation / (height**2 + (order - 0.5) ** 2))
        / (2 * np.prod(1 - m**2 / order[order != m] ** 2))
        for m in order
    ]

    def at(places: _Array) -> _Array:
        angles = 2 * np.pi * np.outer(order, places - count / 2 + 0.5) / count
        return 1 + 2 * np.asarray(weights) @ np.cos(angles)

    return at(np.arange(count)) / (at(np.array([(count - 1) / 2])) if norm else 1)


_WINDOWS: dict[str, Callable[..., _Array]] = {
    "bartlett": lambda count: 1 - np.abs(_from_middle(count)),
    "blackman": _cosines(0.42, 0.5, 0.08),
    "bohman": _bohman,
    "cosine": lambda count: np.sin(np.pi / count * (np.arange(count) + 0.5)),
    "exponential": lambda count, center=None, tau=1.0: np.exp(
        -np.abs(np.arange(count) - ((count - 1) / 2 if center is None else center)) / tau
    ),
    "gaussian": lambda count, std: np.exp(-0.5 * ((np.arange(count) - (count - 1) / 2) / std) ** 2),
    "general_hamming": lambda count, alpha: _cosines(alpha, 1 - alpha)(count),
    "hamming": _cosines(0.54, 0.46),
    "hann": _cosines(0.5, 0.5),
    "kaiser": lambda count, beta: np.kaiser(count, beta),
    "nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "taylor": _taylor,
    "triang": lambda count: (
        1 - np.abs(np.arange(count) - (count - 1) / 2) * (2 / (count + count % 2))
    ),
    "tukey": _tukey,
}
