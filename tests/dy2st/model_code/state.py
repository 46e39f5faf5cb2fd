"""Layers and closures that remember: counters, caches, hidden states, histories."""

from __future__ import annotations

import collections

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on

CALLS = ([1.0, 2.0], [-1.0, -3.0], [0.5, 0.0], [4.0, 4.0])
LENGTHS = ([1.0, 2.0], [-1.0, -3.0, 1.0], [0.5], [-1.0, 4.0])
EACH = [[None]]


@on(*CALLS, unknown=EACH)
class CountsItsCalls(nn.Layer):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


@on(*CALLS, unknown=EACH)
class CountsWhatATensorDecides(nn.Layer):
    def __init__(self):
        super().__init__()
        self.positive = 0

    def forward(self, x):
        if x.sum() > 0:
            self.positive += 1
        return x + self.positive


@on(*CALLS, unknown=EACH)
class SwitchesByItsCounter(nn.Layer):
    def __init__(self):
        super().__init__()
        self.step = 0
        self.layers = nn.LayerList([nn.ReLU(), nn.Tanh()])

    def forward(self, x):
        y = self.layers[self.step](x)
        self.step = (self.step + 1) % 2
        return y


@on(*CALLS)
class HiddenState(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", dy2st.zeros([2]))

    def forward(self, x):
        before = self.hidden
        self.hidden = dy2st.tanh(x + before)
        return self.hidden - before


@on(*CALLS)
class HiddenStateThatBeginsAsNone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = None

    def forward(self, x):
        if self.hidden is None:
            self.hidden = dy2st.zeros_like(x)
        self.hidden = self.hidden * 0.5 + x
        return self.hidden


@on(*CALLS)
class ResetByATensor(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", dy2st.zeros([2]))

    def forward(self, x):
        if x.min() < -2:
            self.total = dy2st.zeros([2])
        else:
            self.total = self.total + x
        return self.total


@on(*LENGTHS)
class MaskCache(nn.Layer):
    def __init__(self):
        super().__init__()
        self.masks = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.masks:
            self.masks[n] = dy2st.tril(dy2st.ones([n, n]))
        return self.masks[n].matmul(x)


@on(*CALLS)
class TableMadeOnce(nn.Layer):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None or self.table.shape[0] < x.shape[0]:
            self.table = dy2st.arange(x.shape[0] * 2).astype("float32")
        return x + self.table[: x.shape[0]]


@on(*CALLS)
class HistoryInAList(nn.Layer):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history.append(x.sum())
        return sum(self.history), len(self.history)


@on(*CALLS)
class HistoryOfTheLastTwo(nn.Layer):
    def __init__(self):
        super().__init__()
        self.recent = collections.deque(maxlen=2)

    def forward(self, x):
        self.recent.append(x)
        out = self.recent[0] * 0
        for v in self.recent:
            out = out + v if v.sum() > 0 else out
        return out


@on(*CALLS)
class KeepsWhatIsLarge(nn.Layer):
    def __init__(self):
        super().__init__()
        self.kept = []

    def forward(self, x):
        if x.sum() > 1:
            self.kept.append(x)
        return len(self.kept)


@on(*CALLS)
class MovingAverage(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([]))
        self.register_buffer("count", dy2st.zeros([], "int64"))

    def forward(self, x):
        self.count = self.count + 1
        rate = 1.0 / self.count.astype("float32") if self.count < 3 else 0.25
        self.mean = self.mean + rate * (x.mean() - self.mean)
        return x - self.mean


@on(*CALLS)
class BestSoFar(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("best", dy2st.full([], -100.0))
        self.waited = 0

    def forward(self, x):
        if x.max() > self.best:
            self.best = x.max()
            self.waited = 0
        else:
            self.waited += 1
        return self.best, self.waited


@on(*CALLS)
class StatisticsInADict(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stats = {"seen": 0, "total": 0.0}

    def forward(self, x):
        self.stats["seen"] += 1
        self.stats["total"] = self.stats["total"] + x.sum()
        return self.stats["total"] / self.stats["seen"]


@on(*CALLS)
class LogsLosses(nn.Layer):
    def __init__(self):
        super().__init__()
        self.logs = collections.defaultdict(list)

    def forward(self, x):
        loss = (x * x).mean()
        self.logs["loss"].append(loss)
        if loss > 3:
            loss = loss.clip(0, 3)
        return loss


@on(*CALLS, unknown=EACH)
class RemembersItsAuxiliaryLoss(nn.Layer):
    def __init__(self):
        super().__init__()
        self.aux = 0.0

    def forward(self, x):
        y = x * 2
        self.aux = y.abs().mean() if y.sum() > 0 else y.sum() * 0
        return y + self.aux


@on(*CALLS)
class Debounce(nn.Layer):
    def __init__(self):
        super().__init__()
        self.is_on = False

    def forward(self, x):
        if self.is_on:
            self.is_on = bool(x.sum() > -1)
        else:
            self.is_on = bool(x.sum() > 2)
        return x * 10 if self.is_on else x


@on(*CALLS)
class RingBuffer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("ring", dy2st.zeros([3]))
        self.at = 0

    def forward(self, x):
        self.ring[self.at] = x.sum()
        self.at = (self.at + 1) % 3
        return self.ring.mean()


@on(*CALLS)
class KeyValueCache(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x):
        row = x.unsqueeze(0)
        self.cache = row if self.cache is None else dy2st.concat([self.cache, row])
        if self.cache.shape[0] > 2:
            self.cache = self.cache[-2:]
        return self.cache.sum(0)


@on(*CALLS)
class StateOfASublayer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = CountsWhatATensorDecides()
        self.other = HiddenState()

    def forward(self, x):
        y = self.inner(x)
        if y.sum() > 3:
            y = self.other(y)
        return y


@on(*CALLS)
class PropertyOverABuffer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("raw", dy2st.ones([]))

    @property
    def scale(self):
        return self.raw * 2 if self.raw > 0 else self.raw

    @scale.setter
    def scale(self, value):
        self.raw = value / 2

    def forward(self, x):
        self.scale = self.scale + x.sum()
        return x * self.scale


@on(*CALLS, makes=True)
def counter_in_a_closure():
    count = 0

    def step(x):
        nonlocal count
        count += 1
        return x * count if x.sum() > 0 else x - count

    return step, None


@on(*CALLS, makes=True)
def memory_in_a_closure():
    memory = {"last": None, "calls": 0}

    def step(x):
        last = memory["last"]
        memory["last"] = x * 2
        memory["calls"] += 1
        return x if last is None else x + last

    return step, memory


@on(*CALLS, makes=True)
def accepted_in_a_closure():
    accepted = []

    def step(x):
        energy = (x * x).sum()
        if energy < 8:
            accepted.append(energy)
        return len(accepted)

    return step, accepted


@on(*CALLS, makes=True)
def memoized_by_size():
    cache = {}

    def positions(n):
        if n not in cache:
            cache[n] = dy2st.arange(n).astype("float32") / n
        return cache[n]

    def step(x):
        return x + positions(x.shape[0])

    return step, cache


class Tracker:
    def __init__(self):
        self.seen = 0
        self.peak = None

    def update(self, x):
        self.seen += 1
        top = x.max()
        if self.peak is None or top > self.peak:
            self.peak = top
        return self.peak


@on(*CALLS, makes=True)
def method_of_an_object():
    tracker = Tracker()
    return tracker.update, tracker


@on(*CALLS, makes=True)
def generator_of_a_schedule():
    rates = iter([1.0, 0.5, 0.25, 0.125])

    def step(x):
        rate = next(rates)
        return x * rate if x.sum() > 0 else x

    return step, None


@on(*CALLS, makes=True)
def default_argument_as_memory():
    def step(x, memory=[]):
        memory.append(1)
        if x.sum() > 0:
            return x * len(memory)
        return x

    return step, None


@on(*CALLS)
class RunningNormalization(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([2]))
        self.register_buffer("steps", dy2st.zeros([], "int64"))
        self.train()

    def forward(self, x):
        if self.training and self.steps < 3:
            self.mean = 0.9 * self.mean + 0.1 * x
            self.steps = self.steps + 1
        return x - self.mean


@on(*CALLS)
class TwoStatesSwapped(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("front", dy2st.zeros([2]))
        self.register_buffer("back", dy2st.ones([2]))

    def forward(self, x):
        if x.sum() > 0:
            self.front, self.back = self.back + x, self.front
        return self.front * 10 + self.back
