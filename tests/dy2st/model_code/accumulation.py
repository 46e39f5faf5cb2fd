"""Sums, counts and extremes that loops gather, and loops that end when something is found."""

from __future__ import annotations

import functools
import itertools

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = ([1.0, -2.0, 3.0, 0.5], [-1.0, -2.0, -3.0, -4.0], [2.0, 2.0, 0.0, 5.0], [4.0], [-1.0, 6.0])
EACH = [[None]]


@on(*VALUES, unknown=EACH)
def sum_of_the_positive(x):
    total = 0
    for v in x:
        if v > 0:
            total = total + v
    return total


@on(*VALUES, unknown=EACH)
def sum_by_a_conditional_expression(x):
    total = 0.0
    for v in x:
        total = total + v if v > 0 else total
    return total


@on(*VALUES, unknown=EACH)
def count_of_the_positive(x):
    count = 0
    for v in x:
        if v > 0:
            count += 1
    return count


@on(*VALUES, unknown=EACH)
def mean_of_the_positive_or_zero(x):
    total, count = 0.0, 0
    for v in x:
        if v > 0:
            total += v
            count += 1
    return total / max(count, 1)


@on(*VALUES, unknown=EACH)
def total_of_a_generator(x):
    return sum(v * v for v in x if v < 1)


@on(*VALUES, unknown=EACH)
def largest_and_where(x):
    best, where = x[0], 0
    for i, v in enumerate(x):
        if v > best:
            best, where = v, i
    return best, where


@on(*VALUES, unknown=EACH)
def smallest_from_infinity(x):
    best = float("inf")
    for v in x:
        if v < best:
            best = v
    return best


@on(*VALUES, unknown=EACH)
def best_that_may_be_none(x):
    best = None
    for v in x:
        if v > 0 and (best is None or v > best):
            best = v
    return best if best is not None else x.sum()


@on(*VALUES, unknown=EACH)
def first_negative_or_none(x):
    for v in x:
        if v < 0:
            return v
    return None


@on(*VALUES, unknown=EACH)
def next_with_a_default(x):
    found = next((v for v in x if v < 0), None)
    if found is None:
        return x * 2
    return x + found


@on(*VALUES, unknown=EACH)
def position_of_the_first_large(x):
    where = -1
    for i, v in enumerate(x):
        if v > 2:
            where = i
            break
    return where


@on(*VALUES, unknown=EACH)
def position_by_else(x):
    for i in range(len(x)):
        if x[i] > 2:
            break
    else:
        i = -1
    return i


@on(*VALUES, unknown=EACH)
def running_sums(x):
    total, out = 0, []
    for v in x:
        total = total + v
        out.append(total)
    return dy2st.stack(out)


@on(*VALUES, unknown=EACH)
def running_maximum_by_accumulate(x):
    return list(itertools.accumulate(x, max))


@on(*VALUES, unknown=EACH)
def reduced_to_a_product(x):
    return functools.reduce(lambda a, b: a * b, x)


@on(*VALUES, unknown=EACH)
def reduced_with_a_start(x):
    return functools.reduce(lambda a, b: a + b if b > 0 else a - 1, x, 10.0)


@on(*VALUES, unknown=EACH)
def any_and_all_of_a_generator(x):
    return any(v > 3 for v in x), all(v > -2.5 for v in x)


@on(*VALUES, unknown=EACH)
def longest_run_of_the_positive(x):
    longest = run = 0
    for v in x:
        run = run + 1 if v > 0 else 0
        longest = max(longest, run)
    return longest


@on(*VALUES, unknown=EACH)
def changes_of_sign(x):
    changes = 0
    before = x[0]
    for v in x[1:]:
        if (v > 0) != (before > 0):
            changes += 1
        before = v
    return changes


@on(*VALUES, unknown=EACH)
def horner(x):
    y = 0
    for c in reversed(x):
        y = y * 2 + c
    return y


@on(*VALUES, unknown=EACH)
def two_sums_in_a_list(x):
    sums = [0, 0]
    for v in x:
        sums[int(v > 0)] += v
    return sums[0] - sums[1]


@on(*VALUES, unknown=EACH)
def sums_in_a_dict(x):
    sums = {"up": 0.0, "down": 0.0}
    for v in x:
        sums["up" if v > 0 else "down"] += v
    return sums


@on(*VALUES, unknown=EACH)
def sum_until_it_is_large(x):
    total = 0
    for v in x:
        if total > 2:
            break
        total = total + v
    return total


@on(*VALUES, unknown=EACH)
def skips_and_counts_the_skipped(x):
    skipped, total = 0, 0.0
    for v in x:
        if v < 0:
            skipped += 1
            continue
        total = total + v
    return total, skipped


@on(*VALUES, unknown=EACH)
def done_that_loses_its_axis(x):
    s = x.sum().abs() + 1
    done = dy2st.zeros([1], "bool")
    while not done:
        s = s * 2
        done = s > 12
    return s


@on(*VALUES, unknown=EACH)
def halves_until_small(x):
    turns = 0
    while x.abs().max() > 1:
        x = x / 2
        turns += 1
    return x, turns


@on(*VALUES, unknown=EACH)
def while_with_a_limit(x):
    step, limit = 0, 5
    while step < limit and x.abs().sum() > 0.5:
        x = x * 0.4
        step += 1
    return x, step, step == limit


@on(*VALUES, unknown=EACH)
def newton_until_it_settles(x):
    a = x.abs().sum() + 1
    guess, change = a / 2, a
    while abs(change) > 1e-3:
        new = (guess + a / guess) / 2
        change = new - guess
        guess = new
    return guess


@on(*VALUES, unknown=EACH)
def mean_and_variance_of_welford(x):
    count, mean, m2 = 0, 0.0, 0.0
    for v in x:
        count += 1
        delta = v - mean
        mean = mean + delta / count
        m2 = m2 + delta * (v - mean)
    return mean, m2 / count if count > 1 else m2


@on(*VALUES, unknown=EACH)
def counter_of_what_is_near(x):
    near = 0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            if abs(x[i] - x[j]) < 2:
                near += 1
    return near


@on(*VALUES, unknown=EACH)
def alternating_by_a_flag(x):
    is_odd, total = False, 0.0
    for v in x:
        total = total - v if is_odd else total + v
        is_odd = not is_odd
    return total, is_odd


@on(*VALUES, [3.0, -1.0, 2.0, 0.0], unknown=EACH)
def state_machine_of_strings(x):
    state, beats = "low", 0
    for v in x:
        if state == "low" and v > 1:
            state = "high"
            beats += 1
        elif state == "high" and v < 0:
            state = "low"
    return beats, state
