"""InputSpec and Dim for the sizes in it, and Programs made for some of their sizes."""

from dy2st.jit.dimension import Dim
from dy2st.jit.input_spec import InputSpec
from dy2st.static.bucket import bucket
from dy2st.static.freeze import freeze

__all__ = ["Dim", "InputSpec", "bucket", "freeze"]
