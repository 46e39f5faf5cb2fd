"""Another name of dy2st.paddle.incubate.nn.functional."""

from dy2st.paddle.incubate.nn.functional import *
