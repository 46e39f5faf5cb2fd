"""Makes windows, scales of pitch and matrices for features of sound."""

from dy2st.paddle.audio.functional.functional import (
    compute_fbank_matrix,
    create_dct,
    fft_frequencies,
    hz_to_mel,
    mel_frequencies,
    mel_to_hz,
    power_to_db,
)
from dy2st.paddle.audio.functional.window import get_window
from dy2st_runtime.lazy import public_dir

__all__ = [
    "compute_fbank_matrix",
    "create_dct",
    "fft_frequencies",
    "get_window",
    "hz_to_mel",
    "mel_frequencies",
    "mel_to_hz",
    "power_to_db",
]
__dir__ = public_dir(__name__)
