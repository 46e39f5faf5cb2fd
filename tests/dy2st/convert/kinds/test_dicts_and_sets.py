"""Dicts and sets do in a trace what they do in Python."""

from __future__ import annotations

import random
from collections import OrderedDict, defaultdict
from functools import partial
from types import SimpleNamespace

import pytest

from dy2st.convert.polyfills.methods import in_table
from tests.dy2st.convert.kinds.same import refused, same


def positive(x):
    return [v for v in x if v > 0]


def got(x):
    d = {"a": x, 1: x + 1}
    return d.get("a"), d.get("b"), d.get("b", x * 2), d.get(1), "a" in d, "b" in d, len(d)


def set_by_default(x):
    d = {"a": x}
    return d.setdefault("a", 1), d.setdefault("b", x * 2), d


def popped(x):
    d = {"a": x, "b": x + 1, "c": x + 2}
    return d.pop("a"), d.pop("z", 7), d.popitem(), d


def missing(x):
    return {"a": x}["b"]


def missing_in_a_pop(x):
    return {"a": x}.pop("b")


def updated(x):
    d = {"a": x}
    d.update({"b": x + 1}, c=x + 2)
    d.update([("d", 1)])
    d |= {"e": 2}
    return d, d | {"a": 0}, {**d, "a": 1}, {"z": 0} | d


def views(x):
    d = {"a": x, "b": x * 2}
    total = x * 0
    for k, v in d.items():
        total = total + v * len(k)
    return total, list(d), list(d.keys()), list(d.values()), sorted(d), "a" in d.keys()


def made(x):
    pairs = [("a", x), ("b", 1)]
    return (
        dict(pairs),
        dict(a=x),
        dict({"a": x}, b=2),
        dict.fromkeys("ab", 0),
        dict(zip("ab", x[:2])),
    )


def copied(x):
    d = {"a": [x]}
    other = d.copy()
    other["b"] = 1
    other["a"].append(x * 2)
    return d, other


def emptied(x):
    d = {"a": x}
    d.clear()
    d["b"] = x
    del d["b"]
    return d, not d


def compared(x):
    d = {"a": 1, "b": [2]}
    return d == {"b": [2], "a": 1}, d != {}, {"a": x[0]} == {"a": x[0] + 0}


def compared_of_one_of_two(x):
    n = int(x[0])
    d = {"a": 1, "c": n} if n > 0 else {"b": 2, "c": n}
    e = {"b": 2, "c": n + 1} if n > 1 else {"b": 2, "c": n}
    wide = {"a": 1, "b": 2, "c": n}
    held = d == {"a": 1, "c": 2}, {"b": 2} == d, wide == d, d != wide, d == d, d == e
    return held, {"a": 1 if n > 0 else 2} == {"a": 2}, [d] == [e]


def compared_with_an_entry_of_one_branch(x):
    d = {"a": 1}
    if x[0] > 0:
        d["b"] = 2
    e = [{"a": 1, "b": 2}, {"b": 2}]
    if x[0] > 1:
        del e[0]["b"]
    return d == {"a": 1}, d != {"b": 2, "a": 1}, d in e, e.count(d), d == e[0], d == 3, d == {}


def changed_in_a_branch(x):
    d = {"a": x, "n": 0}
    if x.sum() > 3:
        d["a"] = d["a"] * 2
        d["n"] += 1
    else:
        d.update(a=x * 3)
    return d


def lists_by_key(x):
    d = defaultdict(list)
    for v in x:
        d["all"].append(v)
        if v > 0:
            d["positive"].append(v)
    return dict(d) if "positive" in d else None


def lists_by_known_keys(x):
    d = {"all": [], "positive": []}
    for v in x:
        d["all"].append(v)
        if v > 0:
            d["positive"].append(v)
    return d, len(d["positive"])


def counted(x):
    d = defaultdict(int)
    for name in ("a", "b", "a"):
        d[name] += 1
    return dict(d), d.default_factory is int


def ordered(x):
    d = OrderedDict(a=x, b=x * 2, c=1)
    d.move_to_end("a")
    first = d.popitem(last=False)
    return list(d), first, d


def looked_up_by_a_number_of_the_run(x):
    d = {0: x, 1: x * 2, 3: x * 3}
    n = int(abs(x[0])) % 2
    return d[n], d.get(n, 0), d.get(n + 5, x), n in d, n + 5 in d


def no_such_number(x):
    return {7: x}[int(x[0])]


def sets(x):
    s = {1, 2}
    s.add(3)
    s.discard(9)
    s.remove(1)
    s.update([4], (5,))
    t = s | {6}
    s -= {2}
    return s, t, s & t, t - s, s ^ {3, 8}, s <= t, s == {3, 4, 5}, 3 in s, len(t), sorted(t)


def set_methods(x):
    s = set([1, 2, 2]) | frozenset([3])
    s.difference_update([1])
    return s, s.union([9]), s.intersection([2]), s.issubset({2, 3, 4}), s.isdisjoint({7}), s.copy()


def number_of_the_run_in_a_set(x):
    n = int(x[0])
    return n in {1, 2, 3}, n in {-1, 4}, n not in {100}, x.shape[0] in {4, 5}


def tensors_in_a_set(x):
    y = x * 2
    seen = {x, y}
    return x in seen, len(seen), x + 1 in seen


def a_set_that_a_branch_changes_alike(x):
    seen = {0}
    if x.sum() > 3:
        seen.add(1)
        y = x
    else:
        seen.add(1)
        y = x * 2
    return y, 1 in seen, len(seen)


def looked_up_by_one_of_two_names(x):
    k = "a" if x.sum() > 3 else "c"
    d = {"a": x, "b": x * 2}
    return d.get(k, x * 3), k in d, k in {"a", "z"}


def popped_by_one_of_two_names(x):
    k = "a" if x.sum() > 3 else "c"
    d = {"b": x * 2, "a": x}
    return d.pop(k, 7), "b" in d


FUNCTIONS = (
    *(looked_up_by_one_of_two_names, popped_by_one_of_two_names),
    *(got, set_by_default, popped, missing, missing_in_a_pop, updated, views, copied, emptied),
    *(compared_of_one_of_two, compared_with_an_entry_of_one_branch),
    *(compared, changed_in_a_branch, lists_by_known_keys, counted, ordered, no_such_number),
    *(looked_up_by_a_number_of_the_run, sets, set_methods, number_of_the_run_in_a_set),
    *(tensors_in_a_set, a_set_that_a_branch_changes_alike),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_dict_or_set_does_in_a_trace_what_it_does_in_python(function):
    same(function)


def test_a_dict_is_made_of_a_tensor_of_known_length():
    same(made, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], sizes="known")


def emptied_or_not(x):
    table = {0: 1, 2: 3}
    if x[0] > 0:
        del table[0]
    return table


def asked_of_what_may_be_missing(x):
    try:
        return emptied_or_not(x)[int(x[-1])]
    except KeyError:
        return -5


def followed(x):
    after = {2: 7}
    if x[0] > 1:
        after[0] = 2
    path = [0]
    while path[-1] in after:
        path.append(after[path[-1]])
    return path


@pytest.mark.parametrize(
    "function",
    [
        asked_of_what_may_be_missing,
        followed,
        lambda x: emptied_or_not(x).get(int(x[-1]) // 3 * 3 - 3, 9),
        lambda x: [i in emptied_or_not(x) for i in (int(x[-1]), int(x[0]) - 1, 2)],
        lambda x: {int(x[-1]): 4, 0: 9} | emptied_or_not(x),
        lambda x: {**{int(x[-1]): 4, 0: 9}, **emptied_or_not(x)},
    ],
)
def test_an_entry_that_a_branch_has_deleted_is_found_under_no_traced_key(function):
    same(function, [1.0, -2.0, 0.0], [-1.0, -2.0, 0.0], [2.0, 2.0, 2.0], [-4.0, 1.0, 5.0])


def test_update_takes_a_dict_or_pairs_whichever_it_is():
    def updated(x):
        d = {"a": x.sum()}
        d.update({"p": 1.0, "a": x.max()} if x[0] > 0 else [("p", 2.0)])
        return d, list(d)

    same(updated, [2.0, 1.0], [-2.0, 1.0])


def test_a_list_of_pairs_is_no_mapping():
    def tried(run):
        try:
            return run()
        except TypeError as error:
            return str(error).rpartition("must be")[2] or "no mapping"

    def displayed(x):
        pairs = [("a", x)]
        return tried(lambda: {"b": 1, **pairs}), tried(lambda: dict(**pairs)), {**dict(pairs)}

    same(displayed, [2.0, 1.0])


def test_dicts_whose_entries_may_be_missing_are_equal_as_those_of_python():
    def compared(x):
        one, other, known = OrderedDict(p=1), OrderedDict(p=1), {"p": 1, "q": 2.0}
        if x.sum() > 0:
            one["q"] = 2.0
            other["q"] = float(x[0])
        if x[0] > 1:
            other["p"] = other.pop("p")
        return one == other, one != other, one == known, dict(one) == dict(other), other == one

    same(compared, [2.0, 1.0], [1.0, 1.0], [-2.0, 1.0], [3.0, -4.0])


class Registry(dict):
    pass


def key_of_a_registry(x):
    registry = Registry()
    registry[int(x[0])] = x
    return registry


def key_asked_of_a_registry(x):
    return Registry({1: x}).get(int(x[0]))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (key_of_a_registry, "a traced number is a key of a Registry"),
        (key_asked_of_a_registry, "a traced number is a key of a Registry"),
        (lambda x: int(x[0]) in Registry({1: x}), "a traced number is a key of a Registry"),
        (lambda x: {f"{x[0]}": x}, "a text with values of tensors"),
        (lambda x: {f"{int(v)}": 1 for v in x}.get(f"{x[0]}"), "a text with values of tensors"),
        (lambda x: set(positive(x)), "gets a key that is a tensor"),
        (lambda x: dict([(v, v) for v in x if v > 0]), "gets a key that is a tensor"),
        (lambda x: hash(int(x[0])), "a traced number is a key of a dict or set"),
        (lambda x: frozenset([int(x[0])]), "a frozenset is made of elements"),
        (lambda x: list({float(v) for v in x}), "goes through a set"),
    ],
)
def test_what_the_program_cannot_compare_or_put_in_order_is_refused(function, words):
    refused(function, words)


@pytest.mark.parametrize(
    "function",
    [
        lambda found: (sum(found), sum(v * 2 for v in found if v > 1)),
        lambda found: (any(v > 3 for v in found), all(v > 0 for v in found)),
        lambda found: any((v ^ 1) in found or v & 4 for v in found),
        lambda found: (max((v % 3 for v in found), default=0), sorted(v - 1 for v in found)),
        lambda found: [sum(1 for v in found if i in (v, v + 1)) for i in range(3)],
        lambda found: sorted(set(v // 2 for v in found)),
    ],
)
def test_a_set_is_gone_through_where_its_order_says_nothing(function):
    same(lambda x: function({int(v) for v in x if v > 0}))


MADE = defaultdict(int)


@pytest.mark.parametrize(
    "function",
    [
        lambda found: sum(0.1 * v for v in found),
        lambda found: sum(MADE[v] for v in found),
        lambda found: any(6 // (v - 2) for v in found),
        lambda found: sorted((v for v in found), key=lambda v: v % 2),
        lambda found: (list(found), [v * 2 for v in found], max(found, key=lambda v: v % 3)),
        lambda found: [found.add(v + 1) for v in found],
    ],
)
def test_ints_that_were_put_into_a_set_one_by_one_are_gone_through_as_in_python(function):
    same(lambda x: function({int(v * 8 - 3) for v in x if v > 0}))


def lost_in_a_branch(x):
    found = {int(v) for v in x}
    if x.sum() > 0:
        found.discard(int(x[0]))
    return list(found)


def lost_in_a_loop(x):
    found, seen = set(), []
    for v in x:
        found.add(int(v))
        seen.extend(found)
        if v > 2:
            found.remove(int(v))
    return seen


def lost_before(x):
    found = set()
    found.add(1)
    found.remove(1)
    found.update([int(v) for v in x])
    return list(found)


def put_in_again(x):
    found = {0, 8}
    if x.sum() > 0:
        found.clear()
        found.add(8)
        found.add(0)
    return list(found)


def one_after_the_other(x):
    found, seen = set(), []
    for v in x:
        found.add(int(v) * 9)
        seen.extend(found)
        if v > 2:
            found.clear()
    return seen


@pytest.mark.parametrize(
    "function",
    [
        *(lost_in_a_branch, lost_in_a_loop, lost_before, put_in_again),
        lambda x: sum({int(v) for v in x}.pop() for v in x),
        lambda x: list({int(v) for v in x} | {1}),
        lambda x: list({int(v) for v in x}.copy()),
        lambda x: list(set({int(v) for v in x})),
        lambda x: list(set({int(v): v for v in x})),
    ],
)
def test_a_set_that_has_lost_elements_or_was_made_at_once_has_no_known_order(function):
    refused(function, "goes through a set")


def taken_from_a_range(x):
    free, pairs = set(range(len(x))), []
    for v in x:
        costs = {place: abs(float(v - x[place] * 2)) for place in free}
        best = min(costs, key=costs.get)
        if costs[best] < 3:
            free.remove(best)
            pairs.append(best)
        if not free:
            break
    return pairs, [place for place in free]


def taken_from_small_ints(x):
    alive, left = {6, 2, 4, 1}, []
    for v in x:
        alive.discard(int(v))
        left.append(list(alive))
    return left


@pytest.mark.parametrize("function", [taken_from_a_range, taken_from_small_ints])
def test_a_range_that_has_lost_elements_stays_in_order(function):
    same(function)


def taken_and_put_back(x):
    alive = set(range(len(x)))
    for v in x:
        alive.discard(int(v))
        alive.add(int(v) + 1)
    return list(alive)


def test_a_range_that_gets_elements_back_has_no_known_order():
    refused(taken_and_put_back, "goes through a set")


def test_a_set_is_gone_through_while_it_grows():
    same(one_after_the_other)


def test_ints_are_put_into_the_table_as_python_puts_them():
    draw = random.Random(3)
    for size in (3, 8, 30, 400):
        for most in (40, 10**6, 2**63 - 1):
            items = [draw.randint(-most, most) // 8 * 8 for _ in range(size)]
            assert in_table([*dict.fromkeys(items)]) == [*set(items)]


def shrunk(x):
    found = set(range(10))
    for k in (0, 2, 3, 4, 5, 6, 7, 9):
        found.discard(k)
    if x.sum() > 0:
        found.discard(77)
        first = list(found)
    else:
        first = [0, 0]
    return first, list(found)


def of_constants(x):
    found, more = {1, 2, 3, 4, 16}, {x.ndim, 2, 3, 4, 16}
    if x.sum() > 0:
        found.add(5)
        return list(found), list(more)
    more.add(5)
    return list(found), list(more)


@pytest.mark.parametrize("function", [shrunk, of_constants])
def test_a_set_that_a_branch_changes_is_gone_through_as_in_python(function):
    same(function)


def keys_that_one_branch_gives(x):
    table = {"a": 1}
    if x[0] > 0:
        table["b"] = 2
    return table


def matched_by_such_a_key(x):
    match keys_that_one_branch_gives(x):
        case {"b": value}:
            return value
    return x


def matched_with_the_rest(x):
    match keys_that_one_branch_gives(x):
        case {"a": 1, **rest}:
            return rest
    return x


def matched_by_a_number_of_the_run(x):
    match {int(v): v for v in x}:
        case {1: value}:
            return value
    return x


def test_a_mapping_pattern_that_asks_for_keys_of_one_branch_is_refused():
    refused(matched_by_such_a_key, "whose entry 'b' may be missing")
    refused(matched_with_the_rest, "whose entry 'b' may be missing")
    refused(matched_by_a_number_of_the_run, "a dict whose keys depend on a tensor")


def test_a_mapping_pattern_takes_the_keys_that_are_there_on_all_paths():
    def run(x):
        match keys_that_one_branch_gives(x):
            case {"c": value} | {"a": value}:
                return value

    same(run)


def test_a_set_that_is_asked_who_it_is_still_finds_its_elements():
    def function(x):
        changed = {1, 2, 3}
        first = changed
        if x[0] > 0:
            changed.add(4)
            changed.discard(1)
        else:
            changed = changed - {1}
            changed.add(9)
        return changed is first, 4 in first, 1 in first, 9 in changed

    same(function)


def test_an_entry_that_may_be_missing_comes_last_where_it_was():
    def function(x):
        found = {"p": 1}
        if x[0] > 0:
            found["y"] = 1
        found["q"] = 2
        updated, joined = found.copy(), found.copy()
        updated.update(y=3)
        joined |= {"y": 4}
        every = found | {"y": 5}, {**found, "y": 6}, {**found, **every_key}, dict(found, y=7)
        return [list(one) for one in (updated, joined, *every)]

    every_key = {"y": 8, "z": 9}
    same(function)


def test_keys_may_have_the_names_of_our_own_parameters():
    def function(x):
        named = dict(trace=x, owner=1, named=2, others=3)
        named.update(trace=4, owner=5)
        with_factory = defaultdict(list, trace=6, factory=7)
        held = partial(dict, trace=8, args=9, function=10)(owner=x[0])
        return named, dict(with_factory), held, SimpleNamespace(trace=11).trace

    same(function)
