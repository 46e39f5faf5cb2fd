"""Holds gradient rules against finite differences, operator by operator, where a call has been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dy2st.diagnostics.differences import Difference
from dy2st.diagnostics.locating import Parting
from dy2st.diagnostics.trails import Step
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.promotion import complete
from dy2st_runtime.tensor import EagerTensor

_STEP = 1e-6
_SMOOTH, _WRONG = 1e-4, 1e-3
"""What part both one-sided differences may be apart at a smooth place, and a rule from them."""
_ON_PURPOSE = frozenset({"straight_through"})
"""What has another gradient than its derivative because that is what it is for."""
_CAUSE = (
    "its gradient rule is not its derivative: along a random direction finite differences give "
    "{:.6g}, and the rule {:.6g}"
)


def wrong_rule(steps: Sequence[Step]) -> Parting | None:
    """The first operator of a trail whose gradient rule is wrong, computed in float64.

    What jumps or bends where the call has been is left out, as is what draws random numbers.
    """
    known: set[Any] = set()
    for step in steps:
        definition = lookup(step.name)
        arrays = [np.asarray(one) for one in step.operands if not isinstance(one, list)]
        key = step.name, repr(step.attributes), tuple(one.shape for one in arrays)
        floats = [place for place, one in enumerate(arrays) if one.dtype.kind == "f"]
        is_one = len(arrays) == len(step.operands) and definition.effect is Effect.PURE
        has_rule = definition.kernel is not None and definition.gradient is not None
        is_meant = definition.hidden or step.name in _ON_PURPOSE
        if key in known or is_meant or not (is_one and has_rule and floats):
            continue
        known.add(key)
        try:
            found = _derivatives(step, arrays, floats, 0)
            found = found and _derivatives(step, arrays, floats, 1)  # confirmed along another one
        except (Dy2stError, ArithmeticError, LookupError, TypeError, ValueError):
            continue  # an operator that is none in float64, or by itself
        if found is not None:
            wanted, given = found
            said = Difference(f"derivatives {wanted:.6g} and {given:.6g} along one direction")
            cause = _CAUSE.format(wanted, given)
            return Parting(step.name, step.where.place, step.where.layer, said, cause)
    return None


def _derivatives(
    step: Step, arrays: Sequence[Any], floats: Sequence[int], seed: int
) -> tuple[float, float] | None:
    """The derivative along a direction, and what the rule says of it, where they differ."""
    definition, rng = lookup(step.name), np.random.default_rng(seed)
    kernel, rule = definition.kernel, definition.gradient
    assert kernel is not None and rule is not None
    wide = [one.astype("float64") if one.dtype.kind == "f" else one for one in arrays]
    attributes = complete(definition, dict(step.attributes))
    results = _several(kernel(*wide, **attributes))
    if any(one.dtype.kind == "f" and one.dtype.itemsize < 8 for one in results):
        return None  # a cast to less, whose steps are those of rounding
    starts = [
        EagerTensor(np.asarray(rng.standard_normal(one.shape))) if one.dtype.kind == "f" else None
        for one in results
    ]
    ways = {place: rng.standard_normal(wide[place].shape) for place in floats}
    size = max(float(np.abs(wide[place]).max(initial=0.0)) for place in floats)
    amount = _STEP * max(1.0, size)
    sums = []
    for number in (-amount, 0.0, amount):
        given = [one + number * ways[n] if n in ways else one for n, one in enumerate(wide)]
        pairs = zip(starts, _several(kernel(*given, **attributes)), strict=True)
        sums.append(
            float(sum(np.sum(start.array * one) for start, one in pairs if start is not None))
        )
    behind, here, ahead = sums
    outputs = [EagerTensor(one) for one in results]
    with no_grad():
        entries = rule(
            starts[0] if len(starts) == 1 else tuple(starts),
            outputs[0] if len(outputs) == 1 else tuple(outputs),
            *map(EagerTensor, wide),
            **attributes,
        )
        entries = entries if isinstance(entries, (tuple, list)) else (entries,)
        found = [one() if callable(one) else one for one in entries]
    parts = [ways[place] * found[place].array for place in floats if found[place] is not None]
    said, wanted = float(sum(map(np.sum, parts))), (ahead - behind) / (2 * amount)
    scale = max(sum(float(np.sum(np.abs(one))) for one in parts), abs(wanted), 1e-8)
    bend = abs(ahead - 2 * here + behind) / amount
    if not np.isfinite(wanted) or bend > _SMOOTH * scale or abs(wanted - said) <= _WRONG * scale:
        return None
    return wanted, said


def _several(made: Any) -> list[Any]:
    return [np.asarray(one) for one in (made if isinstance(made, tuple) else (made,))]


__all__ = ["wrong_rule"]
