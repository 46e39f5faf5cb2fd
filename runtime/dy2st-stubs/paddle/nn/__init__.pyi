"""Another name of dy2st.nn."""

from dy2st.nn import *
