"""Another name of dy2st.paddle.distribution.normal."""

from dy2st.paddle.distribution.normal import *
