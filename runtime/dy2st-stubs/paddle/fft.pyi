"""Gives Fourier transforms, frequencies and shifts under PaddlePaddle's names."""

from collections.abc import Sequence
from dy2st_runtime.ir.tensor import Tensor, TensorLike
from dy2st_runtime.ir.types import DTypeLike

def fft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform, along one axis."""
def fft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform, along two axes."""
def fftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The frequencies of a transform of n samples that are d apart: (n,)."""
def fftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform, along all axes, or the last ones that `s` has sizes for."""
def fftshift(x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """x with the frequency 0 in the middle of the axes, all by default."""
def hfft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real transform of half of what is its own conjugate: (..., m) -> (..., n), along one axis."""
def hfft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real transform of half of what is its own conjugate: (..., m) -> (..., n), along two axes."""
def hfftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real transform of half of what is its own conjugate: (..., m) -> (..., n), along all axes, or the last ones that `s` has sizes for."""
def ifft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The inverse Fourier transform, along one axis."""
def ifft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """The inverse Fourier transform, along two axes."""
def ifftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The inverse Fourier transform, along all axes, or the last ones that `s` has sizes for."""
def ifftshift(x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """x with the frequency 0 first again: what undoes `fftshift`."""
def ihfft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """What undoes `hfft`: (..., n) -> (..., n // 2 + 1), along one axis."""
def ihfft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """What undoes `hfft`: (..., n) -> (..., n // 2 + 1), along two axes."""
def ihfftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """What undoes `hfft`: (..., n) -> (..., n // 2 + 1), along all axes, or the last ones that `s` has sizes for."""
def irfft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real numbers with these frequencies: (..., m) -> (..., n), by default 2 (m - 1), along one axis."""
def irfft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real numbers with these frequencies: (..., m) -> (..., n), by default 2 (m - 1), along two axes."""
def irfftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The real numbers with these frequencies: (..., m) -> (..., n), by default 2 (m - 1), along all axes, or the last ones that `s` has sizes for."""
def rfft(x: TensorLike, n: int | Sequence[int] | None = None, axis: int = -1, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers: (..., n) -> (..., n // 2 + 1), along one axis."""
def rfft2(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] = ..., norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers: (..., n) -> (..., n // 2 + 1), along two axes."""
def rfftfreq(n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The frequencies of a transform of n real samples that are d apart: (n // 2 + 1,)."""
def rfftn(x: TensorLike, s: int | Sequence[int] | None = None, axes: int | Sequence[int] | None = None, norm: str = 'backward', name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers: (..., n) -> (..., n // 2 + 1), along all axes, or the last ones that `s` has sizes for."""
