"""Another name of dy2st.paddle.distribution.lkj_cholesky."""

from dy2st.paddle.distribution.lkj_cholesky import *
