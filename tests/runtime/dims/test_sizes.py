"""Symbolic sizes compute what Python's integers compute."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dy2st_runtime.dims import (
    Condition,
    bounds,
    broadcast,
    collect,
    divides,
    equal,
    evaluate,
    less,
    less_equal,
    maximum,
    minimum,
    parse,
    parse_condition,
    require,
    require_equal,
    same_shape,
    simplified,
    substitute,
    symbol,
    symbols,
    to_python,
)
from dy2st_runtime.errors import ParseError, ShapeError, UndecidedDim
from tests.effort import effort

X, Y, Z = symbol("x"), symbol("y"), symbol("z", 1)
SCOPE = {"x": X, "y": Y, "z": Z}


def extreme(python, own):
    def choose(a, b):
        return python(a, b) if isinstance(a, int) and isinstance(b, int) else own(a, b)

    return choose


OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": extreme(min, minimum),
    "max": extreme(max, maximum),
}
LEAVES = st.one_of(st.integers(-6, 6), st.sampled_from("xyz"))
DIVISORS = st.integers(-5, 5).filter(bool)
TREES = st.recursive(
    LEAVES,
    lambda tree: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "min", "max"]), tree, tree),
        st.tuples(st.sampled_from(["//", "%"]), tree, DIVISORS),
    ),
    max_leaves=8,
)
VALUES = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9))


def build(tree, values):
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return values[tree]
    name, left, right = tree
    return OPERATORS[name](build(left, values), build(right, values))


def both(tree, numbers):
    size = build(tree, SCOPE)
    number = build(tree, dict(zip("xyz", numbers, strict=True)))
    return size, number, dict(zip((X, Y, Z), numbers, strict=True))


@settings(max_examples=effort(150, 600), deadline=None)
@given(TREES, VALUES)
def test_a_size_evaluates_to_what_python_computes(tree, numbers):
    size, number, values = both(tree, numbers)
    assert evaluate(size, values) == number
    low, high = bounds(size)
    assert (low is None or low <= number) and (high is None or number <= high)


@settings(max_examples=effort(100, 300), deadline=None)
@given(TREES, VALUES)
def test_text_and_generated_python_mean_the_size(tree, numbers):
    size, number, _ = both(tree, numbers)
    assert parse(str(size), SCOPE) is size or parse(str(size), SCOPE) == size
    text = to_python(size, lambda symbol: symbol.name)
    scope = {**dict(zip("xyz", numbers, strict=True)), "min": min, "max": max}
    assert eval(text, scope) == number


@settings(max_examples=effort(150, 600), deadline=None)
@given(TREES, TREES, VALUES)
def test_answers_hold_for_every_value(left, right, numbers):
    a, first, _ = both(left, numbers)
    b, second, _ = both(right, numbers)
    for answer, truth in (
        (equal(a, b), first == second),
        (less(a, b), first < second),
        (less_equal(a, b), first <= second),
    ):
        assert answer is None or answer == truth


@settings(max_examples=effort(100, 200), deadline=None)
@given(TREES, TREES, VALUES)
def test_substitution_commutes_with_evaluation(tree, other, numbers):
    size, _, values = both(tree, numbers)
    replacement, value, _ = both(other, numbers)
    assume(value >= 0)  # a size
    replaced = evaluate(substitute(size, {X: replacement}), values)
    assert replaced == build(tree, {"x": value, "y": numbers[1], "z": numbers[2]})


def test_equal_forms_are_the_same_object():
    a, h = symbol("a"), symbol("h")
    assert (a - 1) // 2 + 1 is (a + 1) // 2
    assert (a // 2) // 3 is a // 6
    assert a + Y is Y + a and 2 * (a + 1) is a * 2 + 2
    for _ in range(4):
        h = (h + 1) // 2
    assert str(h) == "(h + 15)//16"
    assert (a * Y) // a is Y


def test_what_is_proved_without_numbers():
    a, b = symbol("a"), symbol("b", 1)
    assert less_equal(minimum(a, b), a) is True
    assert less_equal(a, a * b) is True
    assert less_equal(2 * (a // 2), a) is True
    assert equal(2 * a, 2 * b + 1) is False
    assert divides(2, 4 * a + 6) is True
    assert equal(a, b) is None
    assert same_shape((a, 2), (a, 3)) is False


def test_an_undecided_comparison_is_a_condition_that_refuses_to_be_a_bool():
    condition = X > 3
    assert isinstance(condition, Condition) and str(condition.negate()) == "x <= 3"
    assert evaluate(condition, {X: 4}) and not evaluate(condition, {X: 3})
    with pytest.raises(UndecidedDim, match="x > 3"):
        bool(condition)
    with pytest.raises(UndecidedDim, match="x"):
        range(X)
    assert (X >= 0) is True


def test_broadcasting_of_known_and_unknown_sizes():
    assert broadcast(X, 1) is X and broadcast(1, X) is X and broadcast(X, X) is X
    assert broadcast(0, 1) == 0
    with collect() as found:
        assert broadcast(X, 8) == 8
    assert [str(entry.condition) for entry in found] == ["x in (1, 8)"]
    with pytest.raises(ShapeError):
        broadcast(2, 3)
    assert evaluate(broadcast(X, Y), {X: 1, Y: 5}) == 5
    with pytest.raises(ShapeError):
        evaluate(broadcast(X, Y), {X: 2, Y: 5})


def test_requirements_are_decided_collected_or_refused():
    require(True, "never")
    with pytest.raises(ShapeError, match="no"):
        require(False, "no")
    with pytest.raises(UndecidedDim):
        require(X == 3, "nobody collects")


@pytest.mark.parametrize(
    "text", ["", "x +", "q", "(x", "x ** 2", "1" * 40, "min(x", "x // 0", "x x", "(" * 200 + "x"]
)
def test_text_that_is_no_size_names_the_column(text):
    with pytest.raises(ParseError, match="column"):
        parse(text, SCOPE)


def test_conditions_read_back():
    for condition in (X > 3, X == 2 * Y, Condition("in", X, (1, Y))):
        assert parse_condition(str(condition), SCOPE) == condition
    assert symbols(X * Y > Z) == (X, Y, Z)


def test_the_text_does_not_depend_on_the_order_of_creation():
    b2, a2 = symbol("bb"), symbol("aa")
    assert str(b2 + a2 * b2 + a2) == "aa*bb + aa + bb"


def test_conditions_written_alike_are_equal():
    n = symbol("n")
    assert Condition("in", n, (1, 4)) == Condition("in", n, (1, 4))
    assert Condition("==", n, 3) != Condition("==", n, 4) and (n > 3) != (X > 3)
    assert len({Condition("==", n, 3), Condition("==", n, 3)}) == 1


def test_the_opposite_of_one_of_several_is_none_of_them():
    condition = Condition("in", X, (1, 4)).negate()
    assert str(condition) == "x not in (1, 4)"
    assert parse_condition("x not in (1, 4)", SCOPE) == condition
    assert evaluate(condition, {X: 3}) is True and evaluate(condition, {X: 4}) is False


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (2 * X + 1, "2*x + 1"),
        ((X + 1) // 2, "(x + 1)//2"),
        (X % 4, "x % 4"),
        (3 * (X % 4) + Y, "y + 3*(x % 4)"),
        (-(-X // 4), "(x + 3)//4"),
        ((X + 3) // 4, "(x + 3)//4"),
        (minimum(X, 64), "min(64, x)"),
        (X - 1 - maximum(X - 3, 0), "x - max(3, x) + 2"),
        (broadcast(X, broadcast(Y, X)), "broadcast(x, y)"),
        (X // Y, "x//y"),
        ((X + Y) // Z, "(x + y)//z"),
    ],
)
def test_a_size_prints_as_a_formula_that_is_read_back(size, text):
    assert str(size) == text and parse(text, SCOPE) is size


def test_symbols_of_one_name_and_other_ranges_have_one_order():
    wide, narrow = symbol("n"), symbol("n", 1, 8)
    assert str(wide + 2 * narrow) == str(2 * narrow + wide)
    assert wide * narrow is narrow * wide


def test_symbols_are_found_in_lists_as_in_tuples():
    assert symbols([(X, 2), [Y + 1]]) == symbols(((X, 2), (Y + 1,))) == (X, Y)


@pytest.mark.parametrize("value", [2.5, 2.0, "2", None])
def test_only_integers_are_sizes(value):
    with pytest.raises(TypeError):
        maximum(value, X)
    with pytest.raises(TypeError):
        X + value
    with pytest.raises(TypeError):
        value // X


def test_a_divisor_must_not_be_zero_where_the_program_runs():
    with collect() as found:
        assert (X * Y) // Y is X and (X * Z) // Z is X
    assert [str(constraint.condition) for constraint in found] == ["y != 0"]


def test_what_is_required_is_known_from_there_on():
    with collect() as found:
        require(X % 4 == 0, "x is a multiple of 4")
        require(X % 2 == 0, "x is even")
        assert equal(4 * (X // 4), X) is True
    assert [constraint.reason for constraint in found] == ["x is a multiple of 4"]
    assert equal(4 * (X // 4), X) is None


def test_a_requirement_that_contradicts_an_earlier_one_is_refused():
    with collect():
        require(X == 4, "x is 4")
        with pytest.raises(ShapeError, match="x is 5"):
            require(X == 5, "x is 5")


def test_a_late_equality_simplifies_what_was_there_before():
    size = X + Y
    with collect():
        require_equal(X, Y, "both are one size")
        assert simplified(size) is 2 * X
        assert broadcast(X, Y) is X or broadcast(X, Y) is Y


@pytest.mark.parametrize("factor", [-3, -1, 1, 2, 5])
@pytest.mark.parametrize("divisor", [1, 2, 4])
@pytest.mark.parametrize("constant", [-9, -2, 0, 3, 8])
@pytest.mark.parametrize("relation", ["<", "<=", ">", ">="])
def test_an_inequality_of_one_symbol_is_required_solved_for_it(factor, divisor, constant, relation):
    left = factor * ((X + 1) // divisor) + constant
    condition = Condition(relation, left, 2)
    with collect() as found:
        try:
            require(condition, "a reason")
        except ShapeError:
            assert not any(evaluate(condition, {X: x}) for x in range(80))
            return
    for x in range(80):
        holds = all(evaluate(constraint.condition, {X: x}) for constraint in found)
        assert holds == evaluate(condition, {X: x})
    assert all(str(constraint.condition).startswith("x ") for constraint in found)
