"""Another name of dy2st.nn.layer."""

from dy2st.nn.layer import *
