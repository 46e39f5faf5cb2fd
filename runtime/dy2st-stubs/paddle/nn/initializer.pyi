"""Another name of dy2st.nn.initializer."""

from dy2st.nn.initializer import *
