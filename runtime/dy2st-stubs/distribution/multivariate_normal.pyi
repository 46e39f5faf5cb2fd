"""Another name of dy2st.paddle.distribution.multivariate_normal."""

from dy2st.paddle.distribution.multivariate_normal import *
