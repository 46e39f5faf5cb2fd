"""Makes windows, each by a function of its own: float32, periodic by default."""

from __future__ import annotations

from typing import Any

from dy2st.paddle.audio.functional.window import get_window
from dy2st_runtime.errors import ArgumentError

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _made(
    window: Any,
    length: int,
    periodic: bool,
    dtype: Any,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    if device not in (None, "cpu") or layout not in (None, "strided"):
        raise ArgumentError(f"a window is a dense tensor on the CPU, not {layout!r} on {device!r}")
    made = get_window(window, length, periodic, dtype)
    made.stop_gradient = not requires_grad
    return made


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = "float32",
    **options: Any,
) -> Any:
    """alpha - beta * cos(2 * pi * k / n): (window_length,).

    >>> print(hamming_window(4).round(2))
    [0.08 0.54 1.   0.54]
    """
    share = beta / 0.46
    plain = _made("hamming", window_length, periodic, dtype, **options)
    made = plain.detach() * share + (alpha - share * 0.54)
    made.stop_gradient = plain.stop_gradient
    return made


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", **options: Any
) -> Any:
    """1/2 - cos(2 * pi * k / n) / 2: (window_length,).

    >>> hann_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _made("hann", window_length, periodic, dtype, **options)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = "float32",
    **options: Any,
) -> Any:
    """Kaiser's window, of Bessel functions: (window_length,).

    >>> print(dy2st.kaiser_window(4, beta=2.0).round(3))
    [0.439 0.835 1.    0.835]
    """
    return _made(("kaiser", beta), window_length, periodic, dtype, **options)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", **options: Any
) -> Any:
    """Blackman's window, of two cosines: (window_length,).

    >>> [abs(round(v, 3)) for v in dy2st.blackman_window(4).tolist()]
    [0.0, 0.34, 1.0, 0.34]
    """
    return _made("blackman", window_length, periodic, dtype, **options)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = "float32", **options: Any
) -> Any:
    """A triangle that begins at 0: (window_length,).

    >>> dy2st.bartlett_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _made("bartlett", window_length, periodic, dtype, **options)
