"""ONNX models become Programs: read `loading`, `graphs`, `checks`, `reader`, and then `tables`."""

from dy2st.importers.onnx.loading import load, program_of

__all__ = ["load", "program_of"]
