"""HoistLoopInvariants: what is computed before a loop, and what has to stay inside."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import EliminateCommonSubexpr, HoistLoopInvariants, Sequential
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop

PASS = HoistLoopInvariants()


def zero():
    return F.full([], 0, "int64")


def turning(body, iterations=3, condition=None):
    """A loop around a function of its inputs; the input x is carried on."""

    def build(x, *others):
        test = condition or (lambda i, y: i < iterations)
        return while_loop(test, lambda i, y: [i + 1, body(y, x, *others)], [zero(), x])[1]

    return build


def inside(program):
    """The operators of all conditions and bodies of loops, constants left out."""
    found = []
    for operator in program.block.walk():
        if operator.name == "while":
            found += [o.name for b in operator.blocks for o in b.walk() if o.name != "constant"]
    return found


def outside(t, program):
    return [o.name for o in program.operators if o.name != "constant"]


# -- what goes ------------------------------------------------------------------------------------


def test_what_does_not_change_is_computed_once_before_the_loop(t):
    program = t.program_of(turning(lambda y, x: F.tanh(y) + F.exp(x)), t.floats("n", 3))
    after = t.settled(PASS, program, rtol=0)
    assert inside(after) == ["less_than", "add", "tanh", "add"]
    assert outside(t, after) == ["full", "exp", "while"]


def test_a_chain_goes_as_a_whole_and_constants_are_made_again_outside(t):
    w = t.array(3, 3)
    program = t.program_of(
        turning(lambda y, x: F.tanh(y) * F.relu(F.matmul(F.exp(x), w) * 2.0)), t.floats("n", 3)
    )
    after = t.settled(PASS, program, rtol=0)
    assert not {"exp", "matmul", "relu"} & set(inside(after))
    assert [n for n in outside(t, after) if n != "full"] == [
        *("exp", "matmul", "multiply", "relu"),
        "while",
    ]


def test_the_condition_too_is_freed(t):
    def build(x):
        def condition(i, y):
            return i < F.cast(F.sum(F.abs(x)), "int64")

        return while_loop(condition, lambda i, y: [i + 1, F.tanh(y)], [zero(), x])[1]

    after = t.settled(PASS, t.program_of(build, t.floats("n", 3)), rtol=0)
    assert inside(after) == ["less_than", "add", "tanh"]


def test_all_results_of_an_operator_go(t):
    def body(y, x):
        a, b = F.split(x, 2, axis=1)
        return F.tanh(y) + F.concat([b, a], axis=1)

    after = t.settled(PASS, t.program_of(turning(body), t.floats("n", 4)), rtol=0)
    assert "split" not in inside(after) and "concat" not in inside(after)


def test_it_goes_out_of_all_loops(t):
    def body(y, x):
        inner = while_loop(
            lambda j, z: j < 2, lambda j, z: [j + 1, F.tanh(z) + F.exp(x)], [zero(), y]
        )
        return inner[1]

    after = t.settled(PASS, t.program_of(turning(body), t.floats("n", 3)), rtol=0)
    assert "exp" in outside(t, after) and "exp" not in inside(after)


def test_it_goes_as_far_as_it_can(t):
    def body(y, x):
        inner = while_loop(
            lambda j, z: j < 2, lambda j, z: [j + 1, F.tanh(z) + F.exp(y)], [zero(), y]
        )
        return F.tanh(inner[1])

    program = t.program_of(turning(body), t.floats("n", 3))
    after = t.settled(PASS, program, rtol=0)
    (outer,) = [o for o in after.operators if o.name == "while"]
    direct = [o.name for o in outer.blocks[1].operators]
    assert "exp" in direct and "exp" not in outside(t, after)


def test_a_loop_inside_a_branch_is_freed_within_the_branch(t):
    def build(x):
        loop = turning(lambda y, x: F.tanh(y) + F.exp(x))
        return cond(F.max(x) > -9.0, lambda: [loop(x)], lambda: [x])

    after = t.settled(PASS, t.program_of(build, t.floats("n", 3)), rtol=0)
    assert "exp" not in outside(t, after) and "exp" not in inside(after)
    assert t.names(after).count("exp") == 1


def test_symbolic_sizes_of_inputs_are_known_before_the_loop(t):
    def body(y, x):
        return F.tanh(y) + F.full([x.shape[0], 3], 0.5) + F.reshape(F.reshape(x, [-1]), [-1, 3])

    after = t.settled(PASS, t.program_of(turning(body), t.floats("n", 3)), rtol=0)
    assert inside(after).count("full") == inside(after).count("reshape") == 0


def test_what_is_yielded_directly_may_go(t):
    def build(x):
        def body(i, y, z):
            return [i + 1, F.tanh(y), F.exp(x)]

        return while_loop(lambda i, y, z: i < 2, body, [zero(), x, x])[1:]

    after = t.settled(PASS, t.program_of(build, t.floats("n", 3)), rtol=0)
    assert "exp" not in inside(after)


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_other_dtypes_go_too(t, dtype):
    def body(y, x, z):
        return F.tanh(y) + F.cast(F.logical_not(z), "float32")

    program = t.program_of(turning(body), t.floats("n"), t.floats("n", dtype=dtype))
    assert "logical_not" not in inside(t.settled(PASS, program, rtol=0))


def test_common_subexpressions_of_two_loops_meet_before_them(t):
    def build(x):
        loop = turning(lambda y, x: F.tanh(y) + F.exp(x))
        return loop(x) + loop(x)

    program = t.program_of(build, t.floats("n", 3))
    after = t.check(Sequential([PASS, EliminateCommonSubexpr()]), program, rtol=0)
    assert t.names(after).count("exp") == 1


# -- what stays -----------------------------------------------------------------------------------

STAYS = {
    "what changes": (lambda y, x: F.tanh(F.exp(y)) + x, "exp"),
    "an integer division": (
        lambda y, x: y + F.cast(2 // (F.cast(F.abs(x), "int64") + 1), "float32"),
        "floor_divide",
    ),
    "an index": (lambda y, x: y + x[F.cast(x[0] * 0.0, "int64")], "index"),
    "a branch": (
        lambda y, x: F.tanh(y) + cond(F.sum(y) > 0, lambda: [F.exp(x)], lambda: [x])[0],
        "exp",
    ),
}


@pytest.mark.parametrize("kind", STAYS)
def test_what_changes_or_may_fail_or_is_inside_a_branch_stays(t, kind):
    body, name = STAYS[kind]
    after = t.settled(PASS, t.program_of(turning(body), t.floats(3)), rtol=0)
    assert name in inside(after)


def test_random_numbers_are_drawn_in_every_turn(t):
    program = t.program_of(turning(lambda y, x: F.tanh(y) + F.uniform([3])), t.floats(3))
    assert "uniform" in inside(PASS(program))


def test_prints_and_checks_stay_in_every_turn(t, capsys):
    def body(y, x):
        F.print_("iteration")
        F.assert_(F.sum(x) < 1e9, "too large")
        return F.tanh(y)

    after = PASS(t.program_of(turning(body), t.floats(3)))
    assert {"print", "assert"} <= set(inside(after)) and "sum" not in inside(after)
    t.run(after, [t.array(3)])
    assert capsys.readouterr().out == "iteration\n" * 3


def test_lists_of_tensors_stay(t):
    def build(x):
        array = F.array_append(F.array_of([]), x)

        def body(i, a):
            return [i + 1, F.array_append(a, F.exp(x))]

        return F.array_stack(while_loop(lambda i, a: i < 3, body, [zero(), array])[1])

    after = t.settled(PASS, t.program_of(build, t.floats(3)), rtol=0)
    assert "array_append" in inside(after) and "exp" not in inside(after)


def never(body, *more):
    """A loop that does not run for the numbers of these tests."""

    def build(x, *others):
        def iteration(i, y):
            return [i + 1, y + F.cast(F.sum(body(x, *others)), "float32")]

        return while_loop(
            lambda i, y: i < F.cast(F.sum(x) * 0.0, "int64"), iteration, [zero(), F.sum(x)]
        )[1]

    return build


FAILS = {
    "a largest element of none": (lambda x, z: F.max(z), np.zeros(0, "f4")),
    "a smallest element along an axis": (lambda x, z: F.min(z, axis=0), np.zeros(0, "f4")),
    "a place of none": (lambda x, z: F.argmax(z), np.zeros(0, "f4")),
    "a place along an axis": (lambda x, z: F.argmin(z, axis=0), np.zeros(0, "f4")),
    "an integer to a negative power": (lambda x, z: 2**z, np.array([-1])),
    "a division by zero": (lambda x, z: 7 // z, np.array([0])),
    "a remainder of zero": (lambda x, z: 7 % z, np.array([0])),
    "an index": (lambda x, z: x[z], np.array([99])),
    "one hot": (lambda x, z: F.one_hot(z, 3), np.array([99])),
    "a range": (lambda x, z: F.arange(0, 5, z[0]), np.array([0])),
    "a reshape": (lambda x, z: F.reshape(x, F.concat([z, z])), np.array([99])),
    "a probability": (lambda x, z: F.multinomial(z, 1), np.array([-1], "f4")),
}


@pytest.mark.parametrize("kind", FAILS)
def test_a_loop_that_does_not_turn_does_not_fail(t, kind):
    body, data = FAILS[kind]
    sizes = ["m"] if not data.size else data.shape
    program = t.program_of(never(body), t.floats("n"), t.floats(*sizes, dtype=str(data.dtype)))
    inputs = [t.array(3), data]
    t.compare(t.run(program, inputs), t.run(PASS(program), inputs))


def test_the_largest_of_some_elements_and_positive_powers_go(t):
    def body(y, x, z):
        return F.tanh(y) + F.max(x, axis=1, keepdim=True) + F.cast(F.max(z**2, axis=1), "float32")

    program = t.program_of(turning(body), t.floats(3, 3), t.floats(3, 3, dtype="int64"))
    after = t.settled(PASS, program, rtol=0)
    assert not {"max", "pow"} & set(inside(after))


CHECKED = {
    "an element": (lambda x: x[0], 0),
    "the last element": (lambda x: x[-1], 0),
    "rows of another length": (lambda x: F.reshape(x, [-1, 4]), 1),
    "a pool": (lambda x: F.max_pool2d(F.reshape(x, [1, 1, x.shape[0], 2]), 2), 1),
    "a sum with a constant": (lambda x: x + np.ones((3, 2), "f4"), 2),
    "a product with a constant": (
        lambda x: F.matmul(F.transpose(x, [1, 0]), np.ones((3, 2), "f4")),
        2,
    ),
}


@pytest.mark.parametrize("in_condition", [False, True])
@pytest.mark.parametrize("kind", CHECKED)
def test_what_comes_after_a_check_of_sizes_stays_behind_it(t, kind, in_condition):
    function, size = CHECKED[kind]

    def build(x):
        def condition(i):
            return i < (F.sum(function(x)) if in_condition else F.sum(x))

        return while_loop(condition, lambda i: [i + F.sum(function(x)) + 9.0], [F.full([], 0.0)])

    program = t.program_of(build, t.floats("n", 2))
    x = np.full((size, 2), -1, "f4")
    outcomes = []
    for entry in (program, PASS(program)):
        try:
            outcomes.append(str(t.run(entry, [x])))
        except Dy2stError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    assert in_condition == ("because" in outcomes[0])


def test_elementwise_operators_after_a_check_go(t):
    def body(y, x):
        F.assert_(F.sum(y) < 1e9, "too large")
        return F.tanh(y) + F.exp(x) * F.relu(x) * 2.0

    after = t.settled(PASS, t.program_of(turning(body), t.floats("n", 3)), rtol=0)
    assert not {"exp", "relu", "multiply"} & set(inside(after))


def test_sizes_found_in_data_inside_the_loop_stay(t):
    def body(y, x):
        return y + F.sum(F.cast(F.nonzero(x), "float32"))

    after = t.settled(PASS, t.program_of(turning(body), t.floats(3)), rtol=0)
    assert "nonzero" in inside(after)


def test_constants_stay_inside(t):
    program = t.program_of(turning(lambda y, x: F.tanh(y) * t.array(3)), t.floats("n", 3))
    t.untouched(PASS, program)


def test_a_captured_value_of_another_size_in_each_iteration_stays(t):
    def build(x):
        def body(i, y):
            return [i + 1, F.concat([y, x]) + 0.0 * F.sum(F.exp(x))]

        return while_loop(lambda i, y: i < 2, body, [zero(), x])[1]

    after = t.settled(PASS, t.program_of(build, t.floats(3)), rtol=0)
    assert "exp" not in inside(after) and "concat" in inside(after)


def test_a_program_without_loops_stays(t):
    def build(x):
        return cond(F.sum(x) > 0, lambda: [F.exp(x)], lambda: [apply("tanh", x)])

    t.untouched(PASS, t.program_of(build, t.floats("n")))
