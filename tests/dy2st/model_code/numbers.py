"""Python's numbers that come out of tensors, and what scripts compute with them."""

from __future__ import annotations

import math
from functools import singledispatch

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = (
    [1.0, -2.5, 3.0],
    [-1.0, -2.0, -3.5],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.5],
    [-1.0, 5.0],
)
EACH = [[None]]
WHOLE = ([3, 1, 2], [-7, 0, 4], [5, 5, 5], [9], [-2, 8])


@on(*VALUES, unknown=EACH)
def float_of_a_sum(x):
    total = float(x.sum())
    return total, total * 2, -total


@on(*VALUES, unknown=EACH)
def int_cuts_towards_zero(x):
    return int(x[0]), int(x[0] * 1.9), int(-x[0] * 0.6)


@on(*VALUES, unknown=EACH)
def item_as_a_number(x):
    best = x.max().item()
    if best > 2:
        best = best - 2
    return best


@on(*WHOLE, unknown=EACH)
def whole_numbers_divided(x):
    n = int(x[0])
    return n / 2, n // 2, n % 3, divmod(n, 4)


@on(*WHOLE, unknown=EACH)
def whole_numbers_to_a_power(x):
    n = int(x[0])
    return n**2, 2 ** abs(n), n**0


@on(*WHOLE, unknown=EACH)
def bits_of_a_number(x):
    n = abs(int(x[0]))
    return n & 3, n | 8, n ^ 1, n << 2, n >> 1


@on(*WHOLE, unknown=EACH)
def number_of_set_bits(x):
    n, bits = abs(int(x[0])), 0
    while n:
        bits += n & 1
        n >>= 1
    return bits


@on(*WHOLE, unknown=EACH)
def greatest_common_divisor(x):
    a, b = abs(int(x[0])), 6
    while b:
        a, b = b, a % b
    return a


@on(*WHOLE, unknown=EACH)
def steps_of_collatz(x):
    n, steps = abs(int(x[0])) + 1, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@on(*WHOLE, unknown=EACH)
def fibonacci_of_a_tensor(x):
    a, b = 0, 1
    for _ in range(abs(int(x[0]))):
        a, b = b, a + b
    return a


@on(*VALUES, unknown=EACH)
def rounded(x):
    v = float(x.sum())
    return round(v), round(v * 10) / 10


@on(*VALUES, unknown=EACH)
def functions_of_math(x):
    v = abs(float(x[0]))
    return math.sqrt(v), math.floor(v), math.exp(-v)


@on(*VALUES, unknown=EACH)
def bools_counted(x):
    count = 0
    for v in x:
        count += bool(v > 0)
    return count, bool(count)


@on(*VALUES, unknown=EACH)
def tensor_bools_added(x):
    count = 0
    for v in x:
        count = count + (v > 0)
    return count


@on(*VALUES, unknown=EACH)
def least_of_numbers_and_tensors(x):
    return min(float(x[0]), 1.5), max(2, int(x.max()))


@on(*VALUES, unknown=EACH)
def int_or_float_by_a_branch(x):
    step = 1
    if x.sum() > 0:
        step = 0.5
    return x * step, step * 2


@on(*VALUES, unknown=EACH)
def number_or_none_by_a_branch(x):
    limit = None
    if x.max() > 2:
        limit = 2
    return x if limit is None else x.clip(-limit, limit)


@on(*VALUES, unknown=EACH)
def number_with_a_default_by_or(x):
    n = int((x > 2).sum()) or 7
    return n


@on(*VALUES, unknown=EACH)
def truth_of_numbers_in_and(x):
    n = int((x > 0).sum())
    return n and 10 // n


@on(*VALUES, unknown=EACH)
def chain_of_comparisons(x):
    n = int(x.sum())
    return 0 < n < 4, -2 <= n, n == n != 3


@on(*VALUES, unknown=EACH)
def kinds_of_numbers(x):
    n, v, b = int(x.sum()), float(x.sum()), bool(x.sum() > 0)
    return isinstance(n, int), isinstance(v, float), isinstance(b, bool), isinstance(n, float)


@on(*VALUES, unknown=EACH)
def names_of_kinds(x):
    n, v = int(x.sum()), float(x.sum())
    return type(n).__name__, type(v).__name__, type(n) is int


@singledispatch
def described(value):
    return "other"


@described.register(int)
def _(value):
    return "a whole number"


@described.register(float)
def _(value):
    return "a number"


@on(*VALUES, unknown=EACH)
def dispatched_by_kind(x):
    return described(int(x.sum())), described(float(x.sum())), described("text")


@on(*VALUES, unknown=EACH)
def text_of_a_number(x):
    n = int(x.sum())
    return f"{n:03d}", str(n) + "!"


@on(*VALUES, unknown=EACH)
def text_of_a_float(x):
    return f"loss {float(x.sum()):.2f}"


@on(*VALUES, unknown=EACH)
def list_of_numbers(x):
    return x.tolist(), [float(v) * 2 for v in x]


@on(*VALUES, unknown=EACH)
def numbers_sorted(x):
    values = sorted(float(v) for v in x)
    return values[0], values[-1]


@on(*VALUES, unknown=EACH)
def percentage_of_a_count(x):
    share = int((x > 0).sum()) / x.shape[0]
    return share, f"{share:.0%}"


@on(*VALUES, unknown=EACH)
def tensor_made_of_numbers(x):
    low, high = float(x.min()), float(x.max())
    return dy2st.to_tensor([low, high, high - low])


@on(*VALUES, unknown=EACH)
def slice_by_numbers_of_a_tensor(x):
    cut = int((x > 0).sum())
    return x[:cut], x[cut:]


@on(*VALUES, unknown=EACH)
def range_with_a_step_of_a_tensor(x):
    total = 0
    for i in range(int(x.max().abs()), -1, -2):
        total += i * i
    return total


@on(*VALUES, unknown=EACH)
def repeated_by_a_number(x):
    n = int((x > 0).sum())
    return [0.0] * n, "-" * n


@on(*VALUES, unknown=EACH)
def infinity_and_nan(x):
    v = float(x.sum()) * math.inf if x.sum() > 0 else 1.0
    return math.isinf(v), v > 1e30


@on(*WHOLE, unknown=EACH)
def seconds_as_a_clock(x):
    seconds = abs(int(x[0])) * 1000
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return hours, minutes, seconds
