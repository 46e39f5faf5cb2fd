"""Decoders: greedy and with beams, with lists of hypotheses, penalties, and caches in dicts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

EOS = 0
LOGITS = (
    [[0.1, 2.0, 0.3], [0.2, 0.1, 1.5], [3.0, 0.1, 0.2], [0.1, 0.2, 0.9]],
    [[2.0, 0.1, 0.3], [0.2, 1.1, 0.5], [0.3, 1.1, 0.2], [0.9, 0.2, 0.1]],
    [[0.1, 0.2, 0.3], [0.1, 0.2, 0.9], [0.3, 0.1, 2.2], [0.1, 0.5, 0.4]],
    [[0.3, 0.9, 0.1], [0.2, 2.0, 0.1]],
)
STEPS = [[None, 3]]
TABLE = np.float32([[0.1, 1.2, 0.7], [0.3, 0.2, 1.9], [1.4, 0.6, 0.5]])
STARTS = ([0.2, 0.5, 0.1], [1.5, 0.0, 0.3], [0.1, 0.0, 2.5])


@on(*LOGITS, unknown=STEPS)
def greedy_until_the_end(logits):
    tokens = []
    for row in logits:
        token = row.argmax()
        if token == EOS:
            break
        tokens.append(token)
    return tokens


@on(*LOGITS, unknown=STEPS)
def greedy_of_python_numbers(logits):
    tokens = [1]
    for t in range(logits.shape[0]):
        token = int(logits[t].argmax())
        tokens.append(token)
        if token == EOS:
            break
    return tokens


@on(*STARTS)
def greedy_that_feeds_itself(x):
    table = dy2st.to_tensor(TABLE)
    token = x.argmax()
    tokens = [token]
    for _ in range(5):
        token = (table[token] + x).argmax()
        tokens.append(token)
        if token == EOS:
            break
    return dy2st.stack(tokens)


@on(*STARTS)
def greedy_with_the_sum_of_scores(x):
    table = dy2st.to_tensor(TABLE)
    score, token, steps = 0.0, x.argmax(), 0
    while token != EOS and steps < 4:
        logp = F.log_softmax(table[token] * x.sum(), axis=-1)
        score = score + logp.max()
        token = logp.argmax()
        steps += 1
    return score / max(steps, 1), token


@on(*STARTS)
def greedy_that_concatenates(x):
    table = dy2st.to_tensor(TABLE)
    out = x.argmax().reshape([1])
    while out[-1] != EOS and out.shape[0] < 5:
        scores = table[out].sum(0)
        out = dy2st.concat([out, scores.argmax().reshape([1])])
    return out


@on(*STARTS)
def greedy_into_a_buffer(x):
    table = dy2st.to_tensor(TABLE)
    out = dy2st.full([6], -1, "int64")
    out[0] = x.argmax()
    length = 1
    for i in range(1, 6):
        token = (table[out[i - 1]] - x).argmax()
        out[i] = token
        length += 1
        if token == EOS:
            break
    return out[:length]


@on([[0.5, 0.1, 0.2], [0.1, 0.9, 0.2]], [[0.1, 0.1, 0.9], [2.0, 0.1, 0.0]])
def batch_with_finished_flags(x):
    table = dy2st.to_tensor(TABLE)
    tokens = x.argmax(-1)
    finished = tokens == EOS
    out = [tokens]
    for _ in range(4):
        tokens = (table[tokens] + x).argmax(-1)
        tokens = dy2st.where(finished, dy2st.zeros_like(tokens), tokens)
        finished = dy2st.logical_or(finished, tokens == EOS)
        out.append(tokens)
        if finished.all():
            break
    return dy2st.stack(out, axis=1)


@on(*STARTS)
def beams_of_pairs(x):
    table = dy2st.to_tensor(TABLE)
    beams = [(0.0, [int(x.argmax())])]
    for _ in range(2):
        grown = []
        for score, tokens in beams:
            logp = F.log_softmax(table[tokens[-1]] + x, axis=-1)
            for k in range(3):
                grown.append((score + float(logp[k]), tokens + [k]))
        grown.sort(key=lambda beam: beam[0], reverse=True)
        beams = grown[:2]
    return beams[0]


@on(*LOGITS, unknown=STEPS)
def beams_over_given_steps(logits):
    beams = [(0.0, ())]
    for t in range(logits.shape[0]):
        logp = F.log_softmax(logits[t], axis=-1)
        grown = [(s + logp[k], path + (k,)) for s, path in beams for k in range(3)]
        beams = sorted(grown, key=lambda beam: -beam[0])[:2]
    return [score for score, _ in beams]


@on(*STARTS, [3.0, -3.0, -3.0])
def beams_that_end_apart(x):
    table = dy2st.to_tensor(TABLE)
    beams, ended = [(x.max(), x.argmax())], []
    for step in range(3):
        grown = []
        for score, token in beams:
            scores, picks = dy2st.topk(table[token] + x, 2)
            for i in range(2):
                if picks[i] == EOS:
                    ended.append(score + scores[i])
                elif scores[i] > 0.0:
                    grown.append((score + scores[i], picks[i]))
        if not grown:
            break
        beams = grown[:2]
    best = x.sum()
    for score in ended:
        if score > best:
            best = score
    return best, len(ended)


@on(*STARTS)
def length_penalty_of_hypotheses(x):
    def penalized(score, length, alpha=0.6):
        return score / ((5 + length) / 6) ** alpha

    hypotheses = [(x[0], 2), (x[1], 3), (x[2], 5)]
    best = max(hypotheses, key=lambda h: penalized(h[0], h[1]))
    return best[0] * 1.0, best[1]


@on(*STARTS)
def beams_as_tensors(x):
    table = dy2st.to_tensor(TABLE)
    scores, tokens = dy2st.topk(F.log_softmax(x, axis=-1), 2)
    paths = tokens.unsqueeze(1)
    for _ in range(3):
        every = scores.unsqueeze(1) + F.log_softmax(table[tokens], axis=-1)
        scores, flat = dy2st.topk(every.flatten(), 2)
        tokens = flat % 3
        paths = dy2st.concat([paths[flat // 3], tokens.unsqueeze(1)], axis=1)
        if (tokens == EOS).any():
            break
    return paths, scores


@dataclass
class Hypothesis:
    score: object
    tokens: list = field(default_factory=list)
    is_done: bool = False

    def extended(self, token, score):
        return Hypothesis(self.score + score, self.tokens + [token], token == EOS)


@on(*STARTS)
def hypotheses_as_dataclasses(x):
    table = dy2st.to_tensor(TABLE)
    hyps = [Hypothesis(x.sum(), [1])]
    for _ in range(2):
        grown = []
        for hyp in hyps:
            logits = table[hyp.tokens[-1]] * x
            for token in (1, 2):
                grown.append(hyp.extended(token, logits[token]))
        hyps = sorted(grown, key=lambda h: h.score, reverse=True)[:2]
    return [h.score for h in hyps]


@on(*LOGITS, unknown=STEPS)
def one_hypothesis_that_grows(logits):
    hyp = Hypothesis(logits.sum() * 0)
    for row in logits:
        token = row.argmax()
        if hyp.is_done:
            break
        hyp = hyp.extended(token, row.max())
    return hyp.score, len(hyp.tokens), hyp.is_done


class CachedAttention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 1 / math.sqrt(2)

    def forward(self, q, cache):
        if "k" in cache:
            cache["k"] = dy2st.concat([cache["k"], q], axis=0)
        else:
            cache["k"] = q
        weights = F.softmax(q.matmul(cache["k"], transpose_y=True) * self.scale, axis=-1)
        return weights.matmul(cache["k"])


@on([[0.1, 0.2], [1.0, -1.0], [0.3, 0.3]], [[2.0, 0.2], [-1.0, 1.0], [0.3, 0.0]])
def attention_with_a_cache_in_a_dict(x):
    attend, cache, out = CachedAttention(), {}, []
    for t in range(3):
        y = attend(x[t : t + 1], cache)
        out.append(y)
        if y.sum() > 1:
            break
    return dy2st.concat(out), cache["k"].shape[0]


@on([[0.1, 0.2]], [[2.0, -0.2]], [[-1.0, 0.4]])
def caches_of_several_layers(x):
    layers = [CachedAttention(), CachedAttention()]
    caches = [{} for _ in layers]
    h = x
    for _ in range(3):
        for layer, cache in zip(layers, caches):
            h = h + layer(h, cache)
        if h.abs().max() > 3:
            h = h / 4
    return h, [cache["k"] for cache in caches]


@on([[0.1, 0.2], [1.0, -1.0]], [[2.0, 0.2], [-1.0, 1.0]])
def past_keys_as_tuples(x):
    past = None
    out = x.sum() * 0
    for t in range(2):
        k, v = x[t : t + 1], x[t : t + 1] * 2
        if past is not None:
            k, v = dy2st.concat([past[0], k]), dy2st.concat([past[1], v])
        past = (k, v)
        if v.sum() > 0:
            out = out + v.sum()
    return out, past


@on(*LOGITS, unknown=STEPS)
def banned_repetitions(logits):
    last, out = -1, []
    for row in logits:
        order = row.argsort(descending=True)
        token = order[0]
        if token == last:
            token = order[1]
        out.append(token)
        last = token
    return dy2st.stack(out)


@on(*LOGITS, unknown=STEPS)
def penalty_for_what_was_said(logits):
    said = []
    for row in logits.clone():  # rows are views
        for token in said:
            row[token] = row[token] / 2
        said.append(int(row.argmax()))
    return said


@on(*LOGITS, unknown=STEPS)
def counts_of_tokens_in_a_dict(logits):
    counts = {}
    for row in logits:
        token = int(row.argmax())
        counts[token] = counts.get(token, 0) + 1
    return counts


@on(*LOGITS, unknown=STEPS)
def no_bigram_twice(logits):
    pairs, last, skipped = set(), 0, 0
    for row in logits:
        token = int(row.argmax())
        if (last, token) in pairs:
            skipped += 1
        else:
            pairs.add((last, token))
        last = token
    return skipped


@on(*STARTS)
def words_of_a_vocabulary(x):
    vocabulary = ["<end>", "cat", "sat"]
    table = dy2st.to_tensor(TABLE)
    words, token = [], int(x.argmax())
    for _ in range(3):
        words.append(vocabulary[token])
        if vocabulary[token] == "<end>":
            break
        token = int((table[token] + x).argmax())
    return words


@on(*STARTS)
def stop_on_any_of_several(x):
    table = dy2st.to_tensor(TABLE)
    stops = [0, 2]
    token, steps = x.argmax(), 0
    while int(token) not in stops and steps < 3:
        token = (table[token] * x).argmax()
        steps += 1
    return token, steps


@on(*STARTS, [0.0, 0.0, 0.0])
def patience_of_a_search(x):
    best, waited, rounds = x.max(), 0, 0
    while waited < 2:
        x = dy2st.roll(x, 1) * 1.1 - 0.1
        rounds += 1
        if x[0] > best:
            best, waited = x[0], 0
        else:
            waited += 1
    return best, rounds


@on(*STARTS)
def draft_and_verify(x):
    table = dy2st.to_tensor(TABLE)
    accepted, token = [], x.argmax()
    draft = [(token + 1) % 3, (token + 2) % 3, token]
    for guess in draft:
        right = (table[token] + x).argmax()
        if guess != right:
            accepted.append(right)
            break
        accepted.append(guess)
        token = guess
    return accepted


@on(ramp(2, 3), ramp(2, 3, start=-1.0, period=7))
def halting_of_each_sample(x):
    halted = dy2st.zeros([2])
    state, steps = x, dy2st.zeros([2])
    for _ in range(4):
        p = F.sigmoid(state.mean(1))
        running = (halted < 0.9).astype("float32")
        halted = halted + p * running
        steps = steps + running
        state = state * 0.5 + 0.3
        if (halted >= 0.9).all():
            break
    return state, steps


@on(([1.0, 2.0], 3), ([-1.0, 0.5], 3))
def recursive_rollout(x, depth):
    def roll(x, depth):
        if depth == 0 or x.sum() > 4:
            return x, depth
        return roll(x * 1.5, depth - 1)

    return roll(x, depth)


@on([0.9, 0.1, 0.4], [0.1, 0.2, 0.3], [0.6, 0.7, 0.1])
def tree_of_choices(x):
    def walk(lo, hi):
        if hi - lo == 1:
            return lo
        middle = (lo + hi) // 2
        if x[lo:middle].sum() > x[middle:hi].sum():
            return walk(lo, middle)
        return walk(middle, hi)

    return walk(0, 3)
