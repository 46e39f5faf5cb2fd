"""Another name of dy2st.paddle.distribution.student_t."""

from dy2st.paddle.distribution.student_t import *
