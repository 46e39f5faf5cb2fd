"""Another name of dy2st.paddle.hub."""

from dy2st.paddle.hub import *
