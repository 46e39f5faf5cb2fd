"""`dy2st.onnx`, and `paddle.onnx`: reads and writes models of ONNX."""

from dy2st.importers.onnx.loading import load
from dy2st.paddle.private_modules import private_modules
from dy2st.targets.onnx.export import export
from dy2st_runtime.lazy import public_dir

__all__ = ["export", "load"]
__dir__ = public_dir(__name__)

private_modules(__name__)
