"""Generators of the user around tensors: streams, windows, pipelines, batches."""

from __future__ import annotations

import itertools

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, -2.0, 3.0, 0.5], [-1.0, -2.0, -3.0, -4.0], [2.0, 2.0, 0.0, 5.0], [4.0], [-1.0, 6.0])
EACH = [[None]]


def positive(x):
    for v in x:
        if v > 0:
            yield v


def windows(x, size):
    for i in range(len(x) - size + 1):
        yield x[i : i + size]


@on(*VALUES, unknown=EACH)
def list_of_a_filter(x):
    return list(positive(x))


@on(*VALUES, unknown=EACH)
def loop_over_a_filter(x):
    total = 0.0
    for v in positive(x):
        total = total + v * v
    return total


@on(*VALUES, unknown=EACH)
def sum_of_a_filter(x):
    return sum(positive(x))


@on(*VALUES, unknown=EACH)
def loop_over_windows(x):
    best = x[0]
    for w in windows(x, 2):
        if w.sum() > best:
            best = w.sum()
    return best


@on(*VALUES, unknown=EACH)
def sums_as_they_run(x):
    def running(values):
        total = 0.0
        for v in values:
            total = total + v
            yield total

    return [t for t in running(x)]


@on(*VALUES, unknown=EACH)
def stops_by_return(x):
    def until_negative(values):
        for v in values:
            if v < 0:
                return
            yield v

    return list(until_negative(x))


@on(*VALUES, unknown=EACH)
def one_generator_of_another(x):
    def doubled(values):
        for v in values:
            yield v * 2

    return [v + 1 for v in doubled(positive(x))]


@on(*VALUES, unknown=EACH)
def yields_from_two(x):
    def both(values):
        yield values.sum()
        yield from positive(values)

    return list(both(x))


@on(*VALUES, unknown=EACH)
def two_values_a_turn(x):
    def numbered(values):
        k = 0
        for v in values:
            if v != 2:
                yield k, v
                k += 1

    total = 0.0
    for k, v in numbered(x):
        total = total + k * v
    return total


@on(*VALUES)
def taken_one_by_one(x):
    stream = windows(x, 1)
    first = next(stream)
    second = next(stream)
    return first - second if first > second else second - first


@on(*VALUES)
def sent_into(x):
    def accumulate():
        total = 0.0
        while True:
            v = yield total
            total = total + v

    adder = accumulate()
    next(adder)
    out = x.sum() * 0
    for v in (x[0], x[1]):
        out = adder.send(v)
    return out if out > 0 else -out


@on(*VALUES, unknown=EACH)
def pairwise_differences(x):
    steps = [b - a for a, b in itertools.pairwise(x)]
    return steps[0] if steps and steps[0] > 0 else x[0]


@on(*VALUES, unknown=EACH)
def while_they_are_positive(x):
    return list(itertools.takewhile(lambda v: v > 0, x))


@on(*VALUES, unknown=EACH)
def after_the_first_negative(x):
    return list(itertools.dropwhile(lambda v: v > 0, x))


@on(*VALUES, unknown=EACH)
def chained_and_enumerated(x):
    total = x[0] * 0
    for i, v in enumerate(itertools.chain(x, [x.sum()], x[:1])):
        if v > 1:
            total = total + i
    return total


@on(*VALUES, unknown=EACH)
def weights_in_a_cycle(x):
    total = 0.0
    for v, w in zip(x, itertools.cycle([1.0, -1.0, 0.5])):
        total = total + v * w
    return total if total > 0 else total * 2


@on(*VALUES, unknown=EACH)
def first_of_two_groups(x):
    groups = {}
    for up, members in itertools.groupby([bool(v > 0) for v in x]):
        groups.setdefault(up, []).append(len(list(members)))
    return groups


@on(*VALUES)
def batches_of_a_stream(x):
    def batches(values, size):
        held = []
        for v in values:
            held.append(v)
            if len(held) == size:
                yield dy2st.stack(held)
                held = []
        if held:
            yield dy2st.stack(held)

    return [b.sum() if b.max() > 0 else b.min() for b in batches(x[:3], 2)]


@on(*VALUES, unknown=EACH)
def cleaned_up_at_the_end(x):
    log = []

    def stream():
        try:
            for v in x:
                yield v * 1
        finally:
            log.append("closed")

    total = 0.0
    for v in stream():
        total = total + v if v > 0 else total
    return total, log


class Loader:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for i in range(0, len(self.x), 2):
            yield {"x": self.x[i : i + 2], "index": i}


@on(*VALUES, unknown=EACH)
def loader_of_batches(x):
    out = []
    for batch in Loader(x):
        y = batch["x"].sum()
        if y > 0:
            y = y * 10
        out.append(y + batch["index"])
    return out


@on([3.0, 5.0, -1.0], [2.0], [-2.0, 1.0], [1.0, 2.0, 6.0, 7.0], unknown=[[None]])
def a_map_makes_no_item_behind_the_one_that_decides(x):
    seen = []

    def checked(v):
        seen.append(v)
        if v < -1:
            raise ValueError("low")
        return v > 4

    try:
        found = any(map(checked, x.tolist())), True in map(checked, x.tolist())
        for k, one in enumerate(map(checked, x.tolist())):
            if one:
                break
    except ValueError:
        return "low", seen
    return found, k, seen
