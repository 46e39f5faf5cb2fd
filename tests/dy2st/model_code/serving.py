"""Serving of language models: filters of chances, tries, drafts, caches, plans of requests."""

from __future__ import annotations

import math
from collections import Counter

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on

ROWS = [[None, 4]]
DRAFT = [[None], [None, 4], [None, 4], [None]]
EACH = [[None]]
TWO = [[None, 2]]
LOGITS = (
    [[2.0, 1.0, 0.1, -1.0], [0.2, 0.1, 3.0, 0.0], [1.0, 1.1, 0.9, 1.05]],
    [[0.5, 0.2, 0.3, 0.1]],
    [[0.0, 3.0, 0.5, 0.2], [4.0, 0.0, 0.1, 0.3]],
)
SAME = [[0.0, 3.0, 0.5, 0.2], [0.0, 3.0, 0.6, 0.2]]
CHANCES = (
    [[0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.25, 0.25, 0.3, 0.2]],
    [[0.3, 0.3, 0.2, 0.2]],
    [[0.1, 0.4, 0.2, 0.3], [0.9, 0.05, 0.02, 0.03]],
)
DRAFTS = (
    (
        [1, 2, 3],
        [[0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.7, 0.1], [0.3, 0.3, 0.2, 0.2]],
        [[0.1, 0.7, 0.1, 0.1], [0.4, 0.1, 0.4, 0.1], [0.1, 0.1, 0.1, 0.7]],
        [0.3, 0.6, 0.9],
    ),
    ([0], [[0.9, 0.05, 0.03, 0.02]], [[0.2, 0.3, 0.3, 0.2]], [0.5]),
    ([0], [[0.4, 0.2, 0.2, 0.2]], [[0.5, 0.2, 0.2, 0.1]], [0.5]),
)
TOKENS = ([0, 1, 2, 1, 0, 1], [3], [2, 2, 1])
PAIRS = (
    [[0.5, -1.0], [0.1, 0.3], [0.9, -0.2]],
    [[1.0, 2.0]],
    [[0.2, 0.4], [-0.6, 0.1]],
)


@on(*LOGITS, unknown=ROWS)
def top_k_then_top_p(logits, k=4, p=0.8):
    kept = []
    out = []
    for row in logits:
        v, _ = dy2st.topk(row, k)
        row = dy2st.where(row < v[-1], dy2st.full_like(row, -1e9), row)
        probs = F.softmax(row, axis=-1)
        order = dy2st.argsort(probs, descending=True)
        cum = 0.0
        keep = []
        for i in order.tolist():
            keep.append(i)
            cum += float(probs[i])
            if cum >= p:
                break
        mask = dy2st.zeros_like(row)
        for i in keep:
            mask[i] = 1.0
        probs = probs * mask
        out.append(probs / probs.sum())
        kept.append(len(keep))
    return dy2st.stack(out), kept


@on(*LOGITS, unknown=ROWS)
def min_p_and_typical(logits, min_p=0.2, mass=0.7):
    result = []
    for row in logits:
        logp = F.log_softmax(row, axis=-1)
        p = logp.exp()
        ent = -(p * logp).sum()
        shifted = (-logp - ent).abs()
        idx = shifted.argsort()
        total, cut = 0.0, 0
        while cut < len(idx) and total < mass:
            total += p[idx[cut]]
            cut += 1
        typical = sorted(int(i) for i in idx[:cut])
        floor = p.max() * min_p
        result.append([i for i in typical if p[i] >= floor] or [int(p.argmax())])
    return result


class TrieNode:
    def __init__(self):
        self.children = {}
        self.is_end = False


def build_trie(words):
    root = TrieNode()
    for w in words:
        node = root
        for t in w:
            node = node.children.setdefault(t, TrieNode())
        node.is_end = True
    return root


@on(*CHANCES, [[0.1, 0.1, 0.7, 0.1]] * 3, unknown=ROWS)
def constrained_by_a_trie(steps):
    root = build_trie([(0, 1, 2), (0, 1, 3), (1, 3), (2,), (2, 0)])
    node, out, score = root, [], 0.0
    for probs in steps:
        if not node.children:
            break
        best, best_p = None, -1.0
        for tok in node.children:
            if probs[tok] > best_p:
                best, best_p = tok, probs[tok]
        out.append(best)
        score = score + dy2st.log(best_p)
        node = node.children[best]
    return out, score, node.is_end


@on(*LOGITS, [[0.5, 0.0, 0.0, 0.0], [0.01, 0.0, 0.0, 0.0]], unknown=ROWS)
def mirostat_v2(logits, tau=1.0, eta=0.2):
    mu = 2 * tau
    picked, mus = [], []
    for row in logits:
        p = F.softmax(row, -1)
        s = -dy2st.log2(p)
        allowed = [i for i in range(p.shape[0]) if s[i] <= mu]
        if not allowed:
            allowed = [int(p.argmax())]
        tok = allowed[0]
        for i in allowed[1:]:
            if p[i] > p[tok]:
                tok = i
        picked.append(tok)
        mu = mu - eta * (s[tok] - tau)
        mus.append(mu)
    return picked, mus


@on(*LOGITS, SAME, unknown=ROWS)
def contrastive_two_models(logits, alpha=0.1):
    amateur = logits.flip(axis=[1]) * 0.5
    ids = []
    for e, a in zip(logits, amateur):
        le, la = F.log_softmax(e, -1), F.log_softmax(a, -1)
        cut = le.max() + math.log(alpha)
        diff = dy2st.where(le < cut, dy2st.to_tensor(-1e9), le - la)
        ids.append(int(diff.argmax()))
        if len(ids) > 1 and ids[-1] == ids[-2]:
            ids.pop()
    return ids


@on(*DRAFTS, unknown=DRAFT)
def speculative_accept_or_resample(draft, q, p, u):
    accepted = []
    for i, tok in enumerate(draft):
        ratio = p[i][tok] / q[i][tok]
        if u[i] < dy2st.minimum(dy2st.ones([]), ratio):
            accepted.append(int(tok))
        else:
            residual = F.relu(p[i] - q[i])
            residual = residual / residual.sum()
            cum = residual.cumsum(0)
            accepted.append(int((cum < u[i]).sum()))
            return accepted, i
    return accepted, len(draft)


@on(*TOKENS, [0, 0, 0, 0], unknown=EACH)
def prefix_cache_hits(ids, block=2):
    store = {}
    hits = 0
    prefix = ()
    toks = ids.tolist()
    for start in range(0, len(toks) - len(toks) % block, block):
        prefix = prefix + tuple(toks[start : start + block])
        h = 0
        for t in prefix:
            h = (h * 31 + t) % 101
        if h in store:
            hits += 1
        store[h] = store.get(h, 0) + 1
    return hits, len(store), sorted(store.items())


@on(*TOKENS, unknown=EACH)
def chunked_prefill_schedule(lengths, budget=3):
    pending = {i: int(n) for i, n in enumerate(lengths) if n > 0}
    steps = []
    while pending:
        left, step = budget, []
        for i in list(pending):
            take = min(left, pending[i])
            if take == 0:
                break
            step.append((i, take))
            pending[i] -= take
            left -= take
            if pending[i] == 0:
                pending.pop(i)
        steps.append(step)
    return steps


@on(*PAIRS, unknown=TWO)
def streaming_softmax_attention(kv, block=2):
    q = dy2st.to_tensor([1.0, 0.5])
    m, total, acc = dy2st.full([], -float("inf")), dy2st.zeros([]), dy2st.zeros([2])
    for s in range(0, kv.shape[0], block):
        part = kv[s : s + block]
        scores = part @ q
        new = dy2st.maximum(m, scores.max())
        scale = (m - new).exp()
        p = (scores - new).exp()
        total = total * scale + p.sum()
        acc = acc * scale + p @ part
        m = new
    return acc / total, m


@on(*LOGITS, unknown=ROWS)
def entropy_gated_routing(logits, thr=1.0):
    easy, hard = [], []
    for i, row in enumerate(logits):
        p = F.softmax(row, -1)
        h = -(p * p.log()).sum()
        (hard if h > thr else easy).append(i)
    out = dy2st.zeros([len(logits)])
    if easy:
        out[easy] = logits[easy].max(-1)
    if hard:
        out[hard] = logits[hard].mean(-1)
    return out, easy, hard


@on(*LOGITS, SAME, unknown=ROWS)
def ctc_collapse_with_timestamps(logits):
    best = logits.argmax(-1)
    segs = []
    prev = None
    for at, k in enumerate(best):
        k = int(k)
        if k != prev and k != 0:
            segs.append([k, at, at + 1])
        elif k == prev and k != 0:
            segs[-1][2] = at + 1
        prev = k
    return segs


class Expert:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return dy2st.tanh(x * self.k)


@on(*PAIRS, [[0.5, -1.0], [0.1, 0.3], [0.9, -0.2], [1.0, 2.0], [0.2, 0.4]], unknown=TWO)
def mixture_of_experts_with_capacity(tokens, capacity=2):
    experts = [Expert(1.0), Expert(-2.0)]
    gate = dy2st.to_tensor([[1.0, -1.0], [0.5, 0.5]])
    load = Counter()
    dropped, out = [], []
    for i, x in enumerate(tokens):
        p = F.softmax(x @ gate, axis=-1)
        e = int(p.argmax())
        if load[e] >= capacity:
            e = 1 - e
            if load[e] >= capacity:
                dropped.append(i)
                out.append(x)
                continue
        load[e] += 1
        out.append(p[e] * experts[e](x))
    return dy2st.stack(out), dropped, sorted(load.items())


@on(*PAIRS, unknown=TWO)
def memory_with_ring_and_attention(xs, slots=2):
    mem = dy2st.zeros([slots, 2])
    age = [0] * slots
    reads = []
    for x in xs:
        sim = F.softmax(mem @ x, axis=0)
        read = (sim[:, None] * mem).sum(0)
        reads.append(read)
        j = age.index(max(age))
        if (read - x).abs().max() > 0.2:
            mem[j] = x
            age[j] = 0
        age = [a + 1 for a in age]
    return dy2st.stack(reads), mem, age


class OutOfPages(RuntimeError):
    pass


class Pages:
    def __init__(self, count, size):
        self.free, self.size = list(range(count)), size
        self.tables, self.filled = {}, {}

    def append(self, sequence):
        length = self.filled.get(sequence, 0)
        if length % self.size == 0:
            if not self.free:
                raise OutOfPages(f"no page for sequence {sequence} with {length} tokens")
            self.tables.setdefault(sequence, []).append(self.free.pop())
        self.filled[sequence] = length + 1

    def release(self, sequence):
        self.free.extend(self.tables.pop(sequence))
        return self.filled.pop(sequence)


@on([5, 2, 9, 1], [3], [4, 4, 4], unknown=EACH)
def pages_of_a_cache_with_preemption(lengths, count=3, size=2):
    pages, events = Pages(count, size), []
    for sequence, length in enumerate(lengths.tolist()):
        for _ in range(length):
            try:
                pages.append(sequence)
            except OutOfPages as error:
                victim = min(pages.tables)
                events.append((str(error), victim, pages.release(victim)))
                if victim == sequence:
                    break
                pages.append(sequence)
    return events, pages.tables, sorted(pages.free)
