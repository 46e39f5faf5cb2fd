"""Another name of dy2st.paddle.distribution.exponential_family."""

from dy2st.paddle.distribution.exponential_family import *
