"""Another name of dy2st.paddle.distribution.cauchy."""

from dy2st.paddle.distribution.cauchy import *
