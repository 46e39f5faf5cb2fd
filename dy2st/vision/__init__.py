"""What models of pictures need, under PaddlePaddle's names."""

from dy2st_runtime.late import late_names

__all__ = ["transforms"]

__getattr__ = late_names(__name__, {"transforms": "dy2st.vision.transforms"})
