"""Layers, functions and sizes that a tensor or a mode chooses; layers that are left early."""

from __future__ import annotations

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on

ROWS = ([[0.1, 0.2], [0.3, -0.4]], [[2.0, 1.0], [1.0, 3.0]], [[-1.0, -2.0], [-0.5, 0.0]])
LINES = ([1.0, 2.0, 3.0], [-1.0, 0.5, 0.0], [9.0, -2.0, 4.0])
WIDE = [[None, 2]]


def scaled_layers(count):
    """Linear layers without bias, the weight of each a multiple of one."""
    layers = []
    for i in range(count):
        layer = nn.Linear(2, 2, bias_attr=False)
        layer.weight.set_value(np.float32([[0.5, -0.2], [0.1, 0.7]]) * (i + 1))
        layers.append(layer)
    return layers


@on(*ROWS, unknown=WIDE)
class LayerByIndex(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        return self.layers[int(x.sum().clip(0, 2))](x)


@on(*ROWS, unknown=WIDE)
class LayerOfAPlainList(nn.Layer):
    def __init__(self):
        super().__init__()
        self.paths = [F.relu, dy2st.tanh, lambda v: v * 2]

    def forward(self, x):
        which = int(x.argmax() % 3)
        return self.paths[which](x)


@on(*ROWS, unknown=WIDE)
class LayerByName(nn.Layer):
    def __init__(self):
        super().__init__()
        self.heads = nn.LayerDict({"small": nn.ReLU(), "large": nn.Sigmoid()})

    def forward(self, x):
        name = "large" if x.abs().max() > 1 else "small"
        return self.heads[name](x)


@on(*ROWS, unknown=WIDE)
class EarlyExit(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(scaled_layers(3))
        self.head = scaled_layers(1)[0]

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = F.relu(layer(x))
            p = F.softmax(self.head(x), axis=-1)
            if p.max() > 0.6:
                return p, i
        return p, -1


@on(*ROWS, unknown=WIDE)
class EarlyExitByEntropy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(scaled_layers(3))
        self.threshold = 0.6

    def forward(self, x):
        entropies, taken = [], None
        for layer in self.layers:
            x = layer(x)
            p = F.softmax(x, axis=-1)
            entropy = -(p * p.log()).sum(-1).mean()
            entropies.append(entropy)
            if entropy < self.threshold:
                taken = len(entropies)
                break
        return x, entropies, taken


@on(*ROWS, unknown=WIDE)
class LayersSkippedByAGate(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        used = 0
        for layer in self.layers:
            if x.mean() > -0.3:
                x = x + layer(x)
                used += 1
        return x, used


@on(*ROWS, unknown=WIDE)
class MixtureByMasks(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2, 3, bias_attr=False)
        self.gate.weight.set_value(np.float32([[1.0, -1.0, 0.2], [0.0, 0.5, -1.0]]))
        self.experts = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        choice = self.gate(x).argmax(-1)
        out = dy2st.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mask = choice == i
            if mask.any():
                out[mask] = expert(x[mask])
        return out


@on(*ROWS, unknown=WIDE)
class MixtureRowByRow(nn.Layer):
    def __init__(self):
        super().__init__()
        self.experts = nn.LayerList(scaled_layers(2))

    def forward(self, x):
        rows, loads = [], [0, 0]
        for row in x:
            k = 1 if row[0] > row[1] else 0
            loads[k] += 1
            rows.append(self.experts[k](row.unsqueeze(0)))
        return dy2st.concat(rows), loads


@on(*ROWS, unknown=WIDE)
class TopTwoExperts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.experts = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        scores = dy2st.stack([x.sum(), x.max(), x.mean()])
        weights, picks = dy2st.topk(F.softmax(scores, axis=-1), 2)
        out = x * 0
        for i, expert in enumerate(self.experts):
            for w, p in zip(weights, picks):
                if p == i:
                    out = out + w * expert(x)
        return out


@on(*ROWS, unknown=WIDE)
class DepthThatTheDataDecide(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layer = scaled_layers(1)[0]

    def forward(self, x):
        depth = int(x.abs().sum().clip(1, 4))
        for _ in range(depth):
            x = self.layer(x) + 0.1
        return x, depth


@on((ROWS[0], "mean"), (ROWS[1], "mean"), unknown=WIDE)
def mode_by_a_dict_of_lambdas(x, mode):
    pools = {"mean": lambda v: v.mean(0), "max": lambda v: v.max(0)}
    pooled = pools[mode](x)
    return pooled if pooled.sum() > 0 else -pooled


@on(*ROWS, [[1.0, 2.0]], [[1.0, 2.0]] * 3, unknown=WIDE)
def mode_by_match(x):
    mode = {1: "avg", 2: "max"}.get(x.shape[0], "min")
    match mode:
        case "mean" | "avg":
            return x.mean(0)
        case "max" if x.sum() > 0:
            return x.max(0)
    return x.min(0)


@on(*LINES, unknown=[[None]])
def value_by_a_key_that_branches_choose(x):
    mode = "a" if x.sum() > 0 else "b"
    return x * {"a": 1, "b": 2}[mode]


@on(*LINES, unknown=[[None]])
def function_that_a_branch_chooses(x):
    act = F.relu
    if x[0] > 0:
        act = F.sigmoid
    return act(x)


@on(*LINES, unknown=[[None]])
def threshold_of_a_table(x):
    thresholds = [0.5, 2.0, 8.0]
    level = 0
    for t in thresholds:
        if x.max() > t:
            level += 1
    return level, thresholds[level - 1] if level else 0.0


@on(*LINES, unknown=[[None]])
def tuple_picked_by_a_tensor(x):
    stages = ((1.0, 2), (0.5, 3), (0.25, 4))
    gain, power = stages[int(x.argmax())]
    return gain * x**power


@on(*LINES, unknown=[[None]])
def rows_of_a_tensor_as_a_table(x):
    table = dy2st.arange(12).reshape([4, 3]).astype("float32")
    return table[x.astype("int64") % 4]


@on(*LINES, [1.0, 1.0, 0.0], unknown=[[None]])
def ladder_of_conditions(x):
    s = x.sum()
    if s < 0:
        grade = "low"
    elif s < 3:
        grade = "middle"
    elif s < 10:
        grade = "high"
    else:
        grade = "top"
    return grade, {"low": 0, "middle": 1, "high": 2, "top": 3}[grade]


@on(*LINES, unknown=[[None]])
def dispatch_by_method_name(x):
    name = "sum" if x[0] > 0 else "max"
    return getattr(x, name)()


@on(*LINES, unknown=[[None]])
def chain_of_functions(x):
    steps = [lambda v: v + 1, lambda v: v * 2]
    if x.max() > 2:
        steps.append(lambda v: v - 3)
    for step in steps:
        x = step(x)
    return x


@on(*LINES, unknown=[[None]])
def partial_chosen_by_size(x):
    from functools import partial

    shrink = partial(dy2st.clip, min=0.0, max=1.0)
    keep = partial(dy2st.clip, min=-9.0, max=9.0)
    use = shrink if x.abs().max() > 5 else keep
    return use(x)


@on(*ROWS, unknown=WIDE)
class SharedTwiceByABranch(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = scaled_layers(2)

    def forward(self, x):
        one, two = (self.first, self.second) if x.sum() > 0 else (self.second, self.first)
        return two(one(x) + 1)


@on(*ROWS, unknown=WIDE)
class OptionalBranch(nn.Layer):
    def __init__(self):
        super().__init__()
        self.side = None
        self.main = scaled_layers(1)[0]

    def forward(self, x, skip=None):
        if skip is None and x.max() > 1:
            skip = x * 0.1
        y = self.main(x)
        if skip is not None:
            y = y + skip
        return y if self.side is None else self.side(y)


@on(*ROWS)
class CascadeOfStages(nn.Layer):
    def __init__(self):
        super().__init__()
        self.stages = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        outputs = {}
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if x.abs().sum() > 0.5:
                outputs[f"stage{i}"] = x.sum()
        return list(outputs), x


@on(*ROWS, [[1.0, 2.0], [-1.0, 3.0]], unknown=WIDE)
class CapacityOfExperts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.capacity = 1

    def forward(self, x):
        queues, dropped = [[], []], 0
        for i, row in enumerate(x):
            k = int(row.argmax())
            if len(queues[k]) < self.capacity:
                queues[k].append(i)
            else:
                dropped += 1
        return dropped, [len(q) for q in queues]


@on(*ROWS, unknown=WIDE)
class ConfidenceOfAnEnsemble(nn.Layer):
    def __init__(self):
        super().__init__()
        self.members = nn.LayerList(scaled_layers(3))

    def forward(self, x):
        votes = None
        for n, member in enumerate(self.members, start=1):
            p = F.softmax(member(x), axis=-1)
            votes = p if votes is None else votes + p
            if (votes / n).max() > 0.62:
                break
        return votes / n, n
