"""Another name of dy2st.paddle.as_paddle."""

from dy2st.paddle.as_paddle import *
