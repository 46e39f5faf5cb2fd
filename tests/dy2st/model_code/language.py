"""Decoders, tokenizers and batching, written with objects, dicts and generators."""

from __future__ import annotations

import collections
import functools
import itertools
from dataclasses import dataclass, replace

import numpy as np

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on

TOKENS = ([3, 1, 3, 2, 1, 3], [1, 1, 1, 1, 1, 1], [5, 4, 3, 2, 1, 0], [2, 0, 2], [7, 7])
LOGITS = (
    [[0.1, 2.0, 0.3], [1.0, 0.2, 0.1], [0.3, 0.2, 3.0], [0.0, 1.0, 0.5]],
    [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [2.5, 2.0, 0.0], [0.0, 0.0, 2.0]],
    [[0.0, 0.1, 0.2], [0.0, 0.2, 0.1]],
)
EACH = [[None]]
STEPS = [[None, 3]]


class Hypotheses:
    """The best finished sequences."""

    def __init__(self, size, penalty=1.0):
        self.size, self.penalty = size, penalty
        self.beams, self.worst = [], 1e9

    def __len__(self):
        return len(self.beams)

    def add(self, tokens, score):
        score = score / len(tokens) ** self.penalty
        if len(self) < self.size or score > self.worst:
            self.beams.append((score, tokens))
            if len(self) > self.size:
                ranked = sorted((s, i) for i, (s, _) in enumerate(self.beams))
                del self.beams[ranked[0][1]]
                self.worst = ranked[1][0]
            else:
                self.worst = min(score, self.worst)

    def is_done(self, best):
        return len(self) >= self.size and self.worst >= best


@on(*LOGITS, unknown=STEPS)
def finished_hypotheses(logits):
    finished = Hypotheses(2)
    for i, row in enumerate(logits):
        finished.add([i, i + 1], row.max())
    return [score for score, _ in finished.beams], finished.is_done(logits.mean())


@dataclass(frozen=True)
class Beam:
    """A sequence and its score."""

    tokens: tuple
    score: object
    ended: bool = False

    def __lt__(self, other):
        return self.score < other.score

    def extended(self, token, score):
        return replace(
            self, tokens=(*self.tokens, token), score=self.score + score, ended=token == 2
        )


@on(*LOGITS[:2])
def beams_that_compare_themselves(logits):
    beams = [Beam((), dy2st.zeros([]))]
    for row in logits[:2]:
        grown = [b.extended(t, row[t]) for b in beams for t in range(3)]
        beams = sorted(grown, reverse=True)[:2]
    return [b.score for b in beams], max(beams).score


@on(*LOGITS, unknown=STEPS)
def ended_and_alive(logits):
    alive, ended = [(dy2st.zeros([]), [0])], []
    for row in logits:
        token = row.argmax()
        score, tokens = alive.pop()
        score, tokens = score + row.max(), [*tokens, token]
        if token == 2:
            ended.append((score, tokens))
            break
        alive.append((score, tokens))
    best, tokens = max(ended or alive, key=lambda pair: pair[0] / len(pair[1]))
    return best, len(tokens)


@on(*TOKENS, unknown=EACH)
def frequencies(tokens):
    counts = {}
    for token in tokens.tolist():
        counts[token] = counts.get(token, 0) + 1
    return counts


@on(*TOKENS, unknown=EACH)
def numbers_in_order_of_appearance(tokens):
    numbers = {}
    out = []
    for token in tokens:
        key = int(token)
        if key not in numbers:
            numbers[key] = len(numbers)
        out.append(numbers[key])
    return out, len(numbers)


@on(*TOKENS, unknown=EACH)
def most_common_pair(tokens):
    pairs = collections.defaultdict(int)
    for a, b in zip(tokens[:-1], tokens[1:]):
        pairs[int(a), int(b)] += 1
    best = max(pairs, key=lambda pair: pairs[pair])
    return best, pairs[best]


@on(*TOKENS, unknown=EACH)
def without_repetitions(tokens):
    seen, out = set(), []
    for token in tokens:
        value = token.item()
        if value in seen:
            continue
        seen.add(value)
        out.append(token)
    return dy2st.stack(out), len(seen)


@on(*TOKENS, unknown=EACH)
def seen_by_steps(tokens):
    seen = set()
    for step, token in enumerate(tokens):
        if int(token) in seen:
            return step, token
        seen.add(int(token))
    return -1, tokens[0]


@on(*TOKENS, unknown=EACH)
def runs_by_groupby(tokens):
    return [(key, len(list(group))) for key, group in itertools.groupby(tokens.tolist())]


@on(*TOKENS, unknown=EACH)
def packed_into_rows(lengths):
    rows, row, used = [], [], 0
    for length in lengths:
        if row and used + length > 6:
            rows.append(row)
            row, used = [], 0
        row.append(length)
        used = used + length
    rows.append(row)
    return [sum(row) for row in rows], len(rows)


@on(*TOKENS, unknown=EACH)
def first_fit_bins(lengths):
    bins = []
    for length in sorted(lengths.tolist(), reverse=True):
        for items in bins:
            if sum(items) + length <= 8:
                items.append(length)
                break
        else:
            bins.append([length])
    return bins


def batches(lengths, most):
    """Indices of samples that fit into a batch together."""
    batch, longest = [], 0
    for i, length in enumerate(lengths):
        longest = max(longest, int(length))
        if batch and longest * (len(batch) + 1) > most:
            yield batch
            batch, longest = [], int(length)
        batch.append(i)
    if batch:
        yield batch


@on(*TOKENS, unknown=EACH)
def batches_of_a_generator(lengths):
    return [len(batch) for batch in batches(lengths, 8)]


@on(*TOKENS, unknown=EACH)
def chunks_at_a_separator(tokens):
    chunks = [[]]
    for token in tokens:
        if token == 1:
            chunks.append([])
        else:
            chunks[-1].append(token)
    return [len(chunk) for chunk in chunks if chunk]


@on(*TOKENS, unknown=EACH)
def cached_by_a_key(tokens):
    cache, hits = {}, 0
    total = dy2st.zeros([])
    for token in tokens:
        key = int(token) % 3
        if key in cache:
            hits += 1
        else:
            cache[key] = token.astype("float32") ** 2
        total = total + cache[key]
    return total, hits


@on(*TOKENS, unknown=EACH)
def least_recently_used(tokens):
    cache, misses = collections.OrderedDict(), 0
    for token in tokens.tolist():
        if token in cache:
            cache.move_to_end(token)
        else:
            misses += 1
            cache[token] = True
            if len(cache) > 2:
                cache.popitem(last=False)
    return misses, list(cache)


class Trie:
    """Words as paths."""

    def __init__(self, words):
        self.root = {}
        for word in words:
            node = self.root
            for token in word:
                node = node.setdefault(token, {})
            node["end"] = True

    def allowed(self, prefix):
        node = self.root
        for token in prefix:
            node = node.get(token, {})
        return [token for token in node if token != "end"]


@on(*LOGITS, unknown=STEPS)
class ConstrainedByATrie(nn.Layer):
    def __init__(self):
        super().__init__()
        self.trie = Trie([(0, 1), (0, 2), (1, 0), (2, 2)])

    def forward(self, logits):
        first = self.trie.allowed(())
        mask = dy2st.to_tensor([0.0 if t in first else -9.0 for t in range(3)])
        start = (logits[0] + mask).argmax()
        scores = []
        for token in first:
            if start == token:
                scores = [logits[1][t] for t in self.trie.allowed((token,))]
        return start, functools.reduce(lambda a, b: a + b, scores)


@on(*LOGITS, unknown=STEPS)
def stopping_criteria_in_a_list(logits):
    criteria = [
        lambda tokens, scores: len(tokens) >= 3,
        lambda tokens, scores: tokens[-1] == 2,
        lambda tokens, scores: scores[-1] < 0.15,
    ]
    tokens, scores = [], []
    for row in logits:
        tokens.append(row.argmax())
        scores.append(row.max())
        if any(criterion(tokens, scores) for criterion in criteria):
            break
    return dy2st.stack(tokens), dy2st.stack(scores).sum()


@on(*LOGITS, unknown=STEPS)
def reason_of_the_end(logits):
    reason, length = "length", 0
    for row in logits:
        length += 1
        if row.argmax() == 2:
            reason = "stop"
            break
    return {"reason": reason, "length": length, "text": f"{reason} after some"}


@on(*LOGITS, unknown=STEPS)
def names_of_the_tokens(logits):
    vocabulary = {0: "a", 1: "b", 2: "</s>"}
    words = []
    for row in logits:
        word = vocabulary[int(row.argmax())]
        if word == "</s>":
            break
        words.append(word)
    return words


@on(*LOGITS, unknown=STEPS)
def sliding_window_of_a_deque(logits):
    window = collections.deque(maxlen=2)
    repeats = 0
    for row in logits:
        token = row.argmax()
        if token in window:
            repeats += 1
        window.append(token)
    return repeats, list(window)


@on(*LOGITS, unknown=STEPS)
def labels_that_collapse(logits):
    best = [int(row.argmax()) for row in logits]
    collapsed = [key for key, _ in itertools.groupby(best)]
    return [label for label in collapsed if label != 0]


@on(*TOKENS, unknown=EACH)
def pieces_padded_to_the_longest(tokens):
    pieces = np.split(np.arange(6), [2, 5])
    rows = [tokens[: len(piece)] for piece in pieces]
    longest = max(row.shape[0] for row in rows)
    return dy2st.stack([nn.functional.pad(row, [0, longest - row.shape[0]]) for row in rows])
