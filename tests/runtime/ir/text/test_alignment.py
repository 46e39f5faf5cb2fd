"""Two sequences are aligned by as many equal entries as there can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dy2st_runtime.ir.text.alignment import aligned

SEQUENCES = st.lists(st.integers(0, 2), max_size=12)


def longest(left, right):
    """The length of the longest common subsequence, by the table of all prefixes."""
    row = [0] * (len(right) + 1)
    for a in left:
        before, row = row, [0]
        for j, b in enumerate(right):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


def is_alignment(pairs, left, right):
    rises = all(a < c and b < d for (a, b), (c, d) in zip(pairs, pairs[1:]))
    return rises and all(left[i] == right[j] for i, j in pairs)


@given(SEQUENCES, SEQUENCES)
def test_as_many_entries_are_paired_as_there_can_be(left, right):
    pairs = aligned(left, right)
    assert is_alignment(pairs, left, right)
    assert len(pairs) == longest(left, right)


@given(SEQUENCES, SEQUENCES, st.integers(0, 6))
def test_what_is_paired_is_equal_also_where_the_search_was_cut(left, right, most):
    assert is_alignment(aligned(left, right, most), left, right)


@pytest.mark.parametrize("most", [0, 3])
def test_common_ends_are_paired_however_early_the_search_is_cut(most):
    assert aligned("abxxxxxcd", "abyyyyyyycd", most) == [(0, 0), (1, 1), (7, 9), (8, 10)]
