"""EliminateCommonSubexpr: what counts as the same, where it is seen, and what is never shared."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import CanonicalizeCast, EliminateCommonSubexpr, Sequential
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import DEFINITIONS, F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop

PASS = EliminateCommonSubexpr()
EXCHANGED = sorted(name for name, d in DEFINITIONS.items() if d.commutes and d.same_bits)


def settled(t, program):
    """The checked result: every bit stays, and a second application changes nothing."""
    return t.settled(PASS, program, rtol=0)


def count(t, program, name):
    return t.names(program, constants=True).count(name)


def zero():
    return F.full([], 0, "int64")


# -- what is the same -----------------------------------------------------------------------------


def test_two_equal_chains_become_one(t):
    def build(x):
        return (F.relu(x) + 1.0) + (F.relu(x) + 1.0)

    after = settled(t, t.program_of(build, t.floats("n", 3)))
    assert t.names(after) == ["relu", "add", "add"]
    left, right = after.outputs[0].maker.operands
    assert left is right


SAME = {
    "an attribute": lambda x, y: [F.sum(x, axis=1), F.sum(x, axis=1)],
    "a list of attributes": lambda x, y: [F.transpose(x, [1, 0]), F.transpose(x, [1, 0])],
    "float attributes": lambda x, y: [
        F.pad(x, [0, 0, 1, 0], value=0.5),
        F.pad(x, [0, 0, 1, 0], value=0.5),
    ],
    "parts": lambda x, y: [F.concat([x, y], axis=1), F.concat([x, y], axis=1)],
    "creations": lambda x, y: [F.full([2], 1.5) + x, F.full([2], 1.5) + x],
    "numbers": lambda x, y: [x * 2.0, x * 2.0],
    "small constants": lambda x, y: [x + np.ones(2, "f4"), x + np.ones(2, "f4")],
    "sizes": lambda x, y: [F.reshape(x, [-1]), F.reshape(x, [-1])],
    "indices": lambda x, y: [x[:, 1], x[:, 1]],
}


@pytest.mark.parametrize("kind", SAME)
def test_the_same_operator_is_computed_once(t, kind):
    program = t.program_of(SAME[kind], *[t.floats("n", 2)] * 2)
    after = settled(t, program)
    assert 2 * len(t.names(after)) == len(t.names(program))
    assert after.outputs[0] is after.outputs[1]


def test_all_results_of_an_operator_are_shared(t):
    def build(x):
        a, b = F.split(x, 2, axis=1)
        c, d = F.split(x, 2, axis=1)
        return [a + d, c + b]

    after = settled(t, t.program_of(build, t.floats("n", 4)))
    assert t.names(after) == ["split", "add"]


@pytest.mark.parametrize("name", EXCHANGED)
def test_operands_of_commutative_operators_match_in_any_order(t, name):
    dtype = "int64" if "bitwise" in name else "bool" if "logical" in name else "float32"
    program = t.program_of(
        lambda x, y: [apply(name, x, y), apply(name, y, x)], *[t.floats("n", dtype=dtype)] * 2
    )
    assert t.names(settled(t, program)) == [name]


OTHERS = "subtract divide pow less_than atan2 remainder maximum minimum".split()


@pytest.mark.parametrize("name", OTHERS)
def test_operands_of_other_operators_do_not(t, name):
    program = t.program_of(
        lambda x, y: [apply(name, x, y), apply(name, y, x)], *[t.floats("n", dtype="float32")] * 2
    )
    with np.errstate(all="ignore"):
        assert t.names(settled(t, program)) == [name, name]


DIFFERENT = {
    "attributes": lambda x: [F.sum(x, axis=0), F.sum(x, axis=1)],
    "the signs of zeros": lambda x: [
        F.pad(x, [0, 0, 1, 0], value=0.0),
        F.pad(x, [0, 0, 1, 0], value=-0.0),
    ],
    "dtypes": lambda x: [F.cast(x, "int32"), F.cast(x, "int64")],
    "dtypes of creations": lambda x: [F.full([2], 1, "int64"), F.full([2], 1, "float32")],
    "values of creations": lambda x: [F.full([2], 0.0), F.full([2], -0.0)],
    "operands": lambda x: [F.exp(x), F.exp(-x)],
    "operators": lambda x: [F.exp(x), F.expm1(x)],
    "orders of parts": lambda x: [F.concat([x, -x]), F.concat([-x, x])],
    "a flag": lambda x: [F.sum(x, axis=1, keepdim=True), F.sum(x, axis=1)],
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_what_differs_stays(t, kind):
    program = t.program_of(DIFFERENT[kind], t.floats(2, 2))
    after = settled(t, program)
    assert after.outputs[0] is not after.outputs[1]


# -- constants ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        (np.float32(0.0), np.float32(0.0), True),
        (np.float32(0.0), np.float32(-0.0), False),
        (np.float32(np.nan), np.float32(np.nan), True),
        (np.float32(1), np.float64(1), False),
        (np.int64(1), np.int32(1), False),
        (np.int8(1), np.uint8(1), False),
        (np.bool_(True), np.int8(1), False),
        (np.zeros(2, "f4"), np.zeros((1, 2), "f4"), False),
        (np.arange(4), np.arange(4), True),
    ],
    ids=str,
)
def test_small_constants_are_compared_by_their_bits(t, first, second, shared):
    def build(x):
        return [
            x,
            apply("constant", value=np.asarray(first)),
            apply("constant", value=np.asarray(second)),
        ]

    after = settled(t, t.program_of(build, t.floats(2)))
    assert count(t, after, "constant") == (1 if shared else 2)


def test_large_constants_are_compared_by_identity(t):
    w, v = t.array(100), t.array(100)
    program = t.program_of(lambda x: [x + w, x * w, x - v], t.floats(100))
    assert count(t, program, "constant") == 3
    assert count(t, settled(t, program), "constant") == 2


def test_the_contents_of_large_constants_are_not_read(t):
    w = np.zeros((1, 30_000_000), np.float32)

    def build(x):
        for _ in range(40):
            x = x + F.sum(apply("constant", value=w))
        return x

    program = t.program_of(build, t.floats(2))
    PASS(program)  # 40 comparisons of 120 MB each would be noticed


# -- where it is seen -----------------------------------------------------------------------------


def test_branches_read_what_was_computed_before(t):
    def build(x):
        y = F.exp(x)
        return [*cond(F.sum(x) > 0, lambda: [F.exp(x) + 1.0], lambda: [F.exp(x) * 2.0]), y]

    after = settled(t, t.program_of(build, t.floats("n", 3)))
    assert count(t, after, "exp") == 1 and after.operators[0].name == "exp"


def test_loops_read_what_was_computed_before_in_condition_and_body(t):
    def build(x):
        total = F.sum(F.abs(x))

        def body(i, y):
            return [i + 1.0, y + F.sum(F.abs(x))]

        return while_loop(
            lambda i, y: i < F.minimum(F.sum(F.abs(x)), 3.0), body, [total * 0.0, total]
        )

    after = settled(t, t.program_of(build, t.floats("n", 3)))
    assert count(t, after, "abs") == count(t, after, "sum") == 1


def test_a_value_goes_through_several_levels(t):
    def build(x):
        inner = t.nested(lambda x: F.exp(x) * F.exp(x), x, *x.shape)
        return [F.exp(x), inner]

    def first(x):
        y = F.exp(x)
        return [y, t.nested(lambda x: F.exp(x) * F.exp(x), x, *x.shape)]

    types = t.floats("n", 3)
    assert count(t, settled(t, t.program_of(first, types)), "exp") == 1
    assert count(t, settled(t, t.program_of(build, types)), "exp") == 2


def test_nothing_leaves_a_branch(t):
    def build(x):
        (y,) = cond(F.sum(x) > 0, lambda: [F.exp(x) + 1.0], lambda: [F.exp(x) * 2.0])
        return [y, F.exp(x)]

    program = t.program_of(build, t.floats("n", 3))
    assert count(t, settled(t, program), "exp") == 3


def test_nothing_leaves_a_loop_or_goes_from_its_condition_to_its_body(t):
    def build(x):
        def body(i):
            return [i + F.sum(F.exp(x))]

        (y,) = while_loop(lambda i: i < F.sum(F.exp(x)), body, [F.sum(x)])
        return [y, F.exp(x)]

    program = t.program_of(build, t.floats("n", 3))
    assert count(t, settled(t, program), "exp") == 3


def test_loop_variables_are_not_taken_for_their_first_values(t):
    def build(x):
        y = F.tanh(x)
        return [y, while_loop(lambda i, z: i < 2, lambda i, z: [i + 1, F.tanh(z)], [zero(), x])[1]]

    program = t.program_of(build, t.floats("n", 3))
    assert count(t, settled(t, program), "tanh") == 2


def test_equal_operators_within_one_body_are_shared(t):
    def build(x):
        def body(i, y):
            return [i + 1, F.tanh(y) + F.tanh(y) * F.exp(x) + F.exp(x)]

        return while_loop(lambda i, y: i < 2, body, [zero(), x])[1]

    after = settled(t, t.program_of(build, t.floats("n", 3)))
    assert count(t, after, "tanh") == count(t, after, "exp") == 1


def test_what_is_captured_twice_counts_as_one_value(t):
    def build(x, y):
        def true():
            return cond(F.sum(y) > 0, lambda: [F.exp(x) + F.exp(x)], lambda: [F.exp(x)])

        return [F.exp(x), *cond(F.sum(x) > 0, true, lambda: [x])]

    after = settled(t, t.program_of(build, *[t.floats("n", 3)] * 2))
    assert count(t, after, "exp") == 1


# -- never shared ---------------------------------------------------------------------------------

RANDOM = {
    "uniform": lambda x: F.uniform([3]),
    "normal": lambda x: F.randn([3]),
    "integers": lambda x: F.randint(0, 9, [3]),
    "a permutation": lambda x: F.randperm(3),
    "bernoulli": lambda x: F.bernoulli(x * 0.0),
}


@pytest.mark.parametrize("kind", RANDOM)
def test_random_numbers_are_drawn_as_often_as_before(t, kind):
    program = t.program_of(lambda x: [RANDOM[kind](x), RANDOM[kind](x)], t.floats(3))
    after = PASS(program)
    assert after.outputs[0] is not after.outputs[1]
    again = PASS(after)
    assert str(again) == str(after)


def test_prints_and_checks_stay_as_they_are(t):
    def build(x):
        for _ in range(2):
            F.print_(x)
            F.assert_(F.sum(x) < 1e9, "too large")
        return x

    after = PASS(t.program_of(build, t.floats(3)))
    assert t.names(after).count("print") == t.names(after).count("assert") == 2
    assert t.names(after).count("sum") == 1


def test_two_sizes_found_in_data_are_two_symbols(t):
    program = t.program_of(lambda x: [F.nonzero(x), F.nonzero(x)], t.floats(4))
    after = settled(t, program)
    assert [v.type for v in after.outputs] == [v.type for v in program.outputs]


def test_lists_of_tensors_are_not_mixed_up(t):
    def build(x):
        first = F.array_append(F.array_of([]), x)
        second = F.array_append(F.array_of([]), F.exp(x))
        return [F.array_stack(first), F.array_stack(second)]

    after = settled(t, t.program_of(build, t.floats(3)))
    assert after.outputs[0] is not after.outputs[1]


# -- with outputs, other passes, and sizes --------------------------------------------------------


def test_equal_outputs_stay_two_outputs(t):
    after = settled(t, t.program_of(lambda x: [F.exp(x), F.exp(x)], t.floats("n")))
    assert len(after.outputs) == 2 and t.names(after) == ["exp"]


def test_it_undoes_the_copies_of_casts(t):
    def build(x):
        y = F.cast(x, "float64")
        return [y + 1.0, y * 2.0]

    program = t.program_of(build, t.floats("n"))
    after = t.check(Sequential([CanonicalizeCast(), PASS]), program)
    assert t.names(after) == ["cast", "add", "multiply"]


def test_attributes_of_one_symbolic_size_are_the_same(t):
    n = symbol("n")

    def build(x):
        return F.full([n], 1.0) + F.full([n], 1.0) + F.full([n + 1], 1.0)[:-1] * x

    after = settled(t, t.program_of(build, t.floats("n")))
    assert t.names(after).count("full") == 2


@pytest.mark.parametrize("size", [10_000])
def test_a_value_with_many_equal_users_are_one(t, size):
    program = t.program_of(lambda x: F.concat([F.exp(x) for _ in range(size)]), t.floats(1))
    after = PASS(program)
    assert t.names(after) == ["exp", "concat"]
