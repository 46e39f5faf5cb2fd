"""`dy2st.onnx`, and `paddle.onnx`: writes models of ONNX."""

from dy2st.paddle.private_modules import private_modules
from dy2st.targets.onnx.export import export

__all__ = ["export"]

private_modules(__name__)
