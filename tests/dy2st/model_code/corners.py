"""Corners of Python that real models run into, each decided by a tensor somewhere."""

from __future__ import annotations

import bisect
import copy
import heapq
import itertools
import math
from collections import ChainMap, Counter, deque
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Any

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

X = ([0.5, -1.0, 2.0, 3.5], [-0.5, -1.0, -2.0, -0.1], [9.0, 0.0, -3.0, 1.0, 2.0, 4.0])
VECTOR = [[None]]


@on(*X, unknown=VECTOR)
def late_binding_of_a_loop(x):
    functions = []
    for i in range(3):
        functions.append(lambda v, k=i: v * k + i)
    if x.sum() > 0:
        i = 10
    return [f(x.sum()) for f in functions], i


@on(*X, unknown=VECTOR)
def two_names_in_a_branch(x):
    one = [x[0]]
    other = one
    if x.sum() > 0:
        other = [*one]
    other.append(x[1])
    return len(one), len(other), one is other


@on(*X, [0.5, 1.0, 2.0, 3.0], unknown=VECTOR)
def finally_that_overrides(x):
    def find():
        for v in x:
            try:
                if v < -0.4:
                    return v * 2
            finally:
                if v < -2.5:
                    return v * 0
        return x[0] + 100

    return find()


@on(*X, unknown=VECTOR)
def loop_with_else_and_continue(x):
    total = 0.0
    for v in x:
        if v < -0.5:
            continue
        if v > 3:
            break
        total = total + v
    else:
        total = -1.0
    return total


@total_ordering
class Node:
    def __init__(self, cost, name):
        self.cost, self.name = cost, name

    def __lt__(self, other):
        return self.cost < other.cost

    def __eq__(self, other):
        return isinstance(other, Node) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


@on(*X, unknown=VECTOR)
def nodes_in_a_heap(x):
    heap = []
    for i in range(4):
        heapq.heappush(heap, Node(x[i] * x[i], f"n{i}"))
    first = heapq.heappop(heap)
    return first.cost, len({n for n in heap}), heapq.nsmallest(1, heap)[0].cost


@on(*X, unknown=VECTOR)
def sorted_by_two_keys(x):
    rows = [(i % 2, v, i) for i, v in enumerate(x[:4])]
    rows.sort(key=lambda row: (row[0], -row[1]))
    return [row[1] for row in rows], [row[0] for row in rows]


@on(*X, unknown=VECTOR)
def entries_of_a_dict_come_and_go(x):
    held = {"a": x[0], "b": x[1]}
    if x[0] > 0:
        held["c"] = held.pop("a")
    else:
        del held["b"]
    held.setdefault("b", x.sum())
    last = list(held)[-1] if len(held) > 2 else "none"
    return held.get("a", dy2st.zeros([])), "c" in held, len(held), last


@on(*X, unknown=VECTOR)
def generator_that_is_sent_to(x):
    def averages():
        total, count = 0.0, 0
        value = yield None
        while True:
            total, count = total + value, count + 1
            value = yield total / count

    running = averages()
    next(running)
    return [running.send(v) for v in (x[0], x[1], x[-1])]


class Guarded:
    def __init__(self, inner):
        self._inner = inner
        self.calls = 0

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __call__(self, x):
        self.calls += 1
        return self._inner(x) if x.sum() > 0 else x


@on(ramp(2, 4), ramp(2, 4, start=-5.0), unknown=[[None, 4]])
class Wrapped(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.guard = Guarded(self.linear)

    def forward(self, x):
        y = self.guard(x)
        return y, self.guard.calls, self.guard.weight.sum(), hasattr(self.guard, "missing")


class Meter:
    def __init__(self):
        self._value, self.history = None, []

    @property
    def value(self):
        return 0.0 if self._value is None else self._value

    @value.setter
    def value(self, new):
        self.history.append(self._value)
        self._value = new

    def __iadd__(self, other):
        self.value = self.value + other
        return self

    def __bool__(self):
        return self._value is not None


@on(*X, unknown=VECTOR)
def meter_with_a_setter(x):
    meter = Meter()
    if x[0] > 0:
        meter += x[0]
    if meter:
        meter += x[1]
    return meter.value, len(meter.history)


@on(*X, unknown=VECTOR)
def copies_deep_and_shallow(x):
    config = {"limits": [x[0], x[1]], "name": "a"}
    shallow, deep = copy.copy(config), copy.deepcopy(config)
    if x.sum() > 0:
        config["limits"][0] = x.max()
        config["name"] = "b"
    return shallow["limits"][0], deep["limits"][0], shallow["name"], config["name"] == "b"


@on(*X, unknown=VECTOR)
def walrus_in_a_comprehension(x):
    kept = [y for v in x if (y := v * 2) > 0]
    return kept, y, any((hit := v) > 3 for v in x), hit


@on(*X, unknown=VECTOR)
def sentinel_of_iter(x):
    values = iter(x[:4])
    seen = []
    while (v := next(values, None)) is not None:
        if v < 0:
            break
        seen.append(v)
    return seen, [r for r in values]


@on(*X, unknown=VECTOR)
def starred_parts(x):
    first, *middle, last = x[:4]
    head, *rest = [v for v in middle if v > 0] or [first]
    return first, last, head, len(rest)


@on(*X, unknown=VECTOR)
def comparison_in_a_chain(x):
    low, high = x.min(), x.max()
    inside = [v for v in x if low < v < high]
    label = "wide" if high - low > 4 else "thin" if high - low > 1 else "flat"
    return len(inside), label, 0 < len(inside) <= 2


@on(*X, unknown=VECTOR)
def memo_by_tuple(x):
    memo = {}

    def best(i, j):
        if i >= j:
            return dy2st.zeros([])
        if (i, j) not in memo:
            left = x[i] + best(i + 1, j)
            right = x[j - 1] * 0.5 + best(i, j - 1)
            memo[i, j] = left if left > right else right
        return memo[i, j]

    return best(0, 3), len(memo)


@on(*X, unknown=VECTOR)
def counts_of_rounded_values(x):
    counts = Counter(int(v) for v in x[:4])
    common, times = counts.most_common(1)[0]
    return common, times, len(counts)


@on(*X, unknown=VECTOR)
def text_with_numbers_of_a_branch(x):
    level = 0
    if x.sum() > 0:
        level = 2
    name = f"level_{level:02d}"
    return {name: x.sum()}, name.upper(), level


@on(*X, unknown=VECTOR)
def slices_that_are_written(x):
    y = x.clone()
    y[::2] = 0
    if x[0] > 0:
        y[1:3] += x[:2]
    y[y < 0] = -1
    y[-1], y[0] = y[0], y[-1]
    return y


@on(*X, unknown=VECTOR)
def list_that_is_cut_and_filled(x):
    values = [v for v in x[:4]]
    if x[0] > 1:
        values[1:3] = [x.sum()]
    del values[0]
    values.insert(0, x.min())
    values.reverse()
    return values, len(values), values.pop()


@on(*X, unknown=VECTOR)
def chain_of_settings(x):
    default, own = {"scale": 1.0, "bias": 0.0}, {}
    if x.sum() > 0:
        own["scale"] = 3.0
    settings = ChainMap(own, default)
    return x * settings["scale"] + settings["bias"], len(settings.maps[0])


@on(*X, unknown=VECTOR)
def place_by_bisection(x):
    limits = [0.0, 1.0, 4.0]
    places = [bisect.bisect_left(limits, v) for v in x[:3]]
    names = ["low", "mid", "high", "top"]
    return places, [names[p] for p in places]


@on(*X, unknown=VECTOR)
def flat_list_of_lists(x):
    nested = [[v] * (2 if v > 0 else 1) for v in x[:3]]
    flat = sum(nested, [])
    return flat, len(list(itertools.chain.from_iterable(nested)))


@on(*X, unknown=VECTOR)
def sets_of_positions(x):
    positive = {i for i in range(4) if x[i] > 0}
    even = {0, 2}
    return sorted(positive & even), len(positive | even), positive <= even


class Stop(Exception):
    def __init__(self, value):
        super().__init__("stopped")
        self.value = value


@on(*X, unknown=VECTOR)
def exception_that_carries_a_tensor(x):
    def walk():
        for i, v in enumerate(x):
            if v > 3:
                raise Stop(v * i)
        return x.sum()

    try:
        return walk(), "walked"
    except Stop as stop:
        return stop.value, str(stop)


@on(*X, unknown=VECTOR)
def numbers_of_python_and_tensors(x):
    total, count = 0, 0
    for v in x:
        n = int(v)
        total += n // 2 + n % 3
        count += bool(n) and not n & 1
        total = max(total, -n) if n < 0 else total
    return total, count, divmod(total, 3), -total // 2


@on(*X, unknown=VECTOR)
def loop_that_changes_what_it_walks(x):
    queue = deque([x])
    done = []
    while queue:
        part = queue.popleft()
        if part.shape[0] > 2 and len(done) < 2:
            middle = part.shape[0] // 2
            queue.extend([part[:middle], part[middle:]])
        done.append(part.sum())
        if len(done) > 4:
            break
    return done


@on(*X, unknown=VECTOR)
def lambda_table_with_defaults(x):
    acts = {"relu": F.relu, "none": lambda v: v, None: F.tanh}
    names = ["relu", None, "none", "gone"]
    return [acts.get(name, acts["none"])(x).sum() for name in names]


@on(*X, X[0])
class CountsItsCalls(nn.Layer):
    total = 0

    def __init__(self):
        super().__init__()
        self.history = []
        self.best = None

    def forward(self, x):
        value = x.sum()
        if self.best is None or value > self.best:
            self.best = value
            self.history.append(len(self.history))
        self.total = self.total + 1
        return self.best, self.total


@dataclass(order=True)
class Ranked:
    score: Any
    name: str = field(compare=False, default="")


@on(*X, unknown=VECTOR)
def ranked_dataclasses(x):
    items = [Ranked(x[i], f"item{i}") for i in range(3)]
    best, worst = max(items), min(items)
    return best.score, best.name, worst.name, best > worst


@on(*X, unknown=VECTOR)
def value_that_may_be_none(x):
    found = None
    for i, v in enumerate(x):
        if v > 1 and found is None:
            found = (i, v)
    place, value = found if found is not None else (-1, x.min())
    return place, value, found is None


@on(*X, unknown=VECTOR)
def shape_by_arithmetic(x):
    n = x.shape[0]
    rows = math.ceil(n / 3)
    y = F.pad(x, [0, rows * 3 - n]).reshape([rows, 3])
    return y, y.shape[0] == (n + 2) // 3, dy2st.linspace(0, 1, n), [n, rows]


@on(*X, unknown=VECTOR)
def manager_that_swallows(x):
    class Ignored:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            return kind is ZeroDivisionError

    out = x
    with Ignored():
        out = x * 2
        if x.sum() < 0:
            raise ZeroDivisionError
        out = x * 3
    return out
