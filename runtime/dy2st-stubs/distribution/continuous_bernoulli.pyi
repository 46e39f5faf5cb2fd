"""Another name of dy2st.paddle.distribution.continuous_bernoulli."""

from dy2st.paddle.distribution.continuous_bernoulli import *
