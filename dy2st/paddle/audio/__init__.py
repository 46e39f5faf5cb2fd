"""Computes features of sound, under PaddlePaddle's names."""

from dy2st_runtime.lazy import lazy_names

__all__ = ["features", "functional"]

__getattr__ = lazy_names(__name__, {name: f"dy2st.paddle.audio.{name}" for name in __all__})
