"""Lines of real code that change a tensor through a view, or read a view behind a change.

Each function takes a (4, 4) tensor `x` of the caller's, which it copies, and a number `n`.
"""

# ruff: noqa: D103

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dy2st

IDIOMS: dict[str, Callable[[Any, Any], Any]] = {}


def idiom(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Enter a function into the table."""
    IDIOMS[function.__name__] = function
    return function


@idiom
def corners_of_boxes(x, n):
    boxes = x.clone()
    boxes[:, 2:] += boxes[:, :2]
    return boxes


@idiom
def centers_of_boxes(x, n):
    boxes = x.clone()
    low, high = boxes[:, :2], boxes[:, 2:]
    boxes[:, :2] = (low + high) / 2
    return boxes, low


@idiom
def clipped_boxes(x, n):
    boxes = x.clone()
    boxes[:, 0::2].clip_(0.0, 3.0)
    boxes[:, 1::2].clip_(0.0, 2.0)
    return boxes


@idiom
def flipped_boxes(x, n):
    boxes = x.clone()
    old = boxes[:, 0].clone()
    boxes[:, 0] = 9 - boxes[:, 2]
    boxes[:, 2] = 9 - old
    return boxes


@idiom
def hidden_and_cell(x, n):
    state = x.clone()
    hidden, cell = state[0], state[1]
    for _ in range(n):
        hidden[:] = hidden + cell
        cell[:] = cell * 2
    return state, hidden


@idiom
def a_state_that_is_replaced(x, n):
    state = x.clone()
    hidden = state[0]
    state[0] = hidden * 2
    return hidden


@idiom
def a_flat_weight(x, n):
    w = x.clone()
    flat = w.flatten()
    flat[0] = 9.0
    flat[5:7].zero_()
    return w


@idiom
def noise_on_a_flat_weight(x, n):
    w = x.clone()
    w.reshape([-1]).add_(dy2st.arange(16, dtype="float32"))
    return w


@idiom
def a_diagonal_of_zeros(x, n):
    attention = x.clone()
    attention.diagonal().fill_(0.0)
    return attention


@idiom
def a_transposed_sum(x, n):
    gram = x.clone()
    gram.t().add_(gram.clone())
    return gram


@idiom
def a_padding_row(x, n):
    table = x.clone()
    table[0].zero_()
    return table


@idiom
def rows_by_iteration(x, n):
    image = x.clone()
    for row in image:
        row[0] = row.sum()
    return image


@idiom
def rows_that_are_bound_anew(x, n):
    image = x.clone()
    for row in image:
        row += 1
    return image


@idiom
def rows_of_what_was_made_of_columns(x, n):
    made = x.transpose([1, 0]) * 3
    same = made.transpose([0, 1])
    same.reshape([-1])[1] = 7.0
    same.flatten()[:2] *= 2
    return x, made, same


@idiom
def columns_by_unbind(x, n):
    image = x.clone()
    for column in image.unbind(1):
        column.multiply_(dy2st.to_tensor(2.0))
    return image


@idiom
def parts_by_split(x, n):
    gates = x.clone()
    first, second = gates.split(2, axis=1)
    first.zero_()
    return gates, second


@idiom
def parts_by_chunk(x, n):
    gates = x.clone()
    for gate in gates.chunk(4, axis=1):
        gate.fill_(1.0)
    return gates


@idiom
def channels_normalised_one_by_one(x, n):
    image = x.clone()
    for channel in range(4):
        image[channel].subtract_(image[channel].mean())
    return image


@idiom
def a_batch_filled_sample_by_sample(x, n):
    out = dy2st.zeros([4, 4])
    for place in range(n):
        out[place, : place + 1] = x[place, : place + 1]
    return out


@idiom
def a_window_of_a_buffer(x, n):
    buffer = x.clone()
    window = buffer[1:3]
    buffer[2] = 7.0
    return window.sum()


@idiom
def a_queue_that_moves(x, n):
    queue = x.clone()
    for _ in range(n):
        queue[:-1] = queue[1:].clone()
        queue[-1] = 0.0
    return queue


@idiom
def a_mask_of_the_future(x, n):
    scores = x.clone()
    for row in range(4):
        scores[row, row + 1 :] = -1.0
    return scores


@idiom
def a_view_of_a_view(x, n):
    grid = x.clone()
    grid[1:][0][2] = 5.0
    return grid


@idiom
def an_element_alone(x, n):
    grid = x.clone()
    cell = grid[1, 2]
    cell.add_(dy2st.to_tensor(1.0))
    return grid, cell


@idiom
def a_new_axis(x, n):
    row = x[0].clone()
    row[None].multiply_(dy2st.to_tensor(3.0))
    row.unsqueeze(1)[0] = 8.0
    return row


@idiom
def no_elements(x, n):
    grid = x.clone()
    grid[0:0].fill_(5.0)
    return grid


@idiom
def turned_round(x, n):
    row = x.clone()
    row[::-1][0] = 4.0
    return row


@idiom
def heads_of_attention(x, n):
    q = x.clone()
    heads = q.reshape([4, 2, 2]).transpose([1, 0, 2])
    heads[0] = heads[0] * 2
    return q, heads


@idiom
def a_detached_average(x, n):
    average = x.clone()
    average.detach().multiply_(dy2st.to_tensor(0.5))
    average.data[0] = 1.0
    return average


@idiom
def under_a_condition(x, n):
    grid = x.clone()
    row = grid[0]
    if grid.sum() > 0:
        row[:] = 0.0
    else:
        grid[0] = 2.0
    return grid, row


@idiom
def under_a_condition_in_a_loop(x, n):
    grid = x.clone()
    for place in range(n):
        row = grid[place]
        if row.sum() > 2:
            row[:] = 0.0
    return grid


@idiom
def in_a_helper(x, n):
    def normalise(row):
        row.subtract_(row.mean())

    grid = x.clone()
    for row in grid:
        normalise(row)
    return grid


@idiom
def in_a_list(x, n):
    grid = x.clone()
    rows = [grid[0], grid[2]]
    for row in rows:
        row[1] = 6.0
    return grid, rows


@idiom
def in_a_dict(x, n):
    grid = x.clone()
    parts = {"first": grid[0], "rest": grid[1:]}
    parts["rest"][0] = parts["first"] * 2
    return grid


@idiom
def copied_rows(x, n):
    grid = x.clone()
    grid[0].copy_(grid[1])
    grid[1] = grid[0].clone()
    return grid


@idiom
def a_clone_stays(x, n):
    grid = x.clone()
    kept = grid[0].clone()
    grid[0] = 0.0
    return kept


@idiom
def what_was_computed_stays(x, n):
    grid = x.clone()
    doubled = grid[0] * 2
    grid[0] = 0.0
    return doubled


@idiom
def positions_in_columns(x, n):
    table = dy2st.zeros([4, 4])
    table[:, 0::2] = x[:, :2]
    table[:, 1::2] = x[:, 2:]
    return table


@idiom
def set_through_set_value(x, n):
    grid = x.clone()
    grid[0].set_value(grid[1] * 2)
    return grid


@idiom
def reshaped_in_place(x, n):
    grid = x.clone()
    flat = grid.flatten()
    flat.reshape_([2, 8])
    flat[0, 0] = 3.0
    return grid, flat


@idiom
def a_column_of_a_loop(x, n):
    grid = x.clone()
    place = dy2st.zeros([], "int64")
    while place < n:
        grid[:, place].zero_()
        place = place + 1
    return grid


@idiom
def squeezed(x, n):
    column = x[:, :1].clone()
    column.squeeze(1)[2] = 5.0
    return column


@idiom
def masked_rows(x, n):
    grid = x.clone()
    part = grid[:2]
    part[part > 1] = 0.0
    return grid
