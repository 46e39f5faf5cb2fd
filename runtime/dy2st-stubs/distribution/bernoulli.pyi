"""Another name of dy2st.paddle.distribution.bernoulli."""

from dy2st.paddle.distribution.bernoulli import *
