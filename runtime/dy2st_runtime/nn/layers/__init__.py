"""Layers that few models use, by family: `dy2st_runtime.nn.lazy` says which module has which."""
