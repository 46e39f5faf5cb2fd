"""Detection, routing, schedules and training helpers with the parts of Python that people use."""

from __future__ import annotations

import collections
import contextlib
import enum
import itertools
import math
import operator
from collections import Counter, defaultdict, namedtuple
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property, partial, singledispatch, wraps
from types import SimpleNamespace
from typing import Any

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

BOXES = (
    ([[0, 0, 4, 4], [1, 1, 5, 5], [8, 8, 9, 9], [0, 0, 4, 3]], [0.9, 0.8, 0.7, 0.3]),
    ([[0, 0, 2, 2], [5, 5, 7, 7]], [0.2, 0.9]),
    ([[0, 0, 1, 1]], [0.05]),
)
BOXES = tuple((np.float32(b), s) for b, s in BOXES)
OF_BOXES = [[None, 4], [None]]
X = ([0.5, -1.0, 2.0, 3.5], [-0.5, -1.0, -2.0, -0.1], [9.0, 0.0, -3.0, 1.0, 2.0, 4.0])
VECTOR = [[None]]


def overlap(one, other):
    width = dy2st.minimum(one[2], other[2]) - dy2st.maximum(one[0], other[0])
    height = dy2st.minimum(one[3], other[3]) - dy2st.maximum(one[1], other[1])
    inter = width.clip(min=0) * height.clip(min=0)
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in (one, other)]
    return inter / (sum(areas) - inter + 1e-6)


@on(*BOXES, unknown=OF_BOXES)
def suppression_by_a_mask(boxes, scores, limit=0.4):
    order = scores.argsort(descending=True)
    alive = dy2st.ones([scores.shape[0]], dtype="bool")
    kept = []
    for i in order:
        if not alive[i]:
            continue
        kept.append(i)
        for j in range(scores.shape[0]):
            if j != i and overlap(boxes[i], boxes[j]) > limit:
                alive[j] = False
    return kept, alive


@on(*BOXES, unknown=OF_BOXES)
def suppression_with_a_while(boxes, scores):
    order = scores.argsort(descending=True)
    kept = []
    while order.shape[0] > 0:
        i, order = order[0], order[1:]
        kept.append(i)
        if order.shape[0] == 0:
            break
        overlaps = dy2st.stack([overlap(boxes[i], boxes[j]) for j in order])
        order = order[overlaps <= 0.4]
    return dy2st.stack(kept)


@on(*BOXES, unknown=OF_BOXES)
def soft_suppression(boxes, scores):
    scores = scores.clone()
    for i in range(scores.shape[0]):
        for j in range(i + 1, scores.shape[0]):
            if (iou := overlap(boxes[i], boxes[j])) > 0.3:
                scores[j] = scores[j] * dy2st.exp(-(iou**2) / 0.5)
    return scores, [f"box {i}" for i in range(2)]


Detection = namedtuple("Detection", "label box score", defaults=[0.0])


@on(*BOXES, unknown=OF_BOXES)
def detections_by_label(boxes, scores):
    found = defaultdict(list)
    for i, (box, score) in enumerate(zip(boxes, scores)):
        label = "large" if box[2] - box[0] > 2 else "small"
        if score < 0.1:
            continue
        found[label].append(Detection(label, box, score))
    return {label: len(items) for label, items in found.items()}, [
        d._asdict()["score"] for d in found["large"]
    ]


@on(*BOXES, unknown=OF_BOXES)
def kept_pairs_are_unzipped(boxes, scores):
    kept = [(box, score) for box, score in zip(boxes, scores) if score > 0.5]
    if not kept:
        return dy2st.zeros([0, 4]), dy2st.zeros([0])
    parts, values = zip(*kept)
    return dy2st.stack(list(parts)), dy2st.stack(list(values))


class Expert(nn.Layer):
    def __init__(self, width, act):
        super().__init__()
        self.up, self.act = nn.Linear(width, width), act

    def forward(self, x):
        return self.act(self.up(x))


@on(ramp(5, 3), ramp(2, 3, start=0.5), ramp(7, 3, step=0.2), unknown=[[None, 3]])
class RoutedExperts(nn.Layer):
    def __init__(self):
        super().__init__()
        acts = itertools.cycle([F.relu, F.gelu, partial(F.leaky_relu, negative_slope=0.2)])
        self.gate = nn.Linear(3, 3)
        self.experts = nn.LayerList([Expert(3, act) for act, _ in zip(acts, range(3))])
        self.register_buffer("load", dy2st.zeros([3]))

    def forward(self, x):
        weights = F.softmax(self.gate(x), -1)
        value, index = dy2st.topk(weights, 2, axis=-1)
        value = value / value.sum(-1, keepdim=True)
        out = dy2st.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows, places = dy2st.nonzero(index == e, as_tuple=True)
            if rows.shape[0] == 0:
                continue
            self.load[e] += rows.shape[0]
            part = expert(x[rows]) * value[rows, places].unsqueeze(-1)
            out = dy2st.index_add(out, rows, 0, part)
        return out


@on(ramp(5, 3), ramp(2, 3, start=0.5), unknown=[[None, 3]])
class ExpertsWithACapacity(nn.Layer):
    def __init__(self):
        super().__init__()
        self.experts = nn.LayerDict({f"expert_{i}": nn.Linear(3, 3) for i in range(2)})

    def forward(self, x):
        buckets = {name: [] for name in self.experts.keys()}
        dropped = 0
        for i, row in enumerate(x):
            name = "expert_1" if row.sum() > 0 else "expert_0"
            bucket = buckets[name]
            if len(bucket) >= 2:
                dropped += 1
            else:
                bucket.append(row)
        outs = {k: self.experts[k](dy2st.stack(v)) for k, v in buckets.items() if v}
        return outs, dropped


class Phase(enum.IntEnum):
    WARM = 0
    FLAT = 1
    DOWN = 2


@dataclass(frozen=True)
class Plan:
    warm: int = 2
    total: int = 6
    rate: float = 0.1
    names: tuple = ("warm", "flat")

    @cached_property
    def half(self):
        return self.total // 2

    def phase(self, step):
        if step < self.warm:
            return Phase.WARM
        return Phase.FLAT if step < self.half else Phase.DOWN

    def at(self, step):
        match self.phase(step):
            case Phase.WARM:
                return self.rate * (step + 1) / self.warm
            case Phase.FLAT:
                return self.rate
            case Phase.DOWN:
                part = (step - self.half) / (self.total - self.half)
                return self.rate * 0.5 * (1 + math.cos(math.pi * part))


@on(*[[float(i)] for i in range(5)], makes=True)
def schedule_with_phases():
    plan, state = Plan(), SimpleNamespace(step=0, seen=Counter())

    def step(x):
        rate = plan.at(state.step)
        state.seen[plan.phase(state.step).name] += 1
        state.step += 1
        return x * rate, int(plan.phase(state.step))

    return step, state


@on(X[0], X[1], X[0], X[1])
class MovingAverage(nn.Layer):
    def __init__(self):
        super().__init__()
        self.live = nn.Linear(4, 2)
        self.shadow = {n: p.clone() for n, p in self.live.named_parameters()}
        self.updates = 0

    def forward(self, x):
        self.updates += 1
        decay = min(0.9, (1 + self.updates) / (10 + self.updates))
        with dy2st.no_grad():
            for name, value in self.live.named_parameters():
                self.shadow[name] = decay * self.shadow[name] + (1 - decay) * value
        return sum((v.sum() for v in self.shadow.values()), start=dy2st.zeros([])) + x.sum()


def clipped(function):
    @wraps(function)
    def wrapper(*args, limit=1.0, **options):
        out = function(*args, **options)
        norm = dy2st.sqrt((out * out).sum())
        return out * (limit / norm) if norm > limit else out

    return wrapper


@clipped
def scaled(x, by=2.0, *, bias=0.0):
    return x * by + bias


@on(*X, unknown=VECTOR)
def decorated_with_options(x):
    options = dict(by=3.0)
    if x.shape[0] > 4:
        options |= {"bias": 1.0}
    return scaled(x, **options), scaled(x, limit=5.0), scaled.__name__


@on(*X, unknown=VECTOR)
def random_branches_of_augmentation(x):
    flips = [lambda v: v.flip(0), lambda v: -v, lambda v: v]
    drawn = dy2st.randint(0, 3, [1])
    for i, flip in enumerate(flips):
        if drawn == i:
            x = flip(x)
    if dy2st.rand([1]) < 0.5:
        x = x + dy2st.randn(x.shape) * 0.1
    return x


@on(*X, unknown=VECTOR)
def composed_transforms(x):
    class Compose:
        def __init__(self, *steps):
            self.steps = steps

        def __call__(self, value):
            for step in self.steps:
                value = step(value)
                if value is None:
                    return None
            return value

        def __repr__(self):
            return f"Compose({len(self.steps)})"

    drop = lambda v: None if v.max() > 8 else v  # noqa: E731
    out = Compose(lambda v: v.abs(), drop, partial(dy2st.clip, max=3.0))(x)
    return ("dropped", repr(Compose())) if out is None else (out, "kept")


@on(*X, unknown=VECTOR)
def ragged_batch_is_padded(x):
    rows = [x[: i + 1] for i in range(3)]
    longest = max(row.shape[0] for row in rows)
    padded = [F.pad(row, [0, longest - row.shape[0]]) for row in rows]
    mask = dy2st.stack([dy2st.arange(longest) < row.shape[0] for row in rows])
    return dy2st.stack(padded), mask, [len(row) for row in rows]


@on(*X, [1.0, 2.0, 3.0], unknown=VECTOR)
def chunks_of_a_stream(x, size=2):
    def batches(values):
        batch = []
        for v in values:
            batch.append(v)
            if len(batch) == size:
                yield dy2st.stack(batch)
                batch = []
        if batch:
            yield dy2st.stack(batch)

    return [b.sum() for b in batches(x)]


@on(*X, unknown=VECTOR)
def groups_of_runs(x):
    signs = [bool(v > 0) for v in x]
    return [(key, len(list(group))) for key, group in itertools.groupby(signs)]


@on(*X, unknown=VECTOR)
def pairs_and_products(x):
    total = 0.0
    for (i, a), (j, b) in itertools.combinations(enumerate((x[0], x[1], x[-1])), 2):
        total = total + a * b * (i + j)
    for a, b in itertools.product(x[:2], repeat=2):
        if a > b:
            total = total - a
    return total, list(itertools.accumulate([1, 2, 3], operator.mul))


@singledispatch
def described(value):
    return "other"


@described.register
def _(value: int):
    return f"int {value}"


@described.register(list)
def _(value):
    return [described(v) for v in value]


@on(*X, unknown=VECTOR)
def dispatch_by_type(x):
    return described(3), described([1, "a"]), described(x), x * 2


@cache
def table(size):
    return [math.sin(i) for i in range(size)]


@on(*X[:2], X[0])
def cached_table(x):
    return x * dy2st.to_tensor(table(x.shape[0]), dtype="float32")


class Registry(dict):
    def register(self, name):
        def add(function):
            self[name] = function
            return function

        return add


BLOCKS = Registry()


@BLOCKS.register("double")
def _double(x):
    return x * 2


@BLOCKS.register("gate")
def _gate(x):
    return x if x.sum() > 0 else x * 0


@on(*X, unknown=VECTOR)
def blocks_of_a_registry(x):
    for name in ("gate", "double", "missing"):
        x = BLOCKS.get(name, lambda v: v + 1)(x)
    return x, sorted(BLOCKS)


@dataclass
class Output:
    loss: Any = None
    logits: Any = None
    extra: dict = field(default_factory=dict)

    def to_tuple(self):
        return tuple(
            getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None
        )

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else self.to_tuple()[key]


@on(*X, unknown=VECTOR)
def output_with_optional_parts(x):
    out = Output(logits=x * 2)
    if x.max() > 3:
        out.loss = (out.logits**2).mean()
        out.extra["scale"] = 2
    return out["logits"], out.loss, len(out.extra), asdict(Output())["extra"]


@contextlib.contextmanager
def scope(stack, name):
    stack.append(name)
    try:
        yield ".".join(stack)
    finally:
        stack.pop()


@on(*X, unknown=VECTOR)
def nested_scopes(x):
    stack, seen = [], {}
    with scope(stack, "a") as name:
        seen[name] = x.sum()
        with scope(stack, "b") as inner:
            if x.sum() > 0:
                seen[inner] = x.max()
            else:
                seen[inner] = x.min()
    return seen, stack


@on(*X, unknown=VECTOR)
def meters_by_name(x):
    meters = collections.defaultdict(lambda: {"sum": 0.0, "count": 0})
    for i, v in enumerate(x):
        meter = meters["even" if i % 2 == 0 else "odd"]
        meter["sum"] = meter["sum"] + v
        meter["count"] += 1
    return {name: m["sum"] / m["count"] for name, m in meters.items()}


@on(*X, unknown=VECTOR)
def recursion_down_a_tree(x):
    def summed(part):
        if part.shape[0] <= 1:
            return part.sum()
        middle = part.shape[0] // 2
        return summed(part[:middle]) + summed(part[middle:]) * 0.5

    return summed(x[:4])


@on(*X, unknown=VECTOR)
def closures_that_count(x):
    count = 0

    def visit(v):
        nonlocal count
        if v > 0:
            count += 1
        return v * count

    return [visit(v) for v in x[:3]], count


@on(*X, unknown=VECTOR)
def errors_that_are_collected(x):
    errors, good = [], []
    for i, v in enumerate(x):
        try:
            if v < -2.5:
                raise ValueError(f"entry {i}")
            good.append(dy2st.sqrt(v.abs()))
        except ValueError as error:
            errors.append(str(error))
    return len(errors), sum(good)
