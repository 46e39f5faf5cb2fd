"""Operators on graphs and signals: they are functions of PaddlePaddle's further name spaces."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dy2st.importers.paddle.calls import Call, Unsupported, table

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


def _function(space: str, name: str) -> Any:
    """A function of `dy2st.paddle`, which is loaded for it: nothing here may need that package."""
    return getattr(import_module(f"dy2st.paddle.{space}"), name)


@_row("segment_pool")
def _segments(c: Call) -> Any:
    kind = str(c.get("pooltype", "SUM")).lower()
    if kind not in ("sum", "mean", "max", "min"):
        raise Unsupported(f"segment_pool of the kind {kind!r:.40}")
    return _function("geometric", f"segment_{kind}")(c[0], c[1])


@_row("send_u_recv")
def _messages(c: Call) -> Any:
    kind = str(c.get("reduce_op", "SUM")).lower()
    size = c.ints(3) if c[3] is not None else c.get("out_size", [])
    count = size[0] if isinstance(size, list) and size else None
    count = None if isinstance(count, int) and count <= 0 else count
    return _function("geometric", "send_u_recv")(c[0], c[1], c[2], kind, count)


@_row("viterbi_decode")
def _viterbi(c: Call) -> Any:
    decode = _function("text.viterbi", "viterbi_decode")
    return tuple(decode(c[0], c[1], c[2], c.get("include_bos_eos_tag", True)))


ROWS |= {
    "frame": lambda c: _function("signal", "frame")(
        c[0], c.need("frame_length"), c.need("hop_length"), c.get("axis", -1)
    ),
    "overlap_add": lambda c: _function("signal", "overlap_add")(
        c[0], c.need("hop_length"), c.get("axis", -1)
    ),
}

__all__ = ["ROWS"]
