"""SimplifyControlFlow: branches that are known, loops whose iterations are, and what passes through."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.passes import FoldConstant, Sequential, SimplifyControlFlow, explain
from dy2st_runtime import engine
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop

PASS = SimplifyControlFlow()


def truth(value):
    return apply("constant", value=np.array(value))


def number(value, dtype="int64"):
    return apply("constant", value=np.array(value, dtype))


def kinds(t, program):
    """The control flow that is left."""
    return [name for name in t.names(program) if name in ("cond", "while")]


# -- branches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, False])
def test_the_branch_that_is_taken_takes_the_place_of_both(t, value):
    def build(x):
        return cond(truth(value), lambda: [F.relu(x)], lambda: [F.exp(x)])

    after = t.settled(PASS, t.program_of(build, t.floats("n", 3)))
    assert t.names(after) == ["relu" if value else "exp"]


@pytest.mark.parametrize("value", [True, False])
def test_results_constants_and_captured_values_come_along(t, value):
    w = t.array(3, 2)

    def build(x, y):
        def true():
            z = F.matmul(x, w)
            return [z + y, z * 2.0, x]

        a, b, c = cond(truth(value), true, lambda: [y, F.matmul(F.exp(x), w) - 1.0, F.neg(x)])
        return [F.relu(a) + b, c]

    after = t.settled(PASS, t.program_of(build, t.floats("n", 3), t.floats("n", 2)))
    assert "cond" not in t.names(after)


def test_branches_inside_branches_and_loops_go(t):
    def inner(x):
        (y,) = cond(
            truth(True),
            lambda: cond(truth(False), lambda: [F.exp(x)], lambda: [F.tanh(x)]),
            lambda: [F.relu(x)],
        )
        return y

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3))
    after = t.settled(PASS, program)
    found = t.names(after)
    assert "exp" not in found and "relu" not in found and found.count("cond") == found.count("tanh")


def test_a_branch_that_is_not_known_stays(t):
    program = t.program_of(
        lambda x: cond(F.sum(x) > 0, lambda: [F.relu(x)], lambda: [F.exp(x)]), t.floats("n", 3)
    )
    t.untouched(PASS, program)


@pytest.mark.parametrize(("value", "size"), [(True, 2), (False, 3)])
def test_sizes_that_the_branches_left_open_become_known(t, value, size):
    def build(x):
        (y,) = cond(truth(value), lambda: [x[:2]], lambda: [x[:3]])
        return F.exp(y)

    program = t.program_of(build, t.floats(4))
    assert not isinstance(program.outputs[0].shape[0], int)
    after = t.check(Sequential([PASS, PASS]), program)
    assert after.outputs[0].shape == [size] and kinds(t, after) == []


def test_what_the_other_branch_would_print_is_gone(t, capsys):
    def build(x):
        def true():
            F.print_("taken")
            return [x]

        def false():
            F.print_("not taken")
            return [x]

        return cond(truth(True), true, false)

    after = PASS(t.program_of(build, t.floats(2)))
    assert capsys.readouterr().out == ""
    t.run(after, [t.array(2)])
    assert capsys.readouterr().out == "taken\n"


# -- loops ----------------------------------------------------------------------------------------


def counted(turns, body=None):
    """A loop that turns so often, given in Python's or in the Program's numbers."""
    body = body or (lambda i, x: F.tanh(x) + 1.0)

    def build(x):
        first = [number(0), x]
        limit = number(turns)
        return while_loop(lambda i, y: i < limit, lambda i, y: [i + 1, body(i, y)], first)[1]

    return build


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 16])
def test_a_loop_becomes_as_many_copies_as_it_turns(t, turns):
    after = t.settled(PASS, t.program_of(counted(turns), t.floats("n", 3)))
    assert kinds(t, after) == [] and t.names(after).count("tanh") == turns


def test_a_loop_that_never_turns_is_its_first_values(t):
    after = t.settled(PASS, t.program_of(counted(0), t.floats("n", 3)))
    assert after.outputs[0] is after.inputs[0] and t.names(after) == []


@pytest.mark.parametrize(
    ("first", "step", "limit", "turns"),
    [(3, 2, 10, 4), (10, -3, 0, 4), (1, 1, 1, 0), (-5, 5, 6, 3)],
)
def test_any_count_that_follows_from_constants_is_found(t, first, step, limit, turns):
    def build(x):
        def condition(i, y):
            return i < limit if step > 0 else i > limit

        return while_loop(condition, lambda i, y: [i + step, F.tanh(y)], [number(first), x])

    after = t.settled(PASS, t.program_of(build, t.floats("n")))
    assert t.names(after).count("tanh") == turns and kinds(t, after) == []


def test_conditions_of_several_variables_are_computed(t):
    def build(x):
        def condition(i, j, y):
            return F.logical_and(i < 10, F.logical_not(j > 20))

        return while_loop(
            condition, lambda i, j, y: [i + 1, j + i, F.tanh(y)], [number(0), number(0), x]
        )

    after = t.settled(PASS, t.program_of(build, t.floats("n")))
    assert t.names(after).count("tanh") == 7  # 0 1 3 6 10 15 21


def test_loops_inside_unrolled_loops_are_unrolled(t):
    def inner(i, x):
        return while_loop(lambda j, y: j < 2, lambda j, y: [j + 1, F.tanh(y)], [number(0), x])[1]

    program = t.program_of(counted(3, inner), t.floats("n"))
    after = t.check(Sequential([PASS, FoldConstant(), PASS]), program)
    assert kinds(t, after) == [] and t.names(after).count("tanh") == 6


@pytest.mark.parametrize(
    ("turns", "option", "fires"),
    [
        (16, {}, True),
        (17, {}, False),
        (17, {"unroll.most_iterations": 17}, True),
        (3, {"unroll.most_iterations": 2}, False),
        (0, {"unroll.most_iterations": 0}, True),
        (16, {"unroll.most_operators": 20}, False),
    ],
    ids=str,
)
def test_the_options_limit_what_is_unrolled(t, turns, option, fires):
    program = t.program_of(counted(turns), t.floats("n", 2))
    after = t.check(PASS, program, config=option)
    assert (kinds(t, after) == []) == fires


KEPT = {
    "turns that depend on data": lambda x: while_loop(
        lambda i, y: i < F.sum(y), lambda i, y: [i + 1.0, F.tanh(y)], [F.full([], 0.0), x]
    ),
    "turns that depend on sizes": lambda x: while_loop(
        lambda i, y: i < F.shape(x)[0], lambda i, y: [i + 1, F.tanh(y)], [number(0), x]
    ),
    "a counter from outside": lambda x: while_loop(
        lambda i, y: i < 3.0, lambda i, y: [i + 1.0, F.tanh(y)], [F.max(x), x]
    ),
    "a loop without an end": lambda x: while_loop(
        lambda i, y: i < 3, lambda i, y: [i * 1, F.tanh(y)], [number(3) - 0, x]
    ),
}


@pytest.mark.parametrize("kind", KEPT)
def test_loops_of_unknown_turns_stay(t, kind):
    program = t.program_of(KEPT[kind], t.floats("n", 3))
    after = t.check(PASS, program)
    assert kinds(t, after) == ["while"]
    reasons = [entry.reason for entry in explain(PASS, program)]
    assert any("number of iterations" in r for r in reasons)


def test_a_loop_that_never_ends_is_not_unrolled_for_ever(t):
    def build(x):
        return while_loop(lambda i, y: i >= 0, lambda i, y: [i * 1, F.tanh(y)], [number(0), x])

    program = t.program_of(build, t.floats("n"))
    after = PASS(program)
    assert kinds(t, after) == ["while"]
    assert any("too many iterations" in entry.reason for entry in explain(PASS, program))


def test_a_loop_whose_tensors_grow_stays(t):
    def build(x):
        return while_loop(
            lambda i, y: i < 3, lambda i, y: [i + 1, F.concat([y, y])], [number(0), x]
        )[1]

    after = t.check(PASS, t.program_of(build, t.floats(2)))
    assert kinds(t, after) == ["while"]


def test_a_condition_that_draws_random_numbers_is_not_decided_beforehand(t):
    def build(x):
        def condition(i, y):
            return F.logical_and(F.sum(F.bernoulli(F.full([4], 0.5))) < 2.0, i < 3)

        return while_loop(condition, lambda i, y: [i + 1, F.tanh(y)], [number(0), x])

    after = PASS(t.program_of(build, t.floats("n")))
    assert kinds(t, after) == ["while"]


@pytest.mark.parametrize("name", ["bernoulli", "multinomial"])
def test_random_numbers_of_constants_are_drawn_when_the_program_runs(t, name):
    draw = {
        "bernoulli": lambda: F.sum(F.bernoulli(number([0.5] * 4, "float32"))),
        "multinomial": lambda: F.sum(F.multinomial(number([0.5, 0.5], "float32"), 1)),
    }[name]

    def build(x):
        first = [number(0), number(0, "float32"), x]

        def body(i, z, y):
            return [i + 1, F.cast(draw(), "float32"), F.tanh(y)]

        return while_loop(lambda i, z, y: F.logical_and(i < 3, z < 1e9), body, first)

    after = PASS(t.program_of(build, t.floats("n")))
    assert kinds(t, after) == ["while"]


def test_a_branch_in_the_body_does_not_hide_how_often_the_loop_turns(t):
    def body(i, x):
        return cond(i > 1, lambda: [F.tanh(x)], lambda: [F.exp(x)])[0]

    after = t.settled(
        Sequential([PASS, FoldConstant(), PASS]), t.program_of(counted(3, body), t.floats(2))
    )
    assert t.names(after) == ["exp", "exp", "tanh"]


def test_an_unrolled_body_draws_the_same_random_numbers(t):
    program = t.program_of(counted(3, lambda i, x: x + F.uniform([2])), t.floats(2))
    found = []
    for entry in (program, PASS(program)):
        dy2st.seed(7)
        found.append(t.run(entry, [t.array(2)]))
    assert kinds(t, program) != kinds(t, PASS(program))
    t.compare(*found, rtol=0)


def test_prints_in_an_unrolled_body_come_in_order_and_not_before(t, capsys):
    def body(i, x):
        F.print_(i)
        return F.tanh(x)

    program = t.program_of(counted(3, body), t.floats(2))
    after = PASS(program)
    assert capsys.readouterr().out == ""
    t.run(program, [t.array(2)])
    expected = capsys.readouterr().out
    t.run(after, [t.array(2)])
    assert capsys.readouterr().out == expected and len(expected.splitlines()) == 3


def test_a_condition_that_prints_does_so_as_often_as_before(t, capsys):
    def build(x):
        def condition(i, y):
            F.print_("iteration", i)
            return i < 2

        return while_loop(condition, lambda i, y: [i + 1, F.tanh(y)], [number(0), x])[1]

    program = t.program_of(build, t.floats(2))
    t.run(program, [t.array(2)])
    expected = capsys.readouterr().out
    after = PASS(program)
    assert capsys.readouterr().out == "", "it prints while it compiles"
    t.run(after, [t.array(2)])
    assert capsys.readouterr().out == expected


def test_a_check_in_the_condition_still_fails(t):
    def build(x):
        def condition(i, y):
            F.assert_(i < 1, "too far")
            return i < 2

        return while_loop(condition, lambda i, y: [i + 1, F.tanh(y)], [number(0), x])[1]

    program = t.program_of(build, t.floats(2))
    for entry in (program, PASS(program)):
        with pytest.raises(AssertionError, match="too far"):
            t.run(entry, [t.array(2)])


# -- what passes through --------------------------------------------------------------------------


def test_a_loop_variable_that_never_changes_is_read_directly(t):
    def build(x, y):
        def body(i, a, b):
            return [i + 1.0, a, F.tanh(b)]

        i, a, b = while_loop(lambda i, a, b: i < F.sum(a), body, [F.full([], 0.0), x, y])
        return [F.exp(a), b]

    after = t.settled(PASS, t.program_of(build, t.floats("n"), t.floats("n")))
    (exp,) = [o for o in after.operators if o.name == "exp"]
    assert exp.operands[0] is after.inputs[0]


def test_what_both_branches_give_alike_is_read_directly(t):
    def build(x, y):
        a, b = cond(F.sum(x) > 0, lambda: [y, F.exp(x)], lambda: [y, F.tanh(x)])
        return [F.relu(a), b]

    after = t.settled(PASS, t.program_of(build, t.floats("n"), t.floats("n")))
    (relu,) = [o for o in after.operators if o.name == "relu"]
    assert relu.operands[0] is after.inputs[1]
    (branch,) = [o for o in after.operators if o.name == "cond"]
    assert len(branch.results) == 1


THROUGH = {
    "two values": lambda x, y: cond(F.sum(x) > 0, lambda: [x], lambda: [y]),
    "exchanged": lambda x, y: cond(F.sum(x) > 0, lambda: [x, y], lambda: [y, x]),
    "exchanged in a loop": lambda x, y: while_loop(
        lambda i, a, b: i < F.sum(x), lambda i, a, b: [i + 1.0, b, a], [F.full([], 0.0), x, y]
    )[1:],
}


@pytest.mark.parametrize("kind", THROUGH)
def test_values_that_differ_are_not_read_directly(t, kind):
    program = t.program_of(THROUGH[kind], t.floats("n"), t.floats("n"))
    after = t.settled(PASS, program)
    assert kinds(t, after) == kinds(t, program)


def test_equal_loops_give_equal_numbers_with_and_without_unrolling(t):
    program = t.program_of(counted(4, lambda i, x: x * 2.0 + F.cast(i, "float32")), t.floats(3))
    x = t.array(3)
    (found,) = engine.compile(PASS(program)).run([x], [])
    expected = x
    for i in range(4):
        expected = expected * 2 + i
    np.testing.assert_allclose(found, expected, rtol=1e-6)
