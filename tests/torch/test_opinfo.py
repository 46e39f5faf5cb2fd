"""Samples of torch's operator tests through torch.export: values, gradients and Programs."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.effort import IS_FULL
from tests.torch.opinfo import entries, outcomes, title
from tests.torch.opinfo_expected import EXPECTED

# Of the entries every EACH-th, from each of them every STEP-th sample, at most MOST.
EACH, STEP, MOST = (1, 4, 3) if IS_FULL else (29, 9, 1)
KINDS = {
    "values": [("float32", False), ("int64", False), ("bool", False), ("complex64", False)],
    "gradients": [("float64", True)],
}


def counted(kind, engine=None):
    """How many samples are right, and what is not, by entries."""
    right, wrong = Counter(), {}
    for op in entries()[::EACH]:
        for dtype, gradients in KINDS[kind]:
            for found in outcomes(op, dtype, gradients, engine, STEP, MOST):
                right[found.status == "right"] += 1
                if found.status != "right":
                    wrong.setdefault(title(op), []).append(f"{dtype} {found.status}: {found.text}")
    return right, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_right_is_on_the_list(kind):
    right, wrong = counted(kind)
    assert not {name: what for name, what in wrong.items() if name not in EXPECTED}
    if IS_FULL:  # a share of the entries is too small for a rate
        assert right[True] >= 0.98 * right.total()


@pytest.mark.skipif(not IS_FULL, reason="it takes minutes")
def test_the_list_does_not_shrink_without_notice():
    listed = [op for op in entries() if title(op) in EXPECTED]
    assert [title(op) for op in listed if not is_wrong(op)] == []
    assert {title(op) for op in listed} == {*EXPECTED}


def is_wrong(op):
    """Whether a sample of an entry is not right."""
    kinds = [kind for way in KINDS.values() for kind in way]
    found = (one for dtype, gradients in kinds for one in outcomes(op, dtype, gradients))
    return any(one.status != "right" for one in found)


def test_there_are_enough_entries():
    assert len({op.name for op in entries()}) >= 480
