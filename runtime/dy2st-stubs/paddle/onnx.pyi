"""`dy2st.onnx`, and `paddle.onnx`: reads and writes models of ONNX."""

from dy2st.importers.onnx.loading import load as load
from dy2st.targets.onnx.export import export as export

