"""Programs of float32 run in float64: who of two that round otherwise is nearer to the truth."""

from __future__ import annotations

import numpy as np

from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.tensor import EagerTensor

SHORT, LONG = np.dtype("float32"), np.dtype("float64")


def _long(value):
    if isinstance(value, list):
        return [_long(one) for one in value]
    return EagerTensor(value.array.astype(LONG)) if value.array.dtype == SHORT else value


class _InFloat64(Run):
    """As the interpreter, but no value and no cast is of float32."""

    def operation(self, operator, operands, sizes):
        return super().operation(operator, [_long(value) for value in operands], sizes)

    def attributes(self, operator, sizes):
        told = super().attributes(operator, sizes)
        shorts = [name for name, value in told.items() if value is SHORT]
        return told | dict.fromkeys(shorts, LONG)


def exactly(program, arrays):
    """What a Program yields for its parameters."""
    run = _InFloat64(program)
    values = [EagerTensor(np.array(array)) for array in arrays]
    with eagerly(as_recorded=True):
        return run.block(program.block, values, run.sizes_of(values))


def off(values, exact):
    """How far float32 is off at most, beside 1 or the number itself."""
    exact = np.asarray(exact)
    known = np.isfinite(exact) & np.isfinite(values)
    return np.max(np.abs(values - exact)[known] / (1 + np.abs(exact[known])), initial=0)


def flat(values):
    """Arrays of values, those of lists one after the other."""
    return [
        a for v in values for a in (flat(v) if isinstance(v, list) else [getattr(v, "array", v)])
    ]
