"""Makes scales of pitch, and matrices that take spectra to features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, Tensor
from dy2st_runtime.tensor import to_tensor

# Slaney's scale: even steps up to 1000 Hz, even ratios beyond.
_STEP, _CORNER = 200.0 / 3, 1000.0
_CORNER_MEL, _RATIO = _CORNER / _STEP, math.log(6.4) / 27.0


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Frequencies on the mel scale: Slaney's, or that of HTK; a number or a tensor.

    >>> round(hz_to_mel(1000.0), 3)
    15.0
    """
    is_tensor = isinstance(freq, Tensor)
    if htk:
        return 2595.0 * (F.log10 if is_tensor else math.log10)(1.0 + freq / 700.0)
    if not is_tensor:
        return freq / _STEP if freq < _CORNER else _CORNER_MEL + math.log(freq / _CORNER) / _RATIO
    beyond = _CORNER_MEL + F.log(F.clip(freq, _CORNER) / _CORNER) / _RATIO
    return F.where(freq > _CORNER, beyond, freq / _STEP)


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """What undoes `hz_to_mel`.

    >>> round(mel_to_hz(15.0), 3)
    1000.0
    """
    if htk:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    exp = F.exp if isinstance(mel, Tensor) else math.exp
    if not isinstance(mel, Tensor) and mel < _CORNER_MEL:
        return mel * _STEP
    beyond = _CORNER * exp(_RATIO * (mel - _CORNER_MEL))
    return F.where(mel > _CORNER_MEL, beyond, mel * _STEP) if isinstance(mel, Tensor) else beyond


def mel_frequencies(
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float = 11025.0,
    htk: bool = False,
    dtype: str = "float32",
) -> Any:
    """Frequencies at equal distances on the mel scale: (n_mels,).

    >>> mel = dy2st.audio.functional.mel_frequencies(3, 0.0, 1000.0)
    >>> print(mel.round(1))
    [   0.  500. 1000.]
    """
    low, high = hz_to_mel(f_min, htk), hz_to_mel(f_max, htk)
    return mel_to_hz(to_tensor(np.linspace(low, high, n_mels), dtype=dtype), htk)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Any:
    """The frequencies of a transform of n_fft real samples: (n_fft // 2 + 1,).

    >>> dy2st.audio.functional.fft_frequencies(8000, 4).tolist()
    [0.0, 2000.0, 4000.0]
    """
    return to_tensor(np.linspace(0, sr / 2, 1 + n_fft // 2), dtype=dtype)


def compute_fbank_matrix(
    sr: int,
    n_fft: int,
    n_mels: int = 64,
    f_min: float = 0.0,
    f_max: float | None = None,
    htk: bool = False,
    norm: Any = "slaney",
    dtype: str = "float32",
) -> Any:
    """Triangles on the mel scale, by which spectra are weighed: (n_mels, n_fft // 2 + 1).

    norm: "slaney" gives each the same area, a number p the p-norm 1.

    Parameters
    ----------
    sr, n_fft
        Samples a second, and samples of a transform.
    n_mels
        How many triangles there are.
    f_min, f_max
        The lowest and the highest frequency; half of `sr` if it is not said.
    htk
        Take HTK's mel scale, else Slaney's.

    Examples
    --------
    >>> dy2st.audio.functional.compute_fbank_matrix(8000, 128, n_mels=8).shape
    [8, 65]
    """
    high = sr / 2 if f_max is None else f_max
    corners = mel_frequencies(n_mels + 2, f_min, high, htk, "float64")
    distances = F.unsqueeze(corners, 1) - fft_frequencies(sr, n_fft, "float64")
    widths = F.unsqueeze(corners[1:] - corners[:-1], 1)
    rising, falling = -distances[:-2] / widths[:-1], distances[2:] / widths[1:]
    weights = F.clip(F.minimum(rising, falling), 0.0)
    if norm == "slaney":
        weights = weights * F.unsqueeze(2.0 / (corners[2:] - corners[:-2]), 1)
    elif isinstance(norm, (int, float)):
        size = F.norm(weights, norm, axis=-1, keepdim=True)
        weights = weights / F.clip(size, 1e-12)
    return F.cast(weights, dtype)


def power_to_db(
    spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0
) -> Any:
    """10 * log10(spect / ref_value), of at least `amin`, and at most `top_db` below the highest.

    >>> db = dy2st.audio.functional.power_to_db(dy2st.to_tensor([1.0, 100.0]))
    >>> print(db.round(2))
    [ 0. 20.]
    """
    if amin <= 0 or ref_value <= 0 or (top_db is not None and top_db < 0):
        raise ArgumentError(
            f"amin and ref_value are above 0, top_db is not negative: {amin}, {ref_value}, {top_db}"
        )
    found = 10.0 * F.log10(F.clip(spect, amin)) - 10.0 * math.log10(max(ref_value, amin))
    return found if top_db is None else F.maximum(found, F.max(found) - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Any:
    """The matrix of the cosine transform, of the second kind: (n_mels, n_mfcc).

    norm: "ortho" makes its columns orthonormal, None doubles the cosines.

    >>> dct = dy2st.audio.functional.create_dct(2, 4)
    >>> np.allclose((dct.t() @ dct).numpy(), np.eye(2), atol=1e-6)
    True
    """
    if norm not in ("ortho", None):
        raise ArgumentError(f'norm is "ortho" or None, not {norm!r}')
    columns = np.cos(np.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc)))
    scale = np.full(n_mfcc, 2.0 if norm is None else math.sqrt(2.0 / n_mels))
    if norm == "ortho":
        scale[0] = math.sqrt(1.0 / n_mels)
    return to_tensor(columns * scale, dtype=dtype)
