"""Losses, which models have in them that were saved as they are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.importers.paddle.calls import Call, table
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.nn import functional as nn

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


@_row("cross_entropy_with_softmax")
def _softmax_entropy(c: Call) -> Any:
    if not c.get("use_softmax", True):
        c.refuse_unless(False, "probabilities instead of logits")
    loss, softmax = F.softmax_with_cross_entropy(
        c[0], c[1], c.get("soft_label", False), c.get("ignore_index", -100), True, True,
        c.get("axis", -1),
    )  # fmt: skip
    return softmax, loss


@_row("sigmoid_cross_entropy_with_logits")
def _sigmoid_entropy(c: Call) -> Any:
    """(1 - label) * x + weight * log(1 + e**-x), the weight being an operand."""
    c.refuse_unless(not c.get("normalize", False), "normalize")
    x, label = c[0], c[1]
    likely = F.softplus(F.neg(x))
    likely = likely if c[2] is None else F.multiply(c[2], likely)
    loss = F.add(F.multiply(F.subtract(1.0, label), x), likely)
    ignored = float(c.get("ignore_index", -100))
    return F.where(F.equal(label, ignored), F.zeros_like(loss), loss)


@_row("huber_loss")
def _huber(c: Call) -> Any:
    delta, difference = c.get("delta", 1.0), F.subtract(c[1], c[0])
    size = F.abs(difference)
    near = F.scale(F.square(difference), 0.5)
    far = F.scale(F.subtract(size, 0.5 * delta), delta)
    return F.where(F.less_equal(size, delta), near, far), difference


@_row("nll_loss")
def _nll(c: Call) -> Any:
    return F.nll_loss(c[0], c[1], c[2], c.get("ignore_index", -100), c.get("reduction", "mean"))


@_row("kldiv_loss")
def _kl(c: Call) -> Any:
    return F.kl_div(c[0], c[1], c.get("reduction", "mean"), c.get("log_target", False))


ROWS |= {
    "bce_loss": lambda c: F.binary_cross_entropy(c[0], c[1], None, "none"),
    "identity_loss": lambda c: {0: F.sum, 1: F.mean}.get(c.get("reduction", 1), F.assign)(c[0]),
    "log_loss": lambda c: nn.log_loss(c[0], c[1], c.get("epsilon", 1e-4)),
}

__all__ = ["ROWS"]
