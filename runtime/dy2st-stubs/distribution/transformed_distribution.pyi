"""Another name of dy2st.paddle.distribution.transformed_distribution."""

from dy2st.paddle.distribution.transformed_distribution import *
