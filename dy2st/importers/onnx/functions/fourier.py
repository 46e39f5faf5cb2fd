"""Fourier transforms, of a signal and of its frames, and the windows and filters around them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions.late import as_float, as_whole, number, size
from dy2st.importers.onnx.late import by_axis
from dy2st_runtime.dims import Size, equal, maximum, minimum
from dy2st_runtime.ir import F
from dy2st_runtime.ir.tensor import Tensor


def dft(
    input: Any,
    dft_length: Any = None,
    axis: Any = -2,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Any:
    """The Fourier transform along an axis; the last axis holds real and imaginary parts.

    >>> from dy2st_runtime.tensor import to_tensor
    >>> dft(to_tensor([[1.0], [2.0]])).tolist()
    [[3.0, 0.0], [-1.0, 0.0]]
    """
    axis, dft_length = number(axis), size(dft_length)
    if isinstance(axis, Tensor):  # the last axis is for parts, and never meant
        named = {"inverse": inverse, "onesided": onesided}

        def along(n: int) -> Any:
            n = min(n, input.ndim - 2)
            length = dft_length
            if length is None and inverse and onesided:  # also where it is no length at all
                length = maximum(2 * (input.shape[n] - 1), 1)
            return dft(input, length, n, **named)

        return by_axis(axis, input.ndim, along)
    axis = int(axis) % input.ndim
    if axis == input.ndim - 1:
        raise ArgumentError("DFT: the last axis holds real and imaginary parts")
    given = input.shape[axis]
    to_real = bool(inverse and onesided)
    count = dft_length
    if count is None:
        count = 2 * (given - 1) if to_real else given
    wide = input if input.dtype == "float64" else F.cast(input, "float32")
    wide = _of_length(wide, axis, count // 2 + 1 if to_real else count)
    is_real = equal(wide.shape[-1], 1) is True
    real = F.squeeze(F.slice(wide, [wide.ndim - 1], [0], [1]), [-1])
    if is_real and onesided and not inverse:
        return F.cast(_apart(F.fourier_of_real(real, axis)), input.dtype)
    imaginary = F.zeros_like(real)
    if not is_real:
        imaginary = F.squeeze(F.slice(wide, [wide.ndim - 1], [1], [2]), [-1])
    both = F.complex(real, imaginary)
    if to_real:
        return F.cast(F.unsqueeze(F.fourier_to_real(both, axis, count), [-1]), input.dtype)
    found = _apart(F.fourier(both, axis, bool(inverse)))
    if onesided:
        found = F.slice(found, [axis], [0], [count // 2 + 1])
    return F.cast(found, input.dtype)


def _apart(x: Any) -> Any:
    """Complex numbers as real and imaginary parts along a new last axis."""
    return F.stack([F.real(x), F.imag(x)], axis=-1)


def _of_length(x: Any, axis: int, length: Size) -> Any:
    """x cut, or with zeros behind, along an axis."""
    have = x.shape[axis]
    if equal(have, length) is True:
        return x
    x = F.slice(x, [axis], [0], [minimum(have, length)])
    room: list[Any] = [0] * (2 * x.ndim)
    room[2 * axis + 1] = maximum(length - have, 0)
    return F.pad(x, room)


def stft(
    signal: Any,
    frame_step: Any,
    window: Any = None,
    frame_length: Any = None,
    *,
    onesided: int = 1,
) -> Any:
    """(batch, length, 1 or 2) -> (batch, frames, frequencies, 2)."""
    frame_step, frame_length = size(frame_step), size(frame_length)
    batch, length, parts = signal.shape
    if frame_length is None:
        frame_length = length if window is None else window.shape[0]
    count = (length - frame_length) // frame_step + 1
    starts = F.unsqueeze(F.arange(count), [1]) * as_whole(frame_step)
    places = F.flatten(starts + F.arange(frame_length))
    frames = F.reshape(F.gather(signal, places, 1), [batch, count, frame_length, parts])
    if window is not None:
        frames = frames * F.reshape(F.cast(window, frames.dtype), [frame_length, 1])
    return dft(frames, None, 2, onesided=onesided)


def hann_window(size: Any, *, output_datatype: Any = None, periodic: int = 1) -> Any:
    """sin(pi n / N)**2, N one less than the size unless it is periodic."""
    return _window([0.5, 0.5], size, output_datatype, periodic)


def hamming_window(size: Any, *, output_datatype: Any = None, periodic: int = 1) -> Any:
    """25/46 - 21/46 cos(2 pi n / N)."""
    return _window([25.0 / 46.0, 21.0 / 46.0], size, output_datatype, periodic)


def blackman_window(size: Any, *, output_datatype: Any = None, periodic: int = 1) -> Any:
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)."""
    return _window([0.42, 0.5, 0.08], size, output_datatype, periodic)


def _window(waves: list[float], length: Any, dtype: Any, periodic: int) -> Any:
    """A sum of cosines, with alternating signs."""
    count = size(length)
    steps, period = F.cast(F.arange(count), "float64"), as_float(count)
    angle = steps * (2.0 * math.pi) / (period if periodic else period - 1.0)
    total = F.full_like(angle, waves[0])
    for n, share in enumerate(waves[1:], 1):
        total = total + F.cos(angle * float(n)) * (share * (-1.0) ** n)
    return F.cast(total, np.dtype("float32") if dtype is None else np.dtype(dtype))


def mel_weight_matrix(
    num_mel_bins: Any,
    dft_length: Any,
    sample_rate: Any,
    lower_edge_hertz: Any,
    upper_edge_hertz: Any,
    *,
    output_datatype: Any = None,
) -> Any:
    """(dft_length // 2 + 1, num_mel_bins): triangles that are equally far apart in mel."""
    bins, points = size(num_mel_bins), size(dft_length)
    given = (sample_rate, lower_edge_hertz, upper_edge_hertz)
    rate, *edges = (as_float(number(one)) for one in given)
    low, high = (F.log10(F.cast(edge, "float64") / 700.0 + 1.0) * 2595.0 for edge in edges)
    steps = F.cast(F.arange(bins + 2), "float64")
    mels = steps * ((high - low) / as_float(bins + 2)) + low
    hertz = F.expm1(mels * (math.log(10.0) / 2595.0)) * 700.0
    places = F.floor(hertz * as_float(points + 1) / rate)
    left, top, right = (F.slice(places, [0], [n], [bins + n]) for n in range(3))
    row = F.unsqueeze(F.cast(F.arange(points // 2 + 1), "float64"), [1])
    rising = _share(row - left, top - left)
    falling = _share(right - row, right - top)
    zero = F.zeros_like(rising)
    is_rising = F.logical_and(F.less_equal(left, row), F.less_equal(row, top))
    is_falling = F.logical_and(F.less_than(top, row), F.less_than(row, right))
    matrix = F.where(is_rising, rising, F.where(is_falling, falling, zero))
    return F.cast(matrix, np.dtype("float32") if output_datatype is None else output_datatype)


def _share(part: Any, whole: Any) -> Any:
    """part / whole; 1 of nothing."""
    is_none = F.equal(whole, 0.0)
    share = part / F.where(is_none, F.ones_like(whole), whole)
    return F.where(is_none, F.ones_like(share), share)


__all__ = ["blackman_window", "dft", "hamming_window", "hann_window", "mel_weight_matrix", "stft"]
