"""Generator expressions, map, filter, zip and enumerate make an item when somebody asks for it."""

import random
from itertools import chain, count, pairwise, takewhile

import pytest

import dy2st
from dy2st.errors import Dy2stError, UnsupportedSyntax
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import same
from tests.dy2st.jit.tensor_programs import define
from tests.effort import effort

X = dy2st.to_tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def logged(function, convert=lambda function: function):
    """What a function of a tensor and a list gives, and what it has put into the list."""
    log = []

    def run(x):
        return function(x, log)

    return convert(run)(X).tolist(), log


def check(function, sizes=(3, 2)):
    spec = [InputSpec(sizes, "float32", "x")]
    assert logged(function, lambda one: to_static(one, input_spec=spec)) == logged(function)


def two_generators_side_by_side(x, log):
    left = (log.append(("left", i)) or i for i in range(3))
    right = (log.append(("right", i)) or i for i in range(3))
    for pair in zip(left, right):  # noqa: B905
        log.append(pair)
    return x


def rows_side_by_side(x, log):
    for _ in zip((log.append("l") or row for row in x), (log.append("r") or row for row in x)):  # noqa: B905
        log.append("body")
    return x


def one_item_and_another(x, log):
    items = (log.append(i) or i for i in range(5))
    next(items)
    log.append("between")
    next(items)
    return x


def one_generator_twice(x, log):
    items = (log.append(i) or i for i in range(4))
    for pair in zip(items, items):  # noqa: B905
        log.append(pair)
    return x


def rows_that_a_function_takes(x, log):
    for _ in filter(lambda row: log.append("asked") or True, x):
        log.append("body")
    return x


def a_shorter_list_beside(x, log):
    for pair in zip([1, 2], (log.append(i) or i for i in range(9))):  # noqa: B905
        log.append(pair)
    return x


def what_is_bound_later(x, log):
    factor = 1
    pairs = zip((row * factor for row in x), (row + factor for row in x))  # noqa: B905
    factor = 5
    return sum(one * other for one, other in pairs)


@pytest.mark.parametrize("sizes", [(3, 2), (None, 2)], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "function",
    [
        two_generators_side_by_side,
        rows_side_by_side,
        one_item_and_another,
        one_generator_twice,
        rows_that_a_function_takes,
        a_shorter_list_beside,
        what_is_bound_later,
    ],
    ids=lambda one: one.__name__,
)
def test_an_item_is_made_when_it_is_asked_for(function, sizes):
    check(function, sizes)


def the_first_that_fits(x, log):
    return next(v for v in x[0] if log.append("asked") or v > -1)


def the_first_that_fits_or_none(x, log):
    found = next((v for v in x[0] if log.append("asked") or v > 7), None)
    return x[1] if found is None else found


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
@pytest.mark.parametrize("function", [the_first_that_fits, the_first_that_fits_or_none])
def test_the_first_item_is_made_alone(function, sizes):
    check(function, sizes)


def two_of_those_that_fit(x, log):
    kept = filter(lambda v: log.append("asked") or v > -1, x[0])
    return next(kept) + next(kept)


def those_that_fit_beside_numbers(x, log):
    for v, i in zip((log.append("made") or v for v in x[0] if v > -1), range(1)):  # noqa: B905
        x = x + v * i
    return x


def those_that_fit_in_front_of_others(x, log):
    for v in chain(
        (log.append("left") or v for v in x[0]), (v for v in x[1] if log.append("right") or 1)
    ):
        log.append("body")
        x = x + v
    return x


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
@pytest.mark.parametrize(
    "function",
    [those_that_fit_beside_numbers],
)
def test_items_that_change_something_before_python_makes_them_are_refused(function, sizes):
    spec = [InputSpec(sizes, "float32", "x")]
    with pytest.raises(UnsupportedSyntax, match="gives items one by one") as found:
        logged(function, lambda one: to_static(one, input_spec=spec))
    assert "gather all items in a list first" in str(found.value)


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
def test_a_second_item_is_refused_where_making_the_first_changed_something(sizes):
    spec = [InputSpec(sizes, "float32", "x")]
    with pytest.raises(UnsupportedSyntax, match="gives items one by one"):
        logged(two_of_those_that_fit, lambda one: to_static(one, input_spec=spec))


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
def test_what_is_chained_is_made_when_it_is_asked_for(sizes):
    check(those_that_fit_in_front_of_others, sizes)


def items_until_one_does_not_fit(x, log):
    kept = takewhile(lambda v: v < 1, (log.append("made") or v for v in x[0]))
    return sum(kept, x[1, 0])


def those_that_fit_until_one_does_not(x, log):
    kept = takewhile(lambda v: v < 1, (log.append("made") or v for v in x[0] if v > -1))
    return sum(kept, x[1, 0])


@pytest.mark.parametrize(
    "function", [items_until_one_does_not_fit, those_that_fit_until_one_does_not]
)
def test_no_item_is_made_behind_the_last_that_takewhile_asks_for(function):
    counted = []

    def run(x):
        made = []
        return function(x, made), len(made)

    for x in (X, -X, X + 1):
        counted.append(run(x)[1])
        found = to_static(run)(x)
        assert (found[0].tolist(), found[1]) == (run(x)[0].tolist(), counted[-1])
    assert len({*counted}) > 1


def counted_without_end(log):
    number = 0
    while True:
        log.append(number)
        yield number
        number += 1


def two_names_for_items_without_end(x, log):
    try:
        first, second = counted_without_end(log)
    except ValueError:
        return x
    return x + first + second


def two_names_for_an_iterator_of_numbers(x, log):
    numbers = count(3)
    try:
        first, second = numbers
    except ValueError:
        log.append(next(numbers))
        return x
    return x + first + second


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
@pytest.mark.parametrize(
    "function", [two_names_for_items_without_end, two_names_for_an_iterator_of_numbers]
)
def test_names_ask_for_one_item_more_than_there_are_names(function, sizes):
    check(function, sizes)


def a_set_that_has_none(x, log):
    items = (log.append(one) or one for one in (1, 2, 3))
    return x if {2, 5}.isdisjoint(items) else x + 1


def keys_of_which_it_has_none(x, log):
    items = (log.append(one) or one for one in "abc")
    return x if {"b": x}.keys().isdisjoint(items) else x + 1


def a_set_that_has_all(x, log):
    items = (log.append(one) or one for one in (1, 9, 2))
    return x if {1, 2}.issuperset(items) else x + 1


@pytest.mark.parametrize("sizes", [(3, 2), (None, None)])
@pytest.mark.parametrize(
    "function", [a_set_that_has_none, keys_of_which_it_has_none, a_set_that_has_all]
)
def test_a_set_asks_for_no_item_behind_the_one_that_decides(function, sizes):
    check(function, sizes)


def expression(draw, depth):
    """An iterable of numbers, or of rows, that logs when it makes an item."""
    name = f"'{draw.choice('abcdefgh')}'"
    inner = lambda: expression(draw, depth + 1)  # noqa: E731
    ways = ["x", "range(3)", "[1, 2, 3]", "(1, 2)"]
    if depth < 3:
        ways += [
            f"(log.append({name}) or v for v in {inner()})",
            f"(log.append({name}) or v for v in {inner()})",
            f"map(lambda v: log.append({name}) or v, {inner()})",
            f"(v for v, _ in zip({inner()}, {inner()}))",
            f"(v for _, v in enumerate({inner()}))",
            f"filter(lambda v: log.append({name}) or True, {inner()})",
            f"(v for v in {inner()} if log.append({name}) or v is not None)",
            f"iter({inner()})",
        ]
    return draw.choice(ways)


def statement(draw):
    items = expression(draw, 0)
    return draw.choice(
        [
            f"for v in {items}:\n        log.append('body')",
            f"items = iter({items})\n    next(items)\n    log.append('next')\n    next(items)",
            f"for v in zip({items}, {expression(draw, 0)}):\n        log.append('body')",
            f"first, *rest = {items}\n    log.append(len(rest))",
            f"kept = list({items})\n    log.append('kept')",
            f"for v in {items}:\n        log.append('body')\n        if len(log) > 7:\n            break",
        ]
    )


def program_of(seed):
    draw = random.Random(seed)
    lines = [statement(draw) for _ in range(draw.randint(1, 3))]
    return "def f(x, log):\n" + "".join(f"    {line}\n" for line in lines) + "    return x\n"


@pytest.mark.parametrize("seed", range(effort(40, 1000)))
def test_a_random_program_makes_items_in_the_order_of_python(seed):
    text = program_of(seed)
    function = define("import dy2st\n" + text, f"<items {seed}>")
    expected = logged(function)
    try:
        found = logged(function, to_static)
    except Dy2stError:
        return
    assert found == expected, text


def changed_number(x, make):
    least = 1.0
    items = make(v for v in x if v > least)
    least = 5.0
    return list(items)


def changed_list(x, make):
    rows = [v for v in x if v > 0]
    items = make(v for v in rows if v > 1)
    rows.append(x[0] + 7)
    return list(items)


def changed_attribute(x, make):
    class Limits:
        least = 1.0

    limits = Limits()
    items = make(v for v in x if v > limits.least)
    limits.least = 5.0
    return list(items)


def changed_by_the_body(x, make):
    least, found = 1.0, []
    for item in make(v for v in x if v > least):
        least = least + 1
        found.append(item)
    return found


def next_before(items):
    return chain([next(items, 0.0)], items)


@pytest.mark.parametrize("sizes", ["known", "unknown"])
@pytest.mark.parametrize(
    "function", [changed_number, changed_list, changed_attribute, changed_by_the_body]
)
@pytest.mark.parametrize(
    "make",
    [chain, enumerate, pairwise, next_before, lambda items: zip(items, range(3))],  # noqa: B905
)
def test_an_item_is_made_of_what_is_there_when_it_is_asked_for(function, make, sizes):
    calls = [1.0, -2.0, 3.0, 0.5, 7.0], [9.0, 6.0, 2.0, 5.5, 1.0]
    try:
        same(lambda x: function(x, make), *calls, sizes=sizes)
    except UnsupportedSyntax as error:
        assert "is read on later, after a change of what it reads" in str(error)


def test_a_change_is_seen_however_deep_it_lies_behind_a_generator():
    def function(x):
        held = [2.0]
        nest = held
        for _ in range(12):
            nest = [nest]

        def innermost():
            one = nest
            for _ in range(12):
                one = one[0]
            return one[0]

        items = (v * innermost() for v in x if v > 0)
        first = next(items)
        held[0] = 5.0
        return first, list(items)

    with pytest.raises(UnsupportedSyntax, match="after a change of what it reads"):
        to_static(function)(dy2st.to_tensor([1.0, -1.0, 2.0]))


def test_the_first_item_is_made_before_another_one_raises():
    def checked(v):
        if v > 6:
            raise ValueError
        return v

    def first(x):
        try:
            return next((checked(v) for v in x if v > 0.7), 0.0)
        except ValueError:
            return x[0]

    same(first, [1.0, -2.0, 7.0], [9.0, 6.0, 2.0], [-1.0, 0.0, 0.0])
