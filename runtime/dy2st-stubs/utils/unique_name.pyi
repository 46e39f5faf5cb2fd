"""Another name of dy2st.paddle.utils.unique_name."""

from dy2st.paddle.utils.unique_name import *
