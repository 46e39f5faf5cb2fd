"""Accuracies, curves, matches and distances, counted as scripts count them."""

from __future__ import annotations

import dy2st
from tests.dy2st.catalogue.entry import on

LABELS = (
    ([1, 0, 2, 1], [1, 1, 2, 0]),
    ([0, 0, 0, 0], [1, 1, 1, 1]),
    ([2, 2, 1, 0], [2, 2, 1, 0]),
    ([1, 0], [0, 0]),
)
BOTH = [[None], [None]]
SCORED = (
    ([0.9, 0.2, 0.7, 0.4], [1, 0, 0, 1]),
    ([0.1, 0.9, 0.8, 0.3], [1, 0, 0, 0]),
    ([0.5, 0.6, 0.5, 0.1], [1, 1, 1, 1]),
    ([0.3, 0.2], [0, 1]),
)


@on(*LABELS, unknown=BOTH)
def accuracy_by_counting(found, truth):
    right = 0
    for a, b in zip(found, truth):
        if a == b:
            right += 1
    return right / len(truth)


@on(*LABELS, unknown=BOTH)
def accuracy_by_a_generator(found, truth):
    return sum(bool(a == b) for a, b in zip(found, truth)) / found.shape[0]


@on(*LABELS, unknown=BOTH)
def confusion_in_lists(found, truth):
    table = [[0] * 3 for _ in range(3)]
    for a, b in zip(found, truth):
        table[int(b)][int(a)] += 1
    return table


@on(*LABELS, unknown=BOTH)
def confusion_in_a_tensor(found, truth):
    table = dy2st.zeros([3, 3], "int64")
    for a, b in zip(found, truth):
        table[b, a] += 1
    return table


@on(*LABELS, unknown=BOTH)
def precision_and_recall(found, truth):
    tp = fp = fn = 0
    for a, b in zip(found, truth):
        if a == 1 and b == 1:
            tp += 1
        elif a == 1:
            fp += 1
        elif b == 1:
            fn += 1
    precision = tp / (tp + fp) if tp + fp > 0 else 0.0
    recall = tp / (tp + fn) if tp + fn > 0 else 0.0
    return precision, recall


@on(*LABELS, unknown=BOTH)
def f1_or_zero(found, truth):
    hits = ((found == 1) & (truth == 1)).sum().astype("float32")
    precision = hits / max(int((found == 1).sum()), 1)
    recall = hits / max(int((truth == 1).sum()), 1)
    if precision + recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


@on(*LABELS, unknown=BOTH)
def recall_by_class_in_a_dict(found, truth):
    recalls = {}
    for c in range(3):
        mask = truth == c
        if mask.any():
            recalls[c] = (found[mask] == c).astype("float32").mean()
    return recalls


@on(*LABELS, unknown=BOTH)
def mean_of_the_classes_that_occur(found, truth):
    values = []
    for c in range(3):
        union = ((found == c) | (truth == c)).sum()
        if union > 0:
            values.append(((found == c) & (truth == c)).sum() / union)
    return sum(values) / len(values)


@on(*SCORED, ([0.9, 0.2, 0.9, 0.4], [1, 0, 0, 1]), unknown=BOTH)
def area_by_pairs(scores, labels):
    wins = pairs = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] == 1 and labels[j] == 0:
                pairs += 1
                if scores[i] > scores[j]:
                    wins += 1
                elif scores[i] == scores[j]:
                    wins += 0.5
    return wins / pairs if pairs else 0.5


@on(*SCORED, unknown=BOTH)
def average_precision(scores, labels):
    hits, total = 0, 0.0
    for rank, i in enumerate(scores.argsort(descending=True), start=1):
        if labels[i] == 1:
            hits += 1
            total += hits / rank
    return total / max(hits, 1)


@on(*SCORED, unknown=BOTH)
def best_threshold(scores, labels):
    best, where = -1.0, None
    for t in (0.25, 0.5, 0.75):
        value = ((scores > t).astype("int64") == labels).astype("float32").mean()
        if value > best:
            best, where = value, t
    return best, where


@on(*SCORED, ([0.9, 0.2, 0.7, 0.4], [0, 0, 0, 0]), unknown=BOTH)
def first_hit(scores, labels):
    order = scores.argsort(descending=True)
    for rank, i in enumerate(order):
        if labels[i] > 0:
            return 1 / (rank + 1)
    return 0.0


@on(*SCORED, unknown=BOTH)
def calibration_in_bins(scores, labels):
    bins = [[] for _ in range(2)]
    for s, y in zip(scores, labels):
        bins[0 if s < 0.5 else 1].append((s, y))
    error = 0.0
    for held in bins:
        if held:
            confidence = sum(s for s, _ in held) / len(held)
            right = sum(int(y) for _, y in held) / len(held)
            error += abs(confidence - right) * len(held) / len(scores)
    return error


@on(*LABELS, unknown=BOTH)
def matching_ngrams(found, truth):
    wanted = [(int(truth[i]), int(truth[i + 1])) for i in range(len(truth) - 1)]
    hits = 0
    for i in range(len(found) - 1):
        pair = (int(found[i]), int(found[i + 1]))
        if pair in wanted:
            wanted.remove(pair)
            hits += 1
    return hits


@on(*LABELS, unknown=BOTH)
def positions_that_differ(found, truth):
    wrong = [i for i, (a, b) in enumerate(zip(found, truth)) if a != b]
    first = wrong[0] if wrong else None
    return {"count": len(wrong), "first": first}


@on(*SCORED, unknown=BOTH)
def dice_or_one_if_empty(scores, labels):
    mask = (scores > 0.85).astype("int64")
    total = int(mask.sum() + labels.sum())
    return 1.0 if total == 0 else 2 * int((mask * labels).sum()) / total


@on(*SCORED, unknown=BOTH)
def margin_of_the_hardest(scores, labels):
    hardest = None
    for s, y in zip(scores, labels):
        margin = s - 0.5 if y == 1 else 0.5 - s
        hardest = margin if hardest is None else min(hardest, margin)
    return hardest


@on(*LABELS, unknown=BOTH)
def votes_of_the_majority(found, truth):
    votes = {0: 0, 1: 0, 2: 0}
    for a in found:
        for label in votes:
            if a == label:
                votes[label] += 1
    winner = max(votes, key=votes.get)
    return (truth == winner).sum(), votes


@on([[0.1, 0.9], [0.8, 0.3]], [[0.5, 0.4], [0.3, 0.2]], [[0.9, 0.1], [0.1, 0.9]])
def assignment_by_trying_all(cost):
    best, pick = None, ()
    for order in ((0, 1), (1, 0)):
        total = cost[0, order[0]] + cost[1, order[1]]
        if best is None or total < best:
            best, pick = total, order
    return best, pick
