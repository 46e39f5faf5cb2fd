"""Models whose control flow the data decides."""

from __future__ import annotations

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from tests.dy2st.jit.trained.compare import model


class _Two(nn.Layer):
    """Two Layers of one size, for models to choose from."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)


@model(None, 4)
class Branch(_Two):
    def forward(self, x):
        x = self.one(x) if x.sum() > 0 else self.two(x) * 2
        return self.head(x)


@model(None, 4)
class BranchOfOneSide(_Two):
    def forward(self, x):
        if x.mean() > 0:
            x = F.tanh(self.one(x))
        return self.head(x)


@model(None, 4)
class NestedBranches(_Two):
    def forward(self, x):
        if x.sum() > 0:
            if x.max() > 1.5:
                x = self.one(x)
            else:
                x = self.one(x) + self.two(x)
        elif x.min() < -1:
            x = self.two(x) / 2
        return self.head(x)


@model(None, 4)
class EarlyReturn(_Two):
    def forward(self, x):
        x = self.one(x)
        if x.sum() > 0:
            return self.head(x)
        x = F.relu(self.two(x))
        if x.mean() > 0.2:
            return self.head(x) * 2
        return self.head(x) - 1


@model(None, 4)
class WhileOfValues(_Two):
    def forward(self, x):
        x = self.one(x)
        while x.abs().max() > 1:
            x = x / 2
        return self.head(x)


@model(None, 4)
class WhileWithLayers(_Two):
    def forward(self, x):
        turns = 0
        while (x**2).sum() > 3 and turns < 4:
            x = F.tanh(self.one(x)) * 0.6
            turns = turns + 1
        return self.head(x) * (turns + 1)


@model(None, 4)
class WhileThatNeverRuns(_Two):
    def forward(self, x):
        y = self.one(x)
        while y.sum() > 1e9:
            y = self.two(y)
        return self.head(y)


@model(None, 4)
class ForOverATensor(_Two):
    def forward(self, x):
        state = dy2st.zeros([4], "float64")
        for row in x:
            state = F.tanh(self.one(row) + self.two(state))
        return self.head(state)


@model(None, 4)
class ForWithBreak(_Two):
    def forward(self, x):
        total = self.one(x).sum() * 0
        for row in x:
            if row.sum() > 2:
                break
            total = total + self.one(row).sum()
        return total + self.head(x).mean()


@model(None, 4)
class ForWithContinue(_Two):
    def forward(self, x):
        total = dy2st.zeros([4], "float64")
        for row in x:
            if row[0] < 0:
                continue
            total = total + F.tanh(self.two(row)) ** 2
        return self.head(total)


@model(None, 4)
class NestedLoops(_Two):
    def forward(self, x):
        total = dy2st.zeros([4], "float64")
        for row in x:
            step = 0
            while total.sum() < row.sum() and step < 3:
                total = total + F.sigmoid(self.one(row))
                step = step + 1
        return self.head(total)


@model(None, 4)
class BranchInALoop(_Two):
    def forward(self, x):
        state = dy2st.zeros([4], "float64")
        for row in x:
            if row.sum() > state.sum():
                state = self.one(row + state)
            else:
                state = self.two(state) - row
        return self.head(state)


@model(None, 4)
class LoopInABranch(_Two):
    def forward(self, x):
        y = self.one(x)
        if y.sum() > 0:
            while y.sum() > 0.5:
                y = y * 0.7 - 0.1
        return self.head(y)


@model(None, 4)
class Collected(_Two):
    def forward(self, x):
        rows = []
        for row in x:
            rows.append(F.tanh(self.one(row)))
        return self.head(dy2st.stack(rows))


@model(None, 4)
class CollectedByABranch(_Two):
    def forward(self, x):
        rows = [self.two(x[0])]
        for row in x:
            if row.sum() > 0:
                rows.append(self.one(row))
        return self.head(dy2st.stack(rows)).sum(axis=0)


@model(None, 4)
class Chosen(nn.Layer):
    """An expert by the number of a tensor."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.LayerList([nn.Linear(4, 2) for _ in range(3)])

    def forward(self, x):
        odds = F.softmax(self.gate(x).mean(axis=0))
        best = odds.argmax()
        return self.experts[int(best)](x) * odds[best]


@model(None, 4)
class Mixture(nn.Layer):
    """Each expert for its rows."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 2)
        self.experts = nn.LayerList([nn.Linear(4, 3) for _ in range(2)])

    def forward(self, x):
        odds = F.softmax(self.gate(x))
        best = odds.argmax(-1)
        total = dy2st.zeros([x.shape[0], 3], "float64")
        for place, expert in enumerate(self.experts):
            taken = (best == place).astype("float64").unsqueeze(-1)
            if taken.sum() > 0:
                total = total + expert(x) * taken * odds[:, place : place + 1]
        return total


@model(None, 4)
class Halting(_Two):
    """Adaptive computation: turns end where enough was decided."""

    def forward(self, x):
        halted = dy2st.zeros([x.shape[0], 1], "float64")
        state, found, turns = x, x * 0, 0
        while halted.min() < 0.9 and turns < 5:
            state = F.tanh(self.one(state))
            p = F.sigmoid(self.two(state).mean(-1, keepdim=True)) * (1 - halted)
            found = found + p * state
            halted = halted + p
            turns += 1
        return self.head(found)


@model(None, None, 4)
class Unrolled(nn.Layer):
    """A recurrence that stops where the state settles."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        state = dy2st.zeros([x.shape[0], 4], "float64")
        for place in range(x.shape[1]):
            new = F.tanh(self.inner(x[:, place]) + self.outer(state))
            if (new - state).abs().max() < 1e-3:
                break
            state = new
        return state


@model(None, 4)
class Scheduled(_Two):
    """A buffer counts the calls, and decides."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", dy2st.zeros([], "float64"))

    def forward(self, x):
        self.calls = self.calls + 1
        return self.head(self.one(x) if self.calls % 2 == 0 else self.two(x))


@model(None, 4)
class Recursive(_Two):
    """A function that calls itself a few times."""

    def deeper(self, x, depth):
        if depth == 0:
            return x
        if x.sum() > depth:
            return self.deeper(self.one(x), depth - 1)
        return self.deeper(self.two(x), depth - 1) * 0.5

    def forward(self, x):
        return self.head(self.deeper(x, 3))


@model(None, 4)
class Tried(_Two):
    """An exception decides."""

    def checked(self, x):
        if x.mean() > 0.1:
            raise ValueError("high")
        return self.one(x)

    def forward(self, x):
        try:
            y = self.checked(x)
        except ValueError:
            y = self.two(x)
        return self.head(y)


@model(None, 4)
class Dicts(_Two):
    def forward(self, x):
        parts = {"one": self.one(x)}
        if x.sum() > 0:
            parts["two"] = self.two(x)
        total = self.head(x)
        for value in parts.values():
            total = total + value[:, :2]
        return total
