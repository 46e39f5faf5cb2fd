"""Decoders: filters of the next token, penalties, drafts, caches of keys and values, lattices."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on

LOGITS = (
    [[0.1, 2.0, 0.3, -1.0], [1.0, 0.2, 3.0, 0.0], [0.0, 0.1, 0.2, 4.0]],
    [[2.0, 1.0, 0.5, 0.1]],
    [[0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 2.0, 0.5], [3.0, 0.0, 0.0, 0.5], [0.0, 5.0, 0.0, 0.5]],
    np.zeros((0, 4), "float32"),
)
STEPS = [[None, 4]]
ROW = ([0.5, 2.0, -1.0, 3.0, 0.1], [1.0], [2.0, 1.0])
ONE = [[None]]
TOKENS = ([1, 2, 2, 0, 3, 3], [0], [2, 2], [0, 1, 0, 1, 0], np.zeros(0, "int64"))
GRAMMAR = {
    "start": {0: "start", 1: "open"},
    "open": {2: "open", 3: "close"},
    "close": {0: "start"},
}


@on(*ROW, unknown=ONE)
def top_p_filter(logits, p=0.8):
    probs = F.softmax(logits, -1)
    order = dy2st.argsort(probs, descending=True)
    total, keep = 0.0, []
    for i in order:
        keep.append(i)
        total += probs[i]
        if total >= p:
            break
    mask = dy2st.full_like(logits, -1e9)
    for i in keep:
        mask[i] = logits[i]
    return F.softmax(mask, -1), len(keep)


@on(*ROW, unknown=ONE)
def typical_filter(logits, mass=0.6):
    logp = F.log_softmax(logits, -1)
    p = logp.exp()
    entropy = -(p * logp).sum()
    shifted = sorted(range(logits.shape[0]), key=lambda i: abs(-logp[i] - entropy))
    chosen, total = set(), 0.0
    for i in shifted:
        chosen.add(i)
        total = total + p[i]
        if total > mass:
            break
    return sorted(chosen)


@on(*TOKENS, unknown=ONE)
def banned_bigrams(history):
    seen = defaultdict(set)
    tokens = [int(t) for t in history]
    for a, b in zip(tokens, tokens[1:]):
        seen[a].add(b)
    if not tokens:
        return []
    return sorted(seen.get(tokens[-1], ()))


@on(*LOGITS, [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], unknown=STEPS)
def speculative_accept(logits):
    draft = F.softmax(logits * 0.5, -1)
    target = F.softmax(logits, -1)
    tokens = draft.argmax(-1)
    accepted = []
    for i, t in enumerate(tokens):
        ratio = target[i, t] / draft[i, t]
        if ratio < 1.2:
            break
        accepted.append(int(t))
    else:
        return accepted, None
    residual = (target[i] - draft[i]).clip(min=0)
    return accepted, residual / residual.sum()


class KVCache:
    def __init__(self, limit=3):
        self.keys, self.values, self.limit = [], [], limit
        self.evicted = 0

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        if len(self) > self.limit:
            self.keys.pop(0)
            self.values.pop(0)
            self.evicted += 1
        return self

    def __len__(self):
        return len(self.keys)

    def attend(self, q):
        k = dy2st.stack(self.keys)
        v = dy2st.stack(self.values)
        w = F.softmax(k @ q / math.sqrt(q.shape[-1]), -1)
        return w @ v


@on(*LOGITS, unknown=STEPS)
def cached_attention(x):
    cache = KVCache()
    outs = [cache.append(row, row * 2).attend(row) for row in x]
    return outs[-1] if outs else None, cache.evicted


@on(*LOGITS, unknown=STEPS)
def constrained(logits):
    state, out = "start", []
    for row in logits:
        allowed = GRAMMAR[state]
        masked = dy2st.full([4], -1e4)
        for k in allowed:
            masked[k] = row[k]
        token = int(masked.argmax())
        state = allowed[token]
        out.append(token)
    return out, state


@on(*LOGITS, unknown=STEPS)
def viterbi_path(emissions):
    n, k = emissions.shape
    trans = dy2st.to_tensor(
        np.array([[0.0, -1, -2, -1], [-1, 0, -1, -2], [-2, -1, 0, -1], [-1, -2, -1, 0]], "float32")
    )
    if n == 0:
        return [], 0.0
    score = emissions[0]
    back = []
    for t in range(1, n):
        all_scores = score.unsqueeze(1) + trans
        back.append(all_scores.argmax(0))
        score = all_scores.max(0) + emissions[t]
    last = score.argmax()
    path = [int(last)]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    path.reverse()
    return path, score.max()


@on(*TOKENS, unknown=ONE)
def bpe_merges(tokens):
    seq = tokens.tolist()
    merges = []
    for step in range(2):
        pairs = Counter(zip(seq, seq[1:]))
        if not pairs:
            break
        (a, b), n = pairs.most_common(1)[0]
        if n < 2:
            break
        merged, i = [], 0
        while i < len(seq):
            if i + 1 < len(seq) and seq[i] == a and seq[i + 1] == b:
                merged.append(10 + step)
                i += 2
            else:
                merged.append(seq[i])
                i += 1
        seq = merged
        merges.append((a, b))
    return seq, merges
