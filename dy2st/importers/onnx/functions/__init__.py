"""Operators of ONNX that are made of several of ours, by family: tensors in, tensors out."""
