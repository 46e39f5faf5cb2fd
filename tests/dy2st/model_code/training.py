"""Steps of trainers: schedules, accumulated gradients, clipping, averages of weights, scaling."""

from __future__ import annotations

import math

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on

BATCHES = (
    [[1.0, 2.0], [0.5, -1.0]],
    [[-1.0, 0.0], [2.0, 2.0]],
    [[9.0, 9.0], [-9.0, 8.0]],
    [[0.1, 0.2], [0.0, 0.1]],
)
STEPS = tuple(np.array(n) for n in (0, 1, 3, 7, 12))
LOSSES = ([1.0, 0.9, 0.8], [1.0, 1.1, 1.2], [0.5, 0.7, 0.4], [2.0])
EACH = [[None]]


def small_net():
    net = nn.Linear(2, 1)
    net.weight.set_value(np.float32([[0.5], [-0.25]]))
    net.bias.set_value(np.float32([0.1]))
    return net


@on(*STEPS)
def warmup_then_cosine(step):
    if step < 4:
        return step / 4
    progress = (step - 4) / 10
    return 0.5 * (1 + dy2st.cos(progress * math.pi))


@on(*STEPS)
def stepwise_decay(step):
    rate = 1.0
    for milestone in (2, 5, 10):
        if step >= milestone:
            rate *= 0.5
    return rate


@on(*STEPS)
def decay_of_python_numbers(step):
    n = int(step)
    rate = 0.1 * 0.9 ** (n // 3)
    return max(rate, 0.08), n % 4 == 0


@on(*STEPS)
def triangular_cycle(step):
    cycle = step // 4
    x = abs(step / 2 - 2 * cycle - 1)
    height = 1.0 - x if x < 1 else x * 0
    return height / (cycle + 1)


@on(*LOSSES, unknown=EACH)
def rate_on_a_plateau(losses):
    best, bad, rate = float("inf"), 0, 1.0
    for loss in losses:
        if loss < best - 0.05:
            best, bad = loss, 0
        else:
            bad += 1
        if bad >= 1:
            rate *= 0.5
            bad = 0
    return rate, best


@on(*LOSSES, unknown=EACH)
def early_stopping(losses):
    best, best_epoch = losses[0], 0
    for epoch, loss in enumerate(losses):
        if loss < best:
            best, best_epoch = loss, epoch
        elif epoch - best_epoch >= 1:
            break
    return best_epoch, epoch


@on(*LOSSES, unknown=EACH)
def average_of_finite_losses(losses):
    kept = []
    for loss in losses * losses / (losses - 0.9):
        if dy2st.isfinite(loss):
            kept.append(loss)
    return sum(kept) / len(kept)


@on(*BATCHES, unknown=[[None, 2]])
def clipped_by_the_global_norm(x):
    grads = [x[:, 0], x[:, 1]]
    norm = sum((g * g).sum() for g in grads).sqrt()
    if norm > 2.0:
        scale = 2.0 / (norm + 1e-6)
        grads = [g * scale for g in grads]
    return grads, norm


@on(*BATCHES, unknown=[[None, 2]])
def clipped_one_by_one(x):
    out, clipped = {}, 0
    for name, g in {"w": x, "b": x.sum(0)}.items():
        norm = g.norm()
        if norm > 3:
            g = g * (3 / norm)
            clipped += 1
        out[name] = g
    return out, clipped


@on(*BATCHES, unknown=[[None, 2]])
def loss_of_several_terms(x):
    terms = {"fit": (x * x).mean(), "size": x.abs().mean()}
    weights = {"fit": 1.0, "size": 0.1}
    if x.max() > 5:
        terms["peak"] = x.max()
        weights["peak"] = 0.01
    return sum(terms[k] * weights[k] for k in terms), sorted(terms)


@on(*BATCHES, [[1.0, 1.0]] * 2, [[2.0, 1.0]], unknown=[[None, 2]])
def hardest_of_a_batch(x):
    losses = (x * x).sum(1)
    hard = losses > losses.mean()
    if hard.any():
        return losses[hard].mean()
    return losses.mean()


@on(*BATCHES, unknown=[[None, 2]])
class LossWithPenalties(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net = small_net()

    def forward(self, x):
        loss = (self.net(x) ** 2).mean()
        for name, p in self.net.named_parameters():
            if "bias" not in name and p.abs().max() > 0.1:
                loss = loss + 0.01 * (p * p).sum()
        return loss


@on(*BATCHES)
class EveryOtherStep(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", dy2st.zeros([2]))
        self.register_buffer("weight", dy2st.ones([2]))
        self.counter = 0

    def forward(self, x):
        self.held = self.held + x.mean(0)
        self.counter += 1
        if self.counter % 2 == 0:
            self.weight = self.weight - 0.1 * self.held / 2
            self.held = dy2st.zeros([2])
        return self.weight * 1


@on(*BATCHES)
class AverageOfWeights(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", dy2st.ones([2]))
        self.register_buffer("shadow", dy2st.ones([2]))
        self.updates = 0

    def forward(self, x):
        self.weight = self.weight - 0.05 * x.mean(0)
        self.updates += 1
        decay = min(0.99, (1 + self.updates) / (10 + self.updates))
        self.shadow = self.shadow * decay + self.weight * (1 - decay)
        return self.shadow if x.max() < 5 else self.weight * 1


@on(*BATCHES)
class MomentumByHand(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([2], default_initializer=nn.initializer.Constant(1.0))
        self.register_buffer("velocity", dy2st.zeros([2]))

    def forward(self, x):
        slope = (x * self.w).mean(0)
        self.velocity = 0.9 * self.velocity + slope
        step = self.velocity
        if step.norm() > 1:
            step = step / step.norm()
        self.w.set_value(self.w - 0.1 * step)
        return self.w.sum()


@on(*BATCHES)
class LossScaler(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", dy2st.full([], 8.0))
        self.register_buffer("good", dy2st.zeros([], "int64"))

    def forward(self, x):
        loss = (x * x).sum() * self.scale
        if loss > 500:
            self.scale = self.scale / 2
            self.good = dy2st.zeros([], "int64")
        else:
            self.good = self.good + 1
            if self.good >= 2:
                self.scale = self.scale * 2
                self.good = dy2st.zeros([], "int64")
        return loss


@on(*BATCHES)
class SkipsBadSteps(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", dy2st.ones([2]))
        self.skipped = 0

    def forward(self, x):
        gradient = x.sum(0)
        if dy2st.isfinite(gradient).all() and gradient.norm() < 10:
            self.weight = self.weight - 0.1 * gradient
        else:
            self.skipped += 1
        return self.weight.sum()


@on(*BATCHES)
class AdamByHand(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("m", dy2st.zeros([2]))
        self.register_buffer("v", dy2st.zeros([2]))
        self.t = 0

    def forward(self, x):
        g = x.mean(0)
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.v = 0.99 * self.v + 0.01 * g * g
        m, v = self.m / (1 - 0.9**self.t), self.v / (1 - 0.99**self.t)
        return m / (v.sqrt() + 1e-8)


@on(*BATCHES, unknown=[[None, 2]])
def line_search(x):
    w = x.mean(0)

    def loss(w):
        return ((w - 1) ** 2).sum()

    slope = 2 * (w - 1)
    rate = 1.0
    while loss(w - rate * slope) > loss(w) - 0.5 * rate * (slope * slope).sum() and rate > 1e-3:
        rate = rate * 0.5
    return w - rate * slope, rate


@on(*BATCHES, unknown=[[None, 2]])
def gradient_penalty(x):
    x = x * 1
    x.stop_gradient = False
    y = (x * x * x).sum()
    (g,) = dy2st.grad(y, x, create_graph=True)
    penalty = ((g.norm() - 1) ** 2) if g.norm() > 1 else g.norm()
    return penalty


@on(*BATCHES, [[5.0, 0.0]] * 2, unknown=[[None, 2]])
def descent_inside_of_the_model(x):
    w = dy2st.zeros([2])
    for _ in range(3):
        error = x.matmul(w) - 1
        w = w - 0.02 * x.T.matmul(error)
        if error.abs().max() < 0.2:
            break
    return w


@on(*zip(BATCHES, BATCHES[1:] + BATCHES[:1]), unknown=[[None, 2]] * 2)
def contrastive_with_a_queue(x, y):
    queue = [y[i] for i in range(y.shape[0])]
    loss = 0.0
    for row in x:
        best = None
        for other in queue:
            d = ((row - other) ** 2).sum()
            best = d if best is None or d < best else best
        loss = loss + (best if best < 10 else best.sqrt())
    return loss / x.shape[0]


@on(*zip(BATCHES, BATCHES[1:] + BATCHES[:1]), unknown=[[None, 2]] * 2)
def hardest_triplet(x, y):
    total, used = 0.0, 0
    for i in range(x.shape[0]):
        near = ((x[i] - y[i]) ** 2).sum()
        far = ((x[i] - y[i - 1]) ** 2).sum()
        if near - far + 0.5 > 0:
            total = total + near - far + 0.5
            used += 1
    return total / used if used > 0 else total


@on(*BATCHES, unknown=[[None, 2]])
def smooth_labels_unless_sure(x):
    p = F.softmax(x, axis=-1)
    target = p.argmax(-1)
    smooth = 0.0 if p.max() > 0.99 else 0.1
    onehot = F.one_hot(target, 2).astype("float32")
    onehot = onehot * (1 - smooth) + smooth / 2
    return -(onehot * F.log_softmax(x, axis=-1)).sum(-1).mean()


@on(*LOSSES, unknown=EACH)
def logs_in_a_dict_of_meters(losses):
    meters = {}
    for i, loss in enumerate(losses):
        name = f"epoch{i}" if i < 2 else "later"
        if loss < 1.15:
            meters.setdefault(name, []).append(loss)
    return {name: sum(v) / len(v) for name, v in meters.items()}
