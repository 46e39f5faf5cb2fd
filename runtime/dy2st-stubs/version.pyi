"""Another name of dy2st.paddle.version."""

from dy2st.paddle.version import *
