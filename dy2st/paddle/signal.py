"""Cuts signals into frames and puts them together again, and makes spectra of the frames.

The names are PaddlePaddle's.
"""

from __future__ import annotations

from typing import Any

from dy2st.paddle import fft
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.location import without_own_frames_in
from dy2st_runtime.lazy import public_dir

__all__ = ["frame", "istft", "overlap_add", "stft"]


def frame(x: Any, frame_length: int, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """Windows `hop_length` apart: (..., n) -> (..., frame_length, count), or, with the axis 0,
    (n, ...) -> (count, frame_length, ...).

    >>> import dy2st
    >>> frame(dy2st.arange(5), 3, 2).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    _require(axis, frame_length=frame_length, hop_length=hop_length)
    if isinstance(x.shape[axis], int) and frame_length > x.shape[axis]:
        raise ArgumentError(f"a frame of {frame_length} does not fit into {x.shape[axis]}")
    windows = F.unfold(x, axis, frame_length, hop_length)
    return F.moveaxis(windows, -1, -2 if axis else 1)


def overlap_add(x: Any, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """The sum of windows `hop_length` apart: what undoes `frame` where nothing overlaps.

    (..., frame_length, count) -> (..., n), or, with the axis 0,
    (count, frame_length, ...) -> (n, ...).

    >>> import dy2st
    >>> overlap_add(dy2st.ones([3, 2]), 2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    _require(axis, hop_length=hop_length)
    length, count = x.shape[-2:] if axis else (x.shape[1], x.shape[0])
    pieces = F.moveaxis(x, [-1, -2], [0, 1]) if axis else x
    rest = pieces.shape[2:]
    starts = F.unsqueeze(F.arange(count) * hop_length, 1)
    places = F.flatten(starts + F.arange(length))
    found = F.zeros([(count - 1) * hop_length + length, *rest], x.dtype)
    found = F.index_add(found, places, 0, F.reshape(pieces, [count * length, *rest]))
    return F.moveaxis(found, 0, -1) if axis else found


def _require(axis: int, **sizes: int) -> None:
    if axis not in (0, -1):
        raise ArgumentError(f"the axis is 0 or -1, not {axis}")
    for name, size in sizes.items():
        if not isinstance(size, int) or size <= 0:
            raise ArgumentError(f"{name} is an int above 0, not {size!r}")


def stft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: str | None = None,
) -> Any:
    """The Fourier transforms of windows `hop_length` apart: (..., n) -> (..., n_fft // 2 + 1, t).

    Of real numbers the first n_fft // 2 + 1 frequencies, unless `onesided` is False; of complex
    ones all n_fft. `normalized` divides by sqrt(n_fft); `center` puts n_fft // 2 elements, as
    pad_mode has it, before and behind x. Raises ShapeError unless x is (n,) or (batch, n).

    >>> import dy2st
    >>> stft(dy2st.ones([8]), 4, 4, center=False).real().tolist()
    [[4.0, 4.0], [0.0, 0.0], [0.0, 0.0]]
    """
    if x.ndim == 1:
        more = (n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided)
        return F.squeeze(stft(F.unsqueeze(x, 0), *more), 0)
    if x.ndim != 2:
        raise ShapeError(f"stft takes (n,) or (batch, n), not {x.shape}")
    if pad_mode not in ("reflect", "constant"):
        raise ArgumentError(f"pad_mode is 'reflect' or 'constant', not {pad_mode!r}")
    _require(-1, n_fft=n_fft)
    hop = n_fft // 4 if hop_length is None else hop_length
    window = _window(window, n_fft, win_length, x)
    if center:
        x = F.pad(x, [0, 0, n_fft // 2, n_fft // 2], pad_mode)
    frames = F.matrix_transpose(frame(x, n_fft, hop)) * window
    is_complex = frames.dtype.kind == "c"
    if is_complex and onesided:
        raise DTypeError("stft: complex numbers have no half spectrum: pass onesided=False")
    is_half = not is_complex if onesided is None else onesided
    transform = fft.rfft if is_half else fft.fft
    return F.matrix_transpose(transform(frames, norm=_norm(normalized)))


def istft(
    x: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: int | None = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Any:
    """The signal with these spectra, the nearest one if there is none: what undoes `stft`.

    (..., n_fft // 2 + 1, t), with onesided=False (..., n_fft, t), -> (..., n). AssertionError
    where the windows leave an element out, or nearly: there the signal is not known.

    Parameters
    ----------
    n_fft, hop_length, win_length, window, center, normalized
        As they were given to `stft`.
    length
        How many elements the signal has; what fits, if it is not said.
    return_complex
        The signal is complex; for spectra that are not one-sided.

    Examples
    --------
    >>> import dy2st
    >>> istft(stft(dy2st.ones([8]), 4), 4).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if x.ndim == 2:
        options = (window, center, normalized, onesided, length, return_complex)
        found = istft(F.unsqueeze(x, 0), n_fft, hop_length, win_length, *options)
        return F.squeeze(found, 0)
    if x.ndim != 3 or x.dtype.kind != "c":
        raise ShapeError(f"istft takes complex spectra, (batch, n, t), not {x.dtype} {x.shape}")
    _require(-1, n_fft=n_fft)
    if return_complex and onesided:
        raise ArgumentError("istft: a complex signal has no half spectrum: pass onesided=False")
    window = _window(window, n_fft, win_length, F.real(x))
    if window.dtype.kind == "c" and not return_complex:
        raise DTypeError("istft: a complex window gives a complex signal: pass return_complex=True")
    size = n_fft // 2 + 1 if onesided else n_fft
    if isinstance(x.shape[1], int) and x.shape[1] != size:
        raise ShapeError(f"istft: {size} frequencies are needed, not {x.shape[1]}")
    hop = n_fft // 4 if hop_length is None else hop_length
    # the windows that have these spectra
    spectra = F.matrix_transpose(x)
    norm = _norm(normalized)
    pieces = (
        fft.ifft(spectra, norm=norm) if return_complex else fft.irfft(spectra, n_fft, norm=norm)
    ) * window
    found = overlap_add(F.matrix_transpose(pieces), hop)
    squares = F.expand(F.unsqueeze(window * window, 1), [n_fft, x.shape[-1]])
    weights = overlap_add(squares, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else found.shape[-1] - start
    weights = weights[start:end]
    F.assert_(F.min(F.abs(weights)) >= _NEARLY_NONE, "istft: the windows leave elements out")
    return found[:, start:end] / weights


_NEARLY_NONE = 1e-11


def _norm(normalized: bool) -> str:
    return "ortho" if normalized else "backward"


def _window(window: Any, n_fft: int, win_length: int | None, like: Any) -> Any:
    """The window, or ones, in the middle of n_fft elements."""
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise ArgumentError(f"win_length is from 1 to n_fft, {n_fft}, not {length}")
    if window is None:
        window = F.ones([length], like.dtype)
    elif list(window.shape) != [length]:
        raise ShapeError(f"the window has {length} elements; its shape is {window.shape}")
    missing = n_fft - length
    return F.pad(window, [missing // 2, missing - missing // 2])


__dir__ = public_dir(__name__)
without_own_frames_in(__name__)
