"""Another name of dy2st.paddle.fft."""

from dy2st.paddle.fft import *
