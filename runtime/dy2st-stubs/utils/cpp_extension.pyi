"""Another name of dy2st.paddle.utils.cpp_extension."""

from dy2st.paddle.utils.cpp_extension import *
