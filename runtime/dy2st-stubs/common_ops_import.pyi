"""Another name of dy2st.paddle.common_ops_import."""

from dy2st.paddle.common_ops_import import *
