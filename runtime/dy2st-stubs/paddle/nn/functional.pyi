"""Another name of dy2st.nn.functional."""

from dy2st.nn.functional import *
