"""Another name of dy2st.paddle.device.cuda."""

from dy2st.paddle.device.cuda import *
