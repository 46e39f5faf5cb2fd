"""Sums over alignments by code: those of NumPy's kernels, and of all paths one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dy2st_runtime.ir import apply
from tests.runtime.engine.native.machine_code import native
from tests.runtime.engine.native.operators.test_updates import assert_same


def aligned(name, blank=0, dtype="float64"):
    types = [(dtype, ("t", "n", 5)), ("int32", ("n", "l")), ("int64", ("n",)), ("int16", ("n",))]
    return native(lambda *given: apply(name, *given, blank=blank), *types)


def given(steps, labels, count, dtype, rng):
    """Logarithms of probabilities, labels, and how many of them there are; ends among those."""
    numbers = rng.standard_normal((steps, count, 5))
    log_p = numbers - np.log(np.exp(numbers).sum(2, keepdims=True))
    lengths = [rng.integers(0, most + 1, count) for most in (steps, labels)]
    for place, most in enumerate((steps, labels)):
        lengths[place][:2] = most
    words = rng.integers(0, 5, (count, labels)).astype(np.int32)
    return [log_p.astype(dtype), words, lengths[0], lengths[1].astype(np.int16)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["ctc", "ctc_slope"])
def test_alignments_are_summed_as_by_numpy(name, dtype):
    rng, executable = np.random.default_rng(8), aligned(name, 1, dtype)
    for steps, labels, count in ((6, 3, 5), (20, 9, 4), (3, 4, 3), (5, 0, 2), (0, 2, 2), (4, 2, 0)):
        assert_same(executable, *given(steps, labels, count, dtype, rng))


def test_a_sum_is_that_of_all_paths():
    log_p, words, steps, lengths = given(5, 2, 3, "float64", np.random.default_rng(9))
    words, total = words % 4 + 1, np.zeros(3)
    for sample, path in itertools.product(range(3), itertools.product(range(5), repeat=5)):
        path = path[: steps[sample]]
        seen = [symbol for symbol, _ in itertools.groupby(path) if symbol]
        if seen == words[sample, : lengths[sample]].tolist():
            part = np.exp(sum(log_p[step, sample, symbol] for step, symbol in enumerate(path)))
            total[sample] += part / 5.0 ** (5 - steps[sample])  # so often the same path
    (found,) = aligned("ctc").run([log_p, words, steps, lengths], [])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found, -np.log(total), 1e-12)


def test_wrong_labels_and_lengths_are_refused():
    log_p, words, steps, lengths = given(5, 2, 3, "float64", np.random.default_rng(9))
    executable = aligned("ctc_slope")
    wrong = [words + 5, words - 5, steps + 6, steps - 6]
    assert_same(executable, log_p, wrong[0], steps, lengths)
    assert_same(executable, log_p, wrong[1], steps, lengths)
    assert_same(executable, log_p, words, wrong[2], lengths)
    assert_same(executable, log_p, words, wrong[3], lengths)
    assert_same(executable, log_p, words, steps, lengths + np.int16(3))
