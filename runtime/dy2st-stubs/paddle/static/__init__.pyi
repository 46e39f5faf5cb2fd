"""Another name of dy2st.static."""

from dy2st.static import *
