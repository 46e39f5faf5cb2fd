"""Random sizes, facts and questions: a million values, and no unsound answer.

The references are NumPy's integers on all values at once, and sympy for polynomials.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy

from dy2st_runtime.dims import (
    Condition,
    Contradiction,
    Dim,
    Facts,
    bounds,
    decided,
    equal,
    evaluate,
    less_equal,
    maximum,
    minimum,
    simplified,
    symbol,
    symbols,
    to_python,
    using,
)
from tests.effort import effort

NAMES = "uvwxy"
SYMBOLS = {name: symbol(name, low) for name, low in zip(NAMES, (0, 0, 1, 1, 2), strict=True)}
LOWEST = {"u": 0, "v": 0, "w": 1, "x": 1, "y": 2}
POINTS = 500


def points(generator: random.Random) -> dict[str, np.ndarray]:
    """Values for every symbol, small ones often."""
    rng = np.random.default_rng(generator.randrange(2**32))
    wide = rng.integers(0, 40, (len(NAMES), POINTS))
    narrow = rng.integers(0, 5, (len(NAMES), POINTS))
    chosen = np.where(rng.random((len(NAMES), POINTS)) < 0.5, narrow, wide)
    return {name: chosen[i] + LOWEST[name] for i, name in enumerate(NAMES)}


def tree(generator: random.Random, depth: int):
    """A random expression: a number, a name, or (operation, left, right)."""
    if depth == 0 or generator.random() < 0.15:
        return generator.choice([*NAMES, *NAMES, generator.randint(-6, 9)])
    operation = generator.choice(["+", "+", "-", "*", "//", "%", "min", "max"])
    left = tree(generator, depth - 1)
    if operation in ("//", "%"):
        divisors = [2, 3, 4, 8, -2, -3, "w", "y"]
        return operation, left, generator.choice(divisors)
    return operation, left, tree(generator, depth - 1)


def build(expression, scope, smaller, larger):
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return scope[expression]
    operation, left, right = expression
    a, b = build(left, scope, smaller, larger), build(right, scope, smaller, larger)
    table = {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "//": lambda: a // b,
        "%": lambda: a % b,
        "min": lambda: smaller(a, b),
        "max": lambda: larger(a, b),
    }
    return table[operation]()


def as_size(expression):
    return build(expression, SYMBOLS, minimum, maximum)


def as_numbers(expression, values):
    return np.broadcast_to(build(expression, values, np.minimum, np.maximum), (POINTS,))


def numbers_of(size, values):
    """What a size is at all points, by the Python expression that it prints as."""
    text = to_python(size, lambda s: s.name)
    scope = {"min": _folded(np.minimum), "max": _folded(np.maximum), **values}
    return np.broadcast_to(eval(text, scope), (POINTS,))


def _folded(function):
    def call(first, *others):
        for other in others:
            first = function(first, other)
        return first

    return call


@pytest.mark.parametrize("seed", range(effort(4, 20)))
def test_every_size_is_what_numpy_computes_and_lies_in_its_bounds(seed):
    generator = random.Random(seed)
    for _ in range(100):  # times 20 seeds and 500 points: a million values in all
        expression, values = tree(generator, 4), points(generator)
        size, numbers = as_size(expression), as_numbers(expression, values)
        np.testing.assert_array_equal(numbers_of(size, values), numbers, str(expression))
        low, high = bounds(size)
        assert low is None or low <= numbers.min()
        assert high is None or high >= numbers.max()


RELATIONS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def claim(generator: random.Random, depth: int):
    return generator.choice(sorted(RELATIONS)), tree(generator, depth), tree(generator, depth)


def fact(generator: random.Random):
    """A claim of the kind that models make: order, equality, divisibility."""
    if generator.random() < 0.35:
        return "==", ("%", tree(generator, 1), generator.choice([2, 3, 4, 8])), 0
    relation = generator.choice(["==", "!=", "<=", ">=", "<", ">"])
    return relation, tree(generator, 1), tree(generator, generator.choice([0, 1, 1, 2]))


def truth(claimed, values):
    relation, left, right = claimed
    return RELATIONS[relation](as_numbers(left, values), as_numbers(right, values))


def holds(claimed):
    relation, left, right = claimed
    left, right = as_size(left), as_size(right)
    if not isinstance(left, Dim) and not isinstance(right, Dim):
        return bool(RELATIONS[relation](left, right))
    return decided(Condition(relation, left, right))


@pytest.mark.parametrize("seed", range(effort(8, 20)))
def test_no_answer_is_wrong(seed):
    generator = random.Random(1000 + seed)
    known = 0
    for _ in range(100):
        claimed, values = claim(generator, 2), points(generator)
        answer = holds(claimed)
        if answer is not None:
            known += 1
            assert (truth(claimed, values) == answer).all(), (claimed, answer)
    assert known > 10


def assumed(facts: Facts, claims) -> bool:
    """Whether the facts could be learnt; False if they contradict each other."""
    try:
        for relation, left, right in claims:
            left, right = as_size(left), as_size(right)
            if isinstance(left, Dim) or isinstance(right, Dim):
                facts.assume(Condition(relation, left, right))
    except Contradiction:
        return False
    return True


@pytest.mark.parametrize("seed", range(effort(6, 40)))
def test_no_answer_under_facts_is_wrong(seed):
    generator = random.Random(2000 + seed)
    for _ in range(effort(12, 40)):
        claims = [fact(generator) for _ in range(generator.randint(1, 4))]
        values = points(generator)
        allowed = np.logical_and.reduce([truth(claimed, values) for claimed in claims])
        facts = Facts()
        if not assumed(facts, claims):
            assert not allowed.any(), claims
            continue
        with using(facts):
            for _ in range(5):
                claimed = claim(generator, 2)
                answer = holds(claimed)
                wrong = answer is not None and (truth(claimed, values) != answer) & allowed
                assert not np.any(wrong), (claims, claimed, answer)
                size = simplified(as_size(claimed[1]))
                with np.errstate(divide="ignore"):  # where the facts do not hold, all may be
                    same = numbers_of(size, values) == as_numbers(claimed[1], values)
                assert same[allowed].all(), (claims, claimed[1], size)


@pytest.mark.parametrize("seed", range(effort(6, 20)))
def test_a_fact_never_turns_true_into_false(seed):
    generator = random.Random(3000 + seed)
    for _ in range(60):
        first, second, claimed = fact(generator), fact(generator), claim(generator, 2)
        few, many = Facts(), Facts()
        if not assumed(few, [first]) or not assumed(many, [first, second]):
            continue
        with using(few):
            before = holds(claimed)
        with using(many):
            after = holds(claimed)
        assert before is None or after is None or before == after, (first, second, claimed)


@pytest.mark.parametrize("seed", range(5))
def test_leaving_a_place_forgets_its_facts(seed):
    generator = random.Random(4000 + seed)
    facts = Facts()
    for _ in range(40):
        claimed = claim(generator, 2)
        with using(facts):
            before = holds(claimed)
            inner = facts.inside()
            assumed(inner, [fact(generator), fact(generator)])
            with using(inner):
                holds(claimed)
            assert holds(claimed) is before


def polynomial(generator: random.Random, depth: int):
    if depth == 0:
        return generator.choice([*NAMES, generator.randint(-4, 4)])
    operation = generator.choice("++-**")
    return operation, polynomial(generator, depth - 1), polynomial(generator, depth - 1)


@pytest.mark.parametrize("seed", range(5))
def test_polynomials_are_equal_exactly_where_sympy_says_so(seed):
    names = {name: sympy.Symbol(name, integer=True) for name in NAMES}
    generator = random.Random(5000 + seed)
    for _ in range(40):
        left, right = polynomial(generator, 3), polynomial(generator, 3)
        for a, b in ((left, right), (("*", left, right), ("*", right, left))):
            expected = sympy.expand(build(a, names, min, max) - build(b, names, min, max)) == 0
            assert (as_size(a) is as_size(b) or as_size(a) == as_size(b)) is True or not expected
            assert equal(as_size(a), as_size(b)) is not (not expected)


@pytest.mark.parametrize("seed", range(5))
def test_a_product_divided_by_a_factor_is_the_other_one(seed):
    names = {name: sympy.Symbol(name, integer=True) for name in NAMES}
    generator = random.Random(6000 + seed)
    for _ in range(40):
        left, right = polynomial(generator, 2), polynomial(generator, 2)
        factor = as_size(right)
        if not isinstance(factor, Dim):
            continue
        quotient = as_size(("*", left, right)) // factor
        expected = sympy.expand(build(left, names, min, max))
        found = sympy.sympify(str(quotient), locals=names) if symbols(quotient) else quotient
        assert sympy.expand(found - expected) == 0


def test_substitution_and_order_of_facts_agree():
    u, v, w = (SYMBOLS[name] for name in "uvw")
    facts = Facts()
    facts.assume(Condition("==", u, 2 * v))
    facts.assume(Condition("==", v, 3 * w))
    with using(facts):
        assert simplified(u) is 6 * w and less_equal(6, u) is True
        assert evaluate(simplified(u + v), {w: 2}) == 18
