"""Dynamic programming: alignments, knapsacks, cuts of a sequence."""

from __future__ import annotations

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

PAIRS = (
    ([1, 2, 3, 2, 1], [2, 3, 1]),
    ([1], [1]),
    ([1, 2], [3, 4, 1]),
    (np.zeros(0, "int64"), [1, 2]),
)
CURVES = (
    ([1.0, 2.0, 3.0], [1.0, 3.0]),
    ([1.0], [4.0, 0.0, 2.0]),
    ([0.0, 0.5, 2.0, 1.0], [0.5, 2.5, 1.0]),
)
BOTH = [[None], [None]]
WEIGHTS = ([2, 3, 1, 5], [4], [1, 1], [5, 4, 3, 2, 1])
SERIES = (
    [3.0, 1.0, 2.0, 5.0, 4.0],
    [2.0],
    [1.0, 7.0],
    [4.0, 4.0, 1.0, 3.0, 9.0, 2.0],
    np.zeros(0, "float32"),
)
ONE = [[None]]
GRIDS = (
    [[0.1, 2.0, 0.3], [1.0, 0.2, 3.0]],
    [[2.0, 1.0, 0.5]],
    [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 0.0]],
    np.zeros((0, 3), "float32"),
)
ROWS = [[None, 3]]


@on(*PAIRS, unknown=BOTH)
def lcs_itself(a, b):
    a, b = a.tolist(), b.tolist()
    best = [()] * (len(b) + 1)
    for x in a:
        row = [()]
        for j, y in enumerate(b):
            row.append(best[j] + (x,) if x == y else max(best[j + 1], row[-1], key=len))
        best = row
    return list(best[-1])


@on(*PAIRS, unknown=BOTH)
def needleman_wunsch(a, b, gap=-1.0):
    n, m = len(a), len(b)
    score = dy2st.zeros([n + 1, m + 1])
    for i in range(n + 1):
        score[i, 0] = i * gap
    for j in range(m + 1):
        score[0, j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            match = 1.0 if a[i - 1] == b[j - 1] else -1.0
            score[i, j] = max(
                score[i - 1, j - 1] + match, score[i - 1, j] + gap, score[i, j - 1] + gap
            )
    moves, i, j = [], n, m
    while i > 0 or j > 0:
        if (
            i > 0
            and j > 0
            and score[i, j] == score[i - 1, j - 1] + (1.0 if a[i - 1] == b[j - 1] else -1.0)
        ):
            moves.append("M")
            i -= 1
            j -= 1
        elif i > 0 and score[i, j] == score[i - 1, j] + gap:
            moves.append("D")
            i -= 1
        else:
            moves.append("I")
            j -= 1
    return score[n, m], "".join(reversed(moves))


@on(*CURVES, unknown=BOTH)
def dtw_path(a, b):
    n, m = a.shape[0], b.shape[0]
    D = dy2st.full([n, m], float("inf"))
    D[0, 0] = (a[0] - b[0]).abs()
    for i in range(n):
        for j in range(m):
            if i == j == 0:
                continue
            options = []
            if i > 0:
                options.append(D[i - 1, j])
            if j > 0:
                options.append(D[i, j - 1])
            if i > 0 and j > 0:
                options.append(D[i - 1, j - 1])
            D[i, j] = (a[i] - b[j]).abs() + min(options)
    i, j, path = n - 1, m - 1, [(n - 1, m - 1)]
    while (i, j) != (0, 0):
        steps = [(p, q) for p, q in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if p >= 0 and q >= 0]
        i, j = min(steps, key=lambda s: D[s])
        path.append((i, j))
    return D[-1, -1], path[::-1]


@on(*WEIGHTS, unknown=ONE)
def knapsack_items(weights, capacity=6):
    n = len(weights)
    best = [[0] * (capacity + 1) for _ in range(n + 1)]
    for i, w in enumerate(weights):
        value = w * w + 1
        for c in range(capacity + 1):
            best[i + 1][c] = best[i][c]
            if w <= c and best[i][c - int(w)] + value > best[i + 1][c]:
                best[i + 1][c] = best[i][c - int(w)] + value
    chosen, c = [], capacity
    for i in range(n, 0, -1):
        if best[i][c] != best[i - 1][c]:
            chosen.append(i - 1)
            c -= int(weights[i - 1])
    return best[n][capacity], sorted(chosen)


@on(*WEIGHTS, unknown=ONE)
def coin_change(coins, amount=7):
    ways = [1] + [0] * amount
    fewest = [0] + [None] * amount
    for coin in coins:
        c = int(coin)
        for a in range(c, amount + 1):
            ways[a] += ways[a - c]
            if fewest[a - c] is not None and (fewest[a] is None or fewest[a - c] + 1 < fewest[a]):
                fewest[a] = fewest[a - c] + 1
    return ways[amount], fewest[amount]


@on(*WEIGHTS, unknown=ONE)
def matrix_chain_order(dims):
    n = len(dims) - 1
    cost = [[0] * n for _ in range(n)]
    split = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i][j] = None
            for k in range(i, j):
                c = cost[i][k] + cost[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1]
                if cost[i][j] is None or c < cost[i][j]:
                    cost[i][j] = c
                    split[i, j] = k
    return cost[0][n - 1] if n > 0 else 0, split.get((0, n - 1), -1)


@on(*SERIES, unknown=ONE)
def best_segmentation(x, penalty=1.5):
    n = len(x)
    prefix = [0.0]
    squares = [0.0]
    for v in x:
        prefix.append(prefix[-1] + v)
        squares.append(squares[-1] + v * v)

    def cost(i, j):
        s = prefix[j] - prefix[i]
        return squares[j] - squares[i] - s * s / (j - i)

    best, cut = [0.0], [0]
    for j in range(1, n + 1):
        score, at = min((best[i] + cost(i, j) + penalty, i) for i in range(j))
        best.append(score)
        cut.append(at)
    bounds, j = [], n
    while j > 0:
        bounds.append(j)
        j = cut[j]
    return best[-1], bounds[::-1]


@on(*GRIDS, unknown=ROWS)
def hmm_viterbi_dict(obs):
    states = ("rain", "sun", "snow")
    stay = {s: {t: 0.0 if s == t else -1.0 for t in states} for s in states}
    V = [{s: -1.1 for s in states}]
    path = {s: [s] for s in states}
    for row in obs:
        emit = dict(zip(states, row))
        layer, grown = {}, {}
        for s in states:
            prev = max(states, key=lambda p: V[-1][p] + stay[p][s])
            layer[s] = V[-1][prev] + stay[prev][s] + emit[s]
            grown[s] = path[prev] + [s]
        V.append(layer)
        path = grown
    last = max(V[-1], key=V[-1].get)
    return path[last], V[-1][last]


@on(*GRIDS, unknown=ROWS)
def seam(grid):
    energy = [list(grid[0])] if grid.shape[0] else []
    for r in grid[1:]:
        above = energy[-1]
        energy.append([v + min(above[max(j - 1, 0) : j + 2]) for j, v in enumerate(r)])
    if not energy:
        return []
    j = min(range(3), key=lambda k: energy[-1][k])
    path = [j]
    for above in reversed(energy[:-1]):
        j = min((k for k in (j - 1, j, j + 1) if 0 <= k < 3), key=lambda k: above[k])
        path.append(j)
    return path[::-1]


@on(*SERIES, unknown=ONE)
def largest_rectangle(x):
    stack, best = [], 0.0
    for i, h in enumerate(list(x) + [0.0]):
        start = i
        while stack and stack[-1][1] >= h:
            at, height = stack.pop()
            best = max(best, height * (i - at))
            start = at
        stack.append((start, h))
    return best
