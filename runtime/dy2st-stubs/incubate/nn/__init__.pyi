"""Another name of dy2st.paddle.incubate.nn."""

from dy2st.paddle.incubate.nn import *
