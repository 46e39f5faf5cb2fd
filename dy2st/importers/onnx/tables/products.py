"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.onnx.calls import Call
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]


def _gemm(n: Call) -> Any:
    a, b, c = n[0], n[1], n[2]
    a = F.transpose(a, [1, 0]) if n.get("transA", 0) else a
    b = F.transpose(b, [1, 0]) if n.get("transB", 0) else b
    alpha, beta = n.get("alpha", 1.0), n.get("beta", 1.0)
    y = F.matmul(a, b)
    y = y if alpha == 1.0 else F.cast(y * alpha, y.dtype)
    if c is None:
        return y
    return y + (c if beta == 1.0 else F.cast(c * beta, c.dtype))


def _einsum(n: Call) -> Any:
    return F.einsum(n.attributes["equation"], *n.inputs)


ROWS: dict[str, Row] = {
    "Det": lambda n: F.det(n[0]),
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": lambda n: F.matmul(n[0], n[1]),
}
