"""Lines of real code that fill and change buffers: caches, queues, masks, boxes, averages.

As in `view_idioms.py` each function takes a (4, 4) tensor `x` of the caller's and a number `n`. Each
class is a Layer whose calls take the same, and which keeps what it has made.
"""

# ruff: noqa: D101, D102, D103, D107

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dy2st

IDIOMS: dict[str, Callable[[Any, Any], Any]] = {}
LAYERS: dict[str, type] = {}


def idiom(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Enter a function into the table."""
    IDIOMS[function.__name__] = function
    return function


def layer(kind: type) -> type:
    """Enter a Layer into the table."""
    LAYERS[kind.__name__] = kind
    return kind


@idiom
def suppressed_boxes(x, n):
    scores = x[:, 3].clone()
    kept = dy2st.zeros([4])
    for place in range(4):
        best = scores.argmax()
        kept[place] = scores[best]
        scores[best] = -100.0
    return kept, scores


@idiom
def overlapping_boxes_are_dropped(x, n):
    boxes = x.abs().clone()
    boxes[:, 2:] += boxes[:, :2]
    left, top, right, bottom = boxes.unbind(1)
    keep = dy2st.ones([4])
    for i in range(4):
        for j in range(i + 1, 4):
            width = dy2st.minimum(right[i], right[j]) - dy2st.maximum(left[i], left[j])
            height = dy2st.minimum(bottom[i], bottom[j]) - dy2st.maximum(top[i], top[j])
            if width.clip(0) * height.clip(0) > 2.0:
                keep[j] = 0.0
    return keep


@idiom
def a_cache_of_keys(x, n):
    cache = dy2st.zeros([2, 6, 4])
    keys, values = cache[0], cache[1]
    length = 0
    for row in x:
        keys[length] = row
        values[length] = row * 2
        length += 1
    return cache, keys[:length].sum(0), values[length - 1]


@idiom
def a_cache_written_while_decoding(x, n):
    cache = dy2st.zeros([8, 4])
    token, place = x[0].clone(), dy2st.zeros([], "int64")
    while place < n:
        cache[place] = token
        token = cache[:4].sum(0) * 0.5
        place = place + 1
    return cache, token


@idiom
def a_cache_with_a_window(x, n):
    cache = x.clone()
    window = cache[-2:]
    for _ in range(n):
        cache[:-1] = cache[1:].clone()
        window[1] = window[0] + 1
    return cache, window


@idiom
def running_statistics(x, n):
    mean, variance = dy2st.zeros([4]), dy2st.ones([4])
    for _ in range(n):
        mean.multiply_(dy2st.to_tensor(0.9)).add_(x.mean(0) * 0.1)
        variance.copy_(variance * 0.9 + x.var(0) * 0.1)
    return mean, variance


@idiom
def statistics_in_one_tensor(x, n):
    statistics = dy2st.zeros([2, 4])
    mean, square = statistics[0], statistics[1]
    for row in x:
        mean.add_(row)
        square.add_(row * row)
    statistics /= 4
    return statistics, mean, square


@idiom
def negative_numbers_become_zero(x, n):
    y = x.clone()
    y[y < 0] = 0
    return y


@idiom
def masked_where_a_condition_holds(x, n):
    y = x.clone()
    mask = y > 1
    if mask.any():
        y[mask] = y[mask] * 2
    return y, mask


@idiom
def a_mask_with_bands(x, n):
    mask = dy2st.zeros([4, 4])
    for i in range(4):
        mask[i, max(0, i - 1) : i + 2] = 1
    mask[0] = 1
    mask[:, 0] = 1
    return x * mask


@idiom
def attention_masked_in_place(x, n):
    scores = dy2st.matmul(x, x.t())
    for i in range(4):
        row = scores[i]
        row[i + 1 :] = -1e9
    return dy2st.nn.functional.softmax(scores, -1)


@idiom
def queries_keys_and_values(x, n):
    qkv = dy2st.concat([x, x * 2, x * 3], -1)
    q, k, v = qkv.chunk(3, -1)
    q[:, 0] = 0.0
    k.add_(v)
    return q, k, v, qkv


@idiom
def queries_keys_and_values_that_are_views(x, n):
    qkv = dy2st.concat([x, x * 2, x * 3], -1).reshape([4, 3, 4]).transpose([1, 0, 2])
    q, k, v = qkv[0], qkv[1], qkv[2]
    q.multiply_(dy2st.to_tensor(0.5))
    k[:] = k + v
    return qkv


@idiom
def rotary_positions(x, n):
    q = x.clone()
    even, odd = q[:, 0::2], q[:, 1::2]
    old = even.clone()
    even[:] = even * 0.5 - odd * 0.25
    odd[:] = odd * 0.5 + old * 0.25
    return q


@idiom
def patches_as_columns(x, n):
    columns = dy2st.zeros([9, 4])
    for i in range(3):
        for j in range(3):
            columns[i * 3 + j] = x[i : i + 2, j : j + 2].flatten()
    return columns


@idiom
def columns_as_an_image(x, n):
    padded = dy2st.zeros([6, 6])
    for i in range(3):
        for j in range(3):
            padded[i : i + 4, j : j + 4] += x
    return padded[1:-1, 1:-1]


@idiom
def an_image_in_a_frame(x, n):
    canvas = dy2st.full([6, 6], -1.0)
    inside = canvas[1:5, 1:5]
    inside[:] = x
    canvas[0] = canvas[1]
    return canvas, inside


@idiom
def an_average_that_follows(x, n):
    weights, average = x.clone(), x.clone()
    for _ in range(n):
        weights.add_(dy2st.ones([4, 4]))
        average.multiply_(dy2st.to_tensor(0.5)).add_(weights * 0.5)
    return weights, average


@idiom
def averages_in_a_list(x, n):
    parameters = [x[0].clone(), x[1].clone()]
    shadows = [p.clone() for p in parameters]
    for p, shadow in zip(parameters, shadows):  # noqa: B905
        p[:] = p * 2
        shadow[:] = shadow * 0.75 + p * 0.25
    return parameters, shadows


@idiom
def a_flat_parameter(x, n):
    p = x.clone()
    flat = p.flatten()
    flat[:n] = 9.0
    flat[-1:] = flat[:1] * 2
    return p


@idiom
def a_step_of_flat_parameters(x, n):
    memory = dy2st.zeros([32])
    weight, bias = memory[:16].reshape([4, 4]), memory[16:20]
    weight[:] = x
    bias.fill_(1.0)
    memory.subtract_(memory * 0.5)
    return weight, bias, memory


@idiom
def a_beam(x, n):
    tokens, scores = dy2st.zeros([4, 4]), x[:, 0].clone()
    for step in range(n):
        scores.add_(x[:, step])
        order = scores.argsort(descending=True)
        tokens = tokens[order]
        scores = scores[order]
        tokens[:, step] = scores
    return tokens, scores


@idiom
def beams_that_end(x, n):
    scores, done = x[:, 0].clone(), dy2st.zeros([4], "bool")
    for _ in range(n):
        for beam in range(4):
            if done[beam]:
                scores[beam] = scores[beam] - 1
            elif scores[beam] > 3:
                done[beam] = True
    return scores, done


@idiom
def a_buffer_of_replays(x, n):
    memory, place = dy2st.zeros([3, 4]), 0
    for row in x:
        memory[place % 3] = row
        place += 1
    return memory, memory[place % 3]


@idiom
def a_ring_whose_place_is_a_tensor(x, n):
    memory, place = dy2st.zeros([3, 4]), dy2st.zeros([], "int64")
    for step in range(n):
        memory[place] = x[step]
        place = (place + 1) % 3
    return memory, place


@idiom
def a_window_that_slides(x, n):
    flat, found = x.clone().flatten(), []
    for start in range(0, 12, 4):
        window = flat[start : start + 4]
        found.append(window.max())
    flat[0] = 50.0
    return dy2st.stack(found), window


@idiom
def smoothed_along_a_row(x, n):
    y = x.clone()
    for i in range(1, 4):
        y[i] = 0.5 * y[i] + 0.5 * y[i - 1]
    return y


@idiom
def a_table_of_distances(x, n):
    table = dy2st.zeros([5, 5])
    table[0] = dy2st.arange(5, dtype="float32")
    table[:, 0] = dy2st.arange(5, dtype="float32")
    for i in range(1, 5):
        for j in range(1, 5):
            cost = (x[i - 1, j - 1] > 1).astype("float32")
            best = dy2st.minimum(table[i - 1, j], table[i, j - 1]) + 1
            table[i, j] = dy2st.minimum(best, table[i - 1, j - 1] + cost)
    return table


@idiom
def a_step_of_viterbi(x, n):
    scores, back = x[0].clone(), dy2st.zeros([4, 4], "int64")
    for step in range(1, 4):
        ways = scores.unsqueeze(1) + x
        back[step] = ways.argmax(0)
        scores[:] = ways.max(0) + x[step]
    return scores, back


@idiom
def a_view_taken_before_a_condition(x, n):
    y = x.clone()
    first = y[0]
    if y.sum() > 5:
        first[0] = 1.0
    y[0, 1] = 3.0
    return y, first


@idiom
def a_view_taken_within_a_condition(x, n):
    y = x.clone()
    if y.sum() > 5:
        rest = y[1:]
        rest.fill_(2.0)
        y[1] = rest[0] * 2
    return y


@idiom
def a_view_on_one_path_alone(x, n):
    y = x.clone()
    part = y[0]
    if y.sum() > 5:
        part = y[1]
    part = part * 2
    y[0] = part
    return y


@idiom
def normalised_if_it_is_long(x, n):
    y = x.clone()
    for row in y:
        if row.abs().sum() > 4:
            row.divide_(row.abs().sum())
    return y


@idiom
def a_view_that_a_loop_binds_anew(x, n):
    y = x.clone()
    row = y[0]
    for i in range(n):
        row = y[i]
        row[0] = 5.0
    return y, row


@idiom
def the_row_before(x, n):
    y = x.clone()
    last = y[0]
    for i in range(n):
        last = y[i]
        y[i + 1 :] += last
    return y


@idiom
def hidden_states_per_step(x, n):
    out, hidden = dy2st.zeros([4, 4]), dy2st.zeros([4])
    for step in range(4):
        hidden = dy2st.tanh(x[step] + hidden)
        out[step] = hidden
    return out, hidden


@idiom
def hidden_states_of_a_given_length(x, n):
    out, hidden = dy2st.zeros([4, 4]), dy2st.zeros([4])
    for step in range(n):
        hidden = x[step] + hidden
        out[step] = hidden
        hidden[0] = 0.0
    return out, hidden


@idiom
def a_state_in_a_dict(x, n):
    state = {"hidden": x.clone()}
    state["hidden"][0] = 1.0
    view = state["hidden"][1]
    for _ in range(n):
        state["hidden"][1] += 1
    return state["hidden"], view


@idiom
def two_buffers_in_turn(x, n):
    front, back = x.clone(), dy2st.zeros([4, 4])
    for _ in range(n):
        back[:] = front * 2
        front, back = back, front
    return front, back


@idiom
def levels_of_a_pyramid(x, n):
    levels = [x.clone()]
    while len(levels) < 3:
        levels.append(levels[-1][::2, ::2].clone())
    levels[1][0] = 9.0
    return levels[0], levels[1], levels[2]


@idiom
def counts_of_a_histogram(x, n):
    counts = dy2st.zeros([8])
    for value in x.flatten():
        place = value.clip(0, 7).astype("int64")
        counts[place] += 1
    return counts


@idiom
def sorted_by_exchange(x, n):
    y = x[0].clone()
    for i in range(3):
        for j in range(3 - i):
            if y[j] < y[j + 1]:
                low = y[j].clone()
                y[j] = y[j + 1]
                y[j + 1] = low
    return y


@layer
class Averages(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([4]))

    def forward(self, x, n):
        self.mean[:] = self.mean * 0.9 + x.mean(0) * 0.1
        return x - self.mean


@layer
class Cache(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", dy2st.zeros([6, 4]))
        self.register_buffer("length", dy2st.zeros([1], "int64"))

    def forward(self, x, n):
        for i in range(n):
            self.cache[i] = x[i]
        self.length.add_(n)
        return self.cache[:2].sum(0), self.length


@layer
class Queue(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("queue", dy2st.ones([4, 4]))

    def forward(self, x, n):
        newest = self.queue[-1]
        self.queue[:-1] = self.queue[1:].clone()
        self.queue[-1] = x[0]
        return newest + 0, self.queue.sum()


@layer
class Codebook(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("codes", dy2st.arange(16, dtype="float32").reshape([4, 4]))
        self.register_buffer("counts", dy2st.zeros([4]))

    def forward(self, x, n):
        for row in x:
            nearest = (self.codes - row).abs().sum(1).argmin()
            self.counts[nearest] += 1
            code = self.codes[nearest]
            code[:] = code * 0.5 + row * 0.5
        return self.codes.sum(), self.counts


@layer
class HalvesOfABuffer(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", dy2st.zeros([2, 4]))

    def forward(self, x, n):
        hidden, cell = self.state[0], self.state[1]
        for i in range(n):
            cell[:] = cell + x[i]
            hidden[:] = cell * 0.5
        if hidden.sum() > 2:
            self.state.zero_()
        return hidden, cell


@layer
class APlainAttribute(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.memory = dy2st.zeros([4, 4])

    def forward(self, x, n):
        row = self.memory[0]
        row.add_(x[0])
        if row.sum() > 4:
            self.memory[1] = row
        return self.memory + 0
