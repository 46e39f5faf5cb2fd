"""Another name of dy2st.optimizer.lr."""

from dy2st.optimizer.lr import *
