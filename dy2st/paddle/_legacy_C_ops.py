"""Operators that find objects, as `paddle._legacy_C_ops` has them; all others are refused.

An operator takes its tensors by place, and behind them names and values of its attributes in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from dy2st.importers.paddle.calls import Call
from dy2st.importers.paddle.graph import Node
from dy2st.importers.paddle.rows.detection import ROWS
from dy2st.paddle._C_ops import __getattr__ as refused

_NEW_NAMES = {"generate_proposals_v2": "generate_proposals"}
# Where each result stands among those of the row, for an operator that has them in another order.
_RESULTS = {"distribute_fpn_proposals": (0, 2, 1)}


def __getattr__(name: str) -> Callable[..., Any]:
    """An operator; one that has no row refuses to be called."""
    row = ROWS.get(_NEW_NAMES.get(name, name))
    if row is None:
        return refused(name)

    def operator(*given: Any) -> Any:
        tensors = [*takewhile(lambda one: not isinstance(one, str), given)]
        attributes = given[len(tensors) :]
        node = Node(name, [], dict(zip(attributes[::2], attributes[1::2], strict=True)), [])
        found = row(Call(node, tensors, None, None))
        return tuple(found[place] for place in _RESULTS[name]) if name in _RESULTS else found

    operator.__name__ = name
    return operator
