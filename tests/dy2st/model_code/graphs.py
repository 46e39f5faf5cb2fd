"""Graphs and trees in lists: searches, components, spanning trees, heaps, codes."""

from __future__ import annotations

import heapq
import math
import operator
from collections import defaultdict, deque

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

GRAPHS = (
    [[0.0, 2.0, 9.0], [3.0, 0.0, 1.0], [0.5, 7.0, 0.0]],
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    [[0.0]],
    [[0.0, 4.0], [1.0, 0.0]],
    np.zeros((0, 0), "float32"),
)
BOTH = [[None, None]]
SERIES = (
    [3.0, 1.0, 2.0, 5.0],
    [2.0],
    [1.0, 7.0],
    [4.0, 4.0, 1.0, 3.0, 9.0],
    np.zeros(0, "float32"),
)
ONE = [[None]]


class SortedTree:
    """A search tree in arrays."""

    def __init__(self):
        self.keys, self.left, self.right = [], [], []

    def add(self, key):
        self.keys.append(key)
        self.left.append(None)
        self.right.append(None)
        new, at = len(self.keys) - 1, 0
        while at != new:
            side = self.left if key < self.keys[at] else self.right
            if side[at] is None:
                side[at] = new
            at = side[at]

    def in_order(self):
        stack, at, out = [], 0 if self.keys else None, []
        while stack or at is not None:
            while at is not None:
                stack.append(at)
                at = self.left[at]
            at = stack.pop()
            out.append(self.keys[at])
            at = self.right[at]
        return out


@on(*SERIES, unknown=ONE)
def tree_of_arrays(x):
    tree = SortedTree()
    for v in x:
        tree.add(v)
    return tree.in_order()


class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n
        self.count = n

    def find(self, i):
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.count -= 1
        return True


@on(*GRAPHS, unknown=BOTH)
def components(d):
    n = d.shape[0]
    uf = UnionFind(n)
    for i in range(n):
        for j in range(i + 1, n):
            if d[i, j] > 0.5:
                uf.union(i, j)
    return uf.count, max(uf.size, default=0), [uf.find(i) for i in range(n)]


@on(*GRAPHS, unknown=BOTH)
def kruskal_class(d):
    n = len(d)
    edges = [(d[i, j], i, j) for i in range(n) for j in range(i) if d[i, j] > 0]
    uf, total = UnionFind(n), 0.0
    for w, i, j in sorted(edges, key=operator.itemgetter(0)):
        if uf.union(i, j):
            total += w
    return total, uf.count


@on(*GRAPHS, unknown=BOTH)
def dijkstra_dense(d):
    n = d.shape[0]
    dist = dy2st.full([n], 1e9)
    if n:
        dist[0] = 0.0
    left = list(range(n))
    while left:
        u = min(left, key=lambda i: dist[i])
        left.remove(u)
        for v in left:
            if d[u, v] > 0 and dist[u] + d[u, v] < dist[v]:
                dist[v] = dist[u] + d[u, v]
    return dist


def neighbours(d, i):
    for j in range(d.shape[0]):
        if d[i, j] > 0:
            yield j, d[i, j]


@on(*GRAPHS, unknown=BOTH)
def bfs_with_parents(d):
    if d.shape[0] == 0:
        return {}, []
    parent, order = {0: None}, []
    queue = deque([0])
    while queue:
        u = queue.popleft()
        order.append(u)
        for v, _ in neighbours(d, u):
            if v not in parent:
                parent[v] = u
                queue.append(v)
    return parent, order


LATE = [[0.0, 5.0, 1.0, 0.0], [0.0, 0.0, 0.0, 9.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


@on(*GRAPHS, LATE, unknown=BOTH)
def a_star(d):
    n = d.shape[0]
    goal = n - 1

    def h(i):
        return 0.1 * abs(goal - i)

    open_, came, g = [(0.0, 0)], {}, {0: 0.0}
    closed = set()
    while open_:
        _, u = heapq.heappop(open_)
        if u == goal:
            break
        if u in closed:
            continue
        closed.add(u)
        for v, w in neighbours(d, u):
            score = g[u] + w
            if score < g.get(v, math.inf):
                g[v] = score
                came[v] = u
                heapq.heappush(open_, (score + h(v), v))
    else:
        return None
    steps = 0
    while u in came:
        u = came[u]
        steps += 1
    return g[goal], steps


@on(*GRAPHS, unknown=BOTH)
def bipartite(d):
    colour = {}
    for s in range(d.shape[0]):
        if s in colour:
            continue
        colour[s] = 0
        queue = [s]
        for u in queue:
            for v, _ in neighbours(d, u):
                if v not in colour:
                    colour[v] = 1 - colour[u]
                    queue.append(v)
                elif colour[v] == colour[u]:
                    return False
    return True


@on(*SERIES, unknown=ONE)
def segment_tree(x):
    n = len(x)
    size = 1
    while size < n:
        size *= 2
    tree = [math.inf] * (2 * size)
    for i, v in enumerate(x):
        tree[size + i] = v
    for i in range(size - 1, 0, -1):
        tree[i] = min(tree[2 * i], tree[2 * i + 1])

    def query(lo, hi):
        lo, hi, best = lo + size, hi + size, math.inf
        while lo < hi:
            if lo & 1:
                best = min(best, tree[lo])
                lo += 1
            if hi & 1:
                hi -= 1
                best = min(best, tree[hi])
            lo //= 2
            hi //= 2
        return best

    return query(0, n), query(n // 2, n)


@on(*SERIES, unknown=ONE)
def huffman_lengths(x):
    heap = [(v, i, (i,)) for i, v in enumerate(x)]
    heapq.heapify(heap)
    lengths = [0] * len(heap)
    while len(heap) > 1:
        a, i, left = heapq.heappop(heap)
        b, j, right = heapq.heappop(heap)
        for k in left + right:
            lengths[k] += 1
        heapq.heappush(heap, (a + b, min(i, j), left + right))
    return lengths


@on(*SERIES, unknown=ONE)
def nearest_before_each(x):
    near, kinds = defaultdict(set), {}
    for i in range(1, len(x)):
        for gap, j in sorted((abs(float(x[i] - x[j])), j) for j in range(i))[:2]:
            near[i].add(j)
            near[j].add(i)
            kinds[i, j] = "close" if gap < 2 else "far"
    hub = next((i for i in near if len(near[i]) > 2), None)
    return [(i, sorted(of)) for i, of in sorted(near.items())], list(kinds.values()), hub
