"""Another name of dy2st.paddle.distribution.transform."""

from dy2st.paddle.distribution.transform import *
