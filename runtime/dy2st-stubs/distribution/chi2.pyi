"""Another name of dy2st.paddle.distribution.chi2."""

from dy2st.paddle.distribution.chi2 import *
