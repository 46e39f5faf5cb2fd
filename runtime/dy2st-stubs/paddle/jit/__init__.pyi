"""Another name of dy2st.jit."""

from dy2st.jit import *
