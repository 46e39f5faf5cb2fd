"""Another name of dy2st.nn.init."""

from dy2st.nn.init import *
