"""Another name of dy2st.static.nn."""

from dy2st.static.nn import *
