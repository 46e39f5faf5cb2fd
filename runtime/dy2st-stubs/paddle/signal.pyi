"""Cuts signals into frames and puts them together again, and makes spectra of the frames."""

from dy2st_runtime.ir.tensor import Tensor, TensorLike
from typing import Any

def frame(x: TensorLike, frame_length: int, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """Windows `hop_length` apart: (..., n) -> (..., frame_length, count), or, with the axis 0, (n, ...) -> (count, frame_length, ...)."""
def istft(x: TensorLike, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None, return_complex: bool = False, name: str | None = None) -> Tensor:
    """The signal with these spectra, the nearest one if there is none: what undoes `stft`."""
def overlap_add(x: TensorLike, hop_length: int, axis: int = -1, name: str | None = None) -> Tensor:
    """The sum of windows `hop_length` apart: what undoes `frame` where nothing overlaps."""
def stft(x: TensorLike, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True, pad_mode: str = 'reflect', normalized: bool = False, onesided: bool | None = None, name: str | None = None) -> Tensor:
    """The Fourier transforms of windows `hop_length` apart: (..., n) -> (..., n_fft // 2 + 1, t)."""
