"""Draws and beliefs: rejection, mixtures, chains, counts with priors, tests that stop early."""

from __future__ import annotations

import collections
import itertools
import math
from dataclasses import dataclass
from typing import Any

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on

WEIGHTS = ([0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7])
SAMPLES = ([1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0], [2.5, -1.0])
EACH = [[None]]


@on(*WEIGHTS)
def drawn_by_rejection(weights):
    top, tries = weights.max(), 0
    while tries < 1:
        place = int(dy2st.rand([]) * 3)
        tries += 1
        if dy2st.rand([]) * top < weights[place]:
            return place, tries
    return -1, tries


@on(*WEIGHTS)
def alias_table(weights):
    scaled = [float(w) * 3 for w in weights]
    small = [k for k, w in enumerate(scaled) if w < 1]
    large = [k for k, w in enumerate(scaled) if w >= 1]
    chance, alias = [1.0] * 3, [0] * 3
    for _ in range(2):
        if small and large:
            a, b = small.pop(), large[-1]
            chance[a], alias[a] = scaled[a], b
            scaled[b] -= 1 - scaled[a]
            if scaled[b] < 1:
                small.append(large.pop())
    return chance, alias


@on(*WEIGHTS)
def systematic_picks(weights):
    edges, picks, k = weights.cumsum(0), [], 0
    for n in range(4):
        position = (n + 0.5) / 4
        while k < 2 and position > edges[k]:
            k += 1
        picks.append(k)
    return picks, sum(a == b for a, b in itertools.pairwise(picks))


@on(*SAMPLES, unknown=EACH)
def counts_with_a_prior(x):
    a, b = 1.0, 1.0
    for v in x:
        if v > 0.5:
            a += 1
        else:
            b += 1
        if a / (a + b) > 0.7:
            break
    return a / (a + b), a + b


@on(*SAMPLES, unknown=EACH)
def sequential_test(x, low=-1.0, high=1.0):
    total = 0.0
    for step, v in enumerate(x, start=1):
        total = total + (v - 0.5)
        if total > high:
            return "accept", step
        if total < low:
            return "reject", step
    return "unsure", len(x)


@on(*SAMPLES, unknown=EACH)
def mixture_by_expectation(x):
    means, shares = [0.0, 1.0], [0.5, 0.5]
    for _ in range(2):
        parts = [s * dy2st.exp(-((x - m) ** 2)) for m, s in zip(means, shares)]
        total = sum(parts)
        duties = [p / total for p in parts]
        counts = [d.sum() for d in duties]
        means = [(d * x).sum() / n for d, n in zip(duties, counts)]
        shares = [n / len(x) for n in counts]
    return means, max(shares)


@on(*SAMPLES, unknown=EACH)
def chain_of_markov(x):
    states = ["high" if v > 0.5 else "low" for v in x]
    changes = sum(a != b for a, b in zip(states, states[1:]))
    return changes, states.count("high")


@on(*SAMPLES, unknown=EACH)
def entropy_in_bits(x):
    p = x.abs() / x.abs().sum() if x.abs().sum() > 0 else dy2st.full_like(x, 1 / len(x))
    return -sum(v * v.log() / math.log(2) if v > 0 else 0.0 for v in p)


@on(*SAMPLES, unknown=EACH)
def distance_of_distributions(x):
    steps = itertools.accumulate(v - 0.5 for v in x)
    return max(abs(s) for s in steps)


@dataclass(frozen=True)
class Normal:
    """A normal distribution that can be added, scaled and updated."""

    mean: Any
    var: Any

    def __add__(self, other):
        return Normal(self.mean + other.mean, self.var + other.var)

    def __rmul__(self, factor):
        return Normal(factor * self.mean, factor**2 * self.var)

    def __and__(self, other):
        gain = self.var / (self.var + other.var)
        return Normal(self.mean + gain * (other.mean - self.mean), (1 - gain) * self.var)


@on(*SAMPLES, unknown=EACH)
def normals_combined(x):
    belief = Normal(0.0, 4.0)
    for v in x:
        belief = belief & Normal(v, 1.0)
        if belief.var < 0.3:
            belief = belief + Normal(0.0, 0.5)
    return 2.0 * belief


@on(*WEIGHTS)
def walk_with_restarts(weights):
    place, visits, restarts = 0, [0, 0, 0], 0
    for _ in range(4):
        visits[place] += 1
        if dy2st.rand([]) < weights[place]:
            place, restarts = 0, restarts + 1
        else:
            place = (place + 1) % 3
    return visits, restarts


@on(*WEIGHTS)
def stick_breaking(weights):
    rest, sticks = 1.0, []
    for w in weights:
        sticks.append(rest * w)
        rest = rest * (1 - w)
        if rest < 0.2:
            break
    return sticks, rest


@on(*SAMPLES, [1.0, 0.0, 5.0, -5.0, 0.0], unknown=EACH)
def control_chart(x):
    mean, spread = x.mean(), x.std(unbiased=False)
    outside = [k for k, v in enumerate(x) if abs(v - mean) > spread]
    match outside:
        case []:
            return "calm", 0
        case [only]:
            return "once", only
        case [first, *rest]:
            return "often", first + len(rest)


@on(*SAMPLES, unknown=EACH)
def longest_streak(x):
    best = run = 0
    for v in x:
        run = run + 1 if v > 0.5 else 0
        best = max(best, run)
    return best


@on(*WEIGHTS)
def bayes_over_hypotheses(weights):
    beliefs = {"fair": 0.5, "loaded": 0.5}
    chances = {"fair": [1 / 3] * 3, "loaded": weights}
    for seen in (0, 2):
        beliefs = {name: b * chances[name][seen] for name, b in beliefs.items()}
        total = sum(beliefs.values())
        beliefs = {name: b / total for name, b in beliefs.items()}
        if beliefs["loaded"] > 0.6:
            break
    return beliefs, max(beliefs, key=beliefs.get)


@on(*SAMPLES, unknown=EACH)
def trimmed_mean(x):
    ordered = sorted(x)
    cut = len(ordered) // 4
    kept = ordered[cut : len(ordered) - cut]
    return sum(kept) / len(kept)


@on(*SAMPLES, unknown=EACH)
def ranks_with_ties(x):
    return [1 + sum(bool(w < v) for w in x) + 0.5 * sum(bool(w == v) for w in x) for v in x]


@on(*WEIGHTS)
def log_sum_with_nothing(weights):
    logs = [w.log() if w > 0.06 else None for w in weights]
    there = [v for v in logs if v is not None]
    high = max(there)
    return high + sum((v - high).exp() for v in there).log(), len(there)


@on(*WEIGHTS)
def optional_bias(weights, bias=None):
    has_bias = weights.max() > 0.6 and bias is not None
    out = weights + bias if has_bias else weights * 2
    return out if bias is None or weights.min() < 0 else out + bias


@on(*WEIGHTS, WEIGHTS[1])
class CountsOverCalls(nn.Layer):
    """Pseudo-counts in a list, a temperature that cools, and the last few decisions."""

    def __init__(self):
        super().__init__()
        self.counts = [1.0, 1.0, 1.0]
        self.heat = 1.0
        self.last = collections.deque(maxlen=2)

    def forward(self, weights):
        best = int(weights.argmax())
        self.counts[best] += 1.0
        self.heat *= 0.5
        self.last.append(best)
        shares = dy2st.to_tensor([c / sum(self.counts) for c in self.counts])
        return F.softmax(shares / self.heat, axis=0), list(self.last)
