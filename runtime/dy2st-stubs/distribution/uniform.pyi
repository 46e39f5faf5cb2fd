"""Another name of dy2st.paddle.distribution.uniform."""

from dy2st.paddle.distribution.uniform import *
