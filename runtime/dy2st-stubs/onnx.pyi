"""Another name of dy2st.paddle.onnx."""

from dy2st.paddle.onnx import *
