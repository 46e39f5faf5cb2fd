"""Another name of dy2st.paddle.porting."""

from dy2st.paddle.porting import *
