"""Another name of dy2st.optimizer."""

from dy2st.optimizer import *
