"""What each operator of PaddlePaddle's means: a row an operator, by families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call
from dy2st.importers.paddle.rows import (
    control,
    creation,
    detection,
    elementwise,
    indexing,
    losses,
    matrices,
    movement,
    networks,
    recurrent,
    reductions,
)

ROWS: dict[str, Callable[[Call], Any]] = {
    **control.ROWS,
    **creation.ROWS,
    **detection.ROWS,
    **elementwise.ROWS,
    **indexing.ROWS,
    **losses.ROWS,
    **matrices.ROWS,
    **movement.ROWS,
    **networks.ROWS,
    **recurrent.ROWS,
    **reductions.ROWS,
}

__all__ = ["ROWS"]
