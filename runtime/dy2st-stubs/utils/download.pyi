"""Another name of dy2st.paddle.utils.download."""

from dy2st.paddle.utils.download import *
