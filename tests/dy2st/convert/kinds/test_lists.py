"""Lists and deques, of Python and of a Program, do in a trace what they do in Python."""

from __future__ import annotations

from collections import deque

import pytest

from tests.dy2st.convert.kinds.same import refused, same


def positive(x):
    """A list whose length the data decides."""
    return [v for v in x if v > 0]


def inserted(x):
    kept = positive(x)
    kept.insert(0, x[0])
    kept.insert(100, x[0] * 2)
    kept.insert(-1, x[0] * 3)
    return kept


def inserted_at_a_place_that_a_tensor_tells(x):
    items = [x[0], x[0] * 2]
    items.insert(int(x[0]), x[0] * 3)
    return items


def removed(x):
    kept = positive(x)
    kept.append(x[0])
    kept.remove(x[0])
    return kept


def removed_from_a_list_of_python(x):
    items = [x[0] + 1, x[0], x[0] * 0 + 7]
    items.remove(x[0])
    return items


def not_there_to_be_removed(x):
    kept = positive(x)
    kept.remove(x[0] * 0 - 1)
    return kept


def place_and_count(x):
    kept = [x[0], *positive(x), x[0]]
    return kept.index(x[0]), kept.count(x[0]), [1, 2, 1].count(1), (1, 2).index(2)


def turned(x):
    kept = positive(x)
    kept.reverse()
    return kept


def sorted_in_place(x):
    kept = positive(x)
    kept.sort()
    return kept


def sorted_backwards_and_equal_ones_stay(x):
    pairs = [(v > 1, i) for i, v in enumerate(x)]
    pairs.sort(key=lambda pair: pair[0].astype("int64"), reverse=True)
    return pairs


def sorted_by_two_keys(x):
    pairs = [(i, v) for i, v in enumerate(x) if v > -10]
    pairs.sort(key=lambda pair: (-pair[1], pair[0]))
    return [i for i, _ in pairs]


def sorted_list_of_python(x):
    items = [x[0], x[0] - 1, x[0] * 0]
    items.sort(key=lambda v: -v)
    return items


def joined_and_repeated(x):
    kept = positive(x)
    kept += [x[0]]
    kept *= 2
    return kept + kept[:1], [x[0]] * x.shape[0], kept * 0


def slices(x):
    kept = [x[0], *positive(x)]
    return kept[1:], kept[:-1], kept[::-1], kept[-2:], kept[::2], kept[x.shape[0] // 2 :]


def slice_assigned(x):
    kept = [x[0], *positive(x)]
    kept[1:2] = [x[0] * 5, x[0] * 6]
    kept[-1:] = []
    return kept


def slice_deleted(x):
    kept = [x[0], *positive(x)]
    del kept[1:]
    del kept[0]
    return kept


def negative_indices(x):
    kept = [x[0], *positive(x)]
    kept[-1] = kept[-1] + 1
    return kept[-1], kept[0]


def popped(x):
    kept = [x[0], *positive(x), x[0] * 3]
    last, first = kept.pop(), kept.pop(0)
    return last, first, kept


def popped_from_empty(x):
    kept = positive(x)
    return kept.pop()


def emptied(x):
    kept = positive(x)
    kept.clear()
    kept.append(x[0])
    return kept


def copied(x):
    kept = positive(x)
    other = kept.copy()
    other.append(x[0])
    return kept, other


def compared(x):
    kept, other = positive(x), [v for v in x if v > 0]
    larger = [v for v in x if v > 1]
    return kept == other, kept != larger, kept == larger, kept == [x[0]]


def found(x):
    kept = positive(x)
    return x[0] in kept, 100 in kept, x[0] not in kept


def used_by_builtins(x):
    kept = [v * 2 for v in x if v > 0]
    total = 0.0
    for i, (a, b) in enumerate(zip(kept, reversed(kept))):
        total = total + a * b * i
    return total, len(kept), list(kept), tuple(kept), sum(kept, 1.0), list(reversed(kept))


def numbers_in_a_list(x):
    places = []
    for i in range(x.shape[0]):
        if x[i] > 0:
            places.append(i)
    places.append(7)
    return places, sum(places), 7 in places, places.index(7)


def window(x):
    last = deque(maxlen=2)
    for v in x:
        if v > 0:
            last.append(v)
    return list(last)


def both_ends_of_a_deque(x):
    d = deque(v for v in [x[0]])
    for v in x:
        if v > 0:
            d.appendleft(v)
    d.rotate(1)
    first = d.popleft()
    d.extend([first, first * 2])
    d.extendleft([first * 3, first * 4])
    d.rotate(-2)
    return list(d), len(d), first


def bounded_deque_gets_items_at_its_left(x):
    d = deque([x[0]], maxlen=2)
    for v in x:
        if v > 0:
            d.appendleft(v)
    return list(d), d.maxlen


def grown_in_a_branch(x):
    items = [x[0]]
    if x.sum() > 3:
        items.insert(0, x[0] * 2)
        items.reverse()
    return items


class Place:
    """A place in a list that computes where it is."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return int(self.number.sum() > 0)


def places_that_compute_where_they_are(x):
    place, items = Place(x), [x[0], x[0] * 2, x[0] * 3]
    items[place] = items[place] * 10
    del items[place]
    return items, (x[0], x[0] * 2)[place]


def no_places(x, index):
    def words(change, owner):
        try:
            change(owner)
        except TypeError as error:
            return str(error)
        return "taken"

    def put(owner):
        owner[index] = 1

    def cut(owner):
        del owner[index]

    owners = [1, 2], deque([1]), positive(x)
    return [[words(one, owner) for one in (lambda o: o[index], put, cut)] for owner in owners]


FUNCTIONS = (
    *(inserted, inserted_at_a_place_that_a_tensor_tells, removed, removed_from_a_list_of_python),
    *(not_there_to_be_removed, place_and_count, turned, sorted_in_place, sorted_by_two_keys),
    *(sorted_backwards_and_equal_ones_stay, sorted_list_of_python, joined_and_repeated, slices),
    *(slice_assigned, slice_deleted, negative_indices, popped, popped_from_empty, emptied, copied),
    *(compared, found, used_by_builtins, numbers_in_a_list, window, grown_in_a_branch),
    places_that_compute_where_they_are,
)
NEED_GENERATORS = (both_ends_of_a_deque, bounded_deque_gets_items_at_its_left)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_list_does_in_a_trace_what_it_does_in_python(function):
    same(function)


@pytest.mark.parametrize("index", ["x", 1.5, None, ()], ids=repr)
def test_an_index_that_is_none_is_refused_in_pythons_words(index):
    same(lambda x: no_places(x, index))


def test_a_text_of_the_data_is_no_index_either():
    same(lambda x: no_places(x, f"{x.sum()}"))


def test_a_slice_with_a_step_is_not_assigned_where_the_length_is_unknown():
    def stepped(x):
        kept = positive(x)
        kept[::2] = [x[0]]
        return kept

    refused(stepped, "a slice with a step is assigned")


def test_two_lists_of_a_program_are_compared_as_pythons():
    same(lambda x: 1 if positive(x) < positive(x * 2) else 0)
    same(lambda x: 1 if positive(x) >= positive(x[1:]) else 0)


def words(method, *args):
    try:
        return method(*args)
    except (ValueError, IndexError, TypeError) as error:
        return type(error).__name__, str(error)


def test_what_is_not_there_is_said_in_the_words_of_the_type():
    def function(x):
        known, data = [int(x[0])], [int(v) for v in x if v > 0]
        methods = [one.index for one in (known, data, tuple(known), tuple(data), deque(data))]
        methods += [one.remove for one in (known, data, deque(known), deque(data))]
        return [words(method, 7) for method in methods]

    same(function)


def test_the_words_for_an_empty_list_or_deque_are_those_of_the_type():
    def function(x):
        none = [v for v in x if v > 100]
        turned = deque(none)
        methods = none.pop, turned.pop, turned.popleft
        return [words(one) for one in methods], words(none.pop, 0)

    same(function)


def test_a_bool_or_float_tensor_is_no_index():
    def function(x):
        items, data = [1, 2, 3], [v for v in x if v > 0]
        one = x[0]
        is_positive = one > 0
        asked = items.__getitem__, data.__getitem__, items.pop
        words_of_range = words(lambda: list(range(one)))
        return (
            [words(method, is_positive) for method in asked],
            words(asked[0], one),
            words_of_range,
        )

    same(function)
