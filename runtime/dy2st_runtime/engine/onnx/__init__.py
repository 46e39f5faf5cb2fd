"""Programs as ONNX, and the engine `onnxruntime`, which runs them so.

Read in this order: `table.py` (a row an operator), `graph.py` (nodes in the making), `sizes.py`,
`writers/` (the rows), `control.py`, `model.py` (the whole), `executable.py` (the engine).
"""
