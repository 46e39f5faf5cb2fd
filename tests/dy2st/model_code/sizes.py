"""Sizes in Python's hands: arithmetic, loops, lists and tensors made of them."""

from __future__ import annotations

import functools
import itertools
import math
import operator

import numpy as np

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on, ramp

LINES = ([1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.0, 2.0], [2.0], [1.0, -1.0, 3.0, 0.0, 5.0, 6.0])
EACH = [[None]]
PICTURES = (ramp(1, 4, 6), ramp(1, 4, 6, start=0.0), ramp(2, 5, 4), ramp(1, 2, 2))
MAPS = [[None, None, None]]


@on(*LINES, unknown=EACH)
def root_of_a_size(x):
    return x / math.sqrt(x.shape[0])


@on(*LINES, unknown=EACH)
def root_by_numpy(x):
    return x / np.sqrt(x.shape[0])


@on(*LINES, unknown=EACH)
def half_rounded_up(x):
    half = math.ceil(x.shape[0] / 2)
    return x[:half], half


@on(*LINES, unknown=EACH)
def half_rounded_down(x):
    middle = int(x.shape[0] * 0.5)
    return dy2st.concat([x[middle:], x[:middle]])


@on(*LINES, unknown=EACH)
def list_of_zeros(x):
    counts = [0] * x.shape[0]
    for i in range(x.shape[0]):
        if x[i] > 0:
            counts[i] += 1
    return counts


@on(*LINES, unknown=EACH)
def list_of_a_range(x):
    order = list(range(x.shape[0]))
    return order[::-1]


@on(*LINES, unknown=EACH)
def every_pair_of_positions(x):
    total = 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        total = total + x[i] * x[j]
    return total


@on(*PICTURES, unknown=MAPS)
def reduced_sizes(x):
    count = functools.reduce(operator.mul, x.shape, 1)
    return x.reshape([count]) / count


@on(*PICTURES, unknown=MAPS)
def product_of_sizes(x):
    return x.sum() / math.prod(x.shape[1:]), np.prod(x.shape)


@on(*PICTURES, unknown=MAPS)
def unpacked_sizes(x):
    b, h, w = x.shape
    return x.reshape([b, h * w]).max(-1), (h, w)


@on(*PICTURES, unknown=MAPS)
def padded_to_a_multiple(x):
    h, w = x.shape[-2:]
    down, right = (-h) % 4, (-w) % 4
    if down or right:
        x = F.pad(x, [0, right, 0, down], value=1.0)
    return x


@on(*PICTURES, unknown=MAPS)
def windows_of_a_picture(x):
    b, h, w = x.shape
    out = []
    for i in range(0, h - 1, 2):
        for j in range(0, w - 1, 2):
            out.append(x[:, i : i + 2, j : j + 2].mean([1, 2]))
    return dy2st.stack(out)


@on(*PICTURES, unknown=MAPS)
def longest_side_first(x):
    h, w = x.shape[1:]
    if h < w:
        x = x.transpose([0, 2, 1])
    scale = min(4 / h, 4 / w, 1.0)
    return x * scale


@on(*PICTURES, unknown=MAPS)
def grid_of_coordinates(x):
    _, h, w = x.shape
    ys = (dy2st.arange(h).astype("float32") + 0.5) / h
    xs = dy2st.linspace(0, 1, w)
    return ys.unsqueeze(1) + xs.unsqueeze(0)


@on(*LINES, unknown=EACH)
def chunks_of_two(x):
    n = x.shape[0]
    return [x[i : min(i + 2, n)].sum() for i in range(0, n, 2)]


@on(*LINES, unknown=EACH)
def count_of_chunks(x, size=3):
    n = x.shape[0]
    count = (n + size - 1) // size
    padded = dy2st.concat([x, dy2st.zeros([count * size - n])])
    return padded.reshape([count, size]).sum(1)


@on(*LINES, unknown=EACH)
def halved_until_one(x):
    levels = 0
    n = x.shape[0]
    while n > 1:
        n = (n + 1) // 2
        levels += 1
    return x + levels


@on(*LINES, unknown=EACH)
def pyramid_of_means(x):
    out = [x.sum()]
    while x.shape[0] > 1:
        n = x.shape[0] // 2 * 2
        x = (x[0:n:2] + x[1:n:2]) / 2
        out.append(x.sum())
    return out


@on(*LINES, unknown=EACH)
def logarithm_of_a_size(x):
    levels = int(math.log2(x.shape[0])) + 1
    return levels, x.sum() * levels


@on(*LINES, unknown=EACH)
def clamp_of_a_size(x):
    k = max(1, min(x.shape[0] - 1, 3))
    values, _ = dy2st.topk(x, k)
    return values


@on(*LINES, unknown=EACH)
def positions_as_a_tensor(x):
    positions = dy2st.to_tensor([i / len(x) for i in range(len(x))])
    return x * positions


@on(*LINES, unknown=EACH)
def text_with_a_size(x):
    return f"{x.shape[0]} values", x.sum()


@on(*LINES, unknown=EACH)
def key_of_a_size(x):
    table = {1: "one", 4: "four"}
    return table.get(len(x), "many"), x.max()


@on(*LINES, unknown=EACH)
def size_against_a_tensor(x):
    limit = x.shape[0]
    if x.sum() > limit:
        return x - limit
    return x * limit


@on(*LINES, unknown=EACH)
def sizes_in_a_dict(x):
    info = {"n": x.shape[0], "half": x.shape[0] // 2}
    if x.sum() > 3:
        info["n"] = info["n"] * 2
    return info


@on(*LINES, unknown=EACH)
def size_as_a_float(x):
    weight = 1.0 / len(x)
    total = 0.0
    for v in x:
        total += weight * float(v)
    return total


@on(*LINES, unknown=EACH)
def divided_with_a_rest(x):
    rows, rest = divmod(x.shape[0], 2)
    if rest:
        x = x[:-1]
    return x.reshape([rows, 2]).sum(0)


@on(*LINES, unknown=EACH)
def window_of_sines(x):
    n = x.shape[0]
    window = [0.5 - 0.5 * math.cos(2 * math.pi * i / n) for i in range(n)]
    return x * dy2st.to_tensor(window, dtype="float32")


@on(*LINES, unknown=EACH)
def strides_by_size(x):
    step = 2 if x.shape[0] > 3 else 1
    out = x[::step]
    return out, out.shape


@on(*LINES, unknown=EACH)
def reversed_range_of_a_size(x):
    out = []
    for i in reversed(range(x.shape[0])):
        if x[i] >= 0:
            out.append(x[i])
    return len(out)


@on(*zip(PICTURES, PICTURES[1:] + PICTURES[:1]), unknown=MAPS * 2)
def cropped_to_the_smaller(a, b):
    h, w = min(a.shape[1], b.shape[1]), min(a.shape[2], b.shape[2])
    top, left = (a.shape[1] - h) // 2, (a.shape[2] - w) // 2
    return a[:, top : top + h, left : left + w].sum() + b[:, :h, :w].sum()


@on(*zip(LINES, LINES[1:] + LINES[:1]), unknown=EACH * 2)
def padded_to_the_longer(one, other):
    n = max(len(one), len(other))
    rows = []
    for v in (one, other):
        if len(v) < n:
            v = dy2st.concat([v, dy2st.zeros([n - len(v)])])
        rows.append(v)
    return dy2st.stack(rows)
