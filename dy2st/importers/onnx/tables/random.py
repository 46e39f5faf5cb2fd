"""Numbers that are drawn anew in each call, from dy2st's generator: `dy2st.seed` sets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.onnx.calls import Call
from dy2st.importers.onnx.tensors import dtype_of
from dy2st_runtime.ir.dispatch import F

Row = Callable[[Call], Any]


def _dtype(n: Call, like: Any = None) -> Any:
    if "dtype" in n.attributes:
        return dtype_of(n.attributes["dtype"])
    return "float32" if like is None else like.dtype


def _uniform(n: Call, shape: Any, like: Any = None) -> Any:
    drawn = F.uniform(shape, "float32", n.get("low", 0.0), n.get("high", 1.0))
    return F.cast(drawn, _dtype(n, like))


def _normal(n: Call, shape: Any, like: Any = None) -> Any:
    drawn = F.normal(n.get("mean", 0.0), n.get("scale", 1.0), shape)
    return F.cast(drawn, _dtype(n, like))


def _bernoulli(n: Call) -> Any:
    x = n[0]
    drawn = F.uniform(x.shape, "float32", 0.0, 1.0)
    return F.cast(F.less_than(drawn, F.cast(x, "float32")), _dtype(n, x))


def _multinomial(n: Call) -> Any:
    drawn = F.multinomial(F.softmax(n[0], -1), n.get("sample_size", 1), replacement=True)
    return F.cast(drawn, dtype_of(n.get("dtype", 6)))


ROWS: dict[str, Row] = {
    "Bernoulli": _bernoulli,
    "Multinomial": _multinomial,
    "RandomNormal": lambda n: _normal(n, n.attributes["shape"]),
    "RandomNormalLike": lambda n: _normal(n, n[0].shape, n[0]),
    "RandomUniform": lambda n: _uniform(n, n.attributes["shape"]),
    "RandomUniformLike": lambda n: _uniform(n, n[0].shape, n[0]),
}
