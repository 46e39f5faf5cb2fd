"""Batches: grouped, packed, padded, collated, unzipped, and handed on as arguments."""

from __future__ import annotations

import collections
import itertools

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, 3.0, 2.0, 2.0], [-1.0, -3.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 1.0])
EACH = [[None]]
ROWS = ([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]], [[-1.0, -2.0], [0.0, 0.0], [2.0, 2.0]])
MANY = [[None, 2]]


@on(*VALUES, unknown=EACH)
def sentences_at_separators(x):
    sentences, sentence = [], []
    for token in x:
        if token == 0:
            if sentence:
                sentences.append(sentence)
            sentence = []
        else:
            sentence.append(token)
    if sentence:
        sentences.append(sentence)
    return [len(one) for one in sentences], sentences


@on(*VALUES, unknown=EACH)
def micro_batches_by_budget(x):
    batches, batch, cost = [], [], 0.0
    for v in x:
        if batch and cost + v > 4:
            batches.append(batch)
            batch, cost = [], 0.0
        batch.append(v)
        cost = cost + v
    batches.append(batch)
    return [sum(batch) for batch in batches]


@on(*VALUES, unknown=EACH)
def runs_of_one_sign(x):
    runs = []
    for sign, members in itertools.groupby(x.tolist(), key=lambda v: v > 0):
        members = list(members)
        runs.append((sign, len(members), sum(members)))
    return runs


@on(*VALUES, [2.0], [-2.0], unknown=EACH)
def positive_runs(x):
    runs = itertools.groupby(v > 0 for v in x)
    return [list(members) for is_positive, members in runs if is_positive]


@on(*VALUES, unknown=EACH)
def collapsed_as_ctc(x):
    best = [int(v) for v in x]
    return [label for label, _ in itertools.groupby(best) if label > 0]


@on(*VALUES, unknown=EACH)
def run_length_encoding(x):
    return [(key, sum(1 for _ in group)) for key, group in itertools.groupby(x.tolist())]


@on(*ROWS, [[-1.0, -2.0], [-3.0, 1.0]], unknown=MANY)
def kept_rows_unzipped(x):
    kept = [(row, row.sum(), i) for i, row in enumerate(x) if row.sum() > 0]
    if not kept:
        return dy2st.zeros([0, 2]), dy2st.zeros([0]), []
    rows, sums, places = zip(*kept)
    return dy2st.stack(list(rows)), dy2st.stack(list(sums)), list(places)


@on(*ROWS, unknown=MANY)
def columns_of_kept_rows(x):
    kept = [(row[0], row[1]) for row in x if row[0] >= 0]
    return [sum(column) / len(column) for column in zip(*kept)]


@on(*ROWS, [[-1.0, -2.0], [-3.0, 1.0]], unknown=MANY)
def lists_of_kept_rows(x):
    kept = [(row[0], row[1]) for row in x if row[0] >= 0]
    if kept:
        first, second = map(list, zip(*kept))
    else:
        first, second = [], []
    return first, second


@on(*VALUES, unknown=EACH)
def positional_rest(x):
    def weighted(first, *others, scale=1.0):
        total = first
        for k, other in enumerate(others):
            total = total + other * scale ** (k + 1)
        return total

    return weighted(x.sum(), *[v for v in x if v > 0.5], scale=0.5)


@on(*VALUES, unknown=EACH)
def largest_of_a_star(x):
    positive = [float(v) for v in x if v > 0]
    return max(0.0, *positive, 0.5)


@on(*VALUES, unknown=EACH)
def concatenated_by_star(x):
    pieces = [x[:1], x]
    pieces.extend(x[k : k + 1] for k in range(2) if x[k] > 0)
    return dy2st.concat([*pieces, x[-1:]])


@on(*VALUES, unknown=EACH)
def padded_to_the_longest(x):
    groups = [[v for v in x if v > k] for k in range(2)]
    longest = max(len(group) for group in groups)
    return [group + [0.0] * (longest - len(group)) for group in groups], longest


@on(*VALUES, unknown=EACH)
def round_robin(x):
    shards = [[] for _ in range(2)]
    for i, v in enumerate(x):
        shards[i % 2].append(v)
    return [sum(shard) for shard in shards]


@on(*VALUES, unknown=EACH)
def grouped_by_label(x):
    groups = collections.defaultdict(list)
    for i, v in enumerate(x):
        groups[int(v) % 2].append(i)
    return {label: len(places) for label, places in sorted(groups.items())}


@on(*VALUES, unknown=EACH)
def windows_with_overlap(x):
    windows = []
    start = 0
    while start + 2 <= x.shape[0]:
        windows.append(x[start : start + 2])
        start += 1
    return dy2st.stack(windows).max(1)


@on(*VALUES, unknown=EACH)
def split_where_it_grows(x):
    pieces, piece = [], [x[0]]
    for before, v in zip(x, x[1:]):
        if v > before:
            pieces.append(piece)
            piece = [v]
        else:
            piece.append(v)
    return [*pieces, piece]


@on(*ROWS, unknown=MANY)
def collated_dicts(x):
    samples = [{"row": row, "size": row.abs().sum()} for row in x]
    batch = {key: dy2st.stack([sample[key] for sample in samples]) for key in samples[0]}
    return batch["row"] / batch["size"].unsqueeze(1).clip(1.0)


@on(*ROWS)
def options_of_the_loss(x):
    def loss(x, *, reduction="mean", scale=1.0, margin=0.0):
        value = F.relu(x - margin)
        return scale * (value.sum() if reduction == "sum" else value.mean())

    options = {}
    if x.mean() > 0:
        options["reduction"] = "sum"
    if x.max() > 2.5:
        options["margin"] = 0.5
    return loss(x, scale=2.0, **options)


@on(*VALUES, unknown=EACH)
def buffered_and_flushed(x):
    buffer, flushed = [], []

    def flush():
        if buffer:
            flushed.append(sum(buffer))
            buffer.clear()

    for v in x:
        buffer.append(v)
        if len(buffer) == 2 or v == 0:
            flush()
    flush()
    return flushed


@on(*VALUES, unknown=EACH)
def longest_run(x):
    best, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            run = []
        if len(run) > len(best):
            best = list(run)
    return best
