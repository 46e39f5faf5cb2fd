"""Programs run with other roundings: in float64, or with another last bit after each operator.

Of two engines that round otherwise the first says which is nearer to the truth; the second says
whether a Program has a result at all, or only what its roundings have made.
"""

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


class _Rounded(Run):
    """As the interpreter, but what is computed differs in its last bits."""

    def __init__(self, program, rng):
        super().__init__(program)
        self._rng = rng

    def operation(self, operator, operands, sizes):
        results = super().operation(operator, operands, sizes)
        return [self._rounded(one, operands) for one in results]

    def _rounded(self, value, operands):
        array = getattr(value, "array", None)
        if array is None or array.dtype.kind != "f":
            return value
        given = [one.array.ravel() for one in operands if isinstance(one, EagerTensor)]
        if given and np.isin(array, np.concatenate(given)).all():
            return value  # moved, and not computed
        # Off by last bits of the result or of what it was made of, whichever is larger.
        size = np.abs(array)
        for one in operands:
            if isinstance(one, EagerTensor) and one.array.shape == array.shape:
                size = np.where(array != 0, np.maximum(size, np.abs(one.array)), size)
        step = 4 * np.finfo(array.dtype).eps * self._rng.choice([-1, 0, 1], array.shape)
        return EagerTensor((array + step * size).astype(array.dtype))


def otherwise_rounded(program, arrays, rng):
    """What a Program yields for its parameters, with random last bits."""
    run = _Rounded(program, rng)
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
