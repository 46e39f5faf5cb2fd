"""Takes sound to features, by layers."""

from dy2st.paddle.audio.features.layers import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram
from dy2st_runtime.lazy import public_dir

__all__ = ["MFCC", "LogMelSpectrogram", "MelSpectrogram", "Spectrogram"]
__dir__ = public_dir(__name__)
