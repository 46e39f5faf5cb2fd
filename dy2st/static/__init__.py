"""`static.InputSpec` under PaddlePaddle's name."""

from dy2st.jit.input_spec import InputSpec

__all__ = ["InputSpec"]
