"""Estimates of series: filters, alarms, forecasts, mixtures, chains of hidden states, trees."""

from __future__ import annotations

import math

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
TWO = [[None, 2]]
VALUES = ([0.3, 1.0, 2.0, 0.5], [1.0], [0.1, -0.2, 0.7])
WAVES = ([0.1, 0.9, -0.5, 0.3, 1.2, -0.8], [0.5, -0.5], [1.0, 0.2, 0.1, -0.3, 0.7])
TOKENS = ([0, 1, 2, 1, 0, 1], [3], [2, 2, 1])
PAIRS = (
    [[0.5, -1.0], [0.1, 0.3], [0.9, -0.2]],
    [[1.0, 2.0]],
    [[0.2, 0.4], [-0.6, 0.1]],
)


@on(*VALUES, unknown=EACH)
def alpha_beta_filter(z, alpha=0.85, beta=0.005, dt=0.5):
    x, v = 0.0, 0.0
    est, worst = [], 0.0
    for m in z:
        x = x + v * dt
        r = m - x
        x += alpha * r
        v += beta * r / dt
        if abs(r) > worst:
            worst = abs(r)
        est.append(x)
    return dy2st.stack(est), v, worst


class Biquad:
    def __init__(self, b, a):
        self.b, self.a = b, a
        self.z = [0.0, 0.0]

    def __call__(self, x):
        y = self.b[0] * x + self.z[0]
        self.z[0] = self.b[1] * x - self.a[0] * y + self.z[1]
        self.z[1] = self.b[2] * x - self.a[1] * y
        return y


@on(*WAVES, unknown=EACH)
def cascade_of_biquads(x):
    chain = [Biquad((0.2, 0.4, 0.2), (-0.3, 0.1)), Biquad((1.0, -1.0, 0.0), (-0.9, 0.0))]
    out = []
    for s in x:
        for f in chain:
            s = f(s)
        out.append(s)
    return dy2st.stack(out), [z for f in chain for z in f.z]


@on(*WAVES, unknown=EACH)
def fir_by_ring_buffer(x, taps=(0.5, 0.3, 0.2)):
    buf = [0.0] * len(taps)
    pos = 0
    out = []
    for s in x:
        buf[pos] = s
        acc = 0.0
        for k, h in enumerate(taps):
            acc = acc + h * buf[(pos - k) % len(taps)]
        out.append(acc)
        pos = (pos + 1) % len(taps)
    return out, pos


@on(*WAVES, unknown=EACH)
def goertzel_tones(x, freqs=(0.125, 0.25)):
    found = {}
    for f in freqs:
        w = 2 * math.pi * f
        c = 2 * math.cos(w)
        s1 = s2 = 0.0
        for v in x:
            s1, s2 = float(v) + c * s1 - s2, s1
        p = s1 * s1 + s2 * s2 - c * s1 * s2
        if p > 0.5:
            found[f] = p
    return found


@on(*WAVES, unknown=EACH)
def automatic_gain_control(x, target=0.8, attack=0.5, release=0.1):
    env, gain = 0.0, 1.0
    out = dy2st.zeros_like(x)
    clipped = 0
    for i in range(len(x)):
        level = x[i].abs()
        coef = attack if level > env else release
        env = env + coef * (level - env)
        gain = min(4.0, target / max(float(env), 1e-3))
        y = x[i] * gain
        if y > 1 or y < -1:
            clipped += 1
            y = y.clip(-1, 1)
        out[i] = y
    return out, clipped, gain


@on(*VALUES, unknown=EACH)
def arima_one_step(x, p=0.6, q=0.3):
    d = [b - a for a, b in zip(x[:-1], x[1:])]
    if not d:
        return x[-1], 0.0
    e_prev, sse = 0.0, 0.0
    pred = 0.0
    for i, v in enumerate(d):
        if i > 0:
            pred = p * d[i - 1] + q * e_prev
        e_prev = v - pred
        sse = sse + e_prev * e_prev
    return x[-1] + p * d[-1] + q * e_prev, sse


@on(*WAVES, unknown=EACH)
def cusum_two_sided(x, k=0.1, h=0.8):
    mean = x[: max(1, len(x) // 2)].mean()
    up = down = 0.0
    alarms = []
    for t, v in enumerate(x):
        up = max(0.0, up + v - mean - k)
        down = max(0.0, down - v + mean - k)
        if up > h:
            alarms.append((t, "up"))
            up = 0.0
        elif down > h:
            alarms.append((t, "down"))
            down = 0.0
    return alarms, float(up), float(down)


@on(*WAVES, [0.1, 0.2, 5.0, 0.3, 0.2], unknown=EACH)
def hampel_filter(x, k=1, nsig=1.0):
    y = x.clone()
    replaced = []
    for i in range(k, len(x) - k):
        win = x[i - k : i + k + 1]
        med = dy2st.sort(win)[k]
        mad = dy2st.sort((win - med).abs())[k]
        if (x[i] - med).abs() > nsig * 1.4826 * mad:
            y[i] = med
            replaced.append(i)
    return y, replaced


@on(*TOKENS, unknown=EACH)
def hmm_forward_scaled(obs):
    T = dy2st.to_tensor([[0.7, 0.3], [0.4, 0.6]])
    E = dy2st.to_tensor([[0.5, 0.2, 0.2, 0.1], [0.1, 0.3, 0.2, 0.4]])
    alpha, ll = None, 0.0
    path = []
    for o in obs:
        if alpha is None:
            alpha = dy2st.to_tensor([0.6, 0.4]) * E[:, o]
        else:
            alpha = (alpha @ T) * E[:, o]
        c = alpha.sum()
        alpha = alpha / c
        ll = ll + dy2st.log(c)
        path.append(int(alpha.argmax()))
    return ll, path, alpha


@on(*VALUES, unknown=EACH)
def em_two_gaussians(x, iters=8, tol=1e-4):
    mu, var, pi = dy2st.to_tensor([0.0, 2.0]), dy2st.ones([2]), dy2st.full([2], 0.5)
    last = -float("inf")
    for it in range(iters):
        d = (x[:, None] - mu[None]) ** 2 / var
        logp = -0.5 * (d + dy2st.log(2 * math.pi * var)) + dy2st.log(pi)
        ll = dy2st.logsumexp(logp, axis=1)
        r = dy2st.exp(logp - ll[:, None])
        total = ll.sum()
        if total - last < tol:
            break
        last = total
        nk = r.sum(0) + 1e-6
        mu = (r * x[:, None]).sum(0) / nk
        var = ((r * (x[:, None] - mu) ** 2).sum(0) / nk).clip(min=1e-2)
        pi = nk / nk.sum()
    return mu, pi, it


@on(*VALUES, unknown=EACH)
def kriging_with_nugget(x, q=1.0, ell=0.7):
    y = dy2st.sin(x)

    def k(a, b):
        return dy2st.exp(-((a[:, None] - b[None]) ** 2) / (2 * ell**2))

    K = k(x, x) + 1e-2 * dy2st.eye(x.shape[0])
    ks = k(dy2st.to_tensor([q]), x)
    w = dy2st.linalg.solve(K, y[:, None])
    mean = (ks @ w)[0, 0]
    var = 1 - (ks @ dy2st.linalg.solve(K, ks.T))[0, 0]
    return mean, var if var > 1e-3 else dy2st.zeros([])


@on(*TOKENS, unknown=EACH)
def crf_viterbi_with_backpointers(obs):
    trans = dy2st.to_tensor([[0.5, -0.2, -1.0], [0.1, 0.3, 0.2], [-1.0, 0.6, 0.1]])
    emit = dy2st.to_tensor([[1.0, 0.0, 0.2], [0.1, 0.9, 0.3], [0.0, 0.4, 1.0], [0.5, 0.5, 0.5]])
    score = emit[obs[0]]
    back = []
    for o in obs[1:]:
        m = score[:, None] + trans
        back.append(m.argmax(0))
        score = m.max(0) + emit[o]
    tag = score.argmax()
    path = [int(tag)]
    for bp in reversed(back):
        tag = bp[tag]
        path.append(int(tag))
    return path[::-1], score.max()


@on(*PAIRS, unknown=TWO)
def decision_tree_with_arrays(rows):
    feature = dy2st.to_tensor([0, 1, -1, -1, 1, -1, -1])
    thr = dy2st.to_tensor([0.5, 0.3, 0.0, 0.0, 1.0, 0.0, 0.0])
    left, right = [1, 2, -1, -1, 5, -1, -1], [4, 3, -1, -1, 6, -1, -1]
    value = [0, 0, 1.0, -1.0, 0, 2.0, 3.0]
    preds, depths = [], []
    for row in rows:
        node, depth = 0, 0
        while left[node] != -1:
            node = left[node] if row[feature[node]] <= thr[node] else right[node]
            depth += 1
        preds.append(value[node])
        depths.append(depth)
    return preds, max(depths)
