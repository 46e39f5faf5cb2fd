"""Views of dicts show what the dict holds when they are asked, also behind a branch."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import KeysView

import pytest

from tests.dy2st.convert.kinds.same import refused, same


def taken_before_the_branch(x):
    d = {"a": 1}
    keys, values, items = d.keys(), d.values(), d.items()
    if x.sum() > 0:
        d["b"] = 2
    return len(keys), "b" in keys, sorted(keys), list(values), len(values), dict(items)


def truth_of_a_view(x):
    d = {}
    keys = d.keys()
    if x.sum() > 0:
        d["a"] = 1
    return 1 if keys else 2


def members(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    pairs = ("a", 1) in d.items(), ("b", 2) in d.items(), ("b", 3) in d.items()
    return pairs, 2 in d.values(), "b" in d.keys(), "c" not in d.keys()


def as_sets(x):
    d = {"a": 1}
    e = {"a": 2, "c": 3}
    if x.sum() > 0:
        d["b"] = 2
    equal = d.keys() == {"a", "b"}, {"a"} != d.keys(), d.keys() == e.keys()
    order = d.keys() >= {"a"}, {"a", "b"} <= d.keys(), d.keys() < {"a", "b"}
    found = d.keys() & {"b"}, d.keys() | e.keys(), {"b", "c"} - d.keys(), d.keys() ^ {"a"}
    return equal, order, [sorted(one) for one in found], d.keys().isdisjoint({"b"})


def with_what_is_no_set(x):
    d, e = {"a": 1}, {"p": 1}
    if x.sum() > 0:
        d["b"] = 2
    found = d.keys() | ["c"], d.keys() & ("a", "b"), e.keys() - ["p"], e.keys() ^ ["q"]
    return [sorted(one) for one in found], d.keys() == ["a"], e.keys() != ["p"]


def pairs_as_sets(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    both = {"a": 1, "b": 2}.items()
    return d.items() == both, d.items() <= both, sorted(d.items() & both), sorted(both - d.items())


def kinds_of_sets(x):
    keys, other, changed = {"a": 1}.keys(), frozenset({"a", "b"}), frozenset({"a"})
    changed &= keys
    from_left = other & keys, other | keys, other - keys, other ^ keys, ["a"] & keys, changed
    from_right = keys & other, keys | other, keys - other, keys ^ other, keys & ["a"]
    return [(type(one).__name__, sorted(one)) for one in (*from_left, *from_right)]


def pairs_without_a_hash(x):
    d, e = {"a": [1]}, {"a": [1], "b": [2]}
    if x.sum() > 0:
        d["b"] = [2]
    equal = d.items() == e.items(), d.items() != e.items()
    order = d.items() <= e.items(), d.items() < e.items(), e.items() > d.items()
    found = d.items() & {"a": [3]}.items(), ("b", [2]) in d.items(), ("c", [2]) in d.items()
    apart = [d.items().isdisjoint(one) for one in (e.items(), [("a", [])])]
    return equal, order, [*found], apart


def pairs_of_tensors(x):
    d, e = {1: x.sum(), 2: x.min()}, {1: x.sum() * 1, 2: x.max()}
    first, second = {1: d[1]}.items(), {1: e[1]}.items()
    return d.items() == e.items(), first == second, first <= e.items(), first.isdisjoint(second)


class Equal:
    """Equal to each of its class with a number of the same sign: it has no hash."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return bool((self.number > 0) == (other.number > 0))


def pairs_of_objects(x):
    d, e = {1: Equal(x.sum())}, {1: Equal(x[0])}
    return d.items() == e.items(), d.items() <= e.items()


def failing_pairs(x):
    class Failing:
        def __eq__(self, other):
            raise LookupError("no comparison")

    d, e = {1: Failing()}, {1: Failing()}
    questions = (
        *(lambda: d.items() == e.items(), lambda: d.items() != e.items()),
        *(lambda: d.items() <= e.items(), lambda: d.items() - e.items()),
        *(lambda: ([], 1) in d.items(), lambda: {1: []}.items() & {1: []}.items()),
    )
    found = []
    for question in questions:
        try:
            found.append(question())
        except (LookupError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def of_other_dicts(x):
    d, c = OrderedDict(a=1, b=2), Counter("aab")
    keys, counts = d.keys(), c.values()
    if x.sum() > 0:
        d.pop("a")
        c["z"] += 4
    return list(keys), list(reversed(d.items())), sum(counts), set(keys) == {"b"}


def keys_of_the_program(x):
    d = {int(x[0]): 1}
    keys = d.keys()
    d[int(x[0]) + 1] = 2
    return len(keys), sorted(keys), 2 in keys, keys == {2, 3}


def changed_in_a_loop(x):
    d = {"a": x}
    values = d.values()
    while d["a"].sum() < 100:
        d["a"] = d["a"] + 10
    return [value * 2 for value in values]


def of_a_class(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return type(d.keys()).__name__, isinstance(d.keys(), KeysView), isinstance(d.keys(), list)


FUNCTIONS = {
    one.__name__: one
    for one in (
        *(
            taken_before_the_branch,
            truth_of_a_view,
            members,
            as_sets,
            pairs_as_sets,
            with_what_is_no_set,
        ),
        *(kinds_of_sets, pairs_without_a_hash, pairs_of_tensors, pairs_of_objects, failing_pairs),
        *(of_other_dicts, keys_of_the_program, changed_in_a_loop, of_a_class),
    )
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_view_shows_what_the_dict_holds_now(name):
    same(FUNCTIONS[name])


def of_one_that_a_branch_has_filled(x):
    shown = {0: 1}.values()
    if x.sum() > 0:
        table = {}
        for i, v in enumerate(x):
            table[i] = v
        shown = table.values()
    return list(shown)


def of_one_that_a_branch_holds(x):
    return list({0: x[0]}.items() if x.sum() > 0 else {0: 2.0, 1: x[0]}.items())


KNOWN = {5: 1}


def of_one_that_lies_beside_one_from_outside(x):
    tables = [KNOWN, {}]
    current = tables[1]
    for v in x:
        current[int(v)] = 1
        if v > 2:
            current = {}
            tables.append(current)
    return [sum(one.values()) for one in tables]


OF_BRANCHES = (of_one_that_a_branch_has_filled, of_one_that_a_branch_holds)


@pytest.mark.parametrize("function", OF_BRANCHES, ids=lambda one: one.__name__)
def test_a_view_of_a_dict_that_a_branch_has_made_is_refused_behind_it(function):
    refused(function, r"\(\) of a dict is used behind the branch or loop that has made the dict")


def test_a_view_of_one_of_several_dicts_is_that_of_each_of_them():
    same(of_one_that_lies_beside_one_from_outside, [1.0, 2.0, 3.0], [-1.0, -2.0], [3.0, -1.0, 0.0])


def test_the_text_of_a_view_that_a_branch_decides_is_refused():
    def shown(x):
        d = {"a": 1}
        if x.sum() > 0:
            d["b"] = 2
        return str(d.keys())

    refused(shown, "the text of a dict_keys")
