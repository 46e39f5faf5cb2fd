"""Another name of dy2st.nn.utils."""

from dy2st.nn.utils import *
