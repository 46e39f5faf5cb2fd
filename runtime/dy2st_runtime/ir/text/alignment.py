"""Aligns the entries of two sequences by their longest common subsequence.

Myers, An O(ND) Difference Algorithm (1986). difflib is of no use here: lines of Programs repeat
thousands of times, which it either ignores or compares with each other one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Pairs = list[tuple[int, int]]


def aligned(left: Sequence[Hashable], right: Sequence[Hashable], most: int = 1_500) -> Pairs:
    """Pairs of indices of equal entries, rising in both.

    As many as there can be, unless more than `most` entries are in one sequence only: then what
    follows is not paired, but for a common end. So the time is bounded.

    >>> aligned("abcx", "axcx")
    [(0, 0), (2, 2), (3, 3)]
    """
    least = min(len(left), len(right))
    head = 0
    while head < least and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < least - head and left[~tail] == right[~tail]:
        tail += 1
    ends = len(left) - tail, len(right) - tail
    inner = _aligned(left[head : ends[0]], right[head : ends[1]], most)
    pairs = [(i, i) for i in range(head)]
    pairs += [(head + i, head + j) for i, j in inner]
    return pairs + [(ends[0] + i, ends[1] + i) for i in range(tail)]


def _aligned(left: Sequence[Hashable], right: Sequence[Hashable], most: int) -> Pairs:
    """The pairs of sequences that begin and end differently."""
    if not left or not right:
        return []
    # How far to the left's end every diagonal i - j reaches, after every number of changes.
    reached: list[dict[int, int]] = []
    furthest = {1: 0}
    limit = min(len(left) + len(right), most)
    for changes in range(limit + 1):
        reached.append(furthest)
        # How far one more change leads on every diagonal.
        after = {}
        rows, columns = len(left), len(right)
        for diagonal in range(-changes, changes + 1, 2):
            i = _start(furthest, diagonal)
            j = i - diagonal
            while i < rows and j < columns and left[i] == right[j]:
                i, j = i + 1, j + 1
            after[diagonal] = i
        furthest = after
        if furthest.get(len(left) - len(right), -1) >= len(left):
            return _walked_back(reached, len(left), len(right))
    inside = [(i, i - d) for d, i in furthest.items() if i <= len(left) and i - d <= len(right)]
    return _walked_back(reached, *max(inside, key=sum))


def _start(before: dict[int, int], diagonal: int) -> int:
    """Where a diagonal begins: by one entry of the right, or of the left, that has no partner."""
    down, across = before.get(diagonal + 1, -1), before.get(diagonal - 1, -1)
    return down if down > across else across + 1


def _walked_back(reached: list[dict[int, int]], i: int, j: int) -> Pairs:
    """The pairs on the way to a place."""
    pairs: Pairs = []
    for before in reversed(reached):
        diagonal = i - j
        start = _start(before, diagonal)
        while i > start:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        # Back over the entry without a partner.
        i, j = (i, j - 1) if before.get(diagonal + 1, -1) == start else (i - 1, j)
    return pairs[::-1]


__all__ = ["aligned"]
