"""plan_memory: nothing that is alive overlaps, dead memory is used again, and it grows linearly."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dy2st.passes.plan_memory import ALIGNMENT, Buffer, _place, amount, plan_memory
from dy2st_runtime import ops
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.tensor_array import array_of, array_read
from tests.effort import effort

KIB = 1024  # bytes of one value of X
X = (16, 16)


def planned(t, function, *shapes, sizes=None):
    return plan_memory(t.program_of(function, *(t.floats(*s) for s in shapes)), sizes)


def check(plan):
    """No two buffers that are alive at one time overlap; all is aligned and inside the arena."""
    for place, left in enumerate(plan.buffers):
        assert left.offset % ALIGNMENT == 0 and left.offset + left.size <= plan.arena
        for right in plan.buffers[:place]:
            apart_in_time = left.end < right.begin or right.end < left.begin
            below = left.offset + left.size <= right.offset
            above = right.offset + right.size <= left.offset
            assert apart_in_time or below or above
    assert plan.peak <= plan.arena <= plan.unplanned


def test_a_chain_of_elementwise_operators_needs_one_buffer(t):
    plan = planned(t, lambda x: F.relu(F.exp(F.exp(F.exp(x)))), X)
    check(plan)
    assert (len(plan.buffers), plan.arena, plan.unplanned) == (1, KIB, 4 * KIB)


def test_a_chain_of_products_needs_two_buffers_in_turn(t):
    def chain(x):
        for _ in range(6):
            x = x @ x
        return x

    plan = planned(t, chain, X)
    check(plan)
    assert (len(plan.buffers), plan.arena, plan.unplanned) == (6, 2 * KIB, 6 * KIB)


def test_a_residual_is_kept_until_it_is_added(t):
    def residual(x):
        y = x @ x
        return y + (y @ y) @ y

    plan = planned(t, residual, X)
    check(plan)
    assert plan.arena == 3 * KIB


def test_views_have_no_memory_of_their_own(t):
    plan = planned(t, lambda x: F.transpose(F.reshape(x @ x, [4, 64]), [1, 0]) * 2.0, X)
    check(plan)
    assert (plan.arena, plan.unplanned) == (KIB, 2 * KIB)


def test_views_of_inputs_and_constants_need_nothing(t):
    plan = planned(t, lambda x: (F.reshape(x, [256]), F.reshape(np.ones(X, "f"), [256])), X)
    assert (plan.arena, plan.buffers) == (0, [])


def test_what_is_reshaped_after_a_transpose_is_a_copy(t):
    plan = planned(t, lambda x: F.reshape(F.transpose(x @ x, [1, 0]), [256]) @ np.ones(256, "f"), X)
    check(plan)
    assert plan.peak == 2 * KIB


def test_rows_of_a_reshaped_value_are_reshaped_where_they_are(t):
    plan = planned(t, lambda x: F.reshape(F.reshape(x @ x, [4, 64])[1:3], [128]) * 2.0, X)
    check(plan)
    assert plan.arena == KIB + KIB // 2


def test_heads_are_split_off_where_they_are_and_joined_in_a_copy(t):
    split = planned(t, lambda x: F.reshape((x @ x)[:, :8], [16, 2, 4]) * 2.0, X)
    joined = planned(t, lambda x: F.reshape(F.reshape((x @ x)[:, :8], [16, 2, 4]), [128]) * 2.0, X)
    check(joined)
    assert (split.arena, joined.arena) == (KIB + KIB // 2, KIB + KIB // 2)
    assert (len(split.buffers), joined.unplanned) == (2, KIB + KIB // 2 + KIB // 2)


def test_rounded_floats_and_sums_have_memory_of_their_own(t):
    plan = planned(t, lambda x: F.floor(x), X)
    assert plan.arena == KIB
    plan = planned(t, lambda x: apply("sum_to", x @ x, shape=(1, 16)), X)
    check(plan)
    assert plan.arena == KIB + 64


def test_loop_variables_that_change_places_go_through_the_work_space(t):
    def looped(x):
        first = [ops.zeros([], "int64"), x, x @ x]
        return while_loop(lambda i, a, b: i < 9, lambda i, a, b: [i + 1, b, a], first)[1:]

    plan = planned(t, looped, X)
    check(plan)
    (work,) = (b for b in plan.buffers if b.name.startswith("work space"))
    assert work.size >= 2 * KIB


def test_a_view_keeps_the_memory_that_it_looks_into(t):
    def view(x):
        y = x @ x
        row = y[0]
        z = x @ x
        return z + row

    plan = planned(t, view, X)
    check(plan)
    assert plan.arena == 2 * KIB


def test_outputs_are_kept_to_the_end(t):
    plan = planned(t, lambda x: [x @ x, x @ x, x @ x], X)
    check(plan)
    assert plan.arena == 3 * KIB


def test_branches_share_a_work_space_of_the_larger_one(t):
    def branched(x):
        def large():
            y = x @ x
            return [(y @ y) + y]

        return cond(F.mean(x) > 0, large, lambda: [x @ x])

    plan = planned(t, branched, X)
    check(plan)
    (work,) = (b for b in plan.buffers if b.name.startswith("work space"))
    assert work.size == 2 * KIB and work.begin == work.end


def test_a_loop_has_a_work_space_for_one_iteration(t):
    def looped(x):
        body = lambda i, s: [i + 1, (s @ s) @ s]  # noqa: E731
        return while_loop(lambda i, s: i < 9, body, [ops.zeros([], "int64"), x])[1]

    plan = planned(t, looped, X)
    check(plan)
    (work,) = (b for b in plan.buffers if b.name.startswith("work space"))
    assert 2 * KIB <= work.size < 3 * KIB


def test_lists_of_the_program_are_counted_and_not_planned(t):
    plan = planned(t, lambda x: array_read(array_of([x @ x]), 0), X)
    assert plan.lists >= 1


def test_unknown_sizes_get_numbers_by_name(t):
    function = lambda x: F.relu(x @ np.ones((16, 16), "f"))  # noqa: E731
    small = planned(t, function, ("batch", 16), sizes={"batch": 16})
    large = planned(t, function, ("batch", 16), sizes={"batch": 160})
    assert (small.arena, large.arena) == (KIB, 10 * KIB)


def test_a_size_without_a_number_is_named(t):
    with pytest.raises(ArgumentError, match=r"matmul.*size batch.*'batch'"):
        planned(t, lambda x: x @ np.ones((16, 16), "f"), ("batch", 16))


def test_empty_values_need_nothing(t):
    assert planned(t, lambda x: F.exp(x), (0, 4)).arena == 0


@settings(max_examples=effort(50, 200), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 30), st.integers(0, 12)), max_size=40))
def test_random_lifetimes_never_overlap(rows):
    buffers = [Buffer("b", 64 * n, begin, begin + length) for n, begin, length in rows]
    top = _place(buffers)
    assert top == max((b.offset + b.size for b in buffers), default=0)
    for place, left in enumerate(buffers):
        for right in buffers[:place]:
            if left.end >= right.begin and right.end >= left.begin:
                assert left.offset + left.size <= right.offset or (
                    right.offset + right.size <= left.offset
                )


def test_the_text_and_the_picture_say_what_is_needed(t):
    plan = planned(t, lambda x: F.relu(x @ x) @ x, X)
    assert str(plan).startswith("main: 2.0 KiB for 3 values in 2 buffers; 2.0 KiB are alive")
    picture = ET.fromstring(plan.svg())
    assert len(picture.findall("{*}rect")) == 1 + len(plan.buffers)
    assert "3.0 KiB" in picture.find("{*}text").text


def test_amounts_are_in_fitting_units():
    assert [amount(n) for n in (0, 1023, 2048, 3 << 20, 5 << 30)] == [
        "0 B", "1023 B", "2.0 KiB", "3.0 MiB", "5.0 GiB",
    ]  # fmt: skip


def test_twenty_thousand_operators_are_planned_in_linear_time(t):
    def chain(x):
        for index in range(20_000):
            x = x @ x if index % 3 else F.relu(x) + x
        return x

    plan = planned(t, chain, (4, 4))
    assert plan.arena <= 4 * ALIGNMENT


@pytest.mark.parametrize("size", [-1, 2.5, "2"])
def test_a_number_that_is_no_size_is_refused(t, size):
    with pytest.raises(ArgumentError, match="the size 'n' is a whole number from 0 on, not"):
        planned(t, F.exp, ("n", 3), sizes={"n": size})
