"""Search: beams, heaps, shortest paths, thresholds, and whatever is sorted on its way."""

from __future__ import annotations

import bisect
import collections
import heapq
import itertools
from dataclasses import dataclass, field

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, 3.0, 2.0, 2.0], [-1.0, -3.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 1.0])
EACH = [[None]]
GRAPHS = (
    [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]],
    [[0.0, 5.0, 1.0], [5.0, 0.0, 0.5], [1.0, 0.5, 0.0]],
)
LOGITS = ([[0.1, 2.0, 0.3], [1.0, 0.0, 2.5], [3.0, 0.1, 0.2]], [[2.0, 0.0, 1.0], [0.0, 3.0, 0.5]])
STEPS = [[None, 3]]


@on(*GRAPHS)
def dijkstra(weights):
    n = weights.shape[0]
    distance = [float("inf")] * n
    distance[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v in range(n):
            new = d + float(weights[u][v])
            if new < distance[v]:
                distance[v] = new
                heapq.heappush(heap, (new, v))
    return distance


@on(*GRAPHS)
def bellman_ford(weights):
    n = weights.shape[0]
    distance = [dy2st.zeros([])] + [dy2st.full([], 1e9) for _ in range(n - 1)]
    rounds = 0
    for _ in range(n - 1):
        changed = False
        for u, v in itertools.permutations(range(n), 2):
            new = distance[u] + weights[u, v]
            if new < distance[v]:
                distance[v] = new
                changed = True
        if not changed:
            break
        rounds += 1
    return dy2st.stack(distance), rounds


@on(*LOGITS, unknown=STEPS)
def beam_search_by_heap(logits):
    beams = [(0.0, [0])]
    for row in logits:
        heap = []
        for score, tokens in beams:
            for token in range(3):
                heapq.heappush(heap, (score + row[token], [*tokens, token]))
                if len(heap) > 2:
                    heapq.heappop(heap)
        beams = heap
    return [score for score, _ in sorted(beams, key=lambda beam: beam[0], reverse=True)]


@on(*LOGITS, unknown=STEPS)
def beams_with_ties_in_order(logits):
    ties = itertools.count()
    heap = [(dy2st.zeros([]), next(ties), 0)]
    for row in logits:
        score, _, length = heapq.heappop(heap)
        for token in range(3):
            heapq.heappush(heap, (score - row[token], next(ties), length + 1))
    best, tie, length = heap[0]
    return best, tie, length


@dataclass(order=True)
class Hypothesis:
    """What a beam has found so far, by its score."""

    score: object
    tokens: list = field(compare=False, default_factory=list)

    def grown(self, token, score):
        return Hypothesis(self.score + score, [*self.tokens, token])


@on(*LOGITS[:1])
def hypotheses_in_order(logits):
    beams = [Hypothesis(dy2st.zeros([]))]
    for row in logits:
        grown = [beam.grown(token, row[token]) for beam in beams for token in range(3)]
        beams = heapq.nlargest(2, grown)
    return [beam.score for beam in beams], max(beams).score


@on(*VALUES, unknown=EACH)
def best_two_with_places(x):
    pairs = [(v, -i) for i, v in enumerate(x)]
    return [(v, -i) for v, i in sorted(pairs, reverse=True)[:2]]


@on(*VALUES, unknown=EACH)
def running_median(x):
    low, high, medians = [], [], []
    for v in x:
        value = float(v)
        heapq.heappush(low, -heapq.heappushpop(high, value))
        if len(low) > len(high):
            heapq.heappush(high, -heapq.heappop(low))
        medians.append(high[0] if len(high) > len(low) else (high[0] - low[0]) / 2)
    return medians


@on(*VALUES, unknown=EACH)
def bucket_of_each(x):
    edges = [0.0, 1.0, 2.5]
    counts = [0] * 4
    for v in x:
        counts[bisect.bisect_right(edges, float(v))] += 1
    return counts


@on(*VALUES, unknown=EACH)
def longest_increasing_subsequence(x):
    tails = []
    for v in x.tolist():
        place = bisect.bisect_left(tails, v)
        if place == len(tails):
            tails.append(v)
        else:
            tails[place] = v
    return len(tails), tails


@on(*VALUES, unknown=EACH)
def threshold_of_best_f1(x):
    best = (-1.0, 0.0)
    for threshold in sorted({0.0, 0.5, 1.0, 2.0}):
        hits = ((x > threshold).astype("float32") * (x > 0.7).astype("float32")).sum()
        found = (x > threshold).astype("float32").sum()
        score = 2 * hits / (found + 3.0)
        best = max(best, (score, threshold))
    return best


@on(*VALUES, unknown=EACH)
def first_of_a_priority_queue(x):
    queue = [(-float(v), i) for i, v in enumerate(x)]
    heapq.heapify(queue)
    order = []
    while queue and len(order) < 3:
        order.append(heapq.heappop(queue)[1])
    return order


@on(*VALUES, unknown=EACH)
def merged_in_order(x):
    left = sorted(v for v in x.tolist() if v > 0)
    right = sorted(v for v in x.tolist() if v <= 0)
    merged = []
    while left and right:
        merged.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
    return merged + left + right


@on(*VALUES, unknown=EACH)
def golden_section(x):
    low, high = 0.0, 4.0
    for _ in range(6):
        a, b = low + (high - low) * 0.382, low + (high - low) * 0.618
        if ((x - a) ** 2).sum() < ((x - b) ** 2).sum():
            high = b
        else:
            low = a
    return (low + high) / 2


@on(*GRAPHS)
def breadth_first(weights):
    seen, order = {0}, []
    queue = collections.deque([0])
    while queue:
        node = queue.popleft()
        order.append(node)
        for other in range(3):
            if weights[node, other] > 1.5 and other not in seen:
                seen.add(other)
                queue.append(other)
    return order, len(seen)


@on(*GRAPHS)
def minimum_spanning_tree(weights):
    parent = list(range(3))

    def root(node):
        while parent[node] != node:
            node = parent[node]
        return node

    edges = sorted((weights[i, j], i, j) for i in range(3) for j in range(i + 1, 3))
    total, used = 0.0, 0
    for weight, i, j in edges:
        a, b = root(i), root(j)
        if a != b:
            parent[a] = b
            total = total + weight
            used += 1
    return total, used


@on(*VALUES, unknown=EACH)
def patience_until_no_better(x):
    best, since, stopped = None, 0, -1
    for step, v in enumerate(x):
        if best is None or v < best:
            best, since = v, 0
        else:
            since += 1
        if since >= 2:
            stopped = step
            break
    return best, stopped


@on(*VALUES, unknown=EACH)
def keyed_extremes(x):
    named = {"sum": x.sum(), "max": x.max(), "first": x[0]}
    low = min(named, key=named.get)
    high = max(named.items(), key=lambda item: item[1])
    return low, high[0], sorted(named, key=named.get, reverse=True)


@on(*VALUES, unknown=EACH)
def greedy_coins(x):
    amount, used = int(x.abs().sum()), []
    for coin in (5, 2, 1):
        while amount >= coin:
            amount -= coin
            used.append(coin)
    return used, len(used)


@on(*VALUES, unknown=EACH)
def intervals_merged(x):
    intervals = sorted((float(v), float(v) + 1.5) for v in x)
    merged = []
    for start, end in intervals:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


@on(*VALUES, unknown=EACH)
def smallest_by_several_keys(x):
    rows = [(i % 2, v, i) for i, v in enumerate(x)]
    rows.sort(key=lambda row: (row[0], -row[1]))
    return [i for _, _, i in rows]


@dataclass(frozen=True)
class Cell:
    row: int
    column: int

    def neighbours(self, size):
        for down, right in ((0, 1), (1, 0)):
            if self.row + down < size and self.column + right < size:
                yield Cell(self.row + down, self.column + right)


@on(*GRAPHS)
def uniform_cost_over_cells(weights):
    start, goal = Cell(0, 0), Cell(2, 2)
    frontier, best, parents = [(0.0, 0, start)], {start: 0.0}, {start: None}
    ties = itertools.count(1)
    while frontier:
        cost, _, cell = heapq.heappop(frontier)
        if cell == goal:
            break
        for after in cell.neighbours(3):
            new = cost + float(weights[after.row, after.column])
            if after not in best or new < best[after]:
                best[after], parents[after] = new, cell
                heapq.heappush(frontier, (new, next(ties), after))
    path, at = [], goal
    while at is not None:
        path.append((at.row, at.column))
        at = parents[at]
    return best[goal], path[::-1], len(best)
