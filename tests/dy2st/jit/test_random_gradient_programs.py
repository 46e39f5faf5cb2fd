"""Random functions have the same gradients by the tape, in a Program, converted, and by quotients."""

from __future__ import annotations

import pytest

from tests.dy2st.jit.gradient_programs import compare, program_of
from tests.effort import effort

PROGRAMS = effort(12, 60)
FOUND = [24, 70, 1048, 1143, 1624, 1645, 1884, 2020]
"""Programs that were once wrong."""


@pytest.mark.parametrize("seed", [*range(PROGRAMS), *FOUND])
def test_four_ways_lead_to_the_same_gradients(seed: int) -> None:
    verdict = compare(seed, program_of(seed), f"<gradients {seed}>")
    assert verdict.startswith(("equal", "refused")), verdict


def test_differences_tell_of_many_programs() -> None:
    count = effort(6, 12)
    verdicts = [compare(seed, program_of(seed), "<gradients>") for seed in range(300, 300 + count)]
    assert sum("with differences" in verdict for verdict in verdicts) >= count // 4, verdicts
    assert sum("compiled" in verdict for verdict in verdicts) >= count // 2, verdicts
