"""Another name of dy2st.paddle.distribution.dirichlet."""

from dy2st.paddle.distribution.dirichlet import *
