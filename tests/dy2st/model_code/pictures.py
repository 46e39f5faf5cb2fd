"""Pictures and scores of texts: components, boxes, histograms, edits, merges."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
ROWS = [[None, None]]

PAIRS = (
    (np.array([1, 2, 3, 4]), np.array([1, 3, 4])),
    (np.array([5]), np.array([5])),
    (np.array([2, 2, 2]), np.array([2])),
    (np.array([1, 2]), np.array([3, 4, 5, 6])),
)


TOKENS = (np.array([1, 2, 1, 2, 3]), np.array([7]), np.array([4, 4, 4, 4]), np.array([1, 2]))


MASKS = (
    np.array([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]]),
    np.array([[1]]),
    np.array([[1, 0], [0, 1]]),
    np.zeros((2, 3), dtype="int64"),
)


PICTURES = (
    np.array([[0.1, 0.5, 0.9], [0.2, 0.5, 0.8], [0.0, 1.0, 0.3]], dtype="float32"),
    np.array([[0.4]], dtype="float32"),
    np.array([[0.2, 0.2], [0.9, 0.1]], dtype="float32"),
)


@on(*PAIRS, unknown=[[None], [None]])
def script_of_edits(a, b):
    n, m = len(a), len(b)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d[i][j] = min(
                d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + int(a[i - 1] != b[j - 1])
            )
    ops = []
    i, j = n, m
    while i > 0 or j > 0:
        if i > 0 and d[i][j] == d[i - 1][j] + 1:
            ops.append("del")
            i -= 1
        elif j > 0 and d[i][j] == d[i][j - 1] + 1:
            ops.append("ins")
            j -= 1
        else:
            ops.append("keep" if a[i - 1] == b[j - 1] else "sub")
            i -= 1
            j -= 1
    return ops[::-1]


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@on(*PAIRS, unknown=[[None], [None]])
def overlap_of_ngrams(hyp, ref, order=2):
    hyp, ref = hyp.tolist(), ref.tolist()
    logs = []
    for n in range(1, order + 1):
        h, r = Counter(ngrams(hyp, n)), Counter(ngrams(ref, n))
        overlap = sum(min(c, r[g]) for g, c in h.items())
        total = sum(h.values())
        if overlap == 0 or total == 0:
            return 0.0
        logs.append(math.log(overlap / total))
    bp = 1.0 if len(hyp) >= len(ref) else math.exp(1 - len(ref) / len(hyp))
    return bp * math.exp(sum(logs) / order)


@on(*TOKENS, unknown=EACH)
def merged_pairs_by_name(tokens, merges=2):
    seq = tokens.tolist()
    names = {}
    for k in range(merges):
        pairs = Counter(zip(seq, seq[1:]))
        if not pairs:
            break
        (a, b), count = pairs.most_common(1)[0]
        if count < 2:
            break
        new = 100 + k
        names[new] = (a, b)
        out = []
        i = 0
        while i < len(seq):
            if i + 1 < len(seq) and seq[i] == a and seq[i + 1] == b:
                out.append(new)
                i += 2
            else:
                out.append(seq[i])
                i += 1
        seq = out
    return seq, names


@on(*MASKS, np.array([[0, 1], [1, 1]]), unknown=ROWS)
def labels_in_two_passes(img):
    h, w = img.shape
    parent = [0]

    def find(k):
        while parent[k] != k:
            k = parent[k]
        return k

    labels = [[0] * w for _ in range(h)]
    for r in range(h):
        for c in range(w):
            if img[r, c] == 0:
                continue
            up = labels[r - 1][c] if r else 0
            left = labels[r][c - 1] if c else 0
            if up == 0 and left == 0:
                parent.append(len(parent))
                labels[r][c] = len(parent) - 1
            elif up and left:
                a, b = find(up), find(left)
                labels[r][c] = min(a, b)
                parent[max(a, b)] = min(a, b)
            else:
                labels[r][c] = up or left
    return [[find(v) if v else 0 for v in row] for row in labels]


BOXES = (
    np.array([[0, 0, 2, 2, 0.9], [0.1, 0, 2, 2, 0.8], [3, 3, 4, 4, 0.7]], dtype="float32"),
    np.array([[0, 0, 1, 1, 0.2]], dtype="float32"),
    np.zeros((0, 5), dtype="float32"),
    np.array([[0, 0, 1, 1, 0.2], [0, 0, 1, 1, 0.6]], dtype="float32"),
)


def iou(a, b):
    w = (dy2st.minimum(a[2], b[2]) - dy2st.maximum(a[0], b[0])).clip(min=0)
    h = (dy2st.minimum(a[3], b[3]) - dy2st.maximum(a[1], b[1])).clip(min=0)
    inter = w * h
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter + 1e-06)


@on(*BOXES, unknown=ROWS)
def suppressed_by_lists(boxes, threshold=0.5):
    order = sorted(range(boxes.shape[0]), key=lambda i: -boxes[i, 4])
    keep = []
    while order:
        i = order.pop(0)
        keep.append(i)
        order = [j for j in order if iou(boxes[i], boxes[j]) <= threshold]
    return keep, boxes[keep] if keep else None


@on(*BOXES, unknown=ROWS)
def boxes_fused_by_weight(boxes):
    clusters = []
    for b in boxes:
        for cluster in clusters:
            if iou(cluster[0], b) > 0.5:
                cluster.append(b)
                break
        else:
            clusters.append([b])
    fused = []
    for cluster in clusters:
        weight = sum(b[4] for b in cluster)
        fused.append(sum(b[:4] * b[4] for b in cluster) / weight)
    return fused, [len(c) for c in clusters]


@on(*PICTURES, unknown=ROWS)
def threshold_of_otsu(img, levels=8):
    hist = [0] * levels
    for v in img.reshape([-1]):
        hist[min(int(v * levels), levels - 1)] += 1
    total = sum(hist)
    mean = sum(i * h for i, h in enumerate(hist))
    w0 = s0 = 0
    best = (-1.0, 0)
    for t, h in enumerate(hist):
        w0 += h
        s0 += t * h
        w1 = total - w0
        if w0 == 0:
            continue
        if w1 == 0:
            break
        between = w0 * w1 * (s0 / w0 - (mean - s0) / w1) ** 2
        best = max(best, (between, t))
    return best[1], (img > (best[1] + 1) / levels).astype("int64")


@on(*PICTURES, unknown=ROWS)
def dithered(img):
    h, w = img.shape
    img = img.clone()
    dots = 0
    for y in range(h):
        for x in range(w):
            old = img[y, x].clone()
            new = 1.0 if old > 0.5 else 0.0
            dots += int(new)
            err = old - new
            img[y, x] = new
            for dy, dx, k in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
                if y + dy < h and 0 <= x + dx < w:
                    img[y + dy, x + dx] += err * k / 16
    return img, dots


@on(
    [[0.0, 0.0], [1.0, 0.0], [0.9, 0.2], [3.0, 3.0]],
    [[1.0, 2.0], [1.0, 2.5]],
    [[0.0, 0.0], [0.0, 2.0], [5.0, 1.0]],
    unknown=[[None, 2]],
)
def neighbours_in_a_ball(cloud, radius=1.5, most=2):
    table = []
    for place in range(2):
        found = []
        for other, point in enumerate(cloud):
            if other != place and ((cloud[place] - point) ** 2).sum() <= radius**2:
                found.append(other)
                if len(found) == most:
                    break
        table.append(found + [place] * (most - len(found)))
    return dy2st.to_tensor(table)


@on(*PICTURES, unknown=ROWS)
def basins_and_ridges(img):
    h, w = img.shape
    labels, basins, ridges = {}, 0, []
    for i, j in sorted(itertools.product(range(h), range(w)), key=lambda p: float(img[p])):
        beside = ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
        around = {labels[p] for p in beside if p in labels} - {0}
        if len(around) > 1:
            labels[i, j] = 0
            ridges.append((i, j))
        elif around:
            (labels[i, j],) = around
        else:
            basins += 1
            labels[i, j] = basins
    return basins, ridges, [labels[p] for p in sorted(labels)]


LINES = (
    np.array([[0.0, 0.0], [1.0, 0.1], [2.0, -0.1], [3.0, 5.0], [4.0, 6.0]], dtype="float32"),
    np.array([[0.0, 0.0], [1.0, 1.0]], dtype="float32"),
)


@on(*LINES, unknown=[[None, 2]])
def douglas_peucker(line):
    def distance(p, a, b):
        ab = b - a
        return abs(ab[0] * (p[1] - a[1]) - ab[1] * (p[0] - a[0])) / ab.norm()

    def simplify(first, last):
        worst, index = 0.0, None
        for i in range(first + 1, last):
            d = float(distance(line[i], line[first], line[last]))
            if d > worst:
                worst, index = d, i
        if index is None or worst <= 1.0:
            return [first, last]
        return simplify(first, index)[:-1] + simplify(index, last)

    keep = simplify(0, len(line) - 1)
    return line[dy2st.to_tensor(keep)], keep, [*zip(keep, keep[1:])]


@on(*LINES, unknown=[[None, 2]])
def convex_hull(points):
    pts = sorted(map(tuple, points.tolist()))

    def is_left(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) > (a[1] - o[1]) * (b[0] - o[0])

    def half(sequence):
        chain = []
        for p in sequence:
            while len(chain) >= 2 and not is_left(chain[-2], chain[-1], p):
                chain.pop()
            chain.append(p)
        return chain[:-1]

    hull = half(pts) + half(reversed(pts))
    return dy2st.to_tensor(hull), sum(math.dist(a, b) for a, b in zip(hull, hull[1:] + hull[:1]))
