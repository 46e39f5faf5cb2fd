"""Another name of dy2st.paddle.tensor."""

from dy2st.paddle.tensor import *
