"""Another name of dy2st.io."""

from dy2st.io import *
