"""Statistics against figures worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st import to_static
from dy2st.passes import Statistics, plan_memory, statistics
from dy2st.static import InputSpec
from dy2st_runtime import nn
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ops.control_flow import cond, while_loop


def test_a_convolution(t):
    w = t.array(4, 3, 3, 3)
    program = t.program_of(lambda x: F.relu(F.conv2d(x, w)), t.floats(2, 3, 8, 8))
    assert statistics(program) == Statistics(
        operators=2,
        macs=2 * 4 * 6 * 6 * 3 * 3 * 3,
        parameters=4 * 3 * 3 * 3,
        parameter_bytes=4 * 4 * 3 * 3 * 3,
        value_bytes=2 * (2 * 4 * 6 * 6) * 4,
    )


def test_a_grouped_strided_convolution_reads_its_own_channels_only(t):
    w = t.array(4, 2, 3, 3)
    program = t.program_of(
        lambda x: F.conv2d(x, w, stride=2, padding=1, groups=2), t.floats(1, 4, 8, 8)
    )
    assert statistics(program).macs == 1 * 4 * 4 * 4 * (2 * 3 * 3)


def test_a_transposed_convolution_scatters_every_input(t):
    w = t.array(3, 5, 2, 2)
    program = t.program_of(lambda x: F.conv2d_transpose(x, w, stride=2), t.floats(1, 3, 4, 4))
    assert statistics(program).macs == 1 * 3 * 4 * 4 * (5 * 2 * 2)


@pytest.mark.parametrize(
    "left, right, macs",
    [
        ((5, 3), (3, 7), 5 * 3 * 7),
        ((3,), (3,), 3),
        ((3,), (3, 7), 3 * 7),
        ((2, 5, 3), (3, 7), 2 * 5 * 3 * 7),
        ((2, 1, 5, 3), (4, 3, 7), 2 * 4 * 5 * 3 * 7),
    ],
)
def test_a_matmul(t, left, right, macs):
    program = t.program_of(F.matmul, t.floats(*left), t.floats(*right))
    found = statistics(program)
    assert (found.operators, found.macs, found.parameters) == (1, macs, 0)
    assert found.value_bytes == macs // left[-1] * 4


def test_numbers_for_symbols_and_one_for_a_size_without(t):
    w = t.array(3, 7)
    program = t.program_of(lambda x: F.matmul(x, w), t.floats("n", 3))
    assert statistics(program).macs == 3 * 7
    assert statistics(program, {"n": 10}).macs == 10 * 3 * 7
    assert statistics(program, {"n": 10}).value_bytes == 10 * 7 * 4


def test_sizes_are_worked_out_from_the_symbols(t):
    w = t.array(1, 1, 3, 3)
    program = t.program_of(lambda x: F.conv2d(x, w), t.floats(1, 1, "h", "h"))
    assert statistics(program, {"h": 12}).macs == 10 * 10 * 9


def test_parameters_and_buffers_count_and_constants_beside_them():
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.dense = nn.Linear(3, 2)
            self.norm = nn.BatchNorm1D(2)

        def forward(self, x):
            return self.norm(self.dense(x)) * np.float32([2, 3])

    model = Model()
    model.eval()
    found = statistics(to_static(model, [InputSpec([4, 3])]).forward.main_program)
    assert found.parameters == (3 * 2 + 2) + 4 * 2 + 2
    assert found.parameter_bytes == 4 * found.parameters
    assert found.macs == 4 * 3 * 2


def test_bytes_are_those_of_the_dtype(t):
    program = t.program_of(
        lambda x: apply("cast", x, dtype=np.dtype("float16")), t.floats(5, dtype="float64")
    )
    assert statistics(program).value_bytes == 5 * 2


def test_what_is_nested_counts_once(t):
    w = t.array(3, 3)

    def branches(x):
        return cond(F.sum(x) > 0, lambda: [F.matmul(x, w)], lambda: [F.relu(x)])[0]

    found = statistics(t.program_of(branches, t.floats(2, 3)))
    assert found.macs == 2 * 3 * 3
    # sum, greater_than, cond, matmul and relu
    assert found.operators == 5

    def loop(x):
        first = [F.full([], 0, "int64"), x]
        return while_loop(lambda i, y: i < 5, lambda i, y: [i + 1, F.matmul(y, w)], first)[1]

    assert statistics(t.program_of(loop, t.floats(2, 3))).macs == 2 * 3 * 3


def test_the_difference_is_taken_field_by_field():
    left, right = Statistics(5, 40, 30, 120, 8), Statistics(2, 30, 40, 100, 8)
    assert left - right == Statistics(3, 10, -10, 20, 0)


class Block(nn.Layer):
    """Enough operators that two like it share a function."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x):
        y = nn.functional.gelu(self.first(x)) * 2 - 1
        return x + nn.functional.sigmoid(self.second(y)) * 3


def test_a_function_counts_as_often_as_it_is_called():
    blocks = nn.Sequential(*[Block() for _ in range(6)])
    program = to_static(blocks, [InputSpec([2, 4])]).forward.main_program
    counts = statistics(program)
    alone = Block()
    one = statistics(to_static(alone, [InputSpec([2, 4])]).forward.main_program)
    assert program.functions
    assert counts.macs == 6 * one.macs == 6 * 2 * 4 * 8 * 2
    assert counts.operators == 6 * one.operators
    assert plan_memory(program).unplanned == plan_memory(inlined(program)).unplanned
