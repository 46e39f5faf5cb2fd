"""Formulas of sizes stay short: products keep long sums, and what is too long is refused."""

from __future__ import annotations

import pytest

from dy2st_runtime.dims import (
    Condition,
    Facts,
    equal,
    evaluate,
    less_equal,
    minimum,
    parse,
    product,
    simplified,
    symbol,
    symbols,
    to_python,
    using,
)
from dy2st_runtime.dims.expression import DEEPEST, LONGEST, Dim
from dy2st_runtime.errors import ParseError, ShapeError

NUMBERS = {f"q{i}": symbol(f"q{i}") for i in range(3000)}


def sums(count: int) -> list[Dim]:
    """Sums of ten symbols each, no two of which share one."""
    return [sum((symbol(f"{c}{i}") for c in "abcdefghij"), 0) for i in range(count)]


@pytest.mark.parametrize("count", [2, 3, 6, 12, 30])
def test_a_product_of_sums_is_its_text_and_its_number(count):
    size = product(sums(count))
    assert len(size.terms) <= 100 and size.weight < 60 * count + 200
    assert parse(str(size), {str(s): s for s in symbols(size)}) is size
    assert evaluate(size, {s: 2 for s in symbols(size)}) == 20**count
    scope = {f"v_{s}": 2 for s in symbols(size)}
    assert eval(to_python(size, lambda s: f"v_{s}"), scope) == 20**count


def test_a_product_that_is_not_multiplied_out_is_compared():
    size = product(sums(12))
    assert equal(size, size + 1) is False and less_equal(size, 2 * size) is True


def test_forty_equalities_of_long_products_are_learnt():
    facts, factors = Facts(), sums(14)
    for index in range(40):
        size = product(factors[(index * place + place + index) % 14] for place in range(12))
        facts.assume(Condition("==", size, symbol(f"z{index}")))
    with using(facts):
        assert less_equal(0, symbol("z7")) is True


def test_rules_that_are_put_into_each_other_end():
    facts = Facts()
    for i in range(70):
        value = (NUMBERS[f"q{i + 1}"] + NUMBERS[f"q{7 * i + 3}"]) // 2 * NUMBERS[f"q{i + 2}"]
        facts.assume(Condition("==", NUMBERS[f"q{i}"], value))
    with using(facts):
        simplified(NUMBERS["q0"])
        assert less_equal(0, NUMBERS["q0"]) is True


def test_arithmetic_that_makes_a_formula_too_long_is_refused():
    size, other = symbol("n"), symbol("m")
    with pytest.raises(ShapeError, match="formula of a size is too long"):
        for _ in range(100):
            size = (size // 2 + size * other) // 3
    with pytest.raises(ShapeError, match="formula of a size is too long"):
        for name in NUMBERS:
            size = size + symbol(name)
    with pytest.raises(ShapeError, match="formula of a size is too long"):
        for name in NUMBERS:
            size = minimum(size, symbol(name))


@pytest.mark.parametrize(
    "text",
    [
        "+".join(NUMBERS),
        "*".join(NUMBERS),
        "//".join(NUMBERS),
        f"min({', '.join(NUMBERS)})",
        f"broadcast({', '.join(NUMBERS)})",
        "+".join(f"(q{i}*q{i + 1} + {i}) % {i + 2}" for i in range(LONGEST)),
        "(" * DEEPEST + "q0" + "//2 + q1)" * 2 * DEEPEST,
        "(" * 4 * DEEPEST + "q0" + ")" * 4 * DEEPEST,
    ],
)
def test_a_text_of_a_formula_that_is_too_long_is_refused_at_once(text):
    with pytest.raises(ParseError):
        parse(text, NUMBERS)
