"""Generation as libraries write it: hypotheses, samplers, penalties, caches and stopping rules."""

from __future__ import annotations

import enum
import itertools
import math
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

LOGP = (
    [[-0.1, -2.0, -3.0], [-1.2, -0.4, -2.5], [-0.9, -1.1, -0.8]],
    [[-2.0, -0.3, -1.3], [-0.2, -1.9, -3.5], [-1.3, -0.9, -1.2]],
    [[-0.7, -1.3, -2.3], [-0.2, -2.2, -1.5], [-1.3, -1.9, -0.2], [-0.5, -1.0, -2.0]],
    [[-3.0, -0.1, -1.0]],
)
STEPS = [[None, 3]]
ROWS = ([0.4, 2.0, -1.0, 0.9, 0.1], [3.0, 0.1, 0.2, -2.0, 2.5], [-1.0, -0.5, -3.0, -0.2, -4.0])


@on(*LOGP, unknown=STEPS, slow=True)
def beams_in_a_dict_by_prefix(logp):
    beams = {(): 0.0}
    for row in logp:
        grown = {}
        for prefix, score in beams.items():
            for token in range(3):
                grown[prefix + (token,)] = score + row[token]
        ranked = sorted(grown.items(), key=lambda entry: float(entry[1]), reverse=True)
        beams = dict(ranked[:2])
    return list(beams), list(beams.values())


@dataclass
class Hypothesis:
    tokens: list = field(default_factory=list)
    score: Any = 0.0
    is_done: bool = False

    def extended(self, token, logp):
        return replace(self, tokens=[*self.tokens, token], score=self.score + logp)

    @property
    def average(self):
        return self.score / max(len(self.tokens), 1)


@on(*LOGP[:2])
def hypotheses_as_dataclasses(logp):
    alive = [Hypothesis()]
    for t in range(logp.shape[0]):
        grown = [h.extended(k, logp[t, k]) for h in alive for k in range(3)]
        grown.sort(key=lambda h: h.average, reverse=True)
        alive = grown[:2]
    return [(h.tokens, h.average) for h in alive]


@on(*LOGP, unknown=STEPS)
def beams_of_tensors_with_finished_ones(logp):
    scores = dy2st.zeros([1])
    finished, best = [], dy2st.to_tensor(-1e9)
    for t, row in enumerate(logp):
        flat = (scores.unsqueeze(1) + row.unsqueeze(0)).flatten()
        scores, index = dy2st.topk(flat, k=2)
        ended = index % 3 == 0
        if ended.any():
            value = dy2st.where(ended, scores, dy2st.full_like(scores, -1e9)).max() / (t + 1)
            finished.append(value)
            if value > best:
                best = value
        if len(finished) >= 2:
            break
    return best, finished, scores


def top_k(logits, k):
    kept, _ = dy2st.topk(logits, k=min(k, logits.shape[-1]))
    return dy2st.where(logits < kept[-1], dy2st.full_like(logits, -float("inf")), logits)


def top_p(logits, p, least=1):
    ordered = dy2st.sort(logits, descending=True)
    order = dy2st.argsort(logits, descending=True)
    total = F.softmax(ordered, axis=-1).cumsum(-1)
    gone = total > p
    gone = dy2st.concat([dy2st.zeros([least], dtype="bool"), gone[:-least]])
    mask = dy2st.zeros_like(gone)
    mask = dy2st.scatter(mask.astype("int32"), order, gone.astype("int32")).astype("bool")
    return dy2st.where(mask, dy2st.full_like(logits, -float("inf")), logits)


def warm(logits, temperature):
    return logits / temperature if temperature != 1.0 else logits


@on(*ROWS, unknown=[[None]])
def warpers_in_a_row(logits):
    warpers = [partial(warm, temperature=0.7), partial(top_k, k=3), partial(top_p, p=0.9)]
    return F.softmax(reduce(lambda x, warper: warper(x), warpers, logits), axis=-1)


@on(*ROWS)
def warpers_by_name(logits):
    registry = {"temperature": warm, "top_k": top_k, "top_p": top_p}
    config = {"temperature": 1.3, "top_k": 2, "top_p": None}
    for name, value in config.items():
        if value is None:
            continue
        logits = registry[name](logits, value)
    return logits


@on(
    ([0.4, 2.0, -1.0, 0.9], np.array([1, 1, 3])),
    ([0.4, -2.0, -1.0, 0.9], np.array([0, 1, 1])),
    ([3.0, 2.0, 1.0, 0.9], np.array([2, 2, 2, 0])),
    unknown=[[None], [None]],
)
def penalty_of_what_was_said(logits, said, penalty=1.3):
    found = dy2st.gather(logits, said)
    found = dy2st.where(found < 0, found * penalty, found / penalty)
    return dy2st.scatter(logits, said, found)


@on(
    (np.array([1, 2, 1, 2, 1]), [0.1, 0.5, 0.9]),
    (np.array([0, 1, 2, 0, 1]), [0.7, 0.2, 0.1]),
    (np.array([0, 0]), [0.3, 0.2, 0.1]),
    unknown=[[None], [3]],
)
def repeated_pairs_are_banned(tokens, logits):
    logits = logits.clone()
    for i in range(tokens.shape[0] - 1):
        if tokens[i] == tokens[-1]:
            logits[tokens[i + 1]] = -1e4
    return logits.argmax(), logits


class Reason(enum.Enum):
    LENGTH = "length"
    END = "end"
    LOOP = "loop"


@on(*LOGP, [[1.0, 0.0, 0.0]] * 3, unknown=STEPS)
def reason_to_stop(logp):
    said = []
    reason = Reason.LENGTH
    for row in logp:
        token = row.argmax()
        if token == 2:
            reason = Reason.END
            break
        if len(said) >= 2 and said[-1] == token and said[-2] == token:
            reason = Reason.LOOP
            break
        said.append(token)
    return len(said), reason.value == "end", said


@dataclass
class Cache:
    key: Any = None
    value: Any = None
    length: int = 0

    def update(self, key, value):
        if self.key is None:
            self.key, self.value = key, value
        else:
            self.key = dy2st.concat([self.key, key], axis=1)
            self.value = dy2st.concat([self.value, value], axis=1)
        self.length += key.shape[1]
        return self.key, self.value


@on(ramp(2, 3, 4), ramp(2, 5, 4), ramp(1, 1, 4), unknown=[[None, None, 4]])
class CachedAttention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.all = nn.Linear(4, 12)

    def forward(self, x):
        cache = Cache()
        outs = []
        for part in (x, x[:, -1:], x[:, :1]):
            q, k, v = self.all(part).chunk(3, axis=-1)
            k, v = cache.update(k, v)
            scores = dy2st.matmul(q, k, transpose_y=True) / math.sqrt(4)
            outs.append(dy2st.matmul(F.softmax(scores, -1), v))
        return dy2st.concat(outs, axis=1), cache.length


@on(ramp(2, 3), ramp(2, 3, start=0.0), ramp(4, 3), unknown=[[None, 3]])
class LayersWithCaches(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x, past=None):
        past = past or [None] * len(self.layers)
        present = []
        for layer, state in zip(self.layers, past):
            x = layer(x)
            state = x if state is None else dy2st.concat([state, x])
            present.append(state)
        again, _ = (x, present) if x.sum() > 1e6 else (x * 2, present)
        return again, tuple(present), {f"layer_{i}": s.shape[0] for i, s in enumerate(present)}


class Step(NamedTuple):
    token: Any
    score: Any


@on(*LOGP, unknown=STEPS)
def steps_as_named_tuples(logp):
    steps = [Step(row.argmax(), row.max()) for row in logp]
    best = max(steps, key=lambda step: step.score)
    tokens, scores = zip(*steps)
    return best.token, dy2st.stack(list(tokens)), sum(scores)


@on(*LOGP, unknown=STEPS)
def connectionist_decoding(logp, blank=0):
    tokens, previous = [], blank
    for token in logp.argmax(-1):
        if token != previous and token != blank:
            tokens.append(token)
        previous = token
    return tokens


@on(*LOGP[:2])
def connectionist_prefix_search(logp):
    beams = {(): (0.0, -1e9)}
    for t in range(2):
        grown = defaultdict(lambda: (-1e9, -1e9))
        for prefix, (blank, other) in beams.items():
            for token in range(3):
                p = logp[t, token]
                before = grown[prefix]
                if token == 0:
                    both = dy2st.logaddexp(dy2st.to_tensor(blank) + p, dy2st.to_tensor(other) + p)
                    grown[prefix] = (both, before[1])
                    continue
                longer = prefix + (token,)
                grown[longer] = (grown[longer][0], dy2st.to_tensor(blank) + p)
        beams = dict(grown)
    return {"".join(map(str, k)): v[0] + 0.0 for k, v in beams.items()}


@on(
    (ramp(4, 3), ramp(3, 3, step=0.3, start=0.0)),
    (ramp(4, 3, start=1.0), ramp(3, 3, step=0.1)),
    (ramp(1, 3), ramp(3, 3)),
    unknown=[[None, 3], None],
)
def viterbi_with_pointers(emissions, moves):
    score, pointers = emissions[0], []
    for emission in emissions[1:]:
        total = score.unsqueeze(1) + moves
        pointers.append(total.argmax(0))
        score = total.max(0) + emission
    path = [score.argmax()]
    for pointer in reversed(pointers):
        path.append(pointer[path[-1]])
    return score.max(), path[::-1]


@on(
    (np.array([1, 2, 3]), np.array([1, 3])),
    (np.array([1, 1, 1]), np.array([2, 2])),
    (np.array([4]), np.array([4, 4, 4, 1])),
    unknown=[[None], [None]],
)
def edits_between_tensors(one, other):
    row = list(range(other.shape[0] + 1)) if isinstance(other.shape[0], int) else None
    row = dy2st.arange(other.shape[0] + 1) if row is None else dy2st.to_tensor(row)
    for i in range(one.shape[0]):
        new = [row[0] + 1]
        for j in range(other.shape[0]):
            same = (one[i] != other[j]).astype("int64")
            new.append(dy2st.minimum(dy2st.minimum(row[j + 1] + 1, new[j] + 1), row[j] + same))
        row = dy2st.stack(new)
    return row[-1]


@on(*LOGP, [[0.0, 0.1, 0.0]], unknown=STEPS)
def early_exit_by_confidence(logp):
    used = 0
    out = logp[0]
    for used, row in enumerate(logp, start=1):
        out = out + row
        if (confidence := F.softmax(out, -1).max()) > 0.8:
            break
    else:
        confidence = dy2st.zeros([])
    return out, used, confidence


@on(*LOGP, unknown=STEPS)
def window_of_the_last_tokens(logp):
    window = deque(maxlen=2)
    repeats = 0
    for row in logp:
        token = row.argmax()
        if token in window:
            repeats += 1
        window.append(token)
    return repeats, list(window)


@on(*ROWS)
def speculated_tokens_are_checked(logits):
    draft = logits.argsort(descending=True)[:3]
    accepted = 0
    for guess, place in zip(draft, itertools.count()):
        if logits[guess] < 0.3:
            break
        accepted = place + 1
    return accepted, draft[:3]


@on(*ROWS, unknown=[[None]])
def processors_in_an_ordered_dict(logits):
    steps = OrderedDict(
        clip=lambda x: x.clip(-1, 1), centre=lambda x: x - x.mean(), scale=lambda x: x * 2
    )
    seen = {}
    for name, step in steps.items():
        logits = step(logits)
        seen[f"after_{name}"] = logits.sum()
    return logits, seen


class Greedy:
    def __call__(self, logits):
        return logits.argmax()


class Sampling:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, logits):
        allowed = (logits > self.limit).nonzero().flatten()
        return allowed[-1] if allowed.shape[0] > 0 else logits.argmin()


@on(*ROWS, unknown=[[None]])
def strategies_by_match(logits):
    chosen = []
    for mode in ("greedy", "over0", 3):
        match mode:
            case "greedy":
                chosen.append(Greedy()(logits))
            case str() as name if name.startswith("over"):
                chosen.append(Sampling(int(name[4:]))(logits))
            case other:
                chosen.append(logits[other])
    return chosen


@on(*ROWS, unknown=[[None]])
def strategy_that_the_tensor_chooses(logits):
    chosen = Sampling(0.5) if logits.max() > 2.5 else Greedy()
    return chosen(logits)


@on(*LOGP, unknown=STEPS)
def score_with_a_length_penalty(logp):
    def penalty(length, alpha=0.6):
        return ((5 + length) / 6) ** alpha

    total, scores = 0.0, []
    for t, row in enumerate(logp):
        total = total + row.max()
        scores.append(total / penalty(t + 1))
    return max(scores), scores.index(max(scores))
