"""Things that move: smoothers, association of boxes and points, lives of tracks, clusters."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

SIGNALS = (
    [1.0, 1.2, 0.9, 5.0, 1.1],
    [3.0],
    [0.5, -0.5],
    [0.0, 1.0, 2.0, 2.5, 9.0],
    np.zeros(0, "float32"),
)
ONE = [[None]]
POINTS = (
    [[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]],
    [[2.0, 1.0]],
    [[0.0, 1.0], [4.0, 4.0], [1.0, 0.0], [3.5, 4.5]],
)
PLANE = [[None, 2]]
COSTS = (
    [[0.1, 0.9, 0.8], [0.9, 0.2, 0.7], [0.4, 0.6, 0.95]],
    [[0.3]],
    [[0.7, 0.2, 0.5], [0.1, 0.3, 0.6]],
)
TABLE = [[None, None]]
BOXES = (
    [[0.0, 0.0, 2.0, 2.0], [0.1, 0.0, 2.1, 2.0], [0.0, 0.2, 2.0, 2.2], [8.0, 8.0, 9.0, 9.0]],
    [[0.0, 0.0, 1.0, 1.0]],
    np.zeros((0, 4), "float32"),
)
CORNERS = [[None, 4]]


@on(*POINTS, unknown=PLANE)
def kmeans(p):
    centres = [p[0], p[-1]]
    for turn in range(4):
        groups = [[], []]
        for q in p:
            distances = [((q - centre) ** 2).sum() for centre in centres]
            groups[0 if distances[0] <= distances[1] else 1].append(q)
        new = [sum(g) / len(g) if g else centres[i] for i, g in enumerate(groups)]
        if all((a - b).abs().max() < 1e-4 for a, b in zip(new, centres)):
            break
        centres = new
    return dy2st.stack(centres), turn, [len(g) for g in groups]


@on(*SIGNALS, unknown=ONE)
def rts_smoother(z):
    means, variances, m, v = [], [], 0.0, 1.0
    for y in z:
        v = v + 0.2
        k = v / (v + 0.5)
        m, v = m + k * (y - m), (1 - k) * v
        means.append(m)
        variances.append(v)
    for t in reversed(range(len(means) - 1)):
        c = variances[t] / (variances[t] + 0.2)
        means[t] = means[t] + c * (means[t + 1] - means[t])
        variances[t] = variances[t] + c * c * (variances[t + 1] - variances[t] - 0.2)
    return means, variances


@on(*COSTS, unknown=TABLE)
def greedy_match(cost, limit=0.65):
    pairs = sorted(
        ((cost[i, j], i, j) for i in range(cost.shape[0]) for j in range(cost.shape[1])),
        key=lambda p: p[0],
    )
    rows, cols, out = set(), set(), []
    for c, i, j in pairs:
        if c > limit:
            break
        if i in rows or j in cols:
            continue
        rows.add(i)
        cols.add(j)
        out.append((i, j))
    return out, [i for i in range(cost.shape[0]) if i not in rows]


@on(*COSTS, [[0.1, 0.5], [0.1, 0.9]], unknown=TABLE)
def auction(cost, eps=0.05):
    n, m = cost.shape
    prices = [0.0] * m
    owner = [None] * m
    queue = deque(range(min(n, m)))
    turns = 0
    while queue and turns < 30:
        i = queue.popleft()
        turns += 1
        gains = [-cost[i, j] - prices[j] for j in range(m)]
        j = max(range(m), key=lambda k: gains[k])
        second = max((g for k, g in enumerate(gains) if k != j), default=gains[j])
        prices[j] += gains[j] - second + eps
        if owner[j] is not None:
            queue.append(owner[j])
        owner[j] = i
    return owner, turns


def iou(a, b):
    lt = dy2st.maximum(a[:2], b[:2])
    rb = dy2st.minimum(a[2:], b[2:])
    wh = (rb - lt).clip(min=0)
    inter = wh[0] * wh[1]

    def area(q):
        return (q[2] - q[0]) * (q[3] - q[1])

    return inter / (area(a) + area(b) - inter)


@on(*BOXES, unknown=CORNERS)
def suppress(boxes, limit=0.4):
    scores = [(b[2] - b[0]) * (b[3] - b[1]) for b in boxes]
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    keep = []
    while order:
        i = order.pop(0)
        keep.append(i)
        order = [j for j in order if iou(boxes[i], boxes[j]) <= limit]
    return keep


@on(*POINTS, unknown=PLANE)
def gated_clusters(points, gate=2.5):
    clusters = []
    for p in points:
        for c in clusters:
            center = sum(c) / len(c)
            if (p - center).norm() < gate:
                c.append(p)
                break
        else:
            clusters.append([p])
    return [len(c) for c in clusters], [sum(c) / len(c) for c in clusters]


@on(*SIGNALS, unknown=ONE)
def jpda_update(z):
    state, spread = 0.0, 1.0
    gated = [m for m in z if abs(m - state) < 3 * spread]
    if not gated:
        return state, spread + 0.5
    likelihoods = [math.exp(-0.5 * (m - state) ** 2) for m in gated]
    total = sum(likelihoods) + 0.1
    betas = [one / total for one in likelihoods]
    innovation = sum(b * (m - state) for b, m in zip(betas, gated))
    return state + 0.5 * innovation, spread * (1 - 0.5 * sum(betas))


class Life(NamedTuple):
    start: int
    last: int
    value: Any

    @property
    def length(self):
        return self.last - self.start + 1


@on(*SIGNALS, unknown=ONE)
def track_lives(z, gap=1.0):
    lives = []
    for t, v in enumerate(z):
        for k, life in enumerate(lives):
            if abs(life.value - v) < gap:
                lives[k] = life._replace(last=t, value=v)
                break
        else:
            lives.append(Life(t, t, v))
    longest = max(lives, key=lambda one: one.length, default=None)
    return len(lives), longest.length if longest else 0, [one.value for one in lives]


@on(*POINTS, unknown=PLANE)
def trajectory_simplify(points, eps=0.8):
    stack = [(0, points.shape[0] - 1)]
    keep = set()
    while stack:
        a, b = stack.pop()
        keep.update((a, b))
        worst, at = 0.0, None
        for i in range(a + 1, b):
            t = (i - a) / (b - a)
            d = (points[i] - (points[a] * (1 - t) + points[b] * t)).norm()
            if d > worst:
                worst, at = d, i
        if at is not None and worst > eps:
            stack.append((a, at))
            stack.append((at, b))
    return sorted(k for k in keep if k >= 0)


@on(*SIGNALS, [1.0, 1.0, 0.1, 0.2, 1.0], unknown=ONE)
def confirmed_after(z, needed=2, lost_after=2):
    state, hits, misses, log = "tentative", 0, 0, []
    for v in z:
        if v > 0.95:
            hits, misses = hits + 1, 0
        else:
            misses += 1
        if state == "tentative" and hits >= needed:
            state = "confirmed"
        elif state == "confirmed" and misses >= lost_after:
            state = "deleted"
        log.append(state[0])
        if state == "deleted":
            break
    return state, "".join(log)


@on([1.0, 4.0, 2.0, 2.0, 7.0], [0.0], [3.0, 3.0, 3.0], [5.0, 1.0, 1.0, 5.0], unknown=ONE)
def slots_that_are_taken(x):
    owner, waited = [None] * 3, 0
    for i, v in enumerate(x):
        k = int(v) % 3
        while owner[k] is not None and owner[k] < i - 1:
            owner[k] = owner[k] + 2
            waited += 1
        if owner[k] is None:
            owner[k] = i
    return owner, waited
