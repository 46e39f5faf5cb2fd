"""Models that search, decode and walk: what they keep is in lists and dicts, and data decide it."""

from __future__ import annotations

from functools import partial

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from tests.dy2st.jit.trained.compare import Entry, model

SEARCHES: dict[str, Entry] = {}
search = partial(model, table=SEARCHES)

_LARGE = 1e6


class _Crf(nn.Layer):
    """Scores of tags, and of one tag behind another."""

    def __init__(self):
        super().__init__()
        self.scores, self.moves = nn.Linear(4, 3), self.create_parameter([3, 3])


@search(None, 4)
class CrfLikelihood(_Crf):
    def forward(self, x):
        scores, tags = self.scores(x), x[:, :3].argmax(axis=1)
        total, own = scores[0], scores[0, tags[0]]
        for t in range(1, x.shape[0]):
            total = dy2st.logsumexp(total.unsqueeze(1) + self.moves, axis=0) + scores[t]
            own = own + self.moves[tags[t - 1], tags[t]] + scores[t, tags[t]]
        return dy2st.logsumexp(total, axis=0) - own


@search(None, 4)
class CrfPath(_Crf):
    """The best path, and the scores on it as a list."""

    def forward(self, x):
        scores = self.scores(x)
        best, back = scores[0], []
        for t in range(1, x.shape[0]):
            moved = best.unsqueeze(1) + self.moves
            back.append(moved.argmax(axis=0))
            best = moved.max(axis=0) + scores[t]
        tag = int(best.argmax())
        path = [tag]
        for places in reversed(back):
            tag = int(places[tag])
            path.append(tag)
        path.reverse()
        return [scores[t, tag] for t, tag in enumerate(path)]


@search(None, 4)
class GraphOfNeighbours(nn.Layer):
    """Messages along edges; nodes without neighbours get zeros."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(4, 4), nn.Linear(8, 4)

    def forward(self, x):
        near = dy2st.matmul(x, x.t()) > 0.5
        for _ in range(2):
            messages, gathered = F.relu(self.message(x)), []
            for node in range(x.shape[0]):
                mine = messages[near[node]]
                if mine.shape[0] > 0:
                    gathered.append(mine.mean(axis=0))
                else:
                    gathered.append(dy2st.zeros([4], x.dtype))
            x = F.tanh(self.update(dy2st.concat([x, dy2st.stack(gathered)], axis=1)))
        return x


@search(None, 4)
class NodesThatAreChosen(nn.Layer):
    """The states of some nodes, as a list."""

    def __init__(self):
        super().__init__()
        self.update = nn.Linear(4, 2)

    def forward(self, x):
        found = [self.update(x.mean(axis=0))]
        for node in x:
            if node.sum() > 0:
                found.append(self.update(node))
        return found


@search(None, 4)
class PointerUntilTheEnd(nn.Layer):
    """Points at one input after another, until it points at the first one."""

    def __init__(self):
        super().__init__()
        self.cell, self.query, self.keys = nn.GRUCell(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        state, chosen = dy2st.zeros([1, 4], x.dtype), []
        keys, taken = self.keys(x), x.mean(axis=0, keepdim=True)
        while len(chosen) < 4:
            _, state = self.cell(taken, state)
            scores = F.log_softmax((keys * self.query(state)).sum(axis=1), axis=0)
            place = int(scores.argmax())
            chosen.append(scores[place])
            if place == 0:
                break
            taken = x[place].unsqueeze(0)
        return chosen


class _Aligned(nn.Layer):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 3)

    def least(self, *values):
        return -dy2st.logsumexp(-dy2st.stack(values), axis=0)


@search(None, 4)
class SoftDtwOfRows(_Aligned):
    def forward(self, x):
        left, right = self.project(x), x[:, :3]
        large = dy2st.full([], _LARGE, x.dtype)
        before = [dy2st.zeros([], x.dtype)] + [large for _ in range(x.shape[0])]
        for i in range(x.shape[0]):
            row = [large]
            for j in range(x.shape[0]):
                cost = ((left[i] - right[j]) ** 2).sum()
                row.append(cost + self.least(before[j], before[j + 1], row[j]))
            before = row
        return before[-1]


@search(None, 4)
class SoftDtwOfCells(_Aligned):
    """The same with a dict of cells."""

    def forward(self, x):
        left, right, n = self.project(x), x[:, :3], x.shape[0]
        cells = {(0, 0): dy2st.zeros([], x.dtype)}
        for i in range(1, n + 1):
            cells[i, 0] = cells[0, i] = dy2st.full([], _LARGE, x.dtype)
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                cost = ((left[i - 1] - right[j - 1]) ** 2).sum()
                near = cells[i - 1, j - 1], cells[i - 1, j], cells[i, j - 1]
                cells[i, j] = cost + self.least(*near)
        return cells[n, n]


@search(3, 4)
class NelderMead(nn.Layer):
    """Steps of the method from three points."""

    def __init__(self):
        super().__init__()
        self.centre = self.create_parameter([4])

    def value(self, point):
        return ((point - self.centre) ** 2).sum() + point[0] * point[1]

    def forward(self, x):
        points = [x[0], x[1], x[2]]
        values = [self.value(point) for point in points]
        for _ in range(4):
            order = sorted(range(3), key=lambda k: float(values[k]))
            points, values = [points[k] for k in order], [values[k] for k in order]
            middle = (points[0] + points[1]) / 2
            tried = middle * 2 - points[2]
            new = self.value(tried)
            if new < values[0]:
                far = middle * 3 - points[2] * 2
                if self.value(far) < new:
                    tried, new = far, self.value(far)
            elif new >= values[1]:
                tried = middle / 2 + points[2] / 2
                new = self.value(tried)
            points[2], values[2] = tried, new
        return points[0], values[0]


class _Observer(nn.Layer):
    """Running limits, by which numbers are rounded; gradients pass through."""

    def __init__(self):
        super().__init__()
        self.register_buffer("low", dy2st.zeros([], "float64"))
        self.register_buffer("high", dy2st.zeros([], "float64"))
        self.seen = {"calls": 0}

    def forward(self, x):
        low, high = x.min().detach(), x.max().detach()
        if self.seen["calls"] > 0:
            low, high = self.low * 0.9 + low * 0.1, self.high * 0.9 + high * 0.1
        self.low, self.high = low, high
        self.seen["calls"] += 1
        scale = dy2st.maximum((high - low) / 15.0, dy2st.full([], 1e-8, x.dtype))
        rounded = dy2st.clip(dy2st.round((x - low) / scale), 0, 15) * scale + low
        return x + (rounded - x).detach()


@search(None, 4)
class Observed(nn.Layer):
    """A network whose inputs and activations are observed."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 2)
        self.inputs, self.hidden = _Observer(), _Observer()

    def forward(self, x):
        return self.two(self.hidden(F.relu(self.one(self.inputs(x)))))
