"""Choosing from scores: top-k, nucleus, temperature, typical, rejection, schedules of noise."""

from __future__ import annotations

import math

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on

SCORES = ([1.0, 3.0, 2.0, 0.5], [0.1, 0.2, 0.1, 4.0], [2.0, 2.5, 2.1, 2.2], [5.0, 1.0])
EACH = [[None]]
INFINITY = float("inf")


@on(*SCORES, unknown=EACH)
def top_k_by_a_threshold(x):
    least = dy2st.topk(x, min(2, x.shape[0]))[0][-1]
    return dy2st.where(x < least, dy2st.full_like(x, -INFINITY), x)


@on(*SCORES, unknown=EACH)
def nucleus_by_a_cumulative_sum(x, p=0.8):
    values, order = dy2st.sort(x, descending=True), dy2st.argsort(x, descending=True)
    total = dy2st.cumsum(F.softmax(values, axis=-1))
    cut = total > p
    cut = dy2st.concat([dy2st.zeros([1], "bool"), cut[:-1]])
    kept = order[~cut]
    return kept, kept.shape[0]


@on(*SCORES, unknown=EACH)
def nucleus_by_a_loop(x, p=0.8):
    probs = F.softmax(x, axis=-1)
    kept, total = [], 0.0
    for i in probs.argsort(descending=True):
        kept.append(i)
        total = total + probs[i]
        if total >= p:
            break
    return kept


@on(*SCORES, unknown=EACH)
def least_probability(x):
    probs = F.softmax(x, axis=-1)
    limit = 0.3 * probs.max()
    kept = [float(v) for v in probs if v >= limit]
    return len(kept), sum(kept)


@on((SCORES[0], 0.0), (SCORES[1], 0.0), (SCORES[2], 0.0), unknown=EACH)
def temperature_of_zero_is_greedy(x, temperature):
    if temperature == 0:
        temperature = 1e-3 if x.max() > 2.2 else 1e-2
    return F.softmax(x / temperature, axis=-1)


@on(*SCORES, unknown=EACH)
def temperature_by_entropy(x):
    probs = F.softmax(x, axis=-1)
    entropy = -(probs * (probs + 1e-9).log()).sum()
    temperature = 0.5 if entropy > 1 else 2.0
    return F.softmax(x / temperature, axis=-1)


@on(*SCORES, unknown=EACH)
def sampled_by_inversion(x):
    probs, u = F.sigmoid(x - 2) / 3, 0.6
    total = 0.0
    for i, p in enumerate(probs):
        total = total + p
        if total > u:
            return i
    return probs.shape[0] - 1


@on(*SCORES)
def drawn_by_multinomial(x):
    draws = dy2st.multinomial(F.softmax(x, axis=-1), 3, replacement=True)
    if (draws == draws[0]).all():
        return draws[:1]
    return draws


@on(*SCORES, unknown=EACH)
def gumbel_trick(x):
    noise = dy2st.rand(x.shape)
    z = x - (-(noise + 1e-9).log()).log() * 0
    hard = F.one_hot(z.argmax(), 4).astype("float32")
    return hard if z.max() > 2 else hard * 0.5


@on(*SCORES, [-1.0, 2.0, 0.5, 0.1], unknown=EACH)
def repetition_penalty(x):
    for token in [0, 1]:
        if x[token] > 0:
            x[token] = x[token] / 1.5
        else:
            x[token] = x[token] * 1.5
    return x


@on(*SCORES, unknown=EACH)
def forbidden_tokens(x):
    banned = [i for i in range(len(x)) if i % 2 == 1]
    for i in banned:
        x[i] = -INFINITY
    return x.argmax()


@on(*SCORES, unknown=EACH)
def typical_sampling(x):
    logp = F.log_softmax(x, axis=-1)
    surprise = (-(logp.exp() * logp).sum() + logp).abs()
    order = surprise.argsort()
    kept, mass = 0, 0.0
    while kept < x.shape[0] and mass < 0.7:
        mass = mass + logp[order[kept]].exp()
        kept += 1
    return order[:kept]


@on(*SCORES, unknown=EACH)
def processors_in_a_list(x):
    processors = [lambda s: s / 0.7, lambda s: s - s.max(), lambda s: s.clip(-3, 0)]
    for process in processors:
        x = process(x)
        if x.min() < -2.5:
            break
    return x


@on(*SCORES, unknown=EACH)
def accepted_or_rejected(x):
    target, draft = F.softmax(x, axis=-1), F.softmax(x * 0.5, axis=-1)
    accepted = []
    for i, u in enumerate([0.2, 0.9, 0.99, 0.5][: x.shape[0]]):
        ratio = target[i] / draft[i]
        if u < ratio:
            accepted.append(i)
        else:
            break
    return accepted, len(accepted) == x.shape[0]


@on([0.5, -0.5], [2.0, 1.0], [-3.0, 0.1])
def walk_of_metropolis(x):
    def energy(v):
        return (v * v).sum()

    accepted = 0
    for step, u in zip((0.3, -0.4, 0.2), (0.9, 0.5, 0.99)):
        new = x + step
        if energy(new) < energy(x) or (energy(x) - energy(new)).exp() > u:
            x = new
            accepted += 1
    return x, accepted


@on([0.5, -0.5], [2.0, 1.0], [-3.0, 0.1])
def noise_taken_away_step_by_step(x):
    betas = np.linspace(0.1, 0.4, 4)
    alphas = np.cumprod(1 - betas)
    for t in reversed(range(4)):
        guess = x * 0.3
        x = (x - betas[t] / math.sqrt(1 - alphas[t]) * guess) / math.sqrt(1 - betas[t])
        if t > 0 and x.abs().max() > 1:
            x = x.clip(-1, 1)
    return x.astype("float32")


@on([0.5, -0.5], [2.0, 1.0], [-3.0, 0.1])
def guidance_in_an_interval(x):
    scales = []
    for t in (0.9, 0.5, 0.1):
        free, led = x * 0.5, x * 0.5 + t
        scale = 2.0 if 0.2 < t < 0.8 else 1.0
        x = free + scale * (led - free)
        scales.append(scale)
        if x.mean() > 1.2:
            break
    return x, scales


@on([1.0, 4.0], [0.2, 0.1], [9.0, 0.0])
def adaptive_steps_of_an_integrator(y):
    t, h, steps = 0.0, 0.5, 0
    while t < 1.0 and steps < 20:
        rough = y - h * y
        fine = y - h / 2 * y
        fine = fine - h / 2 * fine
        error = (rough - fine).abs().max()
        steps += 1
        if error < 0.1:
            y, t = fine, t + h
            h = min(h * 1.5, 1.0 - t + 1e-6)
        else:
            h = h / 2
    return y, steps


@on([1, 2, 3, 4, 5], [2, 2, 0, 1, 1], [9, 9, 9, 9, 9])
def reservoir(x):
    kept = [x[0], x[1]]
    for i in range(2, 5):
        j = int(x[i]) % (i + 1)
        if j < 2:
            kept[j] = x[i]
    return kept


@on([0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8])
def resampling_of_particles(w):
    n = 3
    picks, total, j = [], w[0], 0
    for i in range(n):
        u = (i + 0.5) / n
        while j < n - 1 and total < u:
            j += 1
            total = total + w[j]
        picks.append(j)
    return picks


@on([0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8])
def effective_number(w):
    n = 1 / (w * w).sum()
    if n < 2:
        w = dy2st.full_like(w, 1 / 3)
        return w, True
    return w / w.sum(), False


@on(*SCORES[:3])
class SamplerWithSettings(nn.Layer):
    def __init__(self):
        super().__init__()
        self.settings = {"top_k": 2, "temperature": 0.8, "penalty": None}
        self.last = -1

    def forward(self, x):
        s = self.settings
        x = x / s["temperature"]
        x = x if s["penalty"] is None else x * s["penalty"]
        values, picks = dy2st.topk(x, s["top_k"])
        if values[0] - values[1] < 0.5:
            return picks[1]
        return picks[0]
