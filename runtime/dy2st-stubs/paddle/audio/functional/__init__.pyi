"""Makes windows, scales of pitch and matrices for features of sound."""

from dy2st_runtime.ir.tensor import Tensor
from typing import Any

def compute_fbank_matrix(sr: int, n_fft: int, n_mels: int = 64, f_min: float = 0.0, f_max: float | None = None, htk: bool = False, norm: str = 'slaney', dtype: str = 'float32') -> Tensor:
    """Triangles on the mel scale, by which spectra are weighed: (n_mels, n_fft // 2 + 1)."""
def create_dct(n_mfcc: int, n_mels: int, norm: str | None = 'ortho', dtype: str = 'float32') -> Tensor:
    """The matrix of the cosine transform, of the second kind: (n_mels, n_mfcc)."""
def fft_frequencies(sr: int, n_fft: int, dtype: str = 'float32') -> Tensor:
    """The frequencies of a transform of n_fft real samples: (n_fft // 2 + 1,)."""
def get_window(window: str | tuple[Any, ...], win_length: int, fftbins: bool = True, dtype: str = 'float64') -> Tensor:
    """A window of `win_length` numbers: periodic for transforms with `fftbins`, else symmetric."""
def hz_to_mel(freq: Any, htk: bool = False) -> Tensor:
    """Frequencies on the mel scale: Slaney's, or that of HTK; a number or a tensor."""
def mel_frequencies(n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = 'float32') -> Tensor:
    """Frequencies at equal distances on the mel scale: (n_mels,)."""
def mel_to_hz(mel: Any, htk: bool = False) -> Tensor:
    """What undoes `hz_to_mel`."""
def power_to_db(spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Tensor:
    """10 * log10(spect / ref_value), of at least `amin`, and at most `top_db` below the highest."""
