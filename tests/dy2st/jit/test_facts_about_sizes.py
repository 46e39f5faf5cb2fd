"""What is known of sizes while a function is traced: from requirements, branches and loops."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from dy2st_runtime.dims import Condition, decided, require, symbol
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import Tracer
from dy2st_runtime.ir.checks.verifier import findings, verify


def program_of(function, *specs):
    return verify(to_static(function, input_spec=list(specs)).main_program)


def spec(*shape, name=None):
    return InputSpec(list(shape), "float32", name)


def constraints(program):
    return [str(located.constraint.condition) for located in program.constraints]


def test_a_contradiction_shows_both_lines():
    def model(x):
        first = x.reshape([-1, 12])
        longer = dy2st.concat([x, dy2st.zeros([1, 4])])
        return first, longer.reshape([-1, 12])

    line = model.__code__.co_firstlineno
    with pytest.raises(ShapeError) as caught:
        program_of(model, spec("n", 4))
    text = str(caught.value)
    assert "(n + 1) % 3 == 0 cannot hold beside" in text
    assert f"n % 3 == 0  ({__file__}:{line + 1}" in text


def test_an_equality_found_late_simplifies_what_was_inferred_before():
    def model(x, y):
        total = x + y
        return total, dy2st.concat([x, y], axis=1)

    program = program_of(model, spec("n", 4), spec("m", 4))
    assert constraints(program) == ["n == m"]
    assert [str(v.shape[0]) for v in program.outputs] == ["n", "n"]


def test_a_skip_connection_asks_once_for_divisibility():
    def model(x):
        down = dy2st.nn.functional.avg_pool2d(x, 2)
        deep = dy2st.nn.functional.avg_pool2d(down, 2)
        up = dy2st.tile(deep, [1, 1, 4, 4])
        return up + x

    program = program_of(model, spec(1, 1, "h", "w"))
    assert [str(size) for size in program.outputs[0].shape] in (
        ["1", "1", "h", "w"],
        ["1", "1", "broadcast(h, 4*(h//4))", "broadcast(w, 4*(w//4))"],
    )


def test_a_condition_is_known_in_its_branch():
    def model(x):
        if x.shape[0] > 3:
            y = x[:3] + dy2st.ones([3, 4])
        else:
            y = dy2st.zeros([3, 4])
        return y

    program = program_of(model, spec("n", 4))
    assert program.outputs[0].shape == [3, 4] and constraints(program) == []


def test_the_opposite_is_known_in_the_other_branch():
    def model(x):
        if x.shape[0] >= 2:
            y = x[:2]
        else:
            y = x[:2] * 2.0
        return y, x[:2]

    program = program_of(model, spec("n", 4))
    branches = next(o for o in program.operators if o.name == "cond").blocks
    assert [str(block.yields[0].shape[0]) for block in branches] == ["2", "n"]
    assert str(program.outputs[0].shape[0]) != "2"


@pytest.mark.parametrize(
    "make", [dy2st.zeros, dy2st.arange, lambda size: dy2st.full([2, size], 5, "int64")]
)
def test_a_tensor_is_made_of_a_size_that_a_branch_knows(make):
    def model(x):
        if x.shape[0] == 2:
            return make(x.shape[0])
        if x.shape[0] < 1:
            return make(x.shape[0]) + 1
        return x

    static = to_static(model, [spec("n")])
    for size in (2, 0, 3):
        x = dy2st.ones([size])
        assert static(x).tolist() == model(x).tolist()


def test_facts_of_a_branch_are_forgotten_after_it():
    def model(x):
        if x.shape[0] == 4:
            y = x + dy2st.ones([4, 1])
        else:
            y = x
        return y, x[:4]

    program = program_of(model, spec("n", 1))
    assert str(program.outputs[1].shape[0]) == "min(4, n)"


def test_branches_of_other_sizes_join_to_a_size_between_them():
    def model(flag, x):
        if flag:
            y = x[: x.shape[0] // 2]
        else:
            y = x
        return y, y[: x.shape[0]]

    program = program_of(model, InputSpec([], "bool"), spec("n", 4))
    size = program.outputs[0].shape[0]
    assert [str(s) for s in program.outputs[1].shape] == [str(size), "4"]
    assert constraints(program) == [f"{size} >= n//2", f"{size} <= n"]


def test_branches_of_known_sizes_join_to_their_range():
    def model(flag, x):
        if flag:
            y = x[:2]
        else:
            y = x[:7]
        return y

    program = program_of(model, InputSpec([], "bool"), spec(8, 4))
    size = program.outputs[0].shape[0]
    assert (size.minimum, size.maximum) == (2, 7) and constraints(program) == []


def grown(x, n):
    for _ in range(n):
        x = dy2st.concat([x, x[:1], x[:1]])
    return x


def test_a_tensor_that_grows_in_a_loop_needs_no_annotation():
    static = to_static(grown, input_spec=[spec("k", 4), InputSpec([], "int64")])
    program = verify(static.main_program)
    size = program.outputs[0].shape[0]
    assert f"{size} >= k" in constraints(program)
    for rows in (1, 3):
        for turns in (0, 1, 2, 5):
            x = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
            found = static(dy2st.to_tensor(x), dy2st.to_tensor(turns))
            np.testing.assert_array_equal(found.numpy(), grown_by_numpy(x, turns))


def grown_by_numpy(x, n):
    for _ in range(n):
        x = np.concatenate([x, x[:1], x[:1]])
    return x


def test_the_steps_of_a_growing_size_are_known():
    def model(x, n):
        for _ in range(n):
            x = dy2st.concat([x, dy2st.zeros([4, 2])])
        return x.reshape([-1, 8])

    program = program_of(model, spec(4, 2), InputSpec([], "int64"))
    before = [text for text in constraints(program) if "8" in text]
    assert before == [], "that 4 divides the size is known from the loop"


def test_a_size_that_stays_in_a_loop_is_kept():
    def model(x, n):
        for _ in range(n):
            x = x * 2.0
        return x

    program = program_of(model, spec("k", 4), InputSpec([], "int64"))
    assert str(program.outputs[0].shape[0]) == "k"


def test_what_is_required_when_branches_are_joined_is_not_known_after_them():
    tracer, condition = Tracer(), Condition(">", symbol("n"), 3)
    with tracer.tracing():
        with tracer.nested() as block:
            pass
        with tracer.inside(block):
            require(condition, "a branch needs it")
            assert decided(condition) is True
        assert decided(condition) is None
    assert [operator.name for operator in block.operators] == ["require"]


def test_a_stand_in_for_a_result_of_the_other_branch_requires_nothing():
    def model(x):
        if x.sum() > 20:
            y = x.flatten()[x.size // x.size :]
        else:
            y = x + 1
        return y

    static = to_static(model, input_spec=[spec("n", "m")])
    verify(static.main_program)
    empty = np.zeros((0, 3), "float32")
    assert static(dy2st.to_tensor(empty)).shape == [0, 3]


def test_a_type_is_not_written_with_a_symbol_that_is_bound_after_it():
    def model(x, n):
        y = x * 2.0
        rest = x
        for _ in range(n):
            rest = dy2st.concat([rest, x])
        return y, dy2st.split(y, [1, rest.shape[0] % 3 + 1])[1]

    program = program_of(model, spec("n"), InputSpec([], "int64"))
    assert str(program.outputs[0].shape[0]) == "n"


def test_a_branch_that_is_never_taken_satisfies_the_verifier():
    def model(x):
        y = dy2st.ones([12, x.shape[0]])
        if min(x.shape[0], 3) > 2:
            y = y + 1
        else:
            y = y * 2
        return dy2st.concat([y, x], axis=0)

    program = program_of(model, spec("n", 2))
    assert constraints(program) == ["n == 2"]


def test_a_branch_that_a_multiple_rules_out_satisfies_the_verifier():
    def model(x):
        if x.shape[0] % 3 + 1 > 2:
            y = x[-2:1]
        else:
            y = x + 1
        return y, dy2st.split(x, 3)[0]

    program_of(model, spec("n", 2))


def test_turns_yield_what_is_known_where_they_end():
    def model(x, y, n):
        for _ in range(n):
            x = dy2st.concat([x, y])
        return x

    program_of(model, spec("n", "m"), spec("k", 8), InputSpec([], "int64"))


def test_ranks_and_dtypes_count_also_where_nothing_runs():
    def model(x):
        if x.shape[0] > 2:
            y = x + 1
        else:
            y = x * 2
        return y, dy2st.zeros([2, 2]).expand_as(x)

    program = program_of(model, spec("n", 2))
    never = next(o for o in program.operators if o.name == "cond").blocks[0]
    total = never.yields[0]
    total.type = total.tensor_type.with_shape([7, 2])
    assert findings(program) == []
    total.type = total.tensor_type.with_shape([7])
    assert {finding.rule for finding in findings(program)} == {
        "results are typed by rule",
        "block yields the results",
    }


def test_a_type_is_only_written_as_what_is_known_to_be_the_same():
    def model(y):
        part = y.reshape([-1, 3])
        return part * dy2st.nn.functional.pad(y, [2, y.shape[1] % 3 + 1, 2, 0, 0, 1], value=1.0)

    program_of(model, spec(None, None, 2))


def test_sizes_that_are_known_to_broadcast_need_not_be_equal():
    table = dy2st.ones([12, 8])

    def model(y):
        square = dy2st.matmul(y, y)
        return square + table[: square.shape[0], : square.shape[1]]

    program_of(model, spec(None, None))
