"""Triangles: what lies below or above a diagonal of the last two axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import Size
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Kind, Sample, TensorType, apply, define, method
from dy2st_runtime.ir.arguments import as_size, is_unknown, one_integer
from dy2st_runtime.ir.attribute_kinds import MOST_NEAR, NEAR

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


def _triangle_padding(site: Site) -> Iterable[int]:
    """Which elements stay does not depend on how many there are."""
    last = {len(site.result) - 2, len(site.result) - 1}
    return site.uneven(site.longer[0]) if last & site.longer[0] else set(site.longer[0])


def _triangle_infer(x: TensorType, diagonal: Size) -> TensorType:
    if x.rank < 2:
        raise ShapeError(f"a triangle is part of two axes; the shape is {list(x.shape)}")
    return x


for _name, _doc, _kernel in (
    ("tril", "x below and on a diagonal, zeros above.", np.tril),
    ("triu", "x above and on a diagonal, zeros below.", np.triu),
):
    # The same diagonal, or one that is beyond all elements as well, in a number for NumPy.
    define(
        _name,
        doc=_doc,
        inputs="x",
        attributes={"diagonal": NEAR.or_else(0)},
        kind=Kind.INJECTIVE,
        takes_complex=True,
        along=lambda x, diagonal: (x.rank - 2, x.rank - 1),
        padding=_triangle_padding,
        infer=_triangle_infer,
        kernel=lambda x, diagonal, kernel=_kernel: kernel(
            x, max(-MOST_NEAR, min(diagonal, MOST_NEAR))
        ),
        gradient=lambda g, y, x, diagonal, name=_name: getattr(F, name)(g, diagonal),
        samples=(Sample(((3, 4),)), Sample(((2, 3, 3),), {"diagonal": 1})),
    )


@method
def tril(x: Any, diagonal: Any = 0, name: str | None = None) -> Any:
    """x below and on a diagonal of the last two axes, zeros above: (..., n, m) -> (..., n, m).

    >>> dy2st.tril(dy2st.ones([3, 3], "int64")).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return _triangle("tril", x, diagonal)


@method
def triu(x: Any, diagonal: Any = 0, name: str | None = None) -> Any:
    """x above and on a diagonal of the last two axes, zeros below: (..., n, m) -> (..., n, m).

    >>> dy2st.triu(dy2st.ones([3, 3], "int64"), diagonal=1).tolist()
    [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    return _triangle("triu", x, diagonal)


def _triangle(name: str, x: Any, diagonal: Any) -> Any:
    if x.ndim < 2:  # NumPy would make a matrix of it
        raise ShapeError(f"{name} takes at least two axes; the shape is {x.shape}")
    if not is_unknown(diagonal):
        return apply(name, x, diagonal=as_size(diagonal, "diagonal"))
    rows, columns = F.unsqueeze(F.arange(x.shape[-2]), 1), F.arange(x.shape[-1])
    stays = F.less_equal if name == "tril" else F.greater_equal
    limit = F.add(rows, one_integer(diagonal, "diagonal"))
    return F.where(stays(columns, limit), x, F.zeros_like(x))
