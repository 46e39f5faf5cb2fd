"""Another name of dy2st.paddle.framework.core."""

from dy2st.paddle.framework.core import *
