"""Another name of dy2st.paddle.autograd."""

from dy2st.paddle.autograd import *
