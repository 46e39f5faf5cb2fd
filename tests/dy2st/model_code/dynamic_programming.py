"""Tables that are filled step by step: alignments, paths and distances."""

from __future__ import annotations

import math

import numpy as np

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on

EMISSIONS = (
    [[0.1, 2.0, 0.3], [0.2, 2.1, 1.5], [3.0, 0.1, 0.2], [0.1, 0.2, 0.9]],
    [[2.0, 0.1, 0.3], [0.2, 1.1, 0.5], [0.3, 1.1, 0.2], [0.9, 0.2, 0.1]],
    [[0.1, 0.2, 0.3], [0.1, 0.2, 0.9], [0.3, 0.1, 2.2], [0.1, 0.5, 0.4]],
    [[0.3, 0.9, 0.1], [0.2, 2.0, 0.1]],
)
STEPS = [[None, 3]]
MOVES = np.float32([[0.5, 0.1, -0.2], [0.0, 0.4, 0.3], [-0.1, 0.2, 0.6]])
WORDS = (
    ([1, 2, 3, 4], [1, 3, 3]),
    ([2, 2, 2, 2], [1, 1, 1]),
    ([4, 3, 2, 1], [4, 3, 1]),
    ([1], [1, 2]),
)
BOTH = [[None], [None]]
SERIES = (
    ([1.0, 2.0, 3.0, 2.5], [1.0, 2.1, 2.9]),
    ([0.0, 0.0, 5.0, 5.0], [5.0, 0.0, 5.0]),
    ([-1.0, 1.0], [0.5, 0.0, -1.0, 2.0]),
)


@on(*EMISSIONS, unknown=STEPS)
def ctc_collapsed(x):
    out, last = [], -1
    for row in x:
        token = row.argmax()
        if token != last and token != 0:
            out.append(token)
        last = token
    return out


@on(*EMISSIONS, unknown=STEPS)
def ctc_with_none_before(x):
    out, before = [], None
    for i in x.argmax(-1):
        i = int(i)
        if i != before and i != 0:
            out.append(i)
        before = i
    return out


@on(*EMISSIONS, unknown=STEPS)
def ctc_segments(x):
    segments, start = [], 0
    path = x.argmax(-1)
    for t in range(1, len(path) + 1):
        if t == len(path) or path[t] != path[start]:
            if path[start] != 0:
                segments.append((int(path[start]), start, t))
            start = t
    return segments


@on(*EMISSIONS, unknown=STEPS)
def ctc_loss_of_one_word(x):
    logp = F.log_softmax(x, axis=-1)
    labels = [0, 1, 0, 2, 0]
    alpha = [logp[0, 0], logp[0, 1]] + [dy2st.full([], -1e4)] * 3
    for t in range(1, x.shape[0]):
        new = []
        for s, label in enumerate(labels):
            total = alpha[s].exp()
            if s >= 1:
                total = total + alpha[s - 1].exp()
            if s >= 2 and label != 0 and labels[s - 2] != label:
                total = total + alpha[s - 2].exp()
            new.append((total + 1e-30).log() + logp[t, label])
        alpha = new
    return -(alpha[-1].exp() + alpha[-2].exp() + 1e-30).log()


@on(*EMISSIONS)
def ctc_prefixes_in_a_dict(x):
    p = F.softmax(x, axis=-1)
    beams = {(): (1.0, 0.0)}
    for t in range(2):
        new = {}
        for prefix, (blank, label) in beams.items():
            b, n = new.get(prefix, (0.0, 0.0))
            new[prefix] = (b + (blank + label) * p[t, 0], n)
            for c in (1, 2):
                b, n = new.get(prefix + (c,), (0.0, 0.0))
                new[prefix + (c,)] = (b, n + (blank + label) * p[t, c])
        beams = new
    return beams[(1,)], len(beams)


@on(*EMISSIONS, unknown=STEPS)
def viterbi_with_pointers(x):
    moves = dy2st.to_tensor(MOVES)
    score, pointers = x[0], []
    for t in range(1, x.shape[0]):
        every = score.unsqueeze(1) + moves
        pointers.append(every.argmax(0))
        score = every.max(0) + x[t]
    state = score.argmax()
    path = [state]
    for back in reversed(pointers):
        state = back[state]
        path.append(state)
    return path[::-1], score.max()


@on(*EMISSIONS, unknown=STEPS)
def viterbi_of_lists(x):
    moves = dy2st.to_tensor(MOVES)
    best = [x[0, s] for s in range(3)]
    for t in range(1, x.shape[0]):
        best = [max(best[r] + moves[r, s] for r in range(3)) + x[t, s] for s in range(3)]
    return max(best)


@on(*EMISSIONS, unknown=STEPS)
def forward_of_a_chain(x):
    moves = dy2st.to_tensor(MOVES)
    alpha = x[0]
    for row in x[1:]:
        alpha = dy2st.logsumexp(alpha.unsqueeze(1) + moves, 0) + row
    return dy2st.logsumexp(alpha)


@on(*WORDS, unknown=BOTH)
def edit_distance_by_rows(a, b):
    row = [j for j in range(len(b) + 1)]
    for i in range(len(a)):
        new = [i + 1]
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            new.append(min(row[j] + cost, row[j + 1] + 1, new[j] + 1))
        row = new
    return row[-1]


@on(*WORDS, unknown=BOTH)
def edit_distance_in_a_tensor(a, b):
    n, m = a.shape[0], b.shape[0]
    table = dy2st.zeros([n + 1, m + 1], "int64")
    table[:, 0] = dy2st.arange(n + 1)
    table[0] = dy2st.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                near = dy2st.stack([table[i - 1, j - 1], table[i - 1, j], table[i, j - 1]])
                table[i, j] = near.min() + 1
    return table[n, m]


@on(*WORDS)
def edit_distance_by_recursion(a, b):
    memo = {}

    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        if (i, j) not in memo:
            change = 0 if a[i - 1] == b[j - 1] else 1
            memo[i, j] = min(
                distance(i - 1, j - 1) + change, distance(i - 1, j) + 1, distance(i, j - 1) + 1
            )
        return memo[i, j]

    return distance(len(a), len(b))


@on(*WORDS, unknown=BOTH)
def longest_common_subsequence(a, b):
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, u in enumerate(a):
        for j, v in enumerate(b):
            if u == v:
                lengths[i + 1][j + 1] = lengths[i][j] + 1
            else:
                lengths[i + 1][j + 1] = max(lengths[i][j + 1], lengths[i + 1][j])
    return lengths[-1][-1]


@on(*SERIES, unknown=BOTH)
def time_warping(a, b):
    infinity = float("inf")
    row = [0.0] + [infinity] * len(b)
    for u in a:
        new = [infinity]
        for j, v in enumerate(b):
            new.append(abs(u - v) + min(row[j], row[j + 1], new[j]))
        row = new
    return row[-1]


@on(*SERIES, unknown=BOTH)
def time_warping_in_a_tensor(a, b):
    n, m = len(a), len(b)
    d = dy2st.full([n + 1, m + 1], 1e9)
    d[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            least = d[i, j]
            if d[i, j + 1] < least:
                least = d[i, j + 1]
            if d[i + 1, j] < least:
                least = d[i + 1, j]
            d[i + 1, j + 1] = (a[i] - b[j]).abs() + least
    return d[n, m]


@on(*SERIES, unknown=BOTH)
def monotonic_alignment(a, b):
    value = (a.unsqueeze(1) - b.unsqueeze(0)).abs()
    i = j = 0
    path = [(0, 0)]
    while i < a.shape[0] - 1 and j < b.shape[0] - 1:
        if value[i + 1, j] < value[i, j + 1]:
            i += 1
        else:
            j += 1
        path.append((i, j))
    return path


@on([3.0, 4.0, 5.0], [1.0, 9.0, 2.0], [6.0, 6.0, 1.0])
def knapsack(values):
    weights, best = [2, 3, 4], [0.0] * 7
    for v, w in zip(values, weights):
        for room in range(6, w - 1, -1):
            if best[room - w] + v > best[room]:
                best[room] = best[room - w] + v
    return best[6]


@on([2.0, -3.0, 4.0, -1.0, 2.0], [-1.0, -2.0, -0.5], [1.0, 1.0], unknown=[[None]])
def best_run_of_kadane(x):
    best = current = x[0]
    for v in x[1:]:
        current = max(v, current + v)
        best = max(best, current)
    return best


@on([2.0, 5.0, 3.0, 7.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0], [1.0, 2.0], unknown=[[None]])
def longest_rise(x):
    n = x.shape[0]
    lengths = [1] * n
    for i in range(n):
        for j in range(i):
            if x[j] < x[i]:
                lengths[i] = max(lengths[i], lengths[j] + 1)
    return max(lengths)


@on(
    [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]],
    [[0.0, 9.0, 1.0], [9.0, 0.0, 1.0], [1.0, 1.0, 0.0]],
)
def shortest_paths_of_floyd(d):
    d = d * 1
    for k in range(3):
        for i in range(3):
            for j in range(3):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d


@on(
    [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]],
    [[0.0, 9.0, 1.0], [9.0, 0.0, 1.0], [1.0, 1.0, 0.0]],
)
def shortest_way_of_dijkstra(d):
    n = 3
    best, left = [d[0, 0]] + [dy2st.full([], math.inf)] * 2, set(range(n))
    while left:
        u = min(sorted(left), key=lambda i: best[i])
        left.remove(u)
        for v in sorted(left):
            best[v] = min(best[v], best[u] + d[u, v])
    return best[1], best[2]


@on([0.1, 0.9, 0.4], [0.9, 0.9, 0.9], [0.0, 0.2, 0.1])
def value_iteration(reward):
    value, turns = dy2st.zeros([3]), 0
    while True:
        new = reward + 0.5 * dy2st.maximum(dy2st.roll(value, 1), dy2st.roll(value, -1))
        turns += 1
        if (new - value).abs().max() < 0.05 or turns >= 8:
            break
        value = new
    return new, turns


@on([3, 1, 2], [2, 2, 2], [1, 0, 4])
def permutation_by_swaps(x):
    order = [x[0], x[1], x[2]]
    swaps = 0
    for end in (2, 1):
        for i in range(end):
            if order[i] > order[i + 1]:
                order[i], order[i + 1] = order[i + 1], order[i]
                swaps += 1
    return dy2st.stack(order), swaps
