"""Graphs, tokenisers, pictures and structures of data: what models carry besides their tensors."""

from __future__ import annotations

import copy
import heapq
import itertools
import math
import re
import string
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

GRAPHS = (
    [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]],
    [[0.0, 5.0, 0.0], [0.0, 0.0, 0.5], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]],
)
TEXTS = ([1, 2, 1, 2, 3], [3, 3, 3], [1, 2, 2, 1, 1, 2], [0])
EACH = [[None]]
VALUES = ([3.0, -1.0, 2.0, 2.0], [0.0, 0.0, 0.0], [-2.0, 5.0], [4.0, 3.0, 2.0, 1.0, 0.5])
BOXES = (
    [[0.0, 0.0, 2.0, 2.0, 0.9], [0.1, 0.0, 2.1, 2.0, 0.8], [5.0, 5.0, 6.0, 6.0, 0.3]],
    [[0.0, 0.0, 1.0, 1.0, 0.2], [3.0, 3.0, 4.0, 4.0, 0.7]],
    [[1.0, 1.0, 2.0, 2.0, 0.05]],
)
PICTURES = (ramp(4, 4), ramp(4, 4, step=0.2, start=-0.5), ramp(4, 4, period=5))


@on(*GRAPHS)
def page_rank(links, damping=0.85):
    n = links.shape[0]
    out = links.sum(1, keepdim=True)
    moves = dy2st.where(out > 0, links / (out + 1e-9), dy2st.full_like(links, 1 / n))
    rank = dy2st.full([n], 1 / n)
    for k in range(6):
        fresh = (1 - damping) / n + damping * (rank @ moves)
        change = (fresh - rank).abs().sum()
        rank = fresh
        if change < 1e-2:
            break
    return rank, k


@on(*GRAPHS)
def label_propagation(links):
    labels, rounds = list(range(3)), 0
    while rounds < 4:
        changed = False
        for node in range(3):
            votes = defaultdict(float)
            for other in range(3):
                if other != node:
                    votes[labels[other]] = votes[labels[other]] + links[node, other]
            best = max(sorted(votes), key=lambda name: votes[name])
            if votes[best] > 1.5 and best != labels[node]:
                labels[node] = best
                changed = True
        rounds += 1
        if not changed:
            break
    return rounds, len(labels)


@on(*GRAPHS)
def topological_order(links):
    degree = [int((links[:, k] > 0).sum()) for k in range(3)]
    ready = deque(k for k in range(3) if degree[k] == 0)
    order = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for other in range(3):
            if links[node, other] > 0:
                degree[other] -= 1
                if degree[other] == 0:
                    ready.append(other)
    return order, len(order) == 3


@on(*GRAPHS)
def shortest_with_a_path(links):
    best = {0: (0.0, (0,))}
    for _ in range(2):
        for u, v in itertools.permutations(range(3), 2):
            if u not in best or links[u, v] == 0:
                continue
            length, path = best[u]
            new = length + float(links[u, v])
            if v not in best or new < best[v][0]:
                best[v] = (new, (*path, v))
    return [best[k][0] if k in best else -1.0 for k in range(3)]


@on(*GRAPHS)
def messages_by_attention(links):
    nodes = dy2st.eye(3)
    for layer in range(2):
        fresh = []
        for i in range(3):
            near = [j for j in range(3) if links[i, j] > 0]
            if not near:
                fresh.append(nodes[i])
                continue
            scores = dy2st.stack([(nodes[i] * nodes[j]).sum() + links[i, j] for j in near])
            weights = F.softmax(scores, axis=0)
            fresh.append(sum(w * nodes[j] for w, j in zip(weights, near)))
        nodes = dy2st.stack(fresh) + 0.1 * layer
    return nodes


@on(*GRAPHS)
def has_a_cycle(links):
    colours = ["white"] * 3

    def visit(node):
        colours[node] = "grey"
        for other in range(3):
            if links[node, other] > 0:
                if colours[other] == "grey":
                    return True
                if colours[other] == "white" and visit(other):
                    return True
        colours[node] = "black"
        return False

    return any(colours[k] == "white" and visit(k) for k in range(3))


@on(*GRAPHS)
def bipartite_or_not(links):
    side = [None] * 3
    side[0] = 0
    for _ in range(3):
        for i in range(3):
            for j in range(3):
                if links[i, j] > 0 and side[i] is not None:
                    if side[j] is None:
                        side[j] = 1 - side[i]
                    elif side[j] == side[i]:
                        return "odd", (i, j)
    return "even", None


class Pair(NamedTuple):
    left: int
    right: int


@on(*TEXTS, unknown=EACH)
def pairs_merged(codes, merges=((1, 2), (4, 4))):
    ranks = {Pair(*pair): k for k, pair in enumerate(merges)}
    words = codes.tolist()
    while len(words) > 1:
        found = [
            (ranks.get(Pair(a, b), math.inf), k) for k, (a, b) in enumerate(zip(words, words[1:]))
        ]
        rank, place = min(found)
        if rank == math.inf:
            break
        words[place : place + 2] = [4 + rank]
    return words


@on(*TEXTS)
def word_pieces(codes):
    names = string.ascii_lowercase[:4]
    known = {"a": 0, "b": 1, "bc": 2, "d": 3, "bb": 4}
    lengths = sorted({len(piece) for piece in known}, reverse=True)
    text = "".join(itertools.islice(itertools.cycle(names), len(codes)))
    pieces, place = [], 0
    while place < len(text):
        size = next((n for n in lengths if text[place : place + n] in known), 1)
        pieces.append(known.get(text[place : place + size], -1))
        place += max(size, 1)
    return codes.sum() + len(pieces), pieces


@on(*TEXTS, unknown=EACH)
def counts_of_pairs(codes):
    counts = dy2st.zeros([5, 5], dtype="int64")
    for a, b in itertools.pairwise(codes):
        counts[a, b] += 1
    best = counts.argmax()
    return counts.sum(), divmod(int(best), 5) if counts.max() > 0 else None


@on(*TEXTS, unknown=EACH)
def special_tokens_around(codes, most=4):
    ids = [101, *codes.tolist()[: most - 2], 102]
    mask = [1] * len(ids)
    ids += [0] * (most - len(ids))
    mask.extend([0] * (most - len(mask)))
    return dy2st.to_tensor(ids), dy2st.to_tensor(mask)


@on(*TEXTS, unknown=EACH)
def state_of_a_tokeniser(codes):
    class Mode(Enum):
        TEXT = auto()
        NUMBER = auto()

    mode, tokens, current = Mode.TEXT, [], 0
    for c in codes.tolist():
        if c >= 2:
            current = current * 10 + c
            mode = Mode.NUMBER
            continue
        if mode is Mode.NUMBER:
            tokens.append(current)
            current = 0
        mode = Mode.TEXT
        tokens.append(-c)
    if mode is Mode.NUMBER:
        tokens.append(current)
    return tokens


@on(*VALUES, unknown=EACH)
def template_of_a_prompt(x):
    text = string.Template("$name: ${count}").substitute(name="x", count=2)
    parts = re.split(r":\s*", text)
    return x * int(parts[1]), parts[0], f"{parts[0]!r:>5}"


@on(*BOXES, unknown=[[None, 5]])
def boxes_voted(boxes, threshold=0.1):
    def overlap(a, b):
        low, high = dy2st.maximum(a[:2], b[:2]), dy2st.minimum(a[2:4], b[2:4])
        inter = (high - low).clip(min=0).prod()
        sizes = [(one[2:4] - one[:2]).prod() for one in (a, b)]
        return inter / (sum(sizes) - inter)

    left = [box for box in boxes if box[4] > threshold]
    out = []
    while left:
        best = max(left, key=lambda box: box[4])
        group = [box for box in left if overlap(best, box) > 0.5]
        left = [box for box in left if overlap(best, box) <= 0.5]
        weight = sum(box[4] for box in group)
        out.append(sum(box[:4] * box[4] for box in group) / weight)
    return len(out), out


@on(*BOXES[:2])
def suppressed_softly_by_a_matrix(boxes):
    order = boxes[:, 4].argsort(descending=True)
    boxes = boxes[order]
    low = dy2st.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = dy2st.minimum(boxes[:, None, 2:4], boxes[None, :, 2:4])
    inter = (high - low).clip(min=0).prod(-1)
    scores = boxes[:, 4].clone()
    for j in range(1, boxes.shape[0]):
        decay = min((1 - inter[i, j] / 8 for i in range(j)), default=1.0)
        if decay < 0.9:
            scores[j] = scores[j] * decay
    return scores, order


@on(*PICTURES)
def components_by_union(picture):
    mask = picture > 0
    parent = {(r, c): (r, c) for r in range(3) for c in range(3)}

    def find(cell):
        return cell if parent[cell] == cell else find(parent[cell])

    joins = 0
    for (r, c), (dr, dc) in itertools.product(list(parent), ((0, 1), (1, 0))):
        other = (r + dr, c + dc)
        if other in parent and mask[r, c] == mask[other]:
            joins += 1
    return joins, find((2, 2))


@on(*PICTURES)
def lines_of_hough(picture):
    votes = Counter()
    for r, c in itertools.product(range(4), repeat=2):
        if picture[r, c] < 1.5:
            continue
        for name, place in (("row", r), ("column", c), ("diagonal", r - c)):
            votes[name, place] += 1
    most = max(votes.values(), default=0)
    return most, sum(votes.values())


@on(*PICTURES)
def line_by_consensus(picture):
    points = picture[:, :2]
    best, best_count = None, -1
    for i, j in itertools.combinations(range(4), 2):
        run = points[j, 0] - points[i, 0]
        slope = (points[j, 1] - points[i, 1]) / run if run.abs() > 1e-6 else run * 0
        off = points[i, 1] - slope * points[i, 0]
        count = ((slope * points[:, 0] + off - points[:, 1]).abs() < 0.5).astype("int64").sum()
        if count > best_count:
            best, best_count = (slope, off), count
    return best, best_count


@on(*PICTURES)
def quadtree(picture):
    leaves = []

    def divide(part, depth):
        if part.shape[0] == 1 or part.std() < 1.0:
            leaves.append((depth, part.mean()))
            return 1
        half = part.shape[0] // 2
        quarters = [part[r : r + half, c : c + half] for r in (0, half) for c in (0, half)]
        return sum(divide(quarter, depth + 1) for quarter in quarters)

    count = divide(picture, 0)
    return count, max(depth for depth, _ in leaves), sum(value for _, value in leaves)


@on(*PICTURES)
def seams_of_least_energy(picture):
    energy = (picture[:, 1:] - picture[:, :-1]).abs()
    costs = [list(energy[0])]
    for row in energy[1:]:
        last = costs[-1]
        costs.append([e + min(last[max(k - 1, 0) : k + 2]) for k, e in enumerate(row)])
    k = int(dy2st.stack(costs[-1]).argmin())
    return min(costs[-1]), k


@on(*PICTURES)
def histogram_and_threshold(picture, bins=4):
    low, high = picture.min(), picture.max()
    places = ((picture - low) / (high - low + 1e-6) * bins).floor().astype("int64")
    counts = [int((places == b).sum()) for b in range(bins)]
    total, best, best_between = sum(counts), 0, -1.0
    for cut in range(1, bins):
        left = sum(counts[:cut])
        means = [
            sum(b * n for b, n in part) / max(sum(n for _, n in part), 1)
            for part in (list(enumerate(counts))[:cut], list(enumerate(counts))[cut:])
        ]
        between = left * (total - left) * (means[0] - means[1]) ** 2
        if between > best_between:
            best, best_between = cut, between
    return best, counts


class Ring:
    """A ring of numbers with the methods of a sequence."""

    def __init__(self, size):
        self.size, self.held = size, []

    def __iadd__(self, value):
        self.held.append(value)
        if len(self.held) > self.size:
            del self.held[0]
        return self

    def __getitem__(self, place):
        return self.held[place % len(self.held)]

    def __len__(self):
        return len(self.held)

    def __bool__(self):
        return len(self.held) == self.size

    def __reversed__(self):
        return iter(self.held[::-1])


@on(*VALUES, unknown=EACH)
def ring_of_the_last(x):
    ring, full = Ring(2), 0
    for v in x:
        ring += v
        if ring:
            full += 1
    return ring[-1] + ring[2], full, list(reversed(ring))


class Lru(OrderedDict):
    """A dict that forgets."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        while len(self) > self.size:
            self.popitem(last=False)


@on([1, 2, 1, 3, 4], [2, 2, 2, 2, 2], [5, 4, 3, 2, 1])
def least_recently_used(keys, size=2):
    cache, hits = Lru(size), 0
    for place in range(5):
        name = f"k{place % 3}"
        hits += name in cache
        cache.put(name, keys[place] * 2)
    return list(cache), sum(cache.values()), hits


@on(*VALUES, unknown=EACH)
def heap_with_lazy_deletes(x):
    heap, gone = [], set()
    for k, v in enumerate(x.tolist()):
        heapq.heappush(heap, (v, k))
        if v < 0:
            gone.add(k)
    out = []
    while heap:
        v, k = heapq.heappop(heap)
        if k in gone:
            continue
        out.append(v)
    return out, len(gone)


@on(*VALUES, unknown=EACH)
def monotonic_stack(x):
    stack, following = [], [-1] * len(x)
    for k, v in enumerate(x):
        while stack and x[stack[-1]] < v:
            following[stack.pop()] = k
        stack.append(k)
    return following, len(stack)


@on(*VALUES, unknown=EACH)
def greatest_in_windows(x, size=2):
    window, out = deque(), []
    for k in range(len(x)):
        while window and x[window[-1]] <= x[k]:
            window.pop()
        window.append(k)
        if window[0] <= k - size:
            window.popleft()
        if k >= size - 1:
            out.append(x[window[0]])
    return out


@on(*VALUES, unknown=EACH)
def sorted_by_merging(x):
    def merged(values):
        if len(values) <= 1:
            return values
        half = len(values) // 2
        left, right = merged(values[:half]), merged(values[half:])
        out = []
        while left and right:
            out.append((left if left[0] <= right[0] else right).pop(0))
        return out + left + right

    return merged(x.tolist())


@on(*VALUES)
def chosen_list_by_enumerate(x):
    plans = {"up": [1.0, 2.0], "down": [3.0, 4.0, 5.0]}
    plan = plans["up"] if x.sum() > 2 else plans["down"]
    total = x.mean()
    for k, weight in enumerate(plan):
        total = total + weight * k
        if total > 12:
            break
    return total, len(plan)


@on(*VALUES)
def first_layers_that_fit(x):
    budget, chosen = x.abs().sum(), []
    costs = {"small": 1.0, "middle": 3.0, "large": 6.0}
    for name, cost in costs.items():
        if cost > budget:
            break
        budget = budget - cost
        chosen.append(name)
    else:
        return "all", budget
    return chosen[-1] if chosen else None, budget


@on(*VALUES)
def found_in_a_search(x):
    low = 0
    while low < len(x):
        if x[low] < 0:
            return {"place": low, "values": [v for v in x if v < 0]}
        if x[low] > 3.5:
            return [low, x[low]]
        low += 1
    return None


@dataclass
class Settings:
    """Settings that copies of a run may change."""

    sizes: list = field(default_factory=lambda: [1, 2])
    names: dict = field(default_factory=dict)


@on(*VALUES)
def settings_by_copies(x):
    base = Settings(names={"a": x.sum()})
    deep, shallow = copy.deepcopy(base), copy.copy(base)
    if x[0] > 0:
        shallow.sizes.append(3)
        deep.names["a"] = x.max()
    return base.sizes, deep.sizes, base.names["a"], deep.names["a"], shallow.names is base.names


class Vocabulary(UserDict):
    """Numbers of words, with one for those that are not there."""

    def __missing__(self, key):
        return self.data.get("<unk>", -1)


@on(*TEXTS)
def numbers_of_words(codes):
    vocabulary = Vocabulary({"<unk>": 7, "a": 1})
    numbers = [vocabulary[name] for name in ("a", "b", "<unk>")]
    if codes.sum() > 5:
        vocabulary["b"] = 2
    return codes * vocabulary["b"], numbers


class GraphNet(nn.Layer):
    """Layers by name in a plain dict, and a cache of tables by size that lasts over calls."""

    def __init__(self):
        super().__init__()
        self.steps = nn.LayerDict({"in": nn.Linear(3, 3), "out": nn.Linear(3, 2)})
        self.tables = {}
        self.misses = 0

    def table(self, size):
        if size not in self.tables:
            self.misses += 1
            self.tables[size] = dy2st.arange(size, dtype="float32") / size
        return self.tables[size]

    def forward(self, links):
        hidden = links
        for name, layer in self.steps.items():
            hidden = layer(hidden)
            if name == "in" and hidden.mean() > 0:
                hidden = F.relu(hidden)
        return hidden + self.table(links.shape[0]).unsqueeze(-1), self.misses


on(*GRAPHS)(GraphNet)


@on(*VALUES[:1], VALUES[0], VALUES[2], VALUES[1])
class KeepsTheBest(nn.Layer):
    """Keeps the best inputs of all calls, in order, with the calls that they came from."""

    def __init__(self, most=2):
        super().__init__()
        self.best = []
        self.calls = 0
        self.most = most

    def forward(self, x):
        self.calls += 1
        self.best.append((float(x.sum()), self.calls))
        self.best.sort(key=lambda pair: -pair[0])
        del self.best[self.most :]
        return self.best[0][0], [call for _, call in self.best]


def flattened(tree) -> Iterable[Any]:
    match tree:
        case {"children": [*children], **rest}:
            yield rest.get("value", 0.0)
            for child in children:
                yield from flattened(child)
        case [*items]:
            for item in items:
                yield from flattened(item)
        case value:
            yield value


@on(*VALUES)
def tree_by_patterns(x):
    tree = {"value": x[0], "children": [x[1], {"children": [2.0], "value": x.sum()}]}
    values = list(flattened([tree, 1.0]))
    return values, sum(v for v in values if v > 0)


@on(*TEXTS, unknown=EACH)
def codes_by_huffman(codes):
    counts = Counter(codes.tolist())
    heap = [(n, [symbol]) for symbol, n in sorted(counts.items())]
    heapq.heapify(heap)
    length = 0
    while len(heap) > 1:
        (a, left), (b, right) = heapq.heappop(heap), heapq.heappop(heap)
        length += a + b
        heapq.heappush(heap, (a + b, left + right))
    return length, len(heap[0][1])
