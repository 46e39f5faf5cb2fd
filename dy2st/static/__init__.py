"""`static.InputSpec` under PaddlePaddle's name, and Dim for the sizes in it."""

from dy2st.jit.dimension import Dim
from dy2st.jit.input_spec import InputSpec

__all__ = ["Dim", "InputSpec"]
