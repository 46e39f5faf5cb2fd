"""Random programs over sizes: what is padded gives what comes without it, and most are padded."""

from __future__ import annotations

import collections
import warnings

from tests.dy2st.static.bucket_programs import compare, program_of
from tests.effort import effort

COUNT = effort(60, 2_000)


def test_random_programs_give_the_same_padded_and_not():
    found = collections.Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        for seed in range(COUNT):
            found[compare(program_of(seed), f"<bucket program {seed}>").split()[0]] += 1
    assert found["padded"] > COUNT * 2 // 3
