"""Takes sound to features, by layers."""

from dy2st.paddle.audio.features.layers import (
    LogMelSpectrogram as LogMelSpectrogram,
    MFCC as MFCC,
    MelSpectrogram as MelSpectrogram,
    Spectrogram as Spectrogram,
)

