"""Tensors that are written into: buffers that fill up, aliases, rows of lists, masks."""

from __future__ import annotations

import dy2st
from tests.dy2st.catalogue.entry import on, ramp

VALUES = (
    [1.0, -2.0, 3.0],
    [-1.0, -2.0, -3.0],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.0],
    [-1.0, 5.0],
)
EACH = [[None]]
NUMBERS = ([3, 1, 2, 1], [0, 0, 0, 0], [1, 5, 2, 7], [4], [2, 9])
MATRICES = (ramp(3, 3), ramp(3, 3, start=0.0), ramp(3, 3, period=5), ramp(2, 4), ramp(4, 2))
TABLE = [[None, None]]


@on(*VALUES, unknown=EACH)
def alias_written_into(x):
    a = x * 1
    b = a
    b[0] = 20.0
    return a


@on(*VALUES, unknown=EACH)
def alias_written_into_in_a_branch(x):
    a = x * 1
    b = a
    if x.sum() > 0:
        b[0] = 20.0
    else:
        a[-1] = -20.0
    return a, b


@on(*VALUES, unknown=EACH)
def rows_of_a_list_written_into(x):
    rows = [x * 1, x * 2]
    rows[0][0] = 20.0
    if x.sum() > 0:
        rows[1][0] = rows[0][0] + 1
    return rows


@on(*VALUES, unknown=EACH)
def one_tensor_twice_in_a_list(x):
    row = x * 1
    rows = [row, row]
    rows[0][0] = 7.0
    return rows[1].sum(), row[0]


@on(*VALUES, unknown=EACH)
def tensor_in_a_dict_written_into(x):
    state = {"h": x * 1, "n": 0}
    h = state["h"]
    if x.sum() > 0:
        state["h"][0] = 9.0
    return h, state["h"]


@on(*VALUES, unknown=EACH)
def argument_written_into(x):
    x[0] = x.sum()
    return x.max()


@on(*VALUES, unknown=EACH)
def argument_clamped_in_a_branch(x):
    y = x.abs()
    if y.max() > 2:
        y[y > 2] = 2.0
    return y


@on(*NUMBERS, unknown=EACH)
def counts_in_a_tensor(x):
    counts = dy2st.zeros([10], "int64")
    for v in x:
        counts[v] += 1
    return counts


@on(*NUMBERS, unknown=EACH)
def read_after_it_was_written(x):
    out = dy2st.zeros([4], "int64")
    out[0] = x[0]
    out[1] = out[0] + 1
    return out[0] + out[1]


@on(*NUMBERS, unknown=EACH)
def written_number_as_a_condition(x):
    flags = dy2st.zeros([2], "int64")
    flags[0] = x.max()
    if flags[0] > 3:
        return x * 2
    return x


@on(*NUMBERS, unknown=EACH)
def written_number_as_an_index(x):
    pointer = dy2st.ones([1], "int64")
    pointer[0] = x.argmax()
    return x[pointer[0]], int(pointer[0])


@on(*NUMBERS, unknown=EACH)
def written_bools(x):
    seen = dy2st.zeros([10], "bool")
    fresh = 0
    for v in x:
        if not seen[v]:
            seen[v] = True
            fresh += 1
    return fresh, seen


@on(*NUMBERS, unknown=EACH)
def range_written_into(x):
    order = dy2st.arange(4)
    order[0], order[3] = order[3], x[0]
    return order, order[0] * 10 + order[3]


@on(*NUMBERS, [1, 2, 1, 3], unknown=EACH)
def union_find(x):
    parent = dy2st.arange(10)
    for i in range(len(x) - 1):
        a, b = x[i], x[i + 1]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
    return parent


@on(*NUMBERS, unknown=EACH)
def bubble_sort_in_a_tensor(x):
    x = x * 1
    for end in range(x.shape[0] - 1, 0, -1):
        for i in range(end):
            if x[i] > x[i + 1]:
                low = x[i + 1]
                x[i + 1] = x[i]
                x[i] = low
    return x


@on(*NUMBERS, unknown=EACH)
def inverse_of_an_order(x):
    order = x.argsort()
    back = dy2st.zeros_like(order)
    for i in range(order.shape[0]):
        back[order[i]] = i
    return back


@on(*MATRICES, unknown=TABLE)
def rows_that_are_replaced(x):
    x = x * 1
    for i in range(x.shape[0]):
        if x[i].sum() < 0:
            x[i] = x[i - 1] * 0.5
    return x


@on(*MATRICES, unknown=TABLE)
def slice_of_a_tensor_written_into(x):
    x = x * 1
    row = x[0]
    row[0] = 50.0
    return x.max(), row.max()


@on(*MATRICES, unknown=TABLE)
def columns_scaled_one_by_one(x):
    x = x * 1
    scaled = 0
    for j in range(x.shape[1]):
        peak = x[:, j].abs().max()
        if peak > 1.5:
            x[:, j] = x[:, j] / peak
            scaled += 1
    return x, scaled


@on(*MATRICES, unknown=TABLE)
def masked_assignment_of_rows(x):
    x = x * 1
    bad = x.min(1) < -1.5
    if bad.any():
        x[bad] = 0.0
    return x


@on(*MATRICES, unknown=TABLE)
def flood_fill_by_turns(x):
    wet = dy2st.zeros_like(x)
    wet[0, 0] = 1.0
    changed, turns = True, 0
    while changed:
        grown = wet * 1
        grown[1:] = dy2st.maximum(grown[1:], wet[:-1])
        grown[:, 1:] = dy2st.maximum(grown[:, 1:], wet[:, :-1])
        grown = grown * (x < 2.5).astype("float32")
        changed = bool((grown != wet).any())
        wet = grown
        turns += 1
    return wet, turns


@on(*MATRICES[:3])
def elimination_with_pivots(x):
    a = x * 1 + dy2st.eye(3)
    swaps = 0
    for k in range(2):
        p = int(a[k:, k].abs().argmax()) + k
        if p != k:
            row = a[k] * 1
            a[k] = a[p]
            a[p] = row
            swaps += 1
        for i in range(k + 1, 3):
            a[i] = a[i] - a[k] * (a[i, k] / (a[k, k] + 1e-3))
    return a, swaps


@on(*VALUES, unknown=EACH)
def added_in_place(x):
    y = x * 1
    z = y
    y += 1
    if x.sum() > 0:
        y *= 2
    return y, z


@on(*VALUES, unknown=EACH)
def methods_that_end_in_an_underscore(x):
    y = x * 1
    z = y
    y.add_(dy2st.ones([1]))
    if z.max() > 3:
        y.clip_(0.0, 3.0)
    return z


@on(*VALUES, unknown=EACH)
def helper_that_writes_into_its_argument(x):
    def cap(v, limit):
        for i in range(v.shape[0]):
            if v[i] > limit:
                v[i] = limit

    y = x * 1
    cap(y, 2.0)
    return y


@on(*VALUES, unknown=EACH)
def old_values_kept_before_writing(x):
    y = x * 1
    before = y[0]
    whole = y.clone()
    y[0] = 100.0
    return before, whole.sum(), y.sum()


@on(*VALUES, unknown=EACH)
def swapped_through_a_tuple(x):
    y = x * 1
    y[0], y[-1] = y[-1], y[0]
    return y


@on(*NUMBERS, unknown=EACH)
def constants_of_integers_written_in_a_loop(x):
    dp = dy2st.full([4], 1, "int64")
    for i in range(1, 4):
        dp[i] = dp[i - 1] * 2 + x[0]
        if dp[i] > 20:
            dp[i] = dp[0]
    return dp


@on(*MATRICES, unknown=TABLE)
def shape_written_into(x):
    shape = dy2st.full([2], 1, "int64")
    shape[0] = x.shape[0]
    shape[1] = x.shape[1] * 2
    return dy2st.concat([x, x], axis=1).reshape(shape)


@on(*VALUES, unknown=EACH)
def repeats_written_into(x):
    turns = dy2st.zeros([1], "int64")
    turns[0] = (x > 0).sum()
    total = x.sum()
    for _ in range(int(turns[0])):
        total = total * 2
    return total
