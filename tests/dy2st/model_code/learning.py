"""Learning and decoding: targets, clipped losses, averages of weights, speculation, marks, cutoffs."""

from __future__ import annotations

import math
from collections import deque

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
ROWS = [[None, 4]]
LOSSES = ([1.0, 0.8, 0.9, 0.7, 0.75, 0.76, 0.77], [2.0], [0.5, 0.6, 0.7])
REWARDS = ([1.0, 0.0, -1.0, 2.0, 0.5], [1.0], [0.1, 0.2, 0.3])
FRAMES = (
    [[0.1, 2.0, 0.3, -1.0], [1.0, 0.2, 3.0, 0.0], [0.0, 0.1, 0.2, 4.0]],
    [[2.0, 1.0, 0.5, 0.1]],
    [[0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 2.0, 0.5], [3.0, 0.0, 0.0, 0.5], [0.0, 5.0, 0.0, 0.5]],
)
WEIGHTS = ([0.5, -1.0, 2.0, 0.1], [1.0], [0.3, 0.3, -0.2])
ACTIONS = ([0, 1, 2, 2, 1, 3, 0], [1], [3, 3, 0])


@on(*LOSSES, unknown=EACH)
def lookahead_with_slow_weights(grads, k=2, alpha=0.5):
    fast = slow = dy2st.ones([2])
    for i, g in enumerate(grads):
        fast = fast - 0.1 * g * fast
        if (i + 1) % k == 0:
            slow = slow + alpha * (fast - slow)
            fast = slow
    return fast, slow


@on(*LOSSES, unknown=EACH)
def early_stopping_with_restore(losses, patience=2, delta=0.01):
    best, wait, best_epoch = float("inf"), 0, -1
    weights = dy2st.zeros([2])
    saved = weights
    for epoch, loss in enumerate(losses):
        weights = weights + loss
        if loss < best - delta:
            best, wait, best_epoch, saved = loss, 0, epoch, weights.clone()
        else:
            wait += 1
            if wait >= patience:
                weights = saved
                break
    return weights, best, best_epoch


@on(*LOSSES, [1.0, math.inf, 0.5], unknown=EACH)
def gradient_accumulation_with_skips(grads, accum=2, max_norm=1.0):
    w = dy2st.zeros([2])
    acc, seen, steps, skipped = dy2st.zeros([2]), 0, 0, 0
    for i, g in enumerate(grads):
        g = dy2st.stack([g, g * g])
        if not dy2st.isfinite(g).all():
            skipped += 1
            continue
        acc = acc + g / accum
        seen += 1
        if seen % accum == 0 or i + 1 == len(grads):
            n = dy2st.norm(acc)
            if n > max_norm:
                acc = acc * (max_norm / n)
            w = w - 0.1 * acc
            acc = dy2st.zeros_like(acc)
            steps += 1
    return w, steps, skipped


@on(*WEIGHTS, unknown=EACH)
def lamb_trust_ratio(w):
    m = v = dy2st.zeros_like(w)
    for t in range(1, 4):
        g = 2 * w - 0.5
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        upd = (m / (1 - 0.9**t)) / (dy2st.sqrt(v / (1 - 0.99**t)) + 1e-6)
        wn, un = dy2st.norm(w), dy2st.norm(upd)
        trust = wn / un if wn > 0 and un > 0 else 1.0
        w = w - 0.1 * trust * upd
    return w


@on(*WEIGHTS, unknown=EACH)
def ema_with_warmup_and_swap(weights):
    class EMA:
        def __init__(self, decay):
            self.decay, self.step, self.shadow = decay, 0, {}

        def update(self, params):
            self.step += 1
            d = min(self.decay, (1 + self.step) / (10 + self.step))
            for k, v in params.items():
                self.shadow[k] = d * self.shadow[k] + (1 - d) * v if k in self.shadow else v

    ema = EMA(0.9)
    params = {"w": weights, "b": weights.mean()}
    for i in range(4):
        params = {k: v * 0.9 for k, v in params.items()}
        if params["w"].abs().max() > 0.6:
            params["b"] = params["b"] * 0.5
        ema.update(params)
    return ema.shadow["w"], ema.shadow["b"]


@on(*REWARDS, unknown=EACH)
def ppo_minibatches_with_kl_stop(adv, clip=0.2, target_kl=0.02):
    logits = dy2st.zeros_like(adv)
    old = F.log_softmax(logits, 0)
    epochs = 0
    for epoch in range(4):
        lp = F.log_softmax(logits, 0)
        ratio = dy2st.exp(lp - old)
        surr = dy2st.minimum(ratio * adv, dy2st.clip(ratio, 1 - clip, 1 + clip) * adv)
        kl = (dy2st.exp(old) * (old - lp)).sum()
        if kl > target_kl:
            break
        logits = logits + 0.3 * (adv - adv.mean()) * (surr != 0).astype("float32")
        epochs += 1
    return logits, epochs, kl


@on(*REWARDS, unknown=EACH)
def retrace_targets(rewards, lam=0.9, gamma=0.99):
    n = len(rewards)
    q = F.tanh(rewards)
    ratios = dy2st.clip(dy2st.exp(rewards * 0.3), max=1.0)
    out, acc = [], 0.0
    for t in range(n - 1, -1, -1):
        td = rewards[t] + gamma * (q[t + 1] if t < n - 1 else 0) - q[t]
        acc = td + gamma * lam * (ratios[t + 1] if t < n - 1 else 0) * acc
        out.append(q[t] + acc)
    return dy2st.stack(out[::-1])


@on(*REWARDS, unknown=EACH)
def epsilon_greedy_with_optimistic_start(rewards, arms=3):
    q, n, picks = [1.0] * arms, [0] * arms, []
    for t, r in enumerate(rewards):
        a = t % arms if t % 4 == 3 else q.index(max(q))
        n[a] += 1
        q[a] += (r - q[a]) / n[a]
        picks.append(a)
    return picks, q


@on(*FRAMES, unknown=ROWS)
def diverse_groups(logits, groups=2, penalty=0.5):
    logp = F.log_softmax(logits, -1)
    chosen = [[] for _ in range(groups)]
    for t in range(logits.shape[0]):
        used = dy2st.zeros([4])
        for g in range(groups):
            row = logp[t] - penalty * used
            k = int(row.argmax())
            used[k] += 1.0
            chosen[g].append(k)
    return chosen


def log_add(a, b):
    if a == -math.inf:
        return b
    if a < b:
        a, b = b, a
    return a + math.log1p(math.exp(b - a))


@on(*FRAMES, unknown=ROWS)
def ctc_loss_by_hand(logits, target=(1, 2)):
    blank = 0
    logp = F.log_softmax(logits, -1)
    ext = [blank]
    for y in target:
        ext += [y, blank]
    S = len(ext)
    alpha = [-math.inf] * S
    alpha[0] = float(logp[0, blank])
    alpha[1] = float(logp[0, ext[1]])
    for t in range(1, logits.shape[0]):
        new = [-math.inf] * S
        for s in range(S):
            a = alpha[s]
            if s >= 1:
                a = log_add(a, alpha[s - 1])
            if s >= 2 and ext[s] != blank and ext[s] != ext[s - 2]:
                a = log_add(a, alpha[s - 2])
            new[s] = a + float(logp[t, ext[s]])
        alpha = new
    return -log_add(alpha[-1], alpha[-2])


@on(*FRAMES, unknown=ROWS)
def eta_cutoff(logits, eps=0.05):
    res = []
    for row in logits:
        p = F.softmax(row, -1)
        ent = -(p * dy2st.log(p)).sum()
        eta = min(eps, math.sqrt(eps) * math.exp(-float(ent)))
        keep = [k for k in range(4) if p[k] > eta]
        res.append(keep)
    return res


@on(*FRAMES, unknown=ROWS)
def watermark_greenlist(logits, delta=1.5, gamma=0.5):
    prev, green_hits, out = 1, 0, []
    for row in logits:
        seed = (prev * 7919 + 13) % 4
        green = [(seed + i) % 4 for i in range(int(gamma * 4))]
        biased = row.clone()
        for g in green:
            biased[g] = biased[g] + delta
        tok = int(biased.argmax())
        green_hits += tok in green
        out.append(tok)
        prev = tok
    n = len(out)
    z = (green_hits - gamma * n) / math.sqrt(n * gamma * (1 - gamma))
    return out, z


@on(*FRAMES, unknown=ROWS)
def speculative_blocks(logits, gamma=2):
    target = F.softmax(logits, -1)
    draft = F.softmax(logits * 0.5 + dy2st.to_tensor([0.0, 1.0, 0.0, 0.5]), -1)
    out = []
    accepted = rejected = 0
    pos = 0
    n = logits.shape[0]
    while pos < n:
        block = [int(draft[min(pos + j, n - 1)].argmax()) for j in range(gamma)]
        for j, tok in enumerate(block):
            if pos >= n:
                break
            p, q = target[pos, tok], draft[pos, tok]
            if p / q >= 0.95:
                out.append(tok)
                accepted += 1
                pos += 1
            else:
                residual = F.relu(target[pos] - draft[pos])
                out.append(int((residual / residual.sum()).argmax()))
                rejected += 1
                pos += 1
                break
    return out, accepted / max(accepted + rejected, 1)


@on(*ACTIONS, [0, 0, 1, 2], [0, 2, 0, 2, 0, 2, 0, 2, 1], unknown=EACH)
def shift_reduce_arc_standard(actions):
    buffer, stack, arcs = deque(range(1, 5)), [0], []
    for a in actions:
        a = int(a) % 3
        if a == 0 and buffer:
            stack.append(buffer.popleft())
        elif a == 1 and len(stack) > 2:
            dep = stack.pop(-2)
            arcs.append((stack[-1], dep))
        elif a == 2 and len(stack) > 1:
            dep = stack.pop()
            arcs.append((stack[-1], dep))
        elif not buffer and len(stack) == 1:
            break
    return arcs, stack, list(buffer)


class Client:
    def __init__(self, number, share):
        self.number, self.share, self.rounds = number, share, 0

    def fit(self, state):
        self.rounds += 1
        return {name: value + self.share * (1 - value) for name, value in state.items()}


@on(*REWARDS, unknown=EACH)
def federated_rounds_of_those_that_are_there(shares):
    clients = [Client(number, share) for number, share in enumerate(shares)]
    state = {"w": dy2st.zeros([]), "b": dy2st.ones([])}
    for _ in range(2):
        chosen = [one for one in clients if one.share > 0.2] or clients
        updates = [one.fit(state) for one in chosen]
        state = {name: sum(u[name] for u in updates) / len(updates) for name in state}
        if state["w"] > 0.6:
            break
    return state, [one.number for one in chosen], [one.rounds for one in clients]
