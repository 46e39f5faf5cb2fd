"""Another name of dy2st.paddle.distribution.gamma."""

from dy2st.paddle.distribution.gamma import *
