"""One list or dict under several names: rows that change places, runs, queues, heaps of lists."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np

from tests.dy2st.catalogue.entry import on

SYSTEMS = (
    [[2.0, 1.0, -1.0, 8.0], [-3.0, -1.0, 2.0, -11.0], [-2.0, 1.0, 2.0, -3.0]],
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]],
)
MATRICES = ([[0.0, 2.0, 1.0], [1.0, -1.0, 0.5], [3.0, 0.5, 2.0]], [[4.0, 1.0], [2.0, 3.0]])
SERIES = ([0.25, 1.0, 2.0, 0.5], [1.0], [0.125, -0.25, 0.75], [4.0, 0.0, 1.5, 2.5, 3.0])
KEYS = tuple(np.array(one) for one in ([3, 1, 2, 3, 0], [1], [0, 0, 2], [5, 4, 3, 2, 1, 0]))
ONE, BOTH = [[None]], [[None, None]]


@on(*SYSTEMS, unknown=BOTH)
def solved_with_rows_swapped(aug):
    rows = aug.tolist()
    n = len(rows)
    for i in range(n):
        p = i
        for r in range(i + 1, n):
            if abs(rows[r][i]) > abs(rows[p][i]):
                p = r
        rows[i], rows[p] = rows[p], rows[i]
        for r in range(n):
            if r != i:
                f = rows[r][i] / rows[i][i]
                for c in range(i, n + 1):
                    rows[r][c] -= f * rows[i][c]
    return [rows[i][n] / rows[i][i] for i in range(n)]


@on(*MATRICES, unknown=BOTH)
def determinant_with_rows_swapped(m):
    a = m.tolist()
    n = len(a)
    det = 1.0
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        if p != i:
            a[i], a[p] = a[p], a[i]
            det = -det
        det *= a[i][i]
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            for c in range(i, n):
                a[r][c] -= f * a[i][c]
    return det


@on(*MATRICES, unknown=BOTH)
def factors_with_rows_swapped(m):
    n = m.shape[0]
    a = [[float(m[i, j]) for j in range(n)] for i in range(n)]
    perm = list(range(n))
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        tmp = a[k]
        a[k] = a[p]
        a[p] = tmp
        perm[k], perm[p] = perm[p], perm[k]
        for i in range(k + 1, n):
            a[i][k] /= a[k][k]
            for j in range(k + 1, n):
                a[i][j] -= a[i][k] * a[k][j]
    return a, perm


@on(*SERIES, unknown=ONE)
def best_is_the_path_itself(x):
    path = []
    best = path
    top = -1.0
    for v in x:
        if v > top:
            path.append(float(v))
            top = float(v)
            best = path
        else:
            path = []
    best.append(-1.0)
    return best, path


@on(*SERIES, unknown=ONE)
def longest_run(x):
    best, run = [], []
    prev = -1e9
    for v in x.tolist():
        if v > prev:
            run.append(v)
        else:
            run = [v]
        if len(run) > len(best):
            best = run
        prev = v
    return best


@on(*SERIES, unknown=ONE)
def longest_run_and_the_last(x):
    best = run = [0.0]
    for v in x.tolist():
        if v < run[-1]:
            run = [v]
        else:
            run.append(v)
        if len(run) >= len(best):
            best = run
    best[0] = 100.0
    return best, run


@on(*SERIES, unknown=ONE)
def paths_in_a_queue(x):
    queue = deque([[0.0]])
    found = []
    limit = float(x.max()) + 1.0
    while queue:
        path = queue.popleft()
        if sum(path) > limit or len(path) > 3:
            found.append(path)
            continue
        queue.append(path + [1.0])
        path.append(0.7)
        queue.append(path)
    return found


@on(*KEYS, unknown=ONE)
def groups_that_are_joined(keys):
    owner = [[i] for i in range(6)]
    last = 0
    for k in keys.tolist():
        a, b = owner[last], owner[k]
        if a is not b:
            a.extend(b)
            for one in b:
                owner[one] = a
        last = k
    return [len(o) for o in owner]


@on(*SERIES, unknown=ONE)
def last_row_grows(x):
    rows = [[0.0]]
    for v in x.tolist():
        row = rows[-1]
        if v > 0.6:
            row = [v]
            rows.append(row)
        row.append(v * 2)
    return rows


@on(*SERIES, unknown=ONE)
def groups_that_grow(x):
    groups = [[]]
    cur = groups[0]
    for v in x.tolist():
        if v < 0.4:
            cur = []
            groups.append(cur)
        cur.append(v)
    return groups


@on(*KEYS, unknown=ONE)
def nested_lists_by_a_stack(keys):
    root = []
    stack = [root]
    for k in keys.tolist():
        if k == 0 and len(stack) > 1:
            stack.pop()
        elif k == 3:
            child = []
            stack.append(child)
        else:
            stack[-1].append(k)
    return root, len(stack)


@on(*SERIES, unknown=ONE)
def rows_sorted_by_selection(x):
    rows = [[v, i] for i, v in enumerate(x.tolist())]
    n = len(rows)
    for i in range(n):
        m = i
        for j in range(i + 1, n):
            if rows[j][0] < rows[m][0]:
                m = j
        if m != i:
            rows[i], rows[m] = rows[m], rows[i]
        rows[i].append(i)
    return rows


@on(*SERIES, unknown=ONE)
def least_row_changes(x):
    rows = [[v, 0.0] for v in x.tolist()]
    for _ in range(3):
        low = min(rows, key=lambda r: r[0] + r[1])
        low[1] += 1.0
    return rows


@on(*SERIES, unknown=ONE)
def best_of_dicts(x):
    best = {"score": -1.0, "n": 0}
    cur = {"score": 0.0, "n": 0}
    for v in x.tolist():
        cur["score"] += v
        cur["n"] += 1
        if cur["score"] > best["score"]:
            best = cur
        if v > 1.2:
            cur = {"score": 0.0, "n": 0}
    best["n"] += 100
    return best, cur


@on(*SERIES, unknown=ONE)
def tracks_in_dicts(x):
    tracks = []
    for t, v in enumerate(x.tolist()):
        hit = None
        for tr in tracks:
            if abs(tr["pos"] - v) < 0.8:
                hit = tr
                break
        if hit is None:
            hit = {"pos": v, "len": 0}
            tracks.append(hit)
        hit["pos"] = v
        hit["len"] += 1
    return tracks


@on(*SERIES, unknown=ONE)
def beams_that_share_tokens(x):
    beams = [[0.0, []]]
    for v in x.tolist():
        new = []
        for score, toks in beams:
            new.append([score + v, toks + [1]])
            toks.append(0)
            new.append([score - v, toks])
        new.sort(key=lambda b: -b[0])
        beams = new[:2]
    return beams


@on(*SERIES, unknown=ONE)
def lists_in_a_heap(x):
    heap = []
    for i, v in enumerate(x.tolist()):
        heapq.heappush(heap, [v, i, 0])
    out = []
    while heap and len(out) < 6:
        top = heapq.heappop(heap)
        out.append(top[1])
        if top[2] < 1:
            top[2] += 1
            top[0] += 0.9
            heapq.heappush(heap, top)
    return out


@on(*SERIES, unknown=ONE)
def one_state_in_a_history(x):
    state = [0.0, 0.0]
    history = []
    v = float(x.sum())
    while v > 0.3:
        state[0] += v
        state[1] -= v
        history.append(state)
        v = v / 2
    return history


@on(*SERIES, unknown=ONE)
def grids_that_change_places(x):
    grid = [[float(v) for v in x] for _ in range(3)]
    new = [[0.0] * len(x) for _ in range(3)]
    steps = 0
    while grid[1][0] > 0.1 and steps < 5:
        for i in range(3):
            for j in range(len(x)):
                new[i][j] = (grid[i][j] + grid[(i + 1) % 3][j]) * 0.3
        grid, new = new, grid
        steps += 1
    return grid, steps


@on(*KEYS, unknown=ONE)
def one_of_two_by_index(keys):
    odd, even = [], []
    for k in keys.tolist():
        (even, odd)[k % 2].append(k)
    return odd, even


@on(*SERIES, unknown=ONE)
def least_loaded_bin(x):
    bins = [[] for _ in range(3)]
    for v in x.tolist():
        target = min(bins, key=sum)
        target.append(v)
    return bins


@on(*KEYS, unknown=ONE)
def banks_that_change_places(keys):
    banks = [[1, 2], [3, 4]]
    for k in keys.tolist():
        if k > 1:
            banks[0], banks[1] = banks[1], banks[0]
        banks[0][k % 2] += k
    return banks


@on(*KEYS, unknown=ONE)
def rows_of_pascal(keys):
    rows = [[1]]
    n = int(keys.max())
    while len(rows) <= n:
        last = rows[-1]
        row = [1] * (len(last) + 1)
        for j in range(1, len(last)):
            row[j] = last[j - 1] + last[j]
        rows.append(row)
    rows[0][0] = 7
    return rows
