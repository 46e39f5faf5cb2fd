"""Detectors, trackers and augmentation, written with objects, dicts and generators."""

from __future__ import annotations

import collections
import heapq
from dataclasses import dataclass, field

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp
from tests.dy2st.model_code.suppression import overlap

BOXES = (
    [[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 5.0], [6.0, 6.0, 8.0, 8.0]],
    [[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.0], [0.0, 1.0, 4.0, 4.0]],
    [[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0], [4.0, 4.0, 5.0, 5.0]],
    [[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5]],
)
SCORES = ([0.9, 0.8, 0.7], [0.3, 0.9, 0.6], [0.2, 0.1, 0.3], [0.5, 0.6])
LABELS = ([0, 0, 1], [1, 0, 1], [2, 2, 2], [0, 1])
PAIRS = tuple(zip(BOXES, SCORES))
TRIPLES = tuple(zip(BOXES, SCORES, LABELS))
MANY = [[None, 4], [None]]
ALL = [[None, 4], [None], [None]]


@on(*TRIPLES, unknown=ALL)
def grouped_by_class(boxes, scores, labels):
    groups = collections.defaultdict(list)
    for box, score, label in zip(boxes, scores, labels):
        if score > 0.25:
            groups[int(label)].append((score, box))
    best = {label: max(found, key=lambda pair: pair[0]) for label, found in groups.items()}
    return {label: score for label, (score, _) in best.items()}


@on(*TRIPLES, unknown=ALL)
def suppressed_within_each_class(boxes, scores, labels):
    keep = []
    for label in range(3):
        inside = [i for i in range(len(scores)) if labels[i] == label and scores[i] > 0.15]
        inside.sort(key=lambda i: scores[i], reverse=True)
        while inside:
            first = inside.pop(0)
            keep.append(first)
            inside = [i for i in inside if overlap(boxes[first], boxes[i]) < 0.5]
    return keep


@on(*PAIRS, unknown=MANY)
def scores_and_boxes_unzipped(boxes, scores):
    found = [(s, b) for s, b in zip(scores, boxes) if s > 0.35]
    if not found:
        return dy2st.zeros([0]), dy2st.zeros([0, 4])
    kept_scores, kept_boxes = zip(*found)
    return dy2st.stack(list(kept_scores)), dy2st.stack(list(kept_boxes))


@on(*TRIPLES, unknown=ALL)
def classes_that_were_seen(boxes, scores, labels):
    seen = set()
    for score, label in zip(scores, labels):
        if score > 0.25:
            seen.add(int(label))
    return len(seen), 0 in seen, sorted(seen)


@on(*TRIPLES, unknown=ALL)
def one_box_for_each_class(boxes, scores, labels):
    best = {}
    for box, score, label in zip(boxes, scores, labels):
        label = label.item()
        if label not in best or score > best[label][0]:
            best[label] = (score, box)
    return {label: pair[1] for label, pair in sorted(best.items())}


@on(*TRIPLES, unknown=ALL)
def at_most_two_of_a_class(boxes, scores, labels):
    counts, keep = collections.Counter(), []
    for i in scores.argsort(descending=True).tolist():
        label = int(labels[i])
        if counts[label] >= 1:
            continue
        counts[label] += 1
        keep.append(i)
    return keep


@dataclass
class Track:
    """A box that is followed."""

    box: object
    age: int = 0
    hits: int = 1
    history: list = field(default_factory=list)

    def update(self, box):
        self.history.append(self.box)
        self.box = self.box * 0.5 + box * 0.5
        self.age, self.hits = 0, self.hits + 1

    @property
    def is_confirmed(self):
        return self.hits >= 2


FRAMES = tuple((a, b) for a, b in zip(BOXES[:3], BOXES[1:3] + BOXES[:1]))


@on(*FRAMES, unknown=[[None, 4], [None, 4]])
def tracks_of_two_frames(first, second):
    tracks = [Track(box) for box in first]
    for box in second:
        matched = None
        for track in tracks:
            if overlap(track.box, box) > 0.5:
                matched = track
                break
        if matched is not None:
            matched.update(box)
        else:
            tracks.append(Track(box))
    return [t.hits for t in tracks], sum(t.is_confirmed for t in tracks)


@on(*FRAMES, unknown=[[None, 4], [None, 4]])
def pairs_by_a_heap(first, second):
    candidates = []
    for i in range(len(first)):
        for j in range(len(second)):
            score = overlap(first[i], second[j])
            if score > 0.1:
                candidates.append((-score, i, j))
    used_a, used_b, pairs = set(), set(), []
    for _, i, j in sorted(candidates):
        if i in used_a or j in used_b:
            continue
        used_a.add(i)
        used_b.add(j)
        pairs.append((i, j))
    return pairs


@on(*SCORES, unknown=[[None]])
def three_largest_by_a_heap(scores):
    heap = []
    for i, score in enumerate(scores):
        heapq.heappush(heap, (score, i))
        if len(heap) > 2:
            heapq.heappop(heap)
    return sorted(heap, reverse=True)


@on(*SCORES, unknown=[[None]])
def largest_by_nlargest(scores):
    pairs = [(s, i) for i, s in enumerate(scores)]
    return [i for _, i in heapq.nlargest(2, pairs, key=lambda pair: pair[0])]


class Boxes:
    """Boxes with scores, as a container."""

    def __init__(self, boxes, scores):
        self.boxes, self.scores = boxes, scores

    def __len__(self):
        return self.boxes.shape[0]

    def __getitem__(self, item):
        return Boxes(self.boxes[item], self.scores[item])

    def __bool__(self):
        return len(self) > 0

    def area(self):
        return (self.boxes[:, 2:] - self.boxes[:, :2]).prod(1)

    @classmethod
    def join(cls, parts):
        return cls(dy2st.concat([p.boxes for p in parts]), dy2st.concat([p.scores for p in parts]))


@on(*PAIRS, unknown=MANY)
def container_of_boxes(boxes, scores):
    found = Boxes(boxes, scores)
    found = found[found.scores > 0.35]
    if not found:
        return dy2st.zeros([]), 0
    small, large = found[found.area() < 3.0], found[found.area() >= 3.0]
    both = Boxes.join([large, small])
    return both.scores.sum(), len(both)


@on(*PAIRS, unknown=MANY)
def results_as_a_dict_of_tensors(boxes, scores):
    result = {"boxes": boxes, "scores": scores}
    for threshold in (0.25, 0.5, 0.75):
        keep = result["scores"] > threshold
        if keep.sum() < 1:
            break
        result = {name: value[keep] for name, value in result.items()}
    result["count"] = len(result["scores"])
    return result


@on(*PAIRS, unknown=MANY)
def images_with_other_counts(boxes, scores):
    images = []
    for threshold in (0.2, 0.5, 0.85):
        keep = (scores > threshold).nonzero().flatten()
        images.append(boxes[keep] if len(keep) else dy2st.zeros([0, 4]))
    most = max(len(image) for image in images)
    padded = [nn.functional.pad(image, [0, 0, 0, most - len(image)]) for image in images]
    return dy2st.stack(padded), [len(image) for image in images]


def pyramid(x, least):
    """The image, and half of it, and so on."""
    yield x
    while x.shape[-1] > least:
        x = x[..., ::2]
        yield x


@on(ramp(2, 8), ramp(2, 8, start=1.0))
def pyramid_of_a_generator(x):
    levels = list(pyramid(x, 2))
    strongest = max(levels, key=lambda level: level.mean())
    return len(levels), strongest.sum()


@on(*PAIRS, unknown=MANY)
def stages_of_generators(boxes, scores):
    def confident(pairs, threshold):
        for box, score in pairs:
            if score >= threshold:
                yield box, score

    def large(pairs, area):
        for box, score in pairs:
            if (box[2] - box[0]) * (box[3] - box[1]) >= area:
                yield box, score

    kept = large(confident(zip(boxes, scores), 0.25), 2.0)
    return [score for _, score in kept]


@on(*PAIRS, unknown=MANY)
def best_by_generator_and_default(boxes, scores):
    good = (box for box, score in zip(boxes, scores) if score > 0.5)
    first = next(good, None)
    return boxes.mean(0) if first is None else first


AUGMENTED = (*(ramp(2, 4, start=start) for start in (-2.0, 1.0)), ramp(2, 4, step=2.0))
AUGMENTED += (ramp(2, 4, step=0.1),)


class Compose:
    """Transforms in a row, each with a condition."""

    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        applied = []
        for name, condition, step in self.steps:
            if condition(x):
                x = step(x)
                applied.append(name)
        return x, applied


@on(*AUGMENTED, unknown=[[None, 4]])
def transforms_that_were_applied(x):
    transform = Compose(
        ("flip", lambda x: x.mean() > 0, lambda x: x.flip([1])),
        ("scale", lambda x: x.max() > 4, lambda x: x / x.max()),
        ("shift", lambda x: x.min() < 0, lambda x: x - x.min()),
    )
    y, applied = transform(x)
    return y, len(applied), applied


@on(*AUGMENTED, unknown=[[None, 4]])
def rejected_crops_are_tried_again(x):
    for start, size in ((0, 2), (1, 2), (2, 2), (0, 4)):
        crop = x[:, start : start + size]
        if crop.std() < 1.0:
            continue
        return crop.mean(), start
    return x.mean(), -1


@on(*PAIRS, unknown=MANY)
def components_by_a_stack(boxes, scores):
    n = len(scores)
    group, count = [-1] * n, 0
    for start in range(n):
        if group[start] >= 0:
            continue
        stack = [start]
        while stack:
            i = stack.pop()
            if group[i] >= 0:
                continue
            group[i] = count
            for j in range(n):
                if group[j] < 0 and overlap(boxes[i], boxes[j]) > 0.1:
                    stack.append(j)
        count += 1
    return group, count
