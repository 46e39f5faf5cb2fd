"""Choosing: one of several objects, tuples that are compared, and returns out of everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, 3.0, 2.0, 2.0], [-1.0, -3.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 1.0])
EACH = [[None]]


class Step(NamedTuple):
    """A value and how it came about."""

    value: object
    kind: str
    tries: int = 0


@dataclass
class Meter:
    """A running mean."""

    total: object = 0.0
    count: int = 0

    def update(self, value):
        self.total = self.total + value
        self.count += 1


@on(*VALUES, unknown=EACH)
def one_of_two_lists_returned(x):
    found = None
    if x.max() > 0:
        small = [x.sum()]
        large = [x.max(), x.min()]
        found = small if x.min() > 0 else large
    return found


@on(*VALUES, unknown=EACH)
def meter_of_the_sign(x):
    up, down = Meter(), Meter()
    for v in x:
        meter = up if v > 0 else down
        meter.update(v)
    return up.total, up.count, down.total, down.count


@on(*VALUES, unknown=EACH)
def best_of_nine_objects(x):
    found = [Meter(x[0] * place, place) for place in range(9)]
    best = max(found, key=lambda one: (one.total - x[1]) ** 2)
    best.update(1.0)
    nearest = None
    for one in found:
        if x[1] > one.count and (nearest is None or one.total > nearest.total):
            nearest = one
    return best.total, [one.count for one in found], nearest.count if nearest else -1


@on(*VALUES, unknown=EACH)
def cells_of_a_table_of_nine_rows(x):
    table = [[row * column for column in range(3)] for row in range(9)]
    row, total = 8, 0
    while row > 0:
        place = int(x[row % 2] > 0)
        total += table[row][place]
        table[row][place] = -1
        row -= 1 if x[0] > row else 3
    return total, table


@on(*VALUES, unknown=EACH)
def one_of_eight_functions(x):
    steps = [lambda v, k=k: v * k for k in range(7)]
    return steps[int(x[0]) % 7](x.sum()), [*steps, abs][int(x.max()) % 8](x[1])


@on(*VALUES, unknown=EACH)
def step_that_was_taken(x):
    step = Step(x.sum(), "sum")
    if x.max() > 2:
        step = step._replace(kind="clipped", value=step.value.clip(max=4.0))
    elif x.min() < 0:
        step = Step(x.abs().sum(), "abs", 1)
    return step.value * (1 + step.tries), step.kind


@on(*VALUES, unknown=EACH)
def better_of_two_candidates(x):
    first, second = (x.sum(), -1), (x.max() * 2, 0)
    best = first if first > second else second
    return best, max(first, second)[1], sorted([second, first])[0]


@on(*VALUES, unknown=EACH)
def settings_restored(x):
    settings = {"scale": 1.0, "used": 0}
    try:
        settings["scale"] = 2.0
        if x.sum() > 0:
            return x * settings["scale"], settings
        settings["used"] += 1
    finally:
        settings["scale"] = 1.0
    return x, settings


@on(*VALUES, unknown=EACH)
def log_of_each_try(x):
    log = []
    for factor in (1.0, 0.5):
        try:
            if (x * factor).max() > 2:
                continue
            return x * factor, log
        finally:
            log.append(factor)
    return x, log


@on(*VALUES, unknown=EACH)
def element_at_a_place_that_may_be_none(x):
    best = None
    for place, v in enumerate(x):
        if v > 1 and (best is None or v > x[best]):
            best = place
    table = dy2st.stack([x, -x])
    at = 1, best
    if best is None:
        return table
    table[at] += 10
    return table, table[at]


@on(*VALUES, unknown=EACH)
def cached_or_computed(x):
    cache = {}
    for v in x:
        key = int(v)
        if key not in cache:
            cache[key] = v * v
        else:
            cache[key] = cache[key] + 1
    return cache


@on(*VALUES, unknown=EACH)
def history_of_the_best(x):
    best, history = None, []
    for v in x:
        if best is None or v > best[0]:
            best = (v, len(history))
            history.append(v)
    return best, history


@on(*VALUES, unknown=EACH)
def appended_if_it_is_there(x):
    extra = None
    if x.sum() > 0:
        extra = [x.sum()]
    if extra is not None:
        extra.append(x.max())
    return extra


@on(*VALUES, unknown=EACH)
def optional_dict_filled(x):
    info = None
    if x.max() > 1:
        info = {"max": x.max()}
    if info is not None and x.min() > 0:
        info["min"] = x.min()
    return info


@on(*VALUES, [1.0, -1.0, 2.0, 0.0], unknown=EACH)
def state_machine(x):
    state, visits = "idle", {"idle": 0, "up": 0, "down": 0}
    for v in x:
        if state == "idle":
            state = "up" if v > 0 else "down"
        elif state == "up" and v <= 0:
            state = "down"
        elif state == "down" and v > 1:
            state = "idle"
        visits[state] += 1
    return state, visits


@on(*VALUES, unknown=EACH)
def stack_machine(x):
    stack = [x.sum()]
    for v in x:
        if v > 1:
            stack.append(v)
        elif len(stack) > 1:
            stack.append(stack.pop() + stack.pop())
    return stack


@on(*VALUES, unknown=EACH)
def two_pointers(x):
    values = sorted(x.tolist())
    left, right, pairs = 0, len(values) - 1, []
    while left < right:
        total = values[left] + values[right]
        if total == 4.0:
            pairs.append((values[left], values[right]))
            left += 1
        elif total < 4.0:
            left += 1
        else:
            right -= 1
    return pairs


@on(*VALUES, unknown=EACH)
def message_of_a_failure(x):
    try:
        if x.max() > 4:
            raise ValueError("too large")
        message = "fine"
    except ValueError as error:
        message = str(error)
    return message, x.sum()


@on(*VALUES, unknown=EACH)
def clipped_history(x):
    history = []
    for v in x:
        history.append(v)
        if len(history) > 2:
            history = history[-2:]
    return dy2st.stack(history).mean(), len(history)


@on(*VALUES)
class GatedExperts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.experts = nn.LayerList([nn.Linear(1, 1) for _ in range(3)])
        self.uses = [0, 0, 0]

    def forward(self, x):
        out = []
        for v in x:
            expert = 0 if v < 0 else (1 if v < 2 else 2)
            self.uses[expert] += 1
            out.append(self.experts[expert](v.reshape([1])))
        return dy2st.concat(out)


@on(*VALUES)
class WarmUp(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", dy2st.ones([]))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if x.abs().max() > 2:
            self.scale = self.scale * 0.5
        elif self.calls > 1:
            self.scale = (self.scale * 2).clip(max=1.0)
        return x * self.scale


@on(*VALUES, unknown=EACH)
def callbacks_in_order(x):
    seen = []

    def on_large(v):
        seen.append(("large", v))

    def on_small(v):
        seen.append(("small", v))

    for v in x:
        (on_large if v > 1 else on_small)(v)
    return [kind for kind, _ in seen], sum(v for _, v in seen)


@on(*VALUES, unknown=EACH)
def swapped_until_sorted(x):
    values = [v for v in x]
    swaps = 0
    for end in range(len(values) - 1, 0, -1):
        for i in range(end):
            if values[i] > values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
                swaps += 1
    return values, swaps


@on(*VALUES, unknown=EACH)
def ranked_with_ties(x):
    order = sorted(range(x.shape[0]), key=lambda i: (-x[i], i))
    ranks = [0] * x.shape[0]
    for rank, place in enumerate(order):
        ranks[place] = rank
    return ranks
