"""Examples of sizes: found soon, they spare the search for a proof that is not there."""

from __future__ import annotations

from dy2st_runtime.dims import Condition, Facts, decided, maximum, symbol, using
from dy2st_runtime.dims.samples import sampled

h, w, n, m, k = (symbol(name) for name in "hwnmk")


def knowing(*conditions):
    facts = Facts()
    for condition in conditions:
        facts.assume(condition)
    return facts


def test_sizes_that_are_cut_into_windows_have_an_example():
    whole = Condition("==", h * w, 16 * (h // 4) * (w // 4))
    facts = knowing(whole, (h // 4) * (w // 4) >= 1)
    assert any(value < 0 for value in sampled(3 - h, facts))


def test_sizes_that_are_rounded_up_and_down_have_an_example():
    facts = knowing(h >= 4, k >= h // 4, k <= 4 * ((h + 12) // 16), m >= (k + 1) // 2, m <= k)
    assert any(value < 0 for value in sampled(-m, facts))


def test_a_size_beside_a_product_has_an_example():
    facts = knowing(h >= 4, n >= 1, m >= 50, n * (h // 4) >= 99 * m)
    assert any(value < 0 for value in sampled(60 - n, facts))


def test_an_example_fits_what_broadcasts():
    half = (h + 1) // 2
    facts = knowing(h >= 8, k >= h // 2, k <= half, Condition("broadcasts", k + 3, half + 3))
    assert any(value < 0 for value in sampled(3 - k, facts))


def test_examples_of_products_do_not_grow_without_end():
    u, v, w, x = (symbol(name, least) for name, least in zip("uvwx", (0, 0, 1, 1), strict=True))
    facts = knowing(w * u <= (x + u) * (6 - x), Condition("==", 0, w - maximum(x, u)))
    with using(facts):  # each turn squared the numbers of the last one
        assert decided(Condition("!=", v * maximum(0, w), u * (u % -3))) is None
    values = [value for example in facts.examples for value in example.values()]
    assert max(map(abs, values), default=0) < 1 << 63


def test_facts_that_no_number_fits_have_no_example():
    facts = knowing(n * n * n >= 2, 3 * n * n * n <= 2 * n * n + 3)
    assert list(sampled(n - 1, facts)) == []


def test_an_example_that_was_hard_to_find_serves_for_the_next_question_too():
    whole = Condition("==", h * w, 16 * (h // 4) * (w // 4))
    facts = knowing(whole, (h // 4) * (w // 4) >= 1)
    assert min(sampled(3 - h, facts)) < 0 and len(facts.examples) > 0
    known = facts.examples
    assert min(sampled(3 - w, facts)) < 0 and facts.examples is known


def test_an_example_that_a_later_fact_excludes_is_none_any_more():
    facts = knowing(h >= 4, k >= h // 4, k <= 4 * ((h + 12) // 16), m >= (k + 1) // 2, m <= k)
    assert min(sampled(-m, facts)) < 0 and len(facts.examples) > 0
    facts.assume(m + k <= 4)
    assert all(value <= 4 for value in sampled(m + k, facts))
