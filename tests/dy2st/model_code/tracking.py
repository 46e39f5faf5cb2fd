"""Tracking and filtering: Kalman filters, tracks with ids and ages, greedy matching, particles."""

from __future__ import annotations

import collections
import contextlib
import enum
import heapq
import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

SIGNALS = (
    [1.0, 1.2, 0.9, 5.0, 1.1],
    [-1.0, -0.5, 0.0, 0.5, 1.0],
    [0.0, 9.0, 0.0, 9.0, 0.0],
    [2.0, 2.0, 2.0],
    [3.0],
)
EACH = [[None]]
COSTS = (
    [[0.1, 0.9, 0.8], [0.9, 0.2, 0.7], [0.4, 0.6, 0.95]],
    [[0.9, 0.9, 0.9], [0.9, 0.9, 0.1], [0.2, 0.9, 0.2]],
    [[0.3, 0.1], [0.2, 0.6]],
    [[0.7, 0.2, 0.5], [0.1, 0.3, 0.6]],
)
TABLES = [[None, None]]
BOXES = (
    ([[0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 7.0, 7.0]], [[0.1, 0.0, 2.1, 2.0], [9.0, 9.0, 10.0, 10.0]]),
    ([[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]], [[2.0, 2.0, 3.0, 3.1], [0.0, 0.1, 1.0, 1.0]]),
    ([[0.0, 0.0, 4.0, 4.0]], [[1.0, 1.0, 4.0, 4.0], [0.0, 0.0, 4.0, 4.0], [8.0, 8.0, 9.0, 9.0]]),
)
PAIRS = [[None, 4], [None, 4]]


class State(NamedTuple):
    """Where something is, how fast, and how sure that is."""

    position: Any
    velocity: Any
    variance: Any

    def predicted(self, noise):
        return self._replace(position=self.position + self.velocity, variance=self.variance + noise)


@on(*SIGNALS, unknown=EACH)
def filter_with_a_gate(x):
    state = State(x[0], 0.0, 1.0)
    rejected = 0
    for z in x[1:]:
        state = state.predicted(0.1)
        residual = z - state.position
        if residual.abs() > 3 * (state.variance + 0.5) ** 0.5:
            rejected += 1
            continue
        gain = state.variance / (state.variance + 0.5)
        state = State(
            position=state.position + gain * residual,
            velocity=state.velocity + 0.1 * gain * residual,
            variance=(1 - gain) * state.variance,
        )
    return state, rejected


class Kalman:
    """A filter of two states, with its matrices as attributes."""

    def __init__(self, dt=1.0, noise=0.1):
        self.transition = dy2st.to_tensor([[1.0, dt], [0.0, 1.0]])
        self.observed = dy2st.to_tensor([[1.0, 0.0]])
        self.noise = noise
        self.mean = dy2st.zeros([2, 1])
        self.cov = dy2st.eye(2)

    def predict(self):
        self.mean = self.transition @ self.mean
        self.cov = self.transition @ self.cov @ self.transition.T + self.noise * dy2st.eye(2)
        return self

    def update(self, z):
        residual = z - (self.observed @ self.mean)[0, 0]
        spread = (self.observed @ self.cov @ self.observed.T)[0, 0] + 0.5
        gain = self.cov @ self.observed.T / spread
        self.mean = self.mean + gain * residual
        self.cov = (dy2st.eye(2) - gain @ self.observed) @ self.cov
        return residual**2 / spread


@on(*SIGNALS, unknown=EACH)
def filter_of_matrices(x):
    kalman = Kalman()
    surprises = [kalman.predict().update(z) for z in x]
    return kalman.mean.flatten(), max(surprises), sum(s > 1.0 for s in surprises)


@on(*SIGNALS, unknown=EACH)
def filter_that_coasts(x):
    kalman, coasted = Kalman(noise=0.5), []
    for t, z in enumerate(x):
        kalman.predict()
        if z > 4 or z < -4:
            coasted.append(t)
        else:
            kalman.update(z)
    return kalman.mean, coasted


@on(*SIGNALS, unknown=EACH)
def alpha_beta_filter(x, alpha=0.5, beta=0.1):
    level, trend, out = x[0], dy2st.zeros([]), []
    for z in x[1:]:
        guess = level + trend
        level, trend = guess + alpha * (z - guess), trend + beta * (z - guess)
        out.append(level)
    return (dy2st.stack(out) if out else level), trend


@on(*COSTS, unknown=TABLES)
def greedy_assignment(cost):
    rows, cols = cost.shape
    pairs, used_rows, used_cols = [], set(), set()
    order = sorted(
        ((float(cost[i, j]), i, j) for i in range(rows) for j in range(cols)), key=lambda t: t[0]
    )
    for value, i, j in order:
        if value > 0.5:
            break
        if i in used_rows or j in used_cols:
            continue
        pairs.append((i, j))
        used_rows.add(i)
        used_cols.add(j)
    return pairs, sorted(set(range(rows)) - used_rows)


@on(*COSTS, unknown=TABLES)
def assignment_by_masking(cost):
    big = 10.0
    left = cost.clone()
    pairs = []
    for _ in range(min(cost.shape)):
        flat = left.argmin()
        i, j = flat // cost.shape[1], flat % cost.shape[1]
        if left[i, j] > 0.5:
            break
        pairs.append((i, j))
        left[i] = big
        left[:, j] = big
    return pairs, left.min()


@on(*COSTS[:2], COSTS[3])
def assignment_by_permutations(cost):
    rows, cols = cost.shape
    best, best_cost = None, math.inf
    for columns in itertools.permutations(range(cols), rows):
        total = sum(cost[i, j] for i, j in enumerate(columns))
        if total < best_cost:
            best, best_cost = columns, total
    return best, best_cost


@on(*COSTS[:2])
def hungarian_potentials(cost):
    n = cost.shape[0]
    table = cost.tolist()
    u, v, match = [0.0] * (n + 1), [0.0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        match[0] = i
        column, slack = 0, [math.inf] * (n + 1)
        seen, way = [False] * (n + 1), [0] * (n + 1)
        while match[column] != 0:
            seen[column] = True
            row, delta, following = match[column], math.inf, 0
            for j in range(1, n + 1):
                if seen[j]:
                    continue
                reduced = table[row - 1][j - 1] - u[row] - v[j]
                if reduced < slack[j]:
                    slack[j], way[j] = reduced, column
                if slack[j] < delta:
                    delta, following = slack[j], j
            for j in range(n + 1):
                if seen[j]:
                    u[match[j]] += delta
                    v[j] -= delta
                else:
                    slack[j] -= delta
            column = following
        while column:
            match[column] = match[way[column]]
            column = way[column]
    return match[1:], -v[0]


@on(*COSTS, unknown=TABLES)
def mutual_best(cost):
    forward, backward = cost.argmin(1), cost.argmin(0)
    return [(i, int(j)) for i, j in enumerate(forward) if backward[j] == i and cost[i, j] < 0.5]


@on(*COSTS, unknown=TABLES)
def auction(cost):
    rows, cols = cost.shape
    prices = dy2st.zeros([cols])
    owner = [-1] * cols
    waiting = collections.deque(range(min(rows, cols)))
    bids = 0
    while waiting and bids < 6:
        row = waiting.popleft()
        gains = -cost[row] - prices
        best = int(gains.argmax())
        prices[best] = prices[best] + 0.25
        if owner[best] >= 0:
            waiting.append(owner[best])
        owner[best] = row
        bids += 1
    return owner, prices, bids


def overlap(a, b):
    low, high = dy2st.maximum(a[:2], b[:2]), dy2st.minimum(a[2:], b[2:])
    inter = (high - low).clip(min=0).prod()
    return inter / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - inter)


class Status(enum.Enum):
    NEW = "new"
    SURE = "sure"
    LOST = "lost"


@dataclass
class Track:
    """One object over time."""

    number: int
    box: Any
    hits: int = 1
    missed: int = 0
    status: Status = Status.NEW
    past: list = field(default_factory=list)

    def update(self, box):
        self.past.append(self.box)
        self.box = 0.5 * self.box + 0.5 * box
        self.hits += 1
        self.missed = 0
        if self.hits >= 2:
            self.status = Status.SURE

    def miss(self):
        self.missed += 1
        if self.missed > self.hits - 1:
            self.status = Status.LOST

    @property
    def is_alive(self):
        return self.status is not Status.LOST


@on(*BOXES, unknown=PAIRS)
def tracker_of_two_frames(first, second):
    ids = itertools.count(1)
    tracks = [Track(next(ids), box) for box in first]
    free = list(range(len(second)))
    for track in tracks:
        best, best_overlap = None, 0.3
        for j in free:
            score = float(overlap(track.box, second[j]))
            if score > best_overlap:
                best, best_overlap = j, score
        if best is None:
            track.miss()
        else:
            track.update(second[best])
            free.remove(best)
    tracks += [Track(next(ids), second[j]) for j in free]
    return [(t.number, t.hits, t.missed) for t in tracks], [t.box for t in tracks]


@on(*BOXES[:2])
def tracker_of_known_counts(first, second):
    tracks = [Track(i, first[i]) for i in range(first.shape[0])]
    for box in second:
        scores = dy2st.stack([overlap(t.box, box) for t in tracks])
        if scores.max() > 0.3:
            tracks[int(scores.argmax())].update(box)
    for track in tracks:
        if track.hits == 1:
            track.miss()
    alive = [t for t in tracks if t.is_alive]
    return len(alive), [t.hits for t in tracks], dy2st.stack([t.box for t in alive])


@on(*BOXES, unknown=PAIRS)
def overlaps_as_a_table(first, second):
    low = dy2st.maximum(first[:, None, :2], second[None, :, :2])
    high = dy2st.minimum(first[:, None, 2:], second[None, :, 2:])
    inter = (high - low).clip(min=0).prod(-1)
    areas = [(b[:, 2:] - b[:, :2]).prod(-1) for b in (first, second)]
    table = inter / (areas[0][:, None] + areas[1][None] - inter)
    matches = {}
    while len(matches) < min(table.shape) and (best := table.max()) > 0.3:
        flat = int(table.argmax())
        i, j = divmod(flat, table.shape[1])
        matches[i] = (j, best)
        table[i, :] = 0.0
        table[:, j] = 0.0
    return len(matches), sorted(matches)


@on(*SIGNALS, unknown=EACH)
def frozen_tracks_replaced(x):
    track = Track(0, x[:1])
    for z in x:
        jump = (track.box - z).abs().max()
        if jump < 1.5:
            track = replace(track, box=(track.box + z) / 2, hits=track.hits + 1)
        else:
            track = replace(track, missed=track.missed + 1)
    return track.box, track.hits, track.missed


class MultiTracker(nn.Layer):
    """Tracks scalars over calls, in Python lists and with a counter of ids."""

    def __init__(self):
        super().__init__()
        self.names = []
        self.values = []
        self.count = 0

    def forward(self, x):
        for z in x:
            for k, value in enumerate(self.values):
                if (value - z).abs() < 1.0:
                    self.values[k] = 0.5 * (value + z)
                    break
            else:
                self.names.append(self.count)
                self.values.append(z)
                self.count += 1
        return list(self.names), len(self.values)


on(SIGNALS[0], SIGNALS[1], SIGNALS[2])(MultiTracker)


@on(ramp(3, 4), ramp(3, 4, start=0.5), ramp(2, 4))
class SmoothsOverCalls(nn.Layer):
    """Keeps a running mean by name, the size of its window and the last few frames."""

    def __init__(self, window=2):
        super().__init__()
        self.frames = collections.deque(maxlen=window)
        self.register_buffer("mean", dy2st.zeros([4]))
        self.seen = 0

    def forward(self, frames):
        for frame in frames:
            self.frames.append(frame)
            self.seen += 1
            rate = 1.0 / self.seen if self.seen < 4 else 0.25
            self.mean = self.mean + rate * (frame - self.mean)
        spread = dy2st.stack(list(self.frames)).std(0)
        return self.mean, spread, self.seen


@on(*SIGNALS, unknown=EACH)
def particles(x):
    points = dy2st.randn([8])
    weights = dy2st.full([8], 1 / 8)
    resampled = 0
    for z in x:
        points = points + 0.3 * dy2st.randn([8])
        weights = weights * dy2st.exp(-0.5 * (points - z) ** 2) + 1e-12
        weights = weights / weights.sum()
        if 1.0 / (weights**2).sum() < 4:
            edges = weights.cumsum(0)
            start = dy2st.rand([]) / 8
            picks = [(edges > start + i / 8).astype("int64").argmax() for i in range(8)]
            points = points[dy2st.stack(picks)]
            weights = dy2st.full([8], 1 / 8)
            resampled += 1
    return (points * weights).sum(), resampled


@on(*SIGNALS, unknown=EACH)
def forward_and_backward(x):
    transitions = dy2st.to_tensor([[0.9, 0.1], [0.2, 0.8]])
    means = dy2st.to_tensor([0.0, 2.0])
    alphas, scale = [dy2st.to_tensor([0.5, 0.5])], 0.0
    for z in x:
        alpha = (alphas[-1] @ transitions) * dy2st.exp(-((z - means) ** 2) / 8)
        norm = alpha.sum()
        scale = scale + norm.log()
        alphas.append(alpha / norm)
    beta = dy2st.ones([2])
    smoothed = []
    for z, alpha in zip(reversed(list(x)), alphas[:0:-1]):
        gamma = alpha * beta
        smoothed.insert(0, gamma / gamma.sum())
        beta = transitions @ (dy2st.exp(-((z - means) ** 2) / 8) * beta)
        beta = beta / beta.max()
    return dy2st.stack(smoothed), scale


@on(*SIGNALS, unknown=EACH)
def most_likely_states(x):
    means, stay = [0.0, 2.0], math.log(0.8)
    scores, back = {0: 0.0, 1: 0.0}, []
    for z in x:
        grown, came = {}, {}
        for state, mean in enumerate(means):
            options = {p: s + (stay if p == state else -1.6) for p, s in scores.items()}
            came[state] = max(options, key=options.get)
            grown[state] = options[came[state]] - (z - mean) ** 2
        scores = grown
        back.append(came)
    state = max(scores, key=scores.get)
    path = [state]
    for came in reversed(back):
        path.append(came[path[-1]])
    return path[::-1], scores[state]


@on(*SIGNALS, unknown=EACH)
def change_points(x, threshold=2.0):
    high, low, found = 0.0, 0.0, []
    mean = x.mean()
    for t, z in enumerate(x):
        high = max(0.0, high + z - mean - 0.1)
        low = max(0.0, low - z + mean - 0.1)
        if high > threshold or low > threshold:
            found.append((t, "up" if high > low else "down"))
            high = low = 0.0
    return found


class Timeout(Exception):
    """The tracker lost its object."""

    def __init__(self, step):
        super().__init__(f"lost at {step}")
        self.step = step


def follow(x, patience=1):
    position, missed = x[0], 0
    for step, z in enumerate(x[1:]):
        if (z - position).abs() < 2.0:
            position, missed = z, 0
            continue
        missed += 1
        if missed > patience:
            raise Timeout(step)
    return position, missed


@on(*SIGNALS, unknown=EACH)
def restarted_after_it_is_lost(x):
    restarts = 0
    try:
        position, missed = follow(x, patience=0)
    except Timeout as lost:
        restarts += 1
        position, missed = x[-1], lost.step
    finally:
        restarts += 10
    return position, missed, restarts


@contextlib.contextmanager
def widened(state, by):
    old = state["gate"]
    state["gate"] = old * by
    try:
        yield state
    finally:
        state["gate"] = old


@on(*SIGNALS, unknown=EACH)
def gate_that_is_widened_for_a_while(x):
    state = {"gate": 1.0, "hits": 0}
    for k, z in enumerate(x):
        with widened(state, by=2.0 if k % 2 else 1.0) as wide:
            if z.abs() < wide["gate"]:
                state["hits"] += 1
                continue
        state["gate"] += 0.25
    return state


@on(*SIGNALS, unknown=EACH)
def nearest_of_a_codebook(x):
    codebook = [dy2st.zeros([]), dy2st.full([], 2.0)]
    assigned = []
    for z in x:
        distances = [(z - code).abs() for code in codebook]
        nearest = min(range(len(codebook)), key=distances.__getitem__)
        if distances[nearest] > 3.0 and len(codebook) < 4:
            codebook.append(z)
            nearest = len(codebook) - 1
        else:
            codebook[nearest] = 0.75 * codebook[nearest] + 0.25 * z
        assigned.append(nearest)
    return assigned, dy2st.stack(codebook)


@on(*SIGNALS, unknown=EACH)
def events_by_time(x):
    events = []
    for k, z in enumerate(x):
        heapq.heappush(events, (float(z), k, "start"))
        heapq.heappush(events, (float(z) + 1.0, k, "end"))
    running, most = 0, 0
    while events:
        _, _, kind = heapq.heappop(events)
        running += 1 if kind == "start" else -1
        most = max(most, running)
    return most


@on(*SIGNALS, unknown=EACH)
def debounced(x):
    def switch():
        is_on, since = False, 0

        def step(z):
            nonlocal is_on, since
            wants = bool(z > 1.0)
            since = 0 if wants == is_on else since + 1
            if since >= 2:
                is_on, since = wants, 0
            return is_on

        return step

    step = switch()
    return [int(step(z)) for z in x]


@on(*SIGNALS, unknown=EACH)
def outliers_by_the_median(x):
    middle = dy2st.median(x)
    spread = dy2st.median((x - middle).abs())
    kept = [z for z in x if abs(z - middle) <= 3 * spread]
    match len(kept):
        case 1 | 2 as few:
            return kept[0], -few
        case many:
            return sum(kept) / many, many


@on(ramp(4, 2), ramp(4, 2, step=1.5), ramp(6, 2), unknown=[[None, 2]])
def clusters_by_distance(points):
    labels, current = [-1] * len(points), 0
    for i in range(len(points)):
        if labels[i] >= 0:
            continue
        stack = [i]
        while stack:
            k = stack.pop()
            if labels[k] >= 0:
                continue
            labels[k] = current
            near = (points - points[k]).square().sum(-1) < 5.0
            stack.extend(j for j in range(len(points)) if near[j] and labels[j] < 0)
        current += 1
    return labels, current


@on(ramp(4, 2), ramp(4, 2, step=1.5), ramp(6, 2), unknown=[[None, 2]])
def means_of_clusters(points, k=2):
    centres = points[:k]
    for step in range(5):
        labels = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(-1)
        fresh = []
        for c in range(k):
            mask = (labels == c).astype("float32").unsqueeze(-1)
            count = mask.sum()
            fresh.append((points * mask).sum(0) / count if count > 0 else centres[c])
        moved = (dy2st.stack(fresh) - centres).abs().max()
        centres = dy2st.stack(fresh)
        if moved < 1e-3:
            break
    return centres, labels, step
