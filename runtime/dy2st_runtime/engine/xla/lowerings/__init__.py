"""The rows of `table.py`, by families of operators."""

from dy2st_runtime.engine.xla.lowerings import (
    checks,
    elementwise,
    indexing,
    matrices,
    products,
    random,
    reductions,
    shapes,
)

__all__ = [
    "checks",
    "elementwise",
    "indexing",
    "matrices",
    "products",
    "random",
    "reductions",
    "shapes",
]
