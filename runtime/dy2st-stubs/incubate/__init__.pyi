"""Another name of dy2st.paddle.incubate."""

from dy2st.paddle.incubate import *
