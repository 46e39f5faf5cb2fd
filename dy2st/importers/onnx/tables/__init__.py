"""One row for each operator of ONNX that is read: a function of a `Call`, mostly of one line.

A row gives a value, or a tuple of the outputs in order. Versions differ in the rows.
"""

from dy2st.importers.onnx.calls import REFUSED, ROWS
from dy2st.importers.onnx.tables import (  # noqa: F401  they fill the table
    composites,
    control,
    convolutions,
    elementwise,
    indexing,
    movement,
    normalisation,
    reductions,
    sequences,
    training,
)

__all__ = ["REFUSED", "ROWS"]
