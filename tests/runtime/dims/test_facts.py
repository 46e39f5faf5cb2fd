"""What was assumed is known: a law of Facts, and what it means for sizes that broadcast."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st_runtime.dims import (
    Condition,
    Facts,
    collect,
    current,
    decided,
    equal,
    minimum,
    queries,
    require,
    simplified,
    symbol,
    using,
)
from tests.effort import effort
from tests.runtime.dims.facts_law import check

n, m, k = symbol("n"), symbol("m"), symbol("k")


@settings(max_examples=effort(25, 80), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_what_was_assumed_is_known_whatever_is_assumed_after_it(draw: random.Random):
    check(draw)


def test_what_was_assumed_of_a_product_is_known_in_every_form():
    facts = Facts()
    facts.assume(Condition("==", n % 3, 0))
    facts.assume(Condition(">", (n // 3) * m + n, 0))
    with using(facts):
        assert decided(Condition(">", (n // 3) * m + 3 * (n // 3), 0)) is True


def test_a_product_is_known_in_the_multiples_that_were_known_before():
    facts, a, b, d = Facts(), *map(symbol, "abd")
    facts.assume(Condition("==", n * a * b, n * m * k))
    facts.assume(Condition("==", a * b, d))
    with using(facts):
        assert decided(Condition("==", n * a * b, n * d)) is True
        assert decided(Condition("==", n * m * k, n * d)) is True


def test_what_is_twice_something_that_is_not_negative_is_not_negative():
    facts = Facts()
    for condition in (
        Condition("==", (n * m) % 2, 0),
        Condition(">=", k, (n * m) // 2),
        Condition("==", (k + 17 * ((n * m) // 2)) % 18, 0),
    ):
        facts.assume(condition)
    with using(facts):
        assert decided(Condition(">=", n * m, 0)) is True


def test_a_size_that_is_even_is_not_1_so_what_broadcasts_with_it_is_1_or_that():
    facts = Facts()
    facts.assume(Condition("broadcasts", n, m))
    facts.assume(Condition("==", n % 2, 0))
    with using(facts):
        assert decided(Condition("in", m, (1, n))) is True


def test_a_minimum_that_is_1_tells_which_operand_it_is():
    facts = Facts()
    facts.assume(Condition("==", minimum(n, 64), 1))
    with using(facts):
        assert equal(n, 1) is True


def test_broadcasts_inside_of_broadcasts_are_one():
    facts = Facts()
    with collect():
        both, all_three = queries.broadcast(n, m), queries.broadcast(k, symbol("j"))
    facts.assume(Condition("==", k, both))
    with using(facts), collect():
        assert simplified(all_three) is queries.broadcast(both, symbol("j"))


@pytest.mark.parametrize("size", [2, 3, 12, 64])
def test_a_size_that_broadcasts_with_a_minimum_of_itself_is_that_minimum(size):
    with collect() as found:
        result = queries.broadcast(n, minimum(n, size))
        assert equal(result, n) is True and decided(Condition("<=", n, size)) is True
    assert [constraint.condition.relation for constraint in found] == ["=="]


def test_a_broadcast_that_is_not_0_is_put_in_normal_form_without_end():
    facts = Facts()
    facts.assume(Condition("broadcasts", n, m))
    with using(facts), collect():
        open_size = queries.broadcast(n, m)
        require(open_size != 0, "a divisor")
        assert decided(Condition("!=", open_size, 0)) is True
        assert simplified(open_size) is open_size


def test_a_choice_is_known_where_a_range_is_narrower():
    facts = Facts()
    for condition in (
        Condition("==", n, minimum(12, n)),
        Condition("in", minimum(12, n), (1, 2)),
        Condition("in", minimum(12, n), (1, 4 * m)),
    ):
        facts.assume(condition)
    with using(facts):
        assert decided(Condition("in", n, (1, 4 * m))) is True


def test_equal_quotients_have_equal_quotients():
    facts = Facts()
    facts.assume(Condition("==", (n + 1) // 3, (m + 1) // 3))
    with using(facts):
        assert equal((n + 4) // 6, (m + 4) // 6) is True


def test_a_quotient_that_is_made_of_itself_is_put_in_normal_form():
    facts = Facts()
    facts.assume(Condition("==", (n + 2) // 3 - 3 * ((n + 2) // 9), 4 * m))
    with using(facts):
        assert decided(Condition("==", (n + 2) // 3 - 3 * ((n + 2) // 9), 4 * m)) is True


def test_a_rule_that_is_entered_anew_is_not_lost():
    facts = Facts()
    half = (n * m) // 2
    facts.assume(Condition("==", (n * m) % 2, 0))
    facts.assume(Condition("==", 2 * half, 2 * minimum(half, 6)))
    with using(facts):
        assert equal(n * m, 2 * minimum(half, 6)) is True


@pytest.mark.parametrize("turn", [1, -1])
def test_a_limit_of_a_quotient_is_a_limit_of_what_is_divided(turn):
    facts = Facts()
    for condition in [Condition(">=", k, 3), Condition("==", m // 3, k)][::turn]:
        facts.assume(condition)
    with using(facts):
        assert decided(Condition(">=", m, 9)) is True
        assert decided(Condition(">", 3 * (m // 9), 0)) is True


def test_a_rule_of_an_operation_holds_when_its_operands_are_written_otherwise():
    facts = Facts()
    facts.note(k, m, n)
    with collect():
        both, other = queries.broadcast(m, n), queries.broadcast(m, k)
    facts.assume(Condition("broadcasts", m, n))
    facts.assume(Condition("==", both, n))
    facts.assume(Condition("==", n, k))
    with using(facts):
        assert equal(other, k) is True


def test_an_operand_of_a_minimum_that_cannot_be_it_leaves_the_other_one():
    facts = Facts()
    facts.assume(Condition("==", minimum(12, minimum(2 * m, k)), 1))
    with using(facts):
        assert equal(k, 1) is True


def test_a_with_that_was_left_ends_later_without_touching_the_facts_of_others():
    def leave():
        left = using(Facts())
        left.__enter__()  # Ctrl-C may come before the body: the generator ends with the traceback
        with using(Facts()) as facts:
            left.gen.close()
            return current() is facts

    with ThreadPoolExecutor(1) as thread:  # which has facts of its own, and ends
        assert thread.submit(leave).result()
