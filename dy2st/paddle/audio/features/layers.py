"""Makes spectra of sound, by products with cosines and sines: real numbers alone."""

from __future__ import annotations

from typing import Any

from dy2st.paddle import fft
from dy2st.paddle.audio.functional import compute_fbank_matrix, create_dct, get_window, power_to_db
from dy2st.paddle.signal import frame
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F
from dy2st_runtime.nn import Layer, functional


class Spectrogram(Layer):
    """The sizes of short Fourier transforms, to a power: (batch, n) -> (batch, n_fft // 2 + 1, t).

    One signal (n,) gives (n_fft // 2 + 1, t).

    >>> import dy2st
    >>> dy2st.audio.features.Spectrogram(n_fft=8, hop_length=4)(dy2st.ones([2, 16])).shape
    [2, 5, 5]
    """

    fft_window: Any

    def __init__(
        self,
        n_fft: int = 512,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 1.0,
        center: bool = True,
        pad_mode: str = "reflect",
        dtype: str = "float32",
    ) -> None:
        """Take the length of the transforms, how far apart they are, and the window."""
        super().__init__()
        length = n_fft if win_length is None else win_length
        if power <= 0 or not 0 < length <= n_fft or pad_mode not in ("reflect", "constant"):
            raise ArgumentError(
                f"power is above 0, win_length from 1 to n_fft, pad_mode reflect or constant: "
                f"{power}, {length}, {pad_mode!r}"
            )
        self.power, self.center, self.pad_mode = power, center, pad_mode
        self.n_fft, self.hop_length = n_fft, hop_length or n_fft // 4
        self.register_buffer("fft_window", get_window(window, length, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The spectra."""
        if x.ndim not in (1, 2):
            raise ShapeError(f"a Spectrogram takes (n,) or (batch, n), not {x.shape}")
        if x.ndim == 1:
            return F.squeeze(self.forward(F.unsqueeze(x, 0)), 0)
        if self.center:
            ends = [self.n_fft // 2, self.n_fft // 2]
            wide = functional.pad(F.unsqueeze(x, 1), ends, mode=self.pad_mode, data_format="NCL")
            x = F.squeeze(wide, 1)
        missing = self.n_fft - self.fft_window.shape[0]
        window = F.pad(self.fft_window, [missing // 2, missing - missing // 2])
        frames = frame(x, self.n_fft, self.hop_length) * F.unsqueeze(window, 1)
        spectra = fft.rfft(frames, axis=-2)
        square = F.square(F.real(spectra)) + F.square(F.imag(spectra))
        if self.power == 2:
            return square
        # The slope of a root is infinite at 0: what is 0 stays so without one.
        is_zero = square == 0
        return F.where(is_zero, square, F.pow(F.where(is_zero, 1.0, square), self.power / 2))


class MelSpectrogram(Layer):
    """Spectra on the mel scale: (batch, n) -> (batch, n_mels, t).

    Parameters
    ----------
    sr
        Samples a second.
    n_fft, hop_length, win_length, window, power, center, pad_mode
        As of `Spectrogram`.
    n_mels, f_min, f_max, htk, norm
        As of `compute_fbank_matrix`.

    Examples
    --------
    >>> layer = dy2st.audio.features.MelSpectrogram(sr=8000, n_fft=128, hop_length=64, n_mels=8)
    >>> layer(dy2st.ones([1, 640])).shape
    [1, 8, 11]
    """

    fbank_matrix: Any

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 2048,
        hop_length: int | None = 512,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        dtype: str = "float32",
    ) -> None:
        """Take the rate of samples, what `Spectrogram` takes, and the triangles."""
        super().__init__()
        self._spectrogram = Spectrogram(
            n_fft, hop_length, win_length, window, power, center, pad_mode, dtype
        )
        self.n_mels, self.f_min, self.htk, self.norm = n_mels, f_min, htk, norm
        self.f_max = sr // 2 if f_max is None else f_max
        matrix = compute_fbank_matrix(sr, n_fft, n_mels, f_min, self.f_max, htk, norm, dtype)
        self.register_buffer("fbank_matrix", matrix)

    def forward(self, x: Any) -> Any:
        """The spectra."""
        return F.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """Spectra on the mel scale in decibels: (batch, n) -> (batch, n_mels, t).

    Parameters
    ----------
    sr
        Samples a second.
    n_fft, hop_length, win_length, window, power, center, pad_mode
        As of `Spectrogram`.
    n_mels, f_min, f_max, htk, norm
        As of `compute_fbank_matrix`.
    ref_value, amin, top_db
        As of `power_to_db`.

    Examples
    --------
    >>> layer = dy2st.audio.features.LogMelSpectrogram(sr=8000, n_fft=128, n_mels=8)
    >>> layer(dy2st.ones([1, 640])).shape
    [1, 8, 21]
    """

    def __init__(
        self,
        sr: int = 22050,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        """Take what `MelSpectrogram` and `power_to_db` take."""
        super().__init__()
        spectra = (sr, n_fft, hop_length, win_length, window, power, center, pad_mode)
        self._melspectrogram = MelSpectrogram(
            *spectra, n_mels=n_mels, f_min=f_min, f_max=f_max, htk=htk, norm=norm, dtype=dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Any) -> Any:
        """The spectra."""
        return power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """Cepstra on the mel scale: (batch, n) -> (batch, n_mfcc, t).

    Parameters
    ----------
    sr
        Samples a second.
    n_mfcc
        How many coefficients are given.
    n_fft, hop_length, win_length, window, power, center, pad_mode
        As of `Spectrogram`.
    n_mels, f_min, f_max, htk, norm
        As of `compute_fbank_matrix`.
    ref_value, amin, top_db
        As of `power_to_db`.

    Examples
    --------
    >>> layer = dy2st.audio.features.MFCC(sr=8000, n_mfcc=4, n_fft=128, n_mels=8)
    >>> layer(dy2st.ones([1, 640])).shape
    [1, 4, 21]
    """

    dct_matrix: Any

    def __init__(
        self,
        sr: int = 22050,
        n_mfcc: int = 40,
        n_fft: int = 512,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = "hann",
        power: float = 2.0,
        center: bool = True,
        pad_mode: str = "reflect",
        n_mels: int = 64,
        f_min: float = 50.0,
        f_max: float | None = None,
        htk: bool = False,
        norm: Any = "slaney",
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float | None = None,
        dtype: str = "float32",
    ) -> None:
        """Take the number of coefficients, and what `LogMelSpectrogram` takes."""
        super().__init__()
        if n_mfcc > n_mels:
            raise ArgumentError(f"n_mfcc is at most n_mels: {n_mfcc} is above {n_mels}")
        spectra = (sr, n_fft, hop_length, win_length, window, power, center, pad_mode)
        scale: tuple[Any, ...] = (n_mels, f_min, f_max, htk, norm, ref_value, amin, top_db, dtype)
        self._log_melspectrogram = LogMelSpectrogram(*spectra, *scale)
        self.register_buffer("dct_matrix", create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The coefficients."""
        return F.matmul(F.matrix_transpose(self.dct_matrix), self._log_melspectrogram(x))
