"""One row for each operator of ONNX that is read: a function of a `Call`, mostly of one line.

A row gives a value, or a tuple of the outputs in order. Versions differ in the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dy2st.importers.onnx.tables import (
    composites,
    control,
    convolutions,
    elementwise,
    indexing,
    losses,
    movement,
    normalisation,
    products,
    random,
    reductions,
    refused,
    sequences,
    training,
)

Row = Callable[..., Any]

_FAMILIES = (
    composites,
    control,
    convolutions,
    elementwise,
    indexing,
    losses,
    movement,
    normalisation,
    products,
    random,
    reductions,
    sequences,
)
_DOMAINS: Mapping[str, Mapping[str, Row]] = {
    "": {name: row for family in _FAMILIES for name, row in family.ROWS.items()},
    "ai.onnx.preview.training": training.ROWS,
}
ROWS: dict[tuple[str, str], Row] = {
    (domain, name): row for domain, rows in _DOMAINS.items() for name, row in rows.items()
}
"""What reads an operator, by its domain and name."""
REFUSED = refused.ROWS
"""Why an operator is not read."""

__all__ = ["REFUSED", "ROWS"]
