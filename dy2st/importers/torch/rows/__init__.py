"""The rows of the table by families; importing this package fills the table."""

from dy2st.importers.torch.rows import (
    creation,
    elementwise,
    histograms,
    indexing,
    layers,
    losses,
    matrices,
    random,
    recurrent,
    reductions,
    shapes,
    special,
    windows,
)

__all__ = [
    "creation",
    "elementwise",
    "histograms",
    "indexing",
    "layers",
    "losses",
    "matrices",
    "random",
    "recurrent",
    "reductions",
    "shapes",
    "special",
    "windows",
]
