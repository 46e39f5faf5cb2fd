"""Another name of dy2st.paddle.hapi."""

from dy2st.paddle.hapi import *
