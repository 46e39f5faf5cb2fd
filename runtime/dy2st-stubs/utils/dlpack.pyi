"""Another name of dy2st.paddle.utils.dlpack."""

from dy2st.paddle.utils.dlpack import *
