"""A row for each operator that ONNX has, by families; importing this package fills the table."""

from dy2st_runtime.engine.onnx.writers import (
    checks,
    composites,
    elementwise,
    indexing,
    lists,
    products,
    random,
    reductions,
    shapes,
)

__all__ = [
    "checks",
    "composites",
    "elementwise",
    "indexing",
    "lists",
    "products",
    "random",
    "reductions",
    "shapes",
]
