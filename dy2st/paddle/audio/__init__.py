"""Computes features of sound, under PaddlePaddle's names."""

from dy2st_runtime.lazy import lazy_names, public_dir

__all__ = ["features", "functional"]
__dir__ = public_dir(__name__)

__getattr__ = lazy_names(__name__, {name: f"dy2st.paddle.audio.{name}" for name in __all__})
