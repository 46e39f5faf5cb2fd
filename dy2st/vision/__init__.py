"""What models of pictures need, under PaddlePaddle's names."""

from dy2st_runtime.late import late_names, places

__all__ = [
    "datasets",
    "get_image_backend",
    "image_load",
    "models",
    "ops",
    "set_image_backend",
    "transforms",
]

_MODULES = ("datasets", "models", "ops", "transforms")

__getattr__ = late_names(
    __name__,
    {
        **{name: f"dy2st.vision.{name}" for name in _MODULES},
        **places({"dy2st.vision.image": "get_image_backend image_load set_image_backend"}),
    },
)
