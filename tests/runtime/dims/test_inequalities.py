"""Inequalities are found by their symbols, and no search follows what an example refutes."""

from __future__ import annotations

import random

import pytest

from dy2st_runtime.dims import symbol
from dy2st_runtime.dims.facts import Facts
from dy2st_runtime.dims.intervals import Inequalities
from dy2st_runtime.dims.order import _Proof
from dy2st_runtime.dims.samples import deep_symbols, examples, value_at

SYMBOLS = [symbol(f"n{i}", 0) for i in range(12)]


def nearest(size, facts):
    """Four rounds over all facts: those with a symbol that is known, which tell of others."""
    known, found, taken = set(deep_symbols(size)), [], set()
    for _ in range(4):
        near = [f for f in facts if id(f) not in taken and not known.isdisjoint(deep_symbols(f))]
        if not near or len(found) >= 32:
            break
        found += near
        taken.update(map(id, near))
        known.update(symbol for fact in near for symbol in deep_symbols(fact))
    return found[:32]


def same(left, right):
    """Whether the same sizes follow each other: each has one object."""
    return [*map(id, left)] == [*map(id, right)]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_near_is_found_by_symbols_in_the_order_in_which_it_was_said(seed):
    draw = random.Random(seed)
    sizes = [2 * a + b - draw.randrange(9) for a, b in (draw.sample(SYMBOLS, 2) for _ in range(50))]
    facts = list(dict.fromkeys(sizes))[: draw.choice((5, 50))]
    kept = Inequalities(facts[:3])
    for fact in facts[3:]:
        kept.near(draw.choice(SYMBOLS))  # what was asked before does not stay
        before, kept = kept, kept.copy()
        kept.append(fact)
        assert same([*before, fact], kept)
    for size in (*SYMBOLS, SYMBOLS[0] * SYMBOLS[5] // 3, 7):
        assert same(kept.near(size), nearest(size, facts))


@pytest.mark.parametrize("seed", range(4))
def test_those_of_a_size_share_a_symbol_with_it(seed):
    draw = random.Random(seed)
    sizes = [2 * a + b - draw.randrange(9) for a, b in (draw.sample(SYMBOLS, 2) for _ in range(9))]
    kept = Inequalities(sizes)
    for size in (*SYMBOLS, SYMBOLS[0] * SYMBOLS[5] // 3, 7):
        shared = [one for one in sizes if not {*deep_symbols(one)}.isdisjoint(deep_symbols(size))]
        assert same(kept.of(size), shared)
        assert kept.say_nothing_of(size) is (not shared)


def test_near_several_sizes_is_what_is_near_each_once():
    a, b, c, d = SYMBOLS[:4]
    facts = [a - b, c - d, b - 2, d - 3]
    kept = Inequalities(facts)
    assert same(kept.near(a, b, c), [a - b, b - 2, c - d, d - 3])


def test_what_was_said_is_not_said_again():
    a, b = SYMBOLS[:2]
    facts = Facts()
    for _ in range(3):
        facts.assume(2 * a >= b + 1)
    assert 2 * a - b - 1 in facts.inequalities and a - b not in facts.inequalities
    assert len([*facts.inequalities]) == 1


def test_examples_are_values_that_the_facts_allow():
    a, b, c = SYMBOLS[:3]
    facts = Facts()
    for condition in (a >= b + 3, b + c <= 9, c >= 2):
        facts.assume(condition)
    found = list(examples(a - c, facts))
    assert found
    for values in found:
        assert all(value_at(fact, values) >= 0 for fact in facts.inequalities)


def test_a_search_that_is_not_short_follows_no_goal_that_an_example_refutes():
    a, b = SYMBOLS[:2]
    for spent in (0, 10):
        proof = _Proof(a - b, Facts(), [])
        proof.steps -= spent
        before = proof.steps
        assert not proof.holds(a // 2 - b // 2, 3)
        assert (proof.steps < before) == (spent == 0)
