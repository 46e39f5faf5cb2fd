"""Another name of dy2st.paddle.regularizer."""

from dy2st.paddle.regularizer import *
