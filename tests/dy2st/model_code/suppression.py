"""Non-maximum suppression and what else is done with boxes, with Python lists."""

from __future__ import annotations

from collections import namedtuple

import dy2st
from tests.dy2st.catalogue.entry import on

BOXES = (
    [[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [6.0, 6.0, 8.0, 8.0]],
    [[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.0], [0.0, 1.0, 4.0, 4.0]],
    [[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0], [4.0, 4.0, 5.0, 5.0]],
    [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5]],
)
SCORES = ([0.9, 0.8, 0.7], [0.3, 0.9, 0.6], [0.2, 0.1, 0.3], [0.5, 0.6])
PAIRS = tuple(zip(BOXES, SCORES))
MANY = [[None, 4], [None]]


def overlap(a, b):
    """Intersection over union of two boxes."""
    w = (dy2st.minimum(a[2], b[2]) - dy2st.maximum(a[0], b[0])).clip(0)
    h = (dy2st.minimum(a[3], b[3]) - dy2st.maximum(a[1], b[1])).clip(0)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return w * h / (area - w * h)


def overlaps(box, boxes):
    """The same of one box with many."""
    low = dy2st.maximum(box[:2], boxes[:, :2])
    high = dy2st.minimum(box[2:], boxes[:, 2:])
    both = (high - low).clip(0).prod(1)
    sizes = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return both / (sizes + (box[2:] - box[:2]).prod() - both)


@on(*PAIRS, unknown=MANY)
def kept_by_two_loops(boxes, scores):
    keep = []
    for i in scores.argsort(descending=True):
        is_free = True
        for j in keep:
            if overlap(boxes[i], boxes[j]) > 0.3:
                is_free = False
                break
        if is_free:
            keep.append(i)
    return keep


@on(*PAIRS, unknown=MANY)
def kept_by_a_shrinking_order(boxes, scores):
    order, keep = scores.argsort(descending=True), []
    while order.numel() > 0:
        first = order[0]
        keep.append(first)
        rest = order[1:]
        order = rest[overlaps(boxes[first], boxes[rest]) <= 0.3]
    return dy2st.stack(keep)


@on(*PAIRS, unknown=MANY)
def kept_by_a_list_that_empties(boxes, scores):
    left = sorted(range(len(scores)), key=lambda i: scores[i], reverse=True)
    keep = []
    while left:
        best = left.pop(0)
        keep.append(best)
        left = [i for i in left if overlap(boxes[best], boxes[i]) < 0.3]
    return keep


@on(*PAIRS, unknown=MANY)
def kept_by_a_mask(boxes, scores):
    n = scores.shape[0]
    alive = dy2st.ones([n], "bool")
    order = scores.argsort(descending=True)
    for k in range(n):
        i = order[k]
        if alive[i]:
            near = overlaps(boxes[i], boxes) > 0.3
            near[i] = False
            alive = dy2st.logical_and(alive, ~near)
    return alive


@on(*PAIRS, unknown=MANY)
def scores_decayed_softly(boxes, scores):
    scores, kept = scores * 1.0, []
    for _ in range(2):
        top = scores.argmax()
        if scores[top] < 0.25:
            break
        kept.append((top, scores[top]))
        scores = scores * (1 - overlaps(boxes[top], boxes))
    return kept


@on(*PAIRS, unknown=MANY)
def filtered_before(boxes, scores):
    found = []
    for box, score in zip(boxes, scores):
        if score > 0.4:
            found.append(dy2st.concat([box, score.reshape([1])]))
    if not found:
        return dy2st.zeros([0, 5])
    return dy2st.stack(found)


Detection = namedtuple("Detection", "box score label")


@on(*PAIRS, unknown=MANY)
def best_detection_as_a_namedtuple(boxes, scores):
    best = Detection(boxes[0], scores[0], 0)
    for i in range(1, scores.shape[0]):
        if scores[i] > best.score:
            best = Detection(boxes[i], scores[i], i)
    return best


@on(*PAIRS, unknown=MANY)
def detections_in_a_list(boxes, scores):
    found = [Detection(b, s, i) for i, (b, s) in enumerate(zip(boxes, scores)) if s > 0.25]
    return [d.label for d in found], len(found)


@on(*(pair for pair in PAIRS if len(pair[1]) > 2))
def classes_apart(boxes, scores):
    results = {}
    for label, rows in {"odd": [1], "even": [0, 2]}.items():
        if scores[rows[0]] > 0.5:
            results[label] = [boxes[r] for r in rows if scores[r] > 0.2]
    return {label: len(kept) for label, kept in results.items()}


@on(*PAIRS, unknown=MANY)
def merged_by_weights(boxes, scores):
    merged, weight = scores[0] * boxes[0], scores[0]
    for i in range(1, scores.shape[0]):
        if overlap(boxes[0], boxes[i]) > 0.3:
            merged = merged + scores[i] * boxes[i]
            weight = weight + scores[i]
    return merged / weight


@on(*PAIRS, unknown=MANY)
def clusters_of_boxes(boxes, scores):
    clusters = []
    for i in range(boxes.shape[0]):
        for cluster in clusters:
            if overlap(boxes[i], boxes[cluster[0]]) > 0.3:
                cluster.append(i)
                break
        else:
            clusters.append([i])
    return clusters


@on(*PAIRS, unknown=MANY)
def most_that_are_kept(boxes, scores):
    keep = []
    for i in scores.argsort(descending=True):
        if len(keep) >= 2:
            break
        if scores[i] > 0.25:
            keep.append(int(i))
    return keep


@on(*zip(BOXES[:3], BOXES[1:3] + BOXES[:1]), unknown=[[None, 4], [None, 4]])
def greedy_matching(truths, found):
    used, matches = [False] * len(found), []
    for i, truth in enumerate(truths):
        best, where = 0.1, -1
        for j, box in enumerate(found):
            value = overlap(truth, box)
            if not used[j] and value > best:
                best, where = value, j
        if where >= 0:
            used[where] = True
            matches.append((i, where))
    return matches


@on(*BOXES, unknown=[[None, 4]])
def smallest_box_around(boxes):
    x1, y1, x2, y2 = boxes[0]
    for box in boxes[1:]:
        if (box[2] - box[0]) * (box[3] - box[1]) > 1:
            x1, y1 = min(x1, box[0]), min(y1, box[1])
            x2, y2 = max(x2, box[2]), max(y2, box[3])
    return dy2st.stack([x1, y1, x2, y2])


@on(*BOXES, unknown=[[None, 4]])
def levels_by_area(boxes):
    levels = [[] for _ in range(3)]
    for i, box in enumerate(boxes):
        area = (box[2] - box[0]) * (box[3] - box[1])
        if area < 2:
            levels[0].append(i)
        elif area < 10:
            levels[1].append(i)
        else:
            levels[2].append(i)
    return [len(level) for level in levels]


@on(*PAIRS, unknown=MANY)
def none_where_nothing_is_found(boxes, scores):
    best = None
    for box, score in zip(boxes, scores):
        if score > 0.55 and (best is None or score > best[1]):
            best = (box, score)
    if best is None:
        return None
    return best[0]
