"""Another name of dy2st.nn.quant."""

from dy2st.nn.quant import *
