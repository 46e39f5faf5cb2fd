"""Layers that few models use, by family: `dy2st_runtime.nn.late` says which module has which."""
