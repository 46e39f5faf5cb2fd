"""Another name of dy2st.paddle.distribution.independent."""

from dy2st.paddle.distribution.independent import *
