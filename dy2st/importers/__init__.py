"""Models of other tools become Programs: ONNX, PaddlePaddle's inference models, torch's graphs."""
