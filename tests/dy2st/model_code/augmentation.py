"""Pictures and signals that are changed by the values in them, as augmentation does."""

from __future__ import annotations

import math

import numpy as np

import dy2st
import dy2st.nn.functional as F
from tests.dy2st.catalogue.entry import on, ramp

PICTURES = (
    ramp(1, 4, 4),
    ramp(1, 4, 4, start=0.0),
    ramp(1, 4, 4, period=7),
    ramp(2, 3, 5),
    ramp(1, 2, 2),
)
MAPS = [[None, None, None]]
SIGNALS = (
    [0.1, 0.9, -0.5, 0.3, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.2, 0.0, 0.0],
    [2.0, -3.0],
    [0.0, 0.0, 0.0],
)
EACH = [[None]]
DRAWS = ([0.1, 0.9, 0.2], [0.7, 0.1, 0.6], [0.4, 0.4, 0.9])


@on(*zip(PICTURES[:3], DRAWS), unknown=[[None, None, None], [3]])
def flips_by_draws(x, u):
    if u[0] < 0.5:
        x = x.flip(-1)
    if u[1] < 0.5:
        x = x.flip(-2)
    return x


@on(*zip(PICTURES[:3], DRAWS), unknown=[[None, None, None], [3]])
def composed_of_a_list(x, u):
    steps = [
        (0.5, lambda v: v + 1),
        (0.5, lambda v: -v),
        (0.3, lambda v: v.transpose([0, 2, 1])),
    ]
    applied = []
    for i, (p, step) in enumerate(steps):
        if u[i] < p:
            x = step(x)
            applied.append(i)
    return x.sum(), applied


@on(*zip(PICTURES[:3], DRAWS), unknown=[[None, None, None], [3]])
def one_of_several(x, u):
    k = int(u[0] * 3)
    if k == 0:
        return x.clip(0, 1)
    if k == 1:
        return x * 2
    return x - x.mean()


@on(*zip(PICTURES[:3], DRAWS))
def crop_where_a_draw_says(x, u):
    top, left = int(u[0] * 3), int(u[1] * 3)
    return x[:, top : top + 2, left : left + 2]


@on(*zip(PICTURES[:3], DRAWS))
def erased_rectangle(x, u):
    x = x * 1
    top = int(u[0] * 3)
    if u[2] > 0.3:
        x[:, top : top + 2, 1:3] = 0.0
    return x


@on(*zip(PICTURES[:3], DRAWS), unknown=[[None, None, None], [3]])
def erased_until_it_is_small_enough(x, u):
    h, w = x.shape[1], x.shape[2]
    tries = 0
    for scale in (2.0, 1.0, 0.5, 0.25):
        tries += 1
        area = u[0] * scale * h * w
        if area < h * w / 4:
            break
    return area, tries


@on(*PICTURES, unknown=MAPS)
def contrast_stretched(x):
    low, high = x.min(), x.max()
    if high - low < 1e-6:
        return dy2st.zeros_like(x)
    x = (x - low) / (high - low)
    return x * 255 if x.mean() < 0.5 else x


@on(*PICTURES, unknown=MAPS)
def channels_one_by_one(x):
    out = []
    for channel in x:
        mean, std = channel.mean(), channel.std()
        if std > 1e-3:
            channel = (channel - mean) / std
        out.append(channel)
    return dy2st.stack(out)


@on(*PICTURES, unknown=MAPS)
def bounding_box_of_the_bright(x):
    mask = x[0] > 1
    if not mask.any():
        return None
    rows = [i for i in range(mask.shape[0]) if mask[i].any()]
    return rows[0], rows[-1]


@on(*PICTURES, unknown=MAPS)
def resized_to_fit(x):
    h, w = x.shape[1], x.shape[2]
    if max(h, w) > 3:
        x = F.interpolate(x.unsqueeze(0), scale_factor=2, mode="nearest").squeeze(0)
    return x


@on(*PICTURES[:3])
def turned_by_quarter_turns(x):
    turns = int(x.abs().sum()) % 4
    for _ in range(turns):
        x = dy2st.rot90(x, 1, [1, 2])
    return x


@on(*zip(PICTURES[:3], PICTURES[1:3] + PICTURES[:1], DRAWS), unknown=[*MAPS, *MAPS, [3]])
def mixed_by_a_draw(x, y, u):
    lam = u[0] if u[0] > 0.5 else 1 - u[0]
    mixed = lam * x + (1 - lam) * y
    return mixed, lam


@on(*zip(PICTURES[:3], PICTURES[1:3] + PICTURES[:1]), unknown=[*MAPS, *MAPS])
def pasted_where_it_is_brighter(x, y):
    out, pasted = [], 0
    for a, b in zip(x[0], y[0]):
        if b.mean() > a.mean():
            out.append(b)
            pasted += 1
        else:
            out.append(a)
    return dy2st.stack(out), pasted


@on(*SIGNALS, unknown=EACH)
def silence_cut_away(x):
    start, end = 0, x.shape[0]
    while start < end and x[start].abs() < 0.05:
        start += 1
    while end > start and x[end - 1].abs() < 0.05:
        end -= 1
    return x[start:end]


@on(*SIGNALS, unknown=EACH)
def loud_segments(x):
    segments, start = [], None
    for i, v in enumerate(x):
        if v.abs() > 0.25 and start is None:
            start = i
        elif v.abs() <= 0.25 and start is not None:
            segments.append((start, i))
            start = None
    if start is not None:
        segments.append((start, len(x)))
    return segments


@on(*SIGNALS, unknown=EACH)
def gain_within_a_limit(x):
    peak = x.abs().max()
    gain = 1.0
    if peak > 0:
        gain = 0.5 / peak
        if gain > 2:
            gain = 2.0
    return x * gain


@on(*SIGNALS, unknown=EACH)
def repeated_to_a_length(x):
    parts = [x]
    while sum(p.shape[0] for p in parts) < 8:
        parts.append(x)
    return dy2st.concat(parts)[:8]


@on(*SIGNALS, unknown=EACH)
def zero_crossings(x):
    crossings = []
    for i in range(1, x.shape[0]):
        if x[i - 1] * x[i] < 0:
            crossings.append(i)
    return crossings


@on(*SIGNALS, unknown=EACH)
def envelope_that_decays(x):
    level, out = 0.0, []
    for v in x:
        level = v.abs() if v.abs() > level else level * 0.5
        out.append(level)
    return out


@on(*SIGNALS, unknown=EACH)
def frames_that_overlap(x):
    frames = [x[i : i + 3] for i in range(0, max(len(x) - 2, 1), 2)]
    powers = [(f * f).mean() for f in frames]
    loud = [p for p in powers if p > 0.1]
    return len(frames), len(loud)


@on(*zip(SIGNALS[:2], ([0.0], [1.2])))
def shifted_with_wrapping(x, shift):
    k = int(round(float(shift[0]) * 2))
    if k == 0:
        return x
    return np.float32(0.5) * dy2st.concat([x[-k:], x[:-k]]) + math.sin(k)
