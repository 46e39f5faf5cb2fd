"""What patterns fit, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes.patterns.pattern import constant, floating, made_by, op, through, value
from dy2st_runtime.dims import equal, symbol
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond, while_loop

X, Y, C = value(), value(), constant()


def two(t, function, *shape, dtype="float32"):
    return t.program_of(function, t.floats(*shape, dtype=dtype), t.floats(*shape, dtype=dtype))


# -- operators and wildcards ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (op.tanh(X), 1),
        (op.tanh(op.add(X, Y)), 1),
        (op.tanh(op.subtract(X, Y)), 0),
        (op.add(op.relu(X), op.relu(Y)), 1),
        (op.relu(X), 2),
        (op.sigmoid(X), 0),
        (op.tanh(op.add(op.relu(X), Y)), 1),
    ],
)
def test_operators_by_name_with_wildcards_at_the_leaves(t, fires, pattern, expected):
    program = two(t, lambda x, y: F.tanh(F.relu(x) + F.relu(y)), 3)
    assert fires(program, pattern) == expected


def test_one_pattern_object_at_two_places_is_one_value(t, fires):
    program = two(t, lambda x, y: [F.multiply(x, x), F.multiply(x, y)], 3)
    assert fires(program, op.multiply(X, X)) == 1
    assert fires(program, op.multiply(X, Y)) == 2
    same = op.relu(X)
    program = two(t, lambda x, y: [F.add(z := F.relu(x), z), F.relu(x) + F.relu(y)], 3)
    assert fires(program, op.add(same, same)) == 1


@pytest.mark.parametrize("inner, expected", [(value(), 3), (constant(), 1), (op.relu(X), 1)])
def test_a_wildcard_may_be_anything_a_constant_is_known(t, fires, inner, expected):
    w = t.array(3)
    program = two(t, lambda x, y: [F.pow(y, x), F.pow(y, F.relu(y)), F.pow(y, w)], 3)
    assert fires(program, op.pow(X, inner)) == expected


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_the_operands_of_a_commutative_operator_fit_in_any_order(t, fires, name):
    pattern = getattr(op, name)(op.relu(X), C)
    w = t.array(3)
    for function in (
        lambda x, y: apply(name, F.relu(x), w),
        lambda x, y: apply(name, w, F.relu(x)),
    ):
        assert fires(two(t, function, 3), pattern) == 1


@pytest.mark.parametrize("name", ["subtract", "divide", "pow", "floor_divide"])
def test_the_operands_of_others_do_not(t, fires, name):
    pattern = getattr(op, name)(op.relu(X), C)
    w = t.array(3)
    assert fires(two(t, lambda x, y: apply(name, F.relu(x), w), 3), pattern) == 1
    assert fires(two(t, lambda x, y: apply(name, w, F.relu(x)), 3), pattern) == 0


def test_orders_are_tried_at_every_depth(t, fires):
    a, b = constant(lambda v: v.size == 1), constant(lambda v: v.size == 3)
    pattern = op.add(op.multiply(op.add(X, a), b), op.tanh(X))
    small, large = t.array(1), t.array(3, seed=1)
    program = two(t, lambda x, y: F.tanh(x) + large * (small + x), 3)
    assert fires(program, pattern) == 1
    assert fires(two(t, lambda x, y: F.tanh(y) + large * (small + x), 3), pattern) == 0


# -- guards ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern, expected",
    [
        (op.add(X, 0), 1),
        (op.add(X, 0.0), 1),
        (op.add(X, 1), 1),
        (op.add(1, X), 1),
        (op.add(X, 2), 0),
        (op.add(X, C), 3),
        (op.add(X, constant(lambda a: a.ndim == 1)), 2),
        (op.add(X, constant(lambda a: a.size and a.min() < 0)), 1),
    ],
)
def test_numbers_stand_for_constants_of_that_number_and_guards_see_the_array(
    t, fires, pattern, expected
):
    def build(x, y):
        zero, one, mixed = np.zeros((), "f4"), np.ones(3, "f4"), np.float32([-1, 0, 1])
        return [F.add(x, zero), F.add(x, one), F.add(x, mixed)]

    assert fires(two(t, build, 3), pattern) == expected


def test_no_number_is_the_value_of_an_empty_constant(t, fires):
    program = t.program_of(lambda x: F.add(x, np.zeros((0,), "f4")), t.floats(0))
    assert fires(program, op.add(X, 0)) == 0 and fires(program, op.add(X, C)) == 1


@pytest.mark.parametrize(
    "wanted, expected",
    [
        ({}, 3),
        ({"axis": (1,)}, 2),
        ({"axis": (1,), "keepdim": True}, 1),
        ({"axis": lambda axis: 0 in axis}, 1),
        ({"axis": (2,)}, 0),
    ],
)
def test_attributes_are_values_or_guards(t, fires, wanted, expected):
    def build(x, y):
        more = [{"axis": (1,)}, {"axis": (0,)}, {"axis": (1,), "keepdim": True}]
        return [apply("sum", x, **attributes) for attributes in more]

    assert fires(two(t, build, 3, 4), op.sum(X, **wanted)) == expected


@pytest.mark.parametrize(
    "guard, expected",
    [
        (lambda v: v.type.dtype == np.float32, 2),
        (lambda v: v.type.rank == 3, 1),
        (lambda v: v.type.shape[-1] == 4, 1),
        (lambda v: isinstance(v.type.shape[0], int), 1),
        (lambda v: equal(v.type.shape[0], symbol("n")) is True, 1),
        (lambda v: equal(v.type.shape[0], symbol("k")) is True, 0),
    ],
    ids=["dtype", "rank", "size", "known", "same symbol", "another symbol"],
)
def test_types_and_sizes_are_guards(t, fires, guard, expected):
    program = t.program_of(lambda x, y: [F.tanh(x), F.tanh(y)], t.floats("n", 3), t.floats(2, 3, 4))
    assert fires(program, op.tanh(value(guard))) == expected


@pytest.mark.parametrize("rank, expected", [(None, 2), (1, 1), (2, 1), (3, 0)])
def test_floats_of_a_rank(t, fires, rank, expected):
    program = t.program_of(
        lambda x, y, z: [F.neg(x), F.neg(y), F.neg(z)],
        t.floats(3),
        t.floats(2, 3, dtype="float16"),
        t.floats(2, 3, dtype="int32"),
    )
    assert fires(program, op.neg(floating(rank))) == expected


def test_a_list_of_tensors_is_no_tensor_of_floats(t, fires):
    def build(x):
        return apply("array_length", apply("array_append", apply("array_create", x), x))

    program = t.program_of(build, t.floats(3))
    assert fires(program, op.array_length(value())) == 1
    assert fires(program, op.array_length(floating())) == 0


# -- optional parts, alternatives, ways -----------------------------------------------------------


@pytest.mark.parametrize(
    "function, found",
    [
        (lambda x, y: F.tanh(F.relu(x) + y), True),
        (lambda x, y: F.tanh(x + y), False),
    ],
    ids=["there", "not there"],
)
def test_an_optional_operator_may_be_missing(t, fires, function, found):
    relu = op.relu(X).optional()
    assert fires(two(t, function, 3), op.tanh(op.add(relu, Y))) == 1
    assert fires(two(t, function, 3), op.tanh(op.add(op.relu(X), Y))) == found


def test_an_alternative_is_the_first_or_the_second(t, fires):
    def build(x, y):
        return [F.tanh(F.relu(x)), F.tanh(F.sigmoid(x)), F.tanh(F.abs(x)), F.tanh(x)]

    program = two(t, build, 3)
    assert fires(program, op.tanh(op.relu(X) | op.sigmoid(X))) == 2
    assert fires(program, op.tanh(op.relu(X) | op.sigmoid(X) | op.abs(X))) == 3
    assert fires(program, op.tanh(op.neg(X) | op.exp(X))) == 0


def test_an_alternative_may_be_a_number(t, fires):
    program = two(t, lambda x, y: [F.add(x, np.ones(3, "f4")), F.add(x, F.relu(y)), F.add(x, y)], 3)
    assert fires(program, op.add(X, op.relu(Y) | 1)) == 2


def test_a_way_through_operators_of_some_names(t, fires):
    def build(x, y):
        relu = F.relu(x)
        return F.tanh(F.neg(F.exp(F.neg(relu))))

    program = two(t, build, 3)
    assert fires(program, op.tanh(through("neg exp", op.relu(X)))) == 1
    assert fires(program, op.tanh(through("neg", op.relu(X)))) == 0
    assert (
        fires(two(t, lambda x, y: F.tanh(F.relu(x)), 3), op.tanh(through("neg", op.relu(X)))) == 1
    )


def test_no_way_leads_through_a_value_that_others_read(t, fires):
    program = two(t, lambda x, y: [F.tanh(z := F.neg(F.relu(x))), z], 3)
    assert fires(program, op.tanh(through("neg", op.relu(X)))) == 0


# -- users ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, unshared, shared",
    [
        (lambda x, y: F.tanh(F.relu(x)), 1, 1),
        (lambda x, y: [F.tanh(z := F.relu(x)), z + y], 0, 1),
        (lambda x, y: [F.tanh(z := F.relu(x)), z], 0, 1),
        (lambda x, y: [F.tanh(z := F.relu(x)), F.tanh(z)], 0, 2),
        (
            lambda x, y: [
                F.tanh(z := F.relu(x)),
                cond(F.sum(y) > 0, lambda: [F.neg(z)], lambda: [F.abs(y)])[0],
            ],
            0,
            1,
        ),
    ],
    ids=["one user", "another operator", "an output", "a second place", "a branch"],
)
def test_an_inner_value_with_other_users_is_left_alone_unless_it_is_shared(
    t, fires, function, unshared, shared
):
    program = two(t, function, 3)
    assert fires(program, op.tanh(op.relu(X))) == unshared
    assert fires(program, op.tanh(op.relu(X).shared())) == shared


def test_all_users_may_lie_inside_of_the_pattern(t, fires):
    program = two(t, lambda x, y: F.multiply(z := F.relu(x), F.tanh(z)), 3)
    relu = op.relu(X)
    assert fires(program, op.multiply(relu, op.tanh(relu))) == 1


def test_wildcards_may_have_any_users(t, fires):
    program = two(t, lambda x, y: [F.tanh(z := F.relu(x)), z, F.exp(z)], 3)
    assert fires(program, op.tanh(value())) == 1


# -- several results ------------------------------------------------------------------------------


def test_a_result_is_chosen_by_its_index_and_is_else_the_first(t, fires):
    program = t.program_of(
        lambda x: [F.tanh(part) for part in F.split(x, 3, axis=1)], t.floats("n", 6)
    )
    assert [o.name for o in program.operators] == ["split", "tanh", "tanh", "tanh"]
    split = op.split(X).shared()
    assert [fires(program, op.tanh(split[i])) for i in (0, 1, 2, 3)] == [1, 1, 1, 0]
    assert fires(program, op.tanh(split)) == 1


def test_a_root_may_be_one_of_several_results(t, fires):
    program = t.program_of(lambda x: F.split(x, 2, axis=0)[1], t.floats(4))
    assert fires(program, op.split(X)[1]) == 1
    assert fires(program, op.split(X)[0]) == 0
    assert fires(program, op.split(X)[7]) == 0


def test_results_of_one_pattern_are_results_of_one_operator(t, fires):
    halves = op.split(X)
    pattern = op.pow(halves[0], halves[1])

    def build(x, y):
        rows, more = F.split(x, 2, axis=0), F.split(y, 2, axis=0)
        return [F.pow(rows[0], rows[1]), F.pow(more[1], more[0])]

    def mixed(x, y):
        rows, columns = F.split(x, 2, axis=0), F.split(F.transpose(x, [1, 0]), 2, axis=0)
        again = F.split(x, 2, axis=0)
        return [F.pow(rows[0], again[1]), columns[0]]

    assert fires(two(t, build, 4, 4), pattern) == 1
    assert fires(two(t, mixed, 4, 4), pattern) == 0
    either = op.pow(op.split(X)[0], op.split(X)[1])
    assert fires(two(t, mixed, 4, 4), either) == 1


def test_a_pattern_is_not_unpacked():
    with pytest.raises(TypeError, match="not iterable|iterate|unpack"):
        _first, _second = op.split(X)


# -- inside of control flow -----------------------------------------------------------------------


def test_patterns_are_found_inside_of_branches_and_loops(t, fires):
    def build(x, y):
        def iteration(i, v):
            return [i + 1, cond(F.sum(v) > 0, lambda: [F.tanh(F.relu(v))], lambda: [v])[0]]

        return while_loop(lambda i, v: i < 3, iteration, [F.full([], 0, "int64"), x])[1]

    assert fires(two(t, build, "n"), op.tanh(op.relu(X))) == 1


def test_no_pattern_reaches_from_a_branch_to_what_is_outside(t, fires):
    def build(x, y):
        z = F.relu(x)
        return cond(F.sum(y) > 0, lambda: [F.tanh(z)], lambda: [y])[0]

    assert fires(two(t, build, "n"), op.tanh(op.relu(X))) == 0


# -- mistakes -------------------------------------------------------------------------------------


def test_an_unknown_operator_or_attribute_is_an_error_with_the_nearest_name():
    with pytest.raises(ArgumentError, match="no operator 'multipy'; did you mean 'multiply'?"):
        op.multipy(X, Y)
    with pytest.raises(
        ArgumentError, match="conv has no attribute 'group'; did you mean 'groups'?"
    ):
        op.conv(X, Y, group=1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: op.relu(X, Y),
        lambda: op.add(X),
        lambda: op.conv(X, Y, C, C),
        lambda: op.relu(),
    ],
)
def test_a_pattern_of_more_or_fewer_operands_than_there_are_is_an_error(make):
    with pytest.raises(ArgumentError, match="has the operands .*, the pattern has"):
        make()


def test_operands_that_may_be_left_out_and_any_number_of_them_are_allowed(t):
    assert len(op.conv(X, Y).operands) == 2 and len(op.conv(X, Y, C).operands) == 3
    assert len(op.concat(X, Y, C).operands) == 3


@pytest.mark.parametrize("entry", ["relu", None, [X], np.ones(3)])
def test_anything_else_is_no_pattern(entry):
    with pytest.raises(TypeError, match="a pattern is made of patterns and numbers, not"):
        op.relu(entry)


@pytest.mark.parametrize("make", [lambda: made_by("relux"), lambda: through("neg relux", X)])
def test_an_unknown_operator_beside_a_pattern_is_an_error_too(make):
    with pytest.raises(ArgumentError, match="no operator 'relux'; did you mean 'relu'?"):
        make()


def test_an_operator_without_attributes_says_so():
    with pytest.raises(ArgumentError, match="relu has no attribute 'axis'; there are none"):
        op.relu(X, axis=1)


def test_a_size_that_is_not_known_is_no_number(t, fires):
    def in_groups(x):
        n, c, h, w = x.shape
        return F.conv2d(F.reshape(x, [1, n * c, h, w]), F.ones([n * c, 1, 2, 2]), groups=n * c)

    program = t.program_of(in_groups, t.floats("n", 1, 7, 7))
    assert fires(program, op.conv(X, Y, groups=1)) == 0
    assert fires(program, op.conv(X, Y, strides=(1, 1))) == 1
