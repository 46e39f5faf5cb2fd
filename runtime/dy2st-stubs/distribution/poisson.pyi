"""Another name of dy2st.paddle.distribution.poisson."""

from dy2st.paddle.distribution.poisson import *
