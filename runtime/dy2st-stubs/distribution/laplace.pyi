"""Another name of dy2st.paddle.distribution.laplace."""

from dy2st.paddle.distribution.laplace import *
