"""Another name of dy2st.paddle.framework."""

from dy2st.paddle.framework import *
