"""Another name of dy2st.paddle.utils."""

from dy2st.paddle.utils import *
