"""What models that find objects need, under PaddlePaddle's names."""

from dy2st_runtime.late import late_names, places

LATE = places(
    {
        "dy2st_runtime.nn.layers.pictures": "ConvNormActivation",
    }
)
__getattr__ = late_names(__name__, LATE)
__all__ = sorted(LATE)
