"""Samples of torch's own operator tests: values, gradients and Programs."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
import torch

from tests.effort import IS_FULL
from tests.torch.op_samples import entries, outcomes

STEP, MOST = (1, 40) if IS_FULL else (9, 4)
# Of the samples that mean the same to PaddlePaddle; `op_reasons` tells of the others.
LEAST = 0.97


def _share(dtype, gradients, engine, step=STEP, most=MOST):
    """The share of samples that are right, and what is not."""
    counted, wrong = Counter(), []
    for op in entries()[::step]:
        if dtype not in op.supported_dtypes("cpu") or (gradients and not op.supports_autograd):
            continue
        for outcome in islice(outcomes(op, dtype, gradients, engine), most):
            counted[outcome.status] += 1
            if outcome.status not in ("right", "apart"):
                wrong.append(f"{outcome.name}: {outcome.text}")
    return counted["right"] / (counted.total() - counted["apart"]), wrong


def test_most_entries_have_a_function_here():
    assert len({op.name for op in entries()}) >= 450


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.complex128])
def test_values(dtype):
    share, wrong = _share(dtype, False, None)
    assert share >= LEAST, wrong


def test_gradients():
    share, wrong = _share(torch.float64, True, None)
    assert share >= LEAST, wrong


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_programs(engine):
    share, wrong = _share(torch.float64, False, engine, most=MOST if IS_FULL else 1)
    assert share >= LEAST, wrong


def test_gradients_of_programs():
    share, wrong = _share(torch.float64, True, "numpy", most=MOST if IS_FULL else 1)
    assert share >= LEAST, wrong
