"""What containers of the user's hold that some paths change and others leave alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.convert.trace import Trace
from dy2st.convert.values.special import MISSING


def keep_items(trace: Trace, owner: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """What two paths leave in a container; what one of them leaves alone was read."""
    if not trace.is_outside(owner) or left is right:
        return left, right
    kinds = {type(left), type(right), type(owner)}
    if isinstance(owner, dict) and len(kinds) == 1:
        both = {**left, **right}
        keys = [key for key in both if left.get(key, MISSING) is not right.get(key, MISSING)]
        return _keep(trace, owner, keys, left, right)
    if kinds == {list} and len(left) == len(right) == len(owner):
        places = [place for place in range(len(owner)) if left[place] is not right[place]]
        return _keep(trace, owner, places, left, right)
    trace.read_content(owner)
    return left, right


def _keep(trace: Trace, owner: Any, names: Sequence[Any], left: Any, right: Any) -> tuple[Any, Any]:
    """Both sides, with inputs where numbers of the owner are inputs."""
    sides = [left, right]
    for index, side in enumerate(sides):
        for name in names:
            held = side.get(name, MISSING) if isinstance(side, dict) else side[name]
            value = trace.read_item(owner, name, held)
            if value is not held:
                sides[index] = sides[index].copy() if sides[index] is owner else sides[index]
                sides[index][name] = value
    return sides[0], sides[1]
