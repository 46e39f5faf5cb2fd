"""Sums over all alignments of a sequence of labels with a longer one of steps (Graves 2006).

A path goes from state to state: a blank, the first label, a blank, the second one, ..., a blank.
With every step it stays, goes on by one, or skips a blank between two different labels. Its
probability is the product of those of its symbols; those of all paths are summed from the front
(`before`) and from the end (`after`), as logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.dims import require, require_equal
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, Sample, TensorType, apply, define

_NEVER = -np.inf


def _infer(*types: TensorType, blank: int) -> TensorType:
    log_p, labels, steps, lengths = types
    if (log_p.rank, labels.rank, steps.rank, lengths.rank) != (3, 2, 1, 1):
        raise ShapeError(
            "ctc takes (steps, n, classes), (n, labels), (n,) and (n,), not "
            + ", ".join(str(list(type.shape)) for type in types)
        )
    if not log_p.is_floating or {labels.dtype.kind, steps.dtype.kind, lengths.dtype.kind} - {*"iu"}:
        raise DTypeError("ctc takes floats, and integers for labels and lengths")
    count = log_p.shape[1]
    for other in (labels, steps, lengths):
        reason = f"ctc: {count} sequences and {other.shape[0]} of labels or lengths"
        require_equal(other.shape[0], count, reason)
    require(log_p.shape[2] > blank, f"ctc: blank {blank} of {log_p.shape[2]} classes")
    return log_p.with_shape([count])


def _slope_infer(*types: TensorType, blank: int) -> TensorType:
    _infer(*types, blank=blank)
    return types[0]


class _Paths:
    """The states of every sequence, (n, 2 * labels + 1), and how likely their symbols are."""

    def __init__(self, log_p: Any, labels: Any, steps: Any, lengths: Any, blank: int):
        _infer(
            *(TensorType(a.dtype, a.shape) for a in (log_p, labels, steps, lengths)), blank=blank
        )
        if ((steps < 0) | (steps > log_p.shape[0])).any():
            raise IndexError(f"ctc: lengths of inputs are from 0 to {log_p.shape[0]}")
        if ((lengths < 0) | (lengths > labels.shape[1])).any():
            raise IndexError(f"ctc: lengths of labels are from 0 to {labels.shape[1]}")
        used = labels[np.arange(labels.shape[1]) < lengths[:, None]]
        if ((used < 0) | (used >= log_p.shape[2])).any():
            raise IndexError(f"ctc: labels are from 0 to {log_p.shape[2] - 1}")
        # Numbers before others are computed, which unsigned integers do not have.
        labels, steps, lengths = (a.astype(np.int64) for a in (labels, steps, lengths))
        self.count, self.steps, self.lengths = labels.shape[0], steps, lengths
        self.symbols = np.full((self.count, 2 * labels.shape[1] + 1), blank)
        used = np.arange(labels.shape[1]) < lengths[:, None]
        self.symbols[:, 1::2] = np.where(used, labels, blank)
        self.may_skip = np.zeros(self.symbols.shape, bool)
        odd = self.symbols[:, 1::2]
        self.may_skip[:, 3::2] = odd[:, 1:] != odd[:, :-1]
        self.log_p = np.take_along_axis(log_p.astype(np.float64), self.symbols[None], 2)

    def before(self) -> Any:
        """(steps, n, states): paths that are in a state at a step, that step's symbol included."""
        result = np.full(self.log_p.shape, _NEVER)
        for step, symbols in enumerate(self.log_p):
            if step == 0:
                result[0, :, :2] = symbols[:, :2]
                continue
            result[step] = _joined(result[step - 1], self.may_skip) + symbols
        return result

    def after(self) -> Any:
        """(steps, n, states): paths from a state at a step to the end, that symbol left out."""
        last = self.last_states()
        skip = np.zeros_like(self.may_skip)
        skip[:, :-2] = self.may_skip[:, 2:]
        result = np.full(self.log_p.shape, _NEVER)
        following = np.full(self.symbols.shape, _NEVER)
        for step in reversed(range(len(self.log_p))):
            backward = _joined(following[:, ::-1], skip[:, ::-1])[:, ::-1]
            is_last = (self.steps == step + 1)[:, None]
            result[step] = np.where(is_last, np.where(last, 0.0, _NEVER), backward)
            following = result[step] + self.log_p[step]
        return result

    def last_states(self) -> Any:
        """(n, states): where a path may end: in the last label, or in the blank behind it."""
        places, end = np.arange(self.symbols.shape[1]), 2 * self.lengths[:, None]
        return (places == end) | (places == end - 1)

    def total(self, before: Any) -> Any:
        """(n,): the logarithm of the probability of all paths."""
        samples = np.arange(self.count)
        nothing = np.where(self.lengths == 0, 0.0, _NEVER)
        if not len(before):
            return nothing
        ends = np.where(self.last_states(), before[self.steps - 1, samples], _NEVER)
        return np.where(self.steps == 0, nothing, np.logaddexp.reduce(ends, axis=-1))


def _joined(states: Any, may_skip: Any) -> Any:
    """What comes to each state by staying, going on by one, and skipping one."""
    result = states.copy()
    result[:, 1:] = np.logaddexp(result[:, 1:], states[:, :-1])
    skipped = np.where(may_skip[:, 2:], states[:, :-2], _NEVER)
    result[:, 2:] = np.logaddexp(result[:, 2:], skipped)
    return result


def _kernel(log_p: Any, labels: Any, steps: Any, lengths: Any, blank: int) -> Any:
    paths = _Paths(log_p, labels, steps, lengths, blank)
    return (-paths.total(paths.before())).astype(log_p.dtype)


def _slope_kernel(log_p: Any, labels: Any, steps: Any, lengths: Any, blank: int) -> Any:
    """Minus the share of the paths that have a symbol at a step; 0 if there is no path."""
    paths = _Paths(log_p, labels, steps, lengths, blank)
    before = paths.before()
    total = paths.total(before)
    possible = np.isfinite(total)
    logarithms = before + paths.after() - np.where(possible, total, 0.0)[:, None]
    inside = (np.arange(len(before))[:, None] < steps) & possible
    shares = np.where(inside[..., None], np.exp(logarithms), 0.0)
    result = np.zeros(log_p.shape)
    samples = np.arange(paths.count)
    for state, symbols in enumerate(paths.symbols.T):
        result[:, samples, symbols] -= shares[:, :, state]
    return result.astype(log_p.dtype)


def _no_second(*_: Any, **__: Any) -> Any:
    raise ArgumentError("ctc has no second derivative here: take the gradient of its loss once")


# Samples of float32: there is a first derivative alone, which has tests of its own.
_TYPES = ("float32", "int64", "int64", "int64")
_SAMPLES = (
    Sample(((5, 2, 4), (2, 2), (2,), (2,)), {"blank": 0}, _TYPES, low=1, high=3),
    Sample(((4, 1, 3), (1, 1), (1,), (1,)), {"blank": 2}, _TYPES, low=0, high=2),
)

define(
    "ctc",
    doc="-log of the sum of the probabilities of all alignments of labels with steps.",
    inputs="log_p, labels, steps, lengths",
    attributes={"blank": 0},
    infer=_infer,
    kernel=_kernel,
    gradient=lambda g, y, log_p, labels, steps, lengths, blank: (
        lambda: (
            apply("ctc_slope", log_p, labels, steps, lengths, blank=blank)
            * F.reshape(g, [1, g.shape[0], 1])
        ),
        None,
        None,
        None,
    ),
    raises=IndexError,
    samples=_SAMPLES,
)
define(
    "ctc_slope",
    doc="The gradient of ctc with respect to log_p.",
    inputs="log_p, labels, steps, lengths",
    attributes={"blank": 0},
    infer=_slope_infer,
    kernel=_slope_kernel,
    gradient=_no_second,
    raises=IndexError,
    samples=_SAMPLES,
)
