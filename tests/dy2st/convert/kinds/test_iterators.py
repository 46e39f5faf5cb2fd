"""Iterators and the tools of Python's library run in a trace as in Python."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import pickle
from functools import partial, reduce

import numpy as np
import pytest

import dy2st
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same


def positive(x):
    return [v for v in x if v > 0]


def ranges(x):
    n = x.shape[0]
    total = 0
    for i in range(1, n, 2):
        total += i
    for i in reversed(range(n)):
        total += i * 10
    return total, len(range(n)), list(range(n)), 2 in range(n), list(range(0, -n, -1))


def enumerated_from(x):
    total = 0.0
    for i, v in enumerate(x, 3):
        total = total + i * v
    return total, list(enumerate("ab", 1)), [i for i, _ in enumerate(positive(x), 5)]


def zipped(x):
    kept = positive(x)
    pairs = [a * b for a, b in zip(x, kept)]
    return pairs, list(zip([1, 2], "ab")), [i for _, i in zip(kept, range(100))]


def zipped_strictly(x):
    return [a + b for a, b in zip(positive(x), positive(-x), strict=True)]


def mapped_and_filtered(x):
    kept = list(map(lambda v: v * 2, positive(x)))
    small = list(filter(lambda v: v < 3, x))
    return (
        kept,
        small,
        list(map(int, ["1", "2"])),
        list(map(pow, [2, 3], [1, 2])),
        list(filter(None, [0, 1])),
    )


def taken(x):
    it = iter([1, 2, 3])
    first = next(it)
    kept = iter(positive(x))
    a, b = next(kept, None), next(kept, x[0])
    return first, list(it), next(iter([]), 7), b, a is None


def first_or_default(x):
    return next((v * 2 for v in x if v > 0.7), x[0] * 0), next(i for i, v in enumerate([0, 5]) if v)


def first_or_one_of_several(x):
    other = "none" if x[0] > 0.5 else None
    items = iter([v for v in x if v > 1.5])
    first = next(items, other)
    return first, next(items, first)


def first_of_nothing(x):
    return next(v for v in x if v > 3.5)


def generators(x):
    kept = (v * 2 for v in x if v > 0)
    return (
        sum(v for v in x),
        any(v > 2 for v in x),
        all(v > -3 for v in x),
        list(kept),
        max(v for v in x),
    )


def generators_of_generators(x):
    squares = (v * v for v in x)
    return sum(s + 1 for s in squares if s > 1), tuple(i for i in range(3)), {i for i in (1, 2)}


def reduced(x):
    return (
        reduce(lambda a, b: a * b, x),
        reduce(operator.add, positive(x), 1.0),
        reduce(max, [1, 3, 2]),
    )


def reduced_without_items(x):
    return reduce(lambda a, b: a + b, positive(x - 3))


def accumulated(x):
    sums = list(itertools.accumulate(x))
    return sums, list(itertools.accumulate(positive(x), max)), list(itertools.accumulate([1, 2, 3]))


def accumulated_from(x):
    return list(itertools.accumulate(x, lambda a, b: a + 2 * b, initial=x[0] * 0))


def chained(x):
    both = list(itertools.chain(positive(x), [x[0]]))
    nested = list(itertools.chain.from_iterable([[1, 2], [3]]))
    return both, nested, list(itertools.chain("ab", [1]))


def sliced(x):
    return list(itertools.islice(positive(x), 2)), list(itertools.islice(itertools.count(), 1, 4))


def combined(x):
    pairs = list(itertools.product([1, 2], "ab"))
    longest = list(itertools.zip_longest([1, 2], [3], fillvalue=0))
    some = [a + b for a, b in itertools.combinations([x[0], x[0] * 2, 1.0], 2)]
    return pairs, longest, some, list(itertools.permutations([1, 2])), list(itertools.repeat(1, 2))


def neighbours(x):
    return [b - a for a, b in itertools.pairwise(x)], list(itertools.pairwise([1, 2, 3]))


def grouped(x):
    return [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 3, 3], key=lambda v: v % 2)]


def while_they_hold(x):
    first = list(itertools.takewhile(lambda v: v > 0, x))
    return (
        first,
        list(itertools.dropwhile(lambda v: v > 0, x)),
        list(itertools.filterfalse(lambda v: v > 0, x)),
    )


def starred(x):
    return list(itertools.starmap(lambda a, b: a * b, [(x[0], 2), (x[0], 3)])), list(
        itertools.compress("abc", [1, 0, 1])
    )


def operators(x):
    return (
        operator.add(x, 1),
        operator.mul(2, 3),
        operator.lt(1, 2),
        operator.neg(x),
        operator.not_(0),
        operator.getitem([x], 0),
    )


class Box:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def scaled(self, factor, offset=0):
        return self.high * factor + offset


def getters(x):
    box = Box(x, x * 2)
    low, both = operator.attrgetter("low"), operator.attrgetter("low", "high")
    pairs = sorted([(2, "b"), (1, "a")], key=operator.itemgetter(0))
    scale = operator.methodcaller("scaled", 3, offset=1)
    return low(box), both(box), pairs, scale(box), operator.itemgetter(0, -1)([x, 1, 2])


def partials(x):
    double = partial(operator.mul, 2)
    scale = partial(lambda v, by, plus=0: v * by + plus, by=3)
    return double(x), scale(x), scale(x, plus=1), list(map(double, [1, 2])), double.args


@functools.cache
def settings(name):
    return {"scale": 2.0, "name": name}


def from_a_cache(x):
    return x * settings("a")["scale"]


@functools.cache
def doubled(v):
    return v * 2


def cached_of_a_tensor(x):
    return doubled(x) + doubled(3)


def attributes(x):
    box = Box(x, 1)
    setattr(box, "mid", x * 2)
    names = [n for n in ("low", "mid", "top") if hasattr(box, n)]
    delattr(box, "high")
    return (
        names,
        getattr(box, "mid"),
        getattr(box, "top", 5),
        hasattr(box, "high"),
        sorted(vars(box)),
    )


def attribute_of_one_path(x):
    box = Box(x, 1)
    if x.sum() > 3:
        box.extra = x * 2
    return getattr(box, "extra", x * 0), hasattr(box, "extra")


def classes(x):
    n, v = x.shape[0], x[0].item()
    kinds = isinstance(n, int), isinstance(v, float), isinstance(v, dy2st.Tensor), type(v) is float
    return (
        *kinds,
        isinstance(x, dy2st.Tensor),
        isinstance([], list),
        type(n) is int,
        issubclass(bool, int),
        callable(len),
    )


@functools.singledispatch
def described(value):
    return "other"


@described.register(int)
def _(value):
    return "a whole number"


def dispatched(x):
    return described(x.shape[0]), described(int(x[0])), described(float(x[0])), described("a")


def used_up(x):
    items = positive(x)
    iterators = [iter(items), enumerate(items), zip(items, x), map(abs, items), reversed(items)]
    more = [itertools.starmap(operator.add, zip(items, items)), itertools.pairwise(items)]
    whole = [list(one) for one in (*iterators, *more)]
    return whole, [next(one, "end") for one in iterators], [list(one) for one in more], list(x)


def used_up_one_by_one(x):
    rows, found, chosen = iter(x), [], enumerate([3, 1] if x[0] > 0 else [4])
    for row in rows:
        found.append(row)
        if row > 0:
            break
    for row in rows:
        found.append(row * 10)
    return found, next(rows, None), dict(chosen), list(chosen)


def used_up_in_a_branch(x):
    rows = iter(x)
    first = sum(rows) if x[0] > 0 else next(rows)
    return first, list(rows)


FUNCTIONS = (
    *(dispatched, used_up),
    *(ranges, enumerated_from, zipped, mapped_and_filtered, taken, first_or_default, generators),
    *(generators_of_generators, reduced, accumulated, accumulated_from, chained, sliced, combined),
    *(neighbours, grouped, while_they_hold, starred, operators, getters, partials, from_a_cache),
    *(cached_of_a_tensor, attributes, attribute_of_one_path, classes, first_of_nothing),
    *(reduced_without_items, zipped_strictly, first_or_one_of_several),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_tool_of_python_does_in_a_trace_what_it_does_in_python(function):
    same(function)


def test_the_cache_of_the_user_answers_when_it_has_changed():
    static = to_static(from_a_cache)
    x = dy2st.ones([2])
    assert float(static(x)[0]) == 2
    settings("a")["scale"] = 5.0
    try:
        assert float(static(x)[0]) == 5
    finally:
        settings.cache_clear()


def beside_cycles(x):
    begun, ended = itertools.cycle([1, 2, 3]), itertools.cycle("ab")
    names = [next(ended) for _ in range(3)]
    names.append(str(next(begun)))
    twos = [(v * one, name) for v, one, name in zip(x, itertools.cycle((2.0, 3.0)), ended)]
    return twos, [v * one for one, v in zip(begun, x)], [*zip(x, itertools.cycle([]))], names


def test_a_cycle_beside_an_unknown_length_goes_round_from_where_it_is():
    same(beside_cycles, sizes="unknown")


def given(items):
    yield from items


@pytest.mark.parametrize("made", [iter, itertools.cycle, given, lambda items: (v for v in items)])
def test_what_is_left_of_an_iterator_beside_an_unknown_length_is_refused(made):
    def read_on(x):
        items = made([1, 2, 3, 4, 5])
        return [a * b for a, b in zip(x, items)], next(items)

    refused(read_on, "a generator or iterator is read on later")


@pytest.mark.parametrize("function", [used_up_one_by_one, used_up_in_a_branch])
def test_what_is_taken_of_an_iterator_of_unknown_length_is_gone(function):
    same(function, sizes="unknown")


def next_of_a_list(x):
    items, found = iter([1.0, 2.0, 3.0]), []
    for v in x:
        if v > 1:
            found.append(next(items, 0.0))
    return found


def next_of_a_cycle(x):
    names = itertools.cycle(["a", "b"])
    now, found = next(names), []
    for v in x:
        if v > 2:
            now = next(names)
        found.append(now)
    return found


def next_row(x):
    rows, total = itertools.cycle(x), x.sum()
    for v in (1.0, 2.0, 3.0, 4.0):
        if total > v:
            total = total - next(rows)
    return total


def of_a_list_that_changes(x, over=iter):
    kept, found = [x[0], x[0] + 1, x[0] + 2], []
    items = over(kept)
    for v in (1.0, 2.0, 3.0):
        if kept[0] > v:
            found.append(next(items, (0, 0.0)))
        kept[1] = kept[1] + 10.0
        if v > 1:
            kept.append(kept[0])
    return found


def with_an_argument(x):
    items, found = iter(x.tolist()), []
    for v in items:
        found.append((v, next(items, None)) if v > 2 else (v, 0.0))
    return found


def pairs_until_the_end(x):
    items, found = iter(x.tolist()), []
    try:
        while True:
            v = next(items)
            found.append((v, next(items)) if v > 2 else (v, v))
    except StopIteration:
        return found


def numbered_ones(x):
    items, found = enumerate(x.tolist()), []
    for place, v in items:
        found.append(place)
        if v > 2:
            found.append(next(items, (-1, 0.0))[0])
    return found


def what_is_left(x):
    items = iter(x.tolist())
    for v in items:
        if v > 2:
            break
    return [*items]


def several_of_a_range(x):
    items, found = iter(range(40)), []
    for v in x:
        while v > 1:
            found.append(next(items))
            v = v - 1
    return found


def next_of_a_zip(x):
    pairs, total = zip([1.0, 2.0, 3.0], [0.5, 0.0, 0.5]), x.sum()
    for v in x:
        if v > 1:
            one, other = next(pairs, (0.0, 0.0))
            total = total + one * v - other
    return total


@pytest.mark.parametrize(
    "function",
    [
        *(next_of_a_list, next_of_a_cycle, next_row, with_an_argument, pairs_until_the_end),
        *(of_a_list_that_changes, lambda x: of_a_list_that_changes(x, enumerate)),
        *(lambda x: of_a_list_that_changes(x, lambda one: zip(one, one)),),
        *(numbered_ones, what_is_left, several_of_a_range, next_of_a_zip),
    ],
)
def test_a_tensor_may_decide_how_far_an_iterator_has_come(function):
    same(function, [1.0, 2.0, 3.0, 0.5], [2.0], [3.0, 3.0, 3.0, 1.0, 1.0], [0.1])


@pytest.mark.parametrize("over", [lambda one: one, enumerate, lambda one: zip(one, one), iter])
def test_what_makes_an_item_runs_when_it_is_taken(over):
    def f(x):
        asked, found = [], []

        def noted(k):
            asked.append(k)
            return k

        items = over(map(noted, [1, 2, 3, 4]))
        for v in x:
            if v > 2:
                found.append(next(items))
        return found, asked

    refused(f, "advanced in a branch", sizes="known")


def test_an_iterator_that_two_take_from_in_turn_is_refused():
    def pairs(x):
        rows = iter(x)
        return [a * b for a, b in zip(rows, rows)]

    refused(pairs, "a generator or iterator is read on later")


def test_a_list_that_is_gone_through_backwards_is_as_it_is_at_each_turn():
    def run():
        items = [1, 2, 3]
        last = reversed(items)
        items[0] = 9
        first = next(last)
        items.clear()
        return first, list(last)

    assert to_static(run)() == run() == (3, [])


def test_what_is_reversed_has_the_class_that_python_gives_it():
    def run():
        values = (range(3), (1, 2), "ab", {1: 2})
        return [(type(reversed(one)).__name__, list(reversed(one))) for one in values]

    assert to_static(run)() == run()


def test_a_map_holds_no_item_while_it_asks_for_the_next():
    def run():
        return len(set(map(id, enumerate("abc"))))

    assert to_static(run)() == run() == 1


def test_a_function_of_map_may_end_it():
    def run():
        items = iter([2, 0, 1])

        def halved(value):
            if not value:
                raise StopIteration
            return value / 2

        return list(map(halved, items)), list(items)

    assert to_static(run)() == run() == ([1.0], [1])


def test_map_asks_an_iterator_of_the_users_in_traced_form():
    class Counting:
        def __init__(self, value):
            self.value, self.turn = value, 0

        def __iter__(self):
            return self

        def __next__(self):
            self.turn += 1
            if self.turn > 2:
                raise StopIteration
            return self.value * 2 if self.value.sum() > 0 else self.value

    def run(x):
        return list(map(lambda one: one + 1, Counting(x)))

    same(run)


def test_an_iterator_of_unknown_length_may_be_made_at_every_iteration():
    @to_static(input_spec=[InputSpec([None]), InputSpec([None])])
    def run(a, b):
        found = 0
        for i, u in enumerate(a):
            for j, v in enumerate(zip(b, b)):
                found = found + (i + 1) * (j + 2) * u * v[1]
        return found

    a, b = np.array([1, 2, 3], "float32"), np.array([4, 5], "float32")
    want = sum((i + 1) * (j + 2) * u * v for i, u in enumerate(a) for j, v in enumerate(b))
    assert float(run(a, b)) == want


def test_an_iterator_that_was_listed_is_empty():
    @to_static(input_spec=[InputSpec([None])])
    def run(a):
        items = enumerate(a)
        return len(list(items)) + 100 * len(list(items)) + a.sum()

    assert float(run(np.array([1, 2, 3], "float32"))) == 9


def test_an_iterator_that_was_searched_goes_on():
    @to_static(input_spec=[InputSpec([None])])
    def run(a):
        items = iter(a)
        return 2.0 in items, sum(items)

    is_found, rest = run(np.array([1, 2, 3, 4], "float32"))
    assert is_found and float(rest) == 7


def islice_to_numbers(x):
    n, xs = int(x[0]) % 4, [x * 1, x * 2, x * 3, x * 4]
    many = [xs[int(abs(v)) % 4] for v in x]
    return (
        sum(itertools.islice(xs, n), x * 0),
        list(itertools.islice(range(9), n, n + 3)),
        [y.sum() for y in itertools.islice(many, n)],
    )


def test_islice_may_end_where_a_number_of_the_program_says():
    same(islice_to_numbers)


def test_islice_refuses_negative_numbers_as_python_does():
    same(lambda x: list(itertools.islice([1, 2, 3], int(x[0]))), [-1.0], [2.0])
    same(lambda x: list(itertools.islice([1, 2, 3], int(x[0]), None)), [-1.0], [2.0])


def behind_islice(x):
    items = iter([1, 2, 3])
    return list(itertools.islice(items, int(x[0]))), list(items)


def batches(x):
    items, found = iter(x.tolist()), []
    while batch := list(itertools.islice(items, 2)):
        found.append(sum(batch))
    return found


def records(x):
    items, found = iter(x.tolist()), []
    for size in items:
        found.append(list(itertools.islice(items, abs(int(size)))))
    return found


def header(x):
    lines = iter(x.tolist())
    for count, line in enumerate(lines):
        if line < 0:
            break
    else:
        count = -1
    return count, list(lines)


def some_of_a_slice(x):
    items, found = iter(x.tolist()), []
    for one in itertools.islice(items, 3):
        if one < 0:
            break
        found.append(one)
    if x[0] > 1:
        found += itertools.islice(items, 1)
    return found, list(items)


@pytest.mark.parametrize("function", [batches, records, header, some_of_a_slice])
def test_an_iterator_is_read_on_behind_what_has_taken_some_of_its_items(function):
    same(function, sizes="unknown")


def test_an_iterator_is_read_on_behind_islice_to_a_number_of_the_program():
    same(behind_islice, [2.0], [0.0], [5.0])


@pytest.mark.parametrize(
    "ask",
    [
        lambda items, some: (list(items), list(some)),
        lambda items, some: (list(some), list(some), list(items)),
        lambda items, some: (list(some), next(items, 0), list(some), list(items)),
        lambda items, some: (next(some, 0), list(items)),
    ],
)
def test_an_iterator_and_a_part_of_it_are_not_read_in_turn(ask):
    def f(x):
        items = iter(x.tolist())
        return ask(items, itertools.islice(items, 2))

    refused(f, "is read on later")


def in_ranges(x):
    k, v = int(x[0]), x[0].item()
    return (
        [k in range(3), k in range(-1, 9, 2), k in range(5, -5, -3), k in range(0), -k in range(4)],
        [v in range(4), v * 2 in range(1, 9, 2), k not in range(2)],
        x[0] in range(3),
    )


def test_whether_a_number_is_in_a_range_is_told_by_its_ends_and_steps():
    same(in_ranges, [1.0], [-1.0], [2.0], [0.5], [8.0], [5.0], [-4.0])


@pytest.mark.parametrize("step", [lambda items: items.send(None), lambda items: items.__next__()])
def test_a_generator_from_outside_is_not_advanced_by_its_methods(step):
    items = (x for x in range(3))
    with pytest.raises(UnsupportedSyntax, match="a generator from outside .* is advanced"):
        to_static(lambda x: x * step(items))(dy2st.ones([1]))
    assert next(items) == 0


class Counting:
    """An iterator of the user's own."""

    def __init__(self):
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.place += 1
        return self.place


@pytest.mark.parametrize(
    "take",
    [
        lambda items: list(zip(range(2), items)),
        lambda items: list(itertools.islice(items, 2)),
        lambda items: next(enumerate(items)),
        lambda items: [item for _, item in zip(range(2), items)],
    ],
)
def test_an_iterator_of_the_users_from_outside_goes_on(take):
    items, own = Counting(), Counting()
    static = to_static(lambda x: (x * 2, take(items)))
    assert [static(dy2st.ones([1]))[1] for _ in range(3)] == [take(own) for _ in range(3)]
    assert items.place == own.place


def test_tee_of_an_iterator_from_outside_is_refused():
    items = iter(range(3))
    with pytest.raises(UnsupportedSyntax, match="from outside .* is advanced"):
        to_static(lambda x: x * next(itertools.tee(items)[0]))(dy2st.ones([1]))
    assert next(items) == 0


class Countdown:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, place):
        if place >= self.n:
            raise IndexError
        return self.n - place


def twice(value):
    return value * 2


def test_iterators_are_of_the_classes_that_python_says():
    @to_static
    def f():
        items, own = [1, 2], Countdown(2)
        made = iter(items), reversed(items), iter(own), reversed(own), map(twice, items)
        return [type(one).__name__ for one in made]

    names = ["list_iterator", "list_reverseiterator", "iterator", "reversed", "map"]
    assert f() == names


def test_iterators_are_copied_and_pickled_where_they_are():
    def f():
        items, own = [1, 2, 3], Countdown(3)
        made = [iter(items), reversed(items), iter(own), reversed(own), map(twice, iter(items))]
        made.append(iter(int, 1))
        for one in made:
            next(one)
        made.append(iter(int, 0))
        alike, held = pickle.loads(pickle.dumps((made, items)))
        copied = copy.copy(made[0])
        held.append(7)
        items.append(8)
        alike += copied, *made
        return [list(itertools.islice(one, 9)) for one in alike]

    assert to_static(f)() == f()


def test_an_iterator_of_the_users_that_loses_its_next_ends_with_an_error():
    def f():
        class Once:
            def __iter__(self):
                return self

            def __next__(self):
                del Once.__next__
                return 1

        found = []
        try:
            for one in Once():
                found.append(one)
        except TypeError:
            found.append("error")
        return found

    assert to_static(f)() == f() == [1, "error"]


def test_an_iterator_that_ends_while_it_is_asked_is_at_its_end():
    def f():
        asked = []

        def ask():
            if asked:
                return 0
            asked.append(1)
            return list(made)

        made = iter(ask, 0)
        return list(made)

    assert to_static(f)() == f() == []


def test_what_an_iterator_goes_through_is_given_to_native_code_as_the_code_has_changed_it():
    own = Countdown(1)

    @to_static
    def f():
        own.n = own.n + 1
        made = iter([own]), enumerate([own]), zip([own]), map(twice, iter([own.n]))
        first, second, third, fourth = pickle.loads(pickle.dumps(made))
        return next(first).n, next(second)[1].n, next(third)[0].n, next(fourth)

    assert f() == (2, 2, 2, 4)
    assert f() == (3, 3, 3, 6)


def test_an_iterator_of_a_range_that_the_data_decides_goes_on_where_it_is():
    def f(x):
        made = iter(range(int(x.sum())))
        first = next(made)
        return first, [one * 2 for one in made], list(made)

    same(f, [1.0, 3.0], [1.0, 0.0])


@pytest.mark.parametrize(
    "make",
    [
        enumerate,
        reversed,
        itertools.pairwise,
        itertools.accumulate,
        lambda rows: zip(rows, range(9)),  # noqa: B905
        lambda rows: itertools.islice(rows, 1, None),
        lambda rows: itertools.accumulate(v for v in rows if v > -1),
    ],
)
def test_an_iterator_of_a_list_sees_what_is_put_into_it_before_it_is_asked(make):
    def f(x):
        rows = [v for v in x if v > 0]
        items = make(rows)
        rows.append(x[0] + 7)
        return list(items)

    same(f, [1.0, -2.0, 3.0], [0.5, 0.5, 0.5], [2.0, 1.0, -1.0])


def test_a_sentinel_that_the_data_give_ends_an_iterator():
    def f(x):
        place = 0

        def read():
            nonlocal place
            place += 1
            return int(x[place - 1])

        blocks = iter(read, 0)
        first, found = next(blocks, -1), []
        for number in blocks:
            found.append(number)
            if number == 1:
                break
        return first, found, list(blocks), next(blocks, -2), place

    calls = (
        [3.0, 1.0, 4.0, 0.0, 5.0, 9.0],
        [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 2.0, 1.0, 0.0, 0.0, 0.0],
    )
    same(f, *calls)
