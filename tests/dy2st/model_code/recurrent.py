"""Cells, scans, masks and pooling over time as models of sequences write them."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

SEQUENCES = (
    ramp(4, 2),
    ramp(4, 2, start=0.0),
    ramp(4, 2, start=-4.0),
    ramp(2, 2),
    ramp(1, 2, start=1.0),
)
STEPS = [[None, 2]]
BATCHES = (ramp(2, 3, 2), ramp(2, 3, 2, start=0.0), ramp(2, 3, 2, start=-3.0), ramp(1, 4, 2))
BATCH = [[None, None, 2]]
State = namedtuple("State", "h c")


def cell_weights():
    return dy2st.to_tensor(np.float32([[0.5, -0.3], [0.2, 0.4]]))


@on(*SEQUENCES, unknown=STEPS)
class PlainCell(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", cell_weights())

    def forward(self, x):
        h = dy2st.zeros([2])
        out = []
        for step in x:
            h = dy2st.tanh(step.matmul(self.w) + h)
            out.append(h)
        return dy2st.stack(out), h


@on(*SEQUENCES, unknown=STEPS)
class CellWithANamedtuple(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", cell_weights())

    def step(self, x, state):
        gate = F.sigmoid(x.matmul(self.w))
        c = state.c * gate + x * (1 - gate)
        return State(dy2st.tanh(c), c)

    def forward(self, x):
        state = State(dy2st.zeros([2]), dy2st.zeros([2]))
        for t in range(x.shape[0]):
            state = self.step(x[t], state)
            if state.c.abs().max() > 3:
                state = State(state.h, state.c / 2)
        return state


@on(*SEQUENCES, unknown=STEPS)
class CellThatIsReset(nn.Layer):
    def forward(self, x):
        h, resets = dy2st.zeros([2]), []
        for t, step in enumerate(x):
            if step.sum() < -1:
                h = dy2st.zeros([2])
                resets.append(t)
            h = h * 0.9 + step
        return h, resets


@on(*SEQUENCES, unknown=STEPS)
class TwoDirections(nn.Layer):
    def run(self, x, is_reversed):
        steps = list(x)
        if is_reversed:
            steps = steps[::-1]
        h, out = x[0] * 0, []
        for step in steps:
            h = h * 0.5 + step
            out.append(h)
        return out[::-1] if is_reversed else out

    def forward(self, x):
        forward, backward = self.run(x, False), self.run(x, True)
        return dy2st.stack([dy2st.concat([a, b]) for a, b in zip(forward, backward)])


@on(*SEQUENCES, unknown=STEPS)
class StackedCells(nn.Layer):
    def forward(self, x):
        states = [dy2st.zeros([2]) for _ in range(2)]
        for step in x:
            for k in range(2):
                states[k] = dy2st.tanh(states[k] + step)
                step = states[k]
                if step.min() > 0.9:
                    break
        return states


@on(*SEQUENCES, unknown=STEPS)
def scan_that_stops_when_it_settles(x):
    h, t = x[0] * 0, 0
    while t < x.shape[0]:
        new = (h + x[t]) / 2
        t += 1
        if (new - h).abs().max() < 1.1:
            break
        h = new
    return h, t


@on(*SEQUENCES, unknown=STEPS)
def teacher_forcing(x):
    h, forced = dy2st.zeros([2]), 0
    for t in range(x.shape[0]):
        if t % 2 == 0 or h.sum() > 1:
            source = x[t]
            forced += 1
        else:
            source = h
        h = dy2st.tanh(h + source)
    return h, forced


@on(*zip(BATCHES[:3], ([1, 3], [2, 2], [3, 1])))
def last_step_of_each(x, lengths):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i, lengths[i] - 1])
    return dy2st.stack(out)


@on(*zip(BATCHES[:3], ([1, 3], [2, 2], [3, 1])))
def mean_of_each_length(x, lengths):
    return [x[i, :n].mean(0) for i, n in enumerate(lengths)]


@on(*zip(BATCHES[:3], ([1, 3], [2, 2], [3, 1])))
def state_that_stays_after_the_end(x, lengths):
    h = dy2st.zeros([2, 2])
    for t in range(3):
        new = dy2st.tanh(h + x[:, t])
        alive = (lengths > t).astype("float32").unsqueeze(1)
        h = alive * new + (1 - alive) * h
        if not (lengths > t + 1).any():
            break
    return h


@on(*zip(BATCHES[:3], ([1, 3], [2, 2], [3, 1])))
def sorted_by_length_and_back(x, lengths):
    order = lengths.argsort(descending=True)
    back = order.argsort()
    x = x[order]
    if lengths[order[0]] > 2:
        x = x * 2
    return x[back]


@on(*BATCHES, unknown=BATCH)
def attention_in_chunks(x):
    n = x.shape[1]
    out = []
    for start in range(0, n, 2):
        q = x[:, start : start + 2]
        weights = F.softmax(q.matmul(x, transpose_y=True) / math.sqrt(2), axis=-1)
        out.append(weights.matmul(x))
    return dy2st.concat(out, axis=1)


@on(*BATCHES, unknown=BATCH)
def causal_mask_made_of_a_size(x):
    n = x.shape[1]
    mask = dy2st.triu(dy2st.full([n, n], -1e9), 1)
    scores = x.matmul(x, transpose_y=True)
    if scores.max() > 3:
        scores = scores / scores.max()
    return F.softmax(scores + mask, axis=-1)


@on(*BATCHES, unknown=BATCH)
def mask_that_may_be_none(x, mask=None):
    if x.min() < -2:
        mask = (x > -2).astype("float32")
    y = x * 2
    if mask is not None:
        y = y * mask
    return y.sum(1)


@on(*BATCHES, unknown=BATCH)
def positions_by_interleaving(x):
    n, width = x.shape[1], x.shape[2]
    rows = []
    for pos in range(n):
        angle = pos / 10 ** (2 / width)
        rows.append(dy2st.to_tensor([math.sin(angle), math.cos(angle)], dtype="float32"))
    return x + dy2st.stack(rows)


@on(*BATCHES, ramp(2, 3, 2, start=-8.0), unknown=BATCH)
def pooled_where_it_is_not_empty(x):
    pooled = []
    for sample in x:
        kept = sample[sample.sum(-1) > 0]
        if kept.shape[0] > 0:
            pooled.append(kept.mean(0))
        else:
            pooled.append(sample[0] * 0)
    return dy2st.stack(pooled)


@on(*BATCHES, unknown=BATCH)
def boundaries_and_segments(x):
    flat = x.reshape([-1, 2]).sum(1)
    segments, start = [], 0
    for t in range(1, flat.shape[0]):
        if (flat[t] > 0) != (flat[t - 1] > 0):
            segments.append(flat[start:t].mean())
            start = t
    segments.append(flat[start:].mean())
    return segments


@on(*SEQUENCES, unknown=STEPS)
def downsampled_until_short(x):
    while x.shape[0] > 1 and x.abs().max() > 0.5:
        half = x.shape[0] // 2
        x = (x[:half] + x[half : 2 * half]) / 2
    return x


@on(*SEQUENCES, unknown=STEPS)
class CallsBackForEachStep(nn.Layer):
    def each(self, x, function):
        return [function(t, step) for t, step in enumerate(x)]

    def forward(self, x):
        best = []

        def visit(t, step):
            if step.max() > 1:
                best.append(t)
            return step.sum()

        sums = self.each(x, visit)
        return sums, best


@on(*SEQUENCES, unknown=STEPS)
def filter_of_kalman(x):
    mean, variance, skipped = x[0], dy2st.ones([2]), 0
    for z in x[1:]:
        variance = variance + 0.1
        innovation = z - mean
        if (innovation * innovation / variance).sum() > 6:
            skipped += 1
            continue
        gain = variance / (variance + 0.5)
        mean = mean + gain * innovation
        variance = (1 - gain) * variance
    return mean, variance, skipped
