"""Dataclasses, namedtuples and objects of the user, carried through branches and loops, returned."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import asdict, dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = (
    [1.0, -2.0, 3.0],
    [-1.0, -2.0, -3.0],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.0],
    [-1.0, 5.0],
)
EACH = [[None]]


@dataclass
class Output:
    logits: Any
    loss: Any = None
    aux: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Box:
    low: Any
    high: Any

    @property
    def width(self):
        return self.high - self.low


class Step(NamedTuple):
    value: Any
    count: int = 0


Pair = namedtuple("Pair", ["left", "right"])


class Meter:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, v):
        self.total = self.total + v
        self.count += 1

    @property
    def mean(self):
        return self.total / max(self.count, 1)


@on(*VALUES, unknown=EACH)
def dataclass_returned(x):
    out = Output(x * 2)
    if x.sum() > 0:
        out.loss = x.sum()
    else:
        out.loss = -x.sum()
    return out


@on(*VALUES, unknown=EACH)
def dataclass_of_each_branch(x):
    if x.sum() > 0:
        return Output(x, x.max(), {"kind": "up"})
    return Output(-x, x.min(), {"kind": "down"})


@on(*VALUES, unknown=EACH)
def optional_field_by_a_branch(x):
    out = Output(x)
    if x.max() > 2:
        out.loss = x.max()
    return out


@on(*VALUES, unknown=EACH)
def frozen_dataclass_in_a_loop(x):
    box = Box(x[0], x[0])
    for v in x[1:]:
        if v < box.low:
            box = Box(v, box.high)
        elif v > box.high:
            box = replace(box, high=v)
    return box, box.width


@on(*VALUES, unknown=EACH)
def dataclass_in_a_while(x):
    state = Output(x, x.sum(), {"turns": 0})
    while state.loss.abs() > 1:
        state = Output(state.logits / 2, state.loss / 2, {"turns": state.aux["turns"] + 1})
    return state


@on(*VALUES, unknown=EACH)
def dataclass_changed_in_a_while(x):
    state = Output(x, x.sum())
    while state.loss.abs() > 1:
        state.logits = state.logits / 2
        state.loss = state.loss / 2
    return state.logits, state.loss


@on(*VALUES, unknown=EACH)
def dataclass_as_a_dict(x):
    out = Output(x, x.mean() if x.sum() > 0 else x.max())
    return asdict(out)


@on(*VALUES, unknown=EACH)
def namedtuple_in_a_loop(x):
    step = Step(x.sum() * 0)
    for v in x:
        if v > 0:
            step = Step(step.value + v, step.count + 1)
    return step


@on(*VALUES, unknown=EACH)
def namedtuple_replaced(x):
    pair = Pair(x.sum(), x.max())
    if pair.left > pair.right:
        pair = pair._replace(left=pair.right)
    left, right = pair
    return pair, left + right


@on(*VALUES, unknown=EACH)
def namedtuple_or_another(x):
    result = Pair(x, None) if x.sum() > 0 else Pair(None, x)
    if result.left is None:
        return result.right * 2
    return result.left


@on(*VALUES, unknown=EACH)
def meter_in_a_loop(x):
    meter = Meter()
    for v in x:
        if v > -2.5:
            meter.add(v)
    return meter.mean, meter.count


@on(*VALUES, unknown=EACH)
def meter_returned(x):
    meter = Meter()
    meter.add(x.sum())
    if x.max() > 2:
        meter.add(x.max())
    return meter


@on(*VALUES, unknown=EACH)
def meters_in_a_dict(x):
    meters = {"up": Meter(), "down": Meter()}
    for v in x:
        meters["up" if v > 0 else "down"].add(v)
    return meters["up"].mean, meters["down"].mean


@on(*VALUES, unknown=EACH)
def meters_with_two_branches(x):
    up, down = Meter(), Meter()
    for v in x:
        if v > 0:
            up.add(v)
        else:
            down.add(v)
    return up.total - down.total, up.count, down.count


@on(*VALUES, unknown=EACH)
def object_chosen_by_a_tensor(x):
    small, large = Meter(), Meter()
    chosen = large if x.sum() > 0 else small
    chosen.add(x.sum())
    return small.count, large.count


@on(*VALUES, unknown=EACH)
def alias_of_an_object(x):
    meter = Meter()
    same = meter
    if x.sum() > 0:
        same.add(x.max())
    return meter.total + 1, meter is same


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __abs__(self):
        return self.x.abs() + self.y.abs()

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __bool__(self):
        return bool(abs(self) > 0.5)


@on(*VALUES, unknown=EACH)
def vectors_added_in_a_loop(x):
    total = Vector(x[0], x[0])
    for v in x:
        step = Vector(v, -v)
        if abs(total) < 6:
            total = total + step * 0.5
    return total


@on(*VALUES, unknown=EACH)
def vectors_compared(x):
    one, two = Vector(x[0], x[-1]), Vector(x.sum(), x.max())
    least = one if one < two else two
    return least.x, least.y


@on(*VALUES, unknown=EACH)
def vector_as_a_condition(x):
    v = Vector(x.sum(), x.max())
    turns = 0
    while v:
        v = v * 0.5
        turns += 1
    return v, turns


class Sequence:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, v):
        return any(v == item for item in self.items)


@on(*VALUES, unknown=EACH)
def own_sequence(x):
    items = Sequence([x.sum(), x.max(), x.min()])
    total = 0.0
    for item in items:
        if item > 0:
            total = total + item
    return total, len(items), x[0] in items


@on(*VALUES, unknown=EACH)
def own_sequence_of_what_is_kept(x):
    kept = Sequence([v for v in x if v > 0])
    if len(kept) > 1:
        return kept[0] + kept[-1]
    return x[0]


class Mode(enum.Enum):
    UP = 1
    DOWN = 2


@on(*VALUES, unknown=EACH)
def enumeration_as_a_state(x):
    mode = Mode.UP
    total = x.sum() * 0
    for v in x:
        if v < -1:
            mode = Mode.DOWN
        elif v > 1:
            mode = Mode.UP
        total = total + v if mode is Mode.UP else total - v
    return total, mode


@on(*VALUES, unknown=EACH)
def namespace_of_results(x):
    out = SimpleNamespace(best=x[0], found=False)
    for v in x:
        if v > 2:
            out.best, out.found = v, True
    return out


@on(*VALUES, unknown=EACH)
def objects_in_a_list(x):
    meters = [Meter() for _ in range(2)]
    for i, v in enumerate(x):
        if v > 0:
            meters[i % 2].add(v)
    return [m.count for m in meters]


@on(*VALUES, unknown=EACH)
def nested_objects(x):
    out = Output(x, Meter(), {"step": Step(x.sum())})
    if x.sum() > 0:
        out.loss.add(x.max())
        out.aux["step"] = Step(x.min(), 1)
    return out.loss.total + 0, out.aux["step"]


@on(*VALUES, unknown=EACH)
def linked_list(x):
    node = None
    for i in range(3):
        if x.sum() > i:
            node = (x.sum() * i, node)
    depth = 0
    while node is not None:
        depth += 1
        _, node = node
    return depth


@on(*VALUES, unknown=EACH)
def attributes_by_name(x):
    out = Output(x)
    for name in ("logits", "loss"):
        if x.max() > 2:
            setattr(out, name, x.max())
    return getattr(out, "logits").sum(), getattr(out, "missing", 3)


@on(*VALUES, unknown=EACH)
def copy_of_an_object(x):
    import copy

    meter = Meter()
    meter.add(x.sum())
    other = copy.copy(meter)
    if x.sum() > 0:
        other.add(x.max())
    return meter.count, other.count, other.total + 0


class Accumulator:
    limit = 4.0

    def __init__(self):
        self.value = dy2st.zeros([])

    def __call__(self, v):
        self.value = self.value + v
        if self.value > self.limit:
            self.value = self.value - self.limit
        return self.value

    @classmethod
    def started(cls, v):
        made = cls()
        made(v)
        return made

    @staticmethod
    def clip(v):
        return v if v > 0 else v * 0


@on(*VALUES, unknown=EACH)
def callable_object(x):
    add = Accumulator.started(x[0])
    for v in x:
        add(Accumulator.clip(v))
    return add.value


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, v):
        if v < self.value:
            if self.left is None:
                self.left = Node(v)
            else:
                self.left.insert(v)
        elif self.right is None:
            self.right = Node(v)
        else:
            self.right.insert(v)

    def height(self):
        below = [n.height() for n in (self.left, self.right) if n is not None]
        return 1 + max(below, default=0)


@on(*VALUES[:3], [1.0, 2.0, 3.0])
def search_tree(x):
    root = Node(x[0])
    root.insert(x[1])
    root.insert(x[2])
    return root.height()


@on(*VALUES, unknown=EACH)
def structural_match_of_objects(x):
    shape = Box(x.min(), x.max()) if x.sum() > 0 else Pair(x[0], x[-1])
    match shape:
        case Box(low=a, high=b):
            return a * b
        case Pair(a, b):
            return a - b
