"""Another name of dy2st.paddle.device."""

from dy2st.paddle.device import *
