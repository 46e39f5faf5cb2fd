"""Schedulers: queues of tasks, learning rates, rate limits, caches that forget."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections import OrderedDict, deque

import numpy as np

from tests.dy2st.catalogue.entry import on

TIMES = (
    [3.0, 1.0, 2.0, 5.0],
    [2.0],
    [1.0, 7.0],
    [4.0, 4.0, 1.0, 3.0, 9.0],
    np.zeros(0, "float32"),
)
KEYS = ([1, 2, 1, 3, 2], [0], [5, 5], [1, 2, 3, 1, 2, 3], np.zeros(0, "int64"))
LOSSES = ([1.0, 0.9, 0.95, 0.8, 0.81], [1.0], [2.0, 1.0], [1.0, 1.0, 1.0], np.zeros(0, "float32"))
ONE = [[None]]


@on(*TIMES, unknown=ONE)
def round_robin_quantum(x, quantum=2.0):
    queue = deque(enumerate(x))
    clock, done = 0.0, {}
    while queue:
        i, left = queue.popleft()
        used = min(left, quantum)
        clock += used
        left -= used
        if left > 0:
            queue.append((i, left))
        else:
            done[i] = clock
    return done, clock


@on(*TIMES, [0.5, 1.0], unknown=ONE)
def shortest_remaining(x):
    arrivals = [(i * 1.0, i, v) for i, v in enumerate(x)]
    ready, finished, t, k = [], {}, 0.0, 0
    while len(finished) < len(x):
        while k < len(arrivals) and arrivals[k][0] <= t:
            heapq.heappush(ready, (arrivals[k][2], arrivals[k][1]))
            k += 1
        if not ready:
            t = arrivals[k][0]
            continue
        left, i = heapq.heappop(ready)
        if left > 1:
            t += 1
            heapq.heappush(ready, (left - 1, i))
        else:
            t += left
            finished[i] = t
    return finished


class Plateau:
    def __init__(self, patience=1, factor=0.5, floor=0.01):
        self.best = None
        self.bad = 0
        self.lr = 0.1
        self.patience, self.factor, self.floor = patience, factor, floor

    def __call__(self, loss):
        if self.best is None or loss < self.best - 1e-4:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            self.lr = max(self.lr * self.factor, self.floor)
            self.bad = 0
        return self.lr


@on(*LOSSES, unknown=ONE)
def plateau_schedule(losses):
    plateau = Plateau()
    return [plateau(loss) for loss in losses], plateau.best


@on(*TIMES, unknown=ONE)
def token_bucket(x, rate=1.0, burst=3.0):
    tokens, last, allowed = burst, 0.0, []
    clock = 0.0
    for gap in x:
        clock += gap * 0.3
        tokens = min(burst, tokens + (clock - last) * rate)
        last = clock
        if tokens >= 1.5:
            tokens -= 1.5
            allowed.append(True)
        else:
            allowed.append(False)
    return allowed, tokens


@on(*KEYS, unknown=ONE)
def lru_cache_hits(keys, capacity=2):
    cache, hits = OrderedDict(), 0
    for k in keys.tolist():
        if k in cache:
            hits += 1
            cache.move_to_end(k)
        else:
            if len(cache) >= capacity:
                cache.popitem(last=False)
            cache[k] = k * k
    return hits, list(cache.items())


@on(*KEYS, unknown=ONE)
def ttl_cache(keys, ttl=2):
    store = {}
    log = []
    for now, k in enumerate(keys):
        k = int(k)
        expired = [q for q, (born, _) in store.items() if now - born > ttl]
        for q in expired:
            store.pop(q)
        if k in store:
            log.append("hit")
        else:
            store[k] = (now, f"v{k}")
            log.append("miss")
    return log, sorted(store)


@on(*TIMES, unknown=ONE)
def critical_path(x):
    n = len(x)
    before = {i: [j for j in (i - 1, i - 3) if j >= 0] for i in range(n)}
    start = {}
    for i in range(n):
        start[i] = max((start[j] + x[j] for j in before[i]), default=0.0)
    makespan = max((start[i] + x[i] for i in range(n)), default=0.0)
    slack = {i: makespan - start[i] - x[i] for i in range(n)}
    return makespan, [i for i in range(n) if slack[i] < 1e-6]


@on(*TIMES, unknown=ONE)
def weighted_intervals(x):
    jobs = sorted(((i + v, i, v) for i, v in enumerate(x)), key=lambda j: j[0])
    ends = [e for e, _, _ in jobs]
    best = [0.0]
    for k, (e, s, v) in enumerate(jobs):
        p = bisect.bisect_right(ends, s, 0, k)
        best.append(max(best[-1], best[p] + v))
    return best[-1]


@on([3.0, 1.0, 2.0], [0.5], [9.0, 9.0], unknown=ONE)
def rates_in_turn(x, target=12.0):
    used = []
    for rate in itertools.cycle((0.5, 1.0, 0.25)):
        if x.sum() >= target:
            break
        x = x + rate
        used.append(rate)
    return x, used


@on([3.0, 1.0, 2.0], [0.5], [0.0], unknown=ONE)
def batches_in_turn(x, target=7.0):
    total = x * 0
    for step, batch in enumerate(itertools.cycle([x, x * 0.5]), 1):
        total = total + batch
        if total.max() > target:
            return step, total
        if step > 40:
            break
    return 0, total


@on([3.0, 1.0, 2.0], [0.5], [9.0, 9.0], unknown=ONE)
def numbers_of_attempts(x, target=14.0):
    ids, tried = itertools.count(1), []
    for attempt in ids:
        x = x + 1
        if x.max() > 9:
            tried.append(next(ids))
        if x.sum() > target:
            break
    return x, attempt, tried, next(ids)


@on([3.0, 1.0, 2.0], [0.5], [0.001], unknown=ONE)
def settles_within_a_budget(x, budget=10_000, tolerance=0.01):
    for step in range(budget):
        if step == 2:
            continue
        new = (x + 1 / (x + 1)) / 2
        if (new - x).abs().max() < tolerance:
            break
        x = new
    return x, step
