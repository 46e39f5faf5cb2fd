"""Another name of dy2st.passes."""

from dy2st.passes import *
