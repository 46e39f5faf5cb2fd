"""Functions of networks that few models use, by family: `dy2st_runtime.nn.lazy` is their table."""
