"""Dicts and sets whose keys the data decides do in a trace what they do in Python."""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict, deque
from typing import NamedTuple

import pytest

import dy2st
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.convert.kinds.same import VALUES, refused, same


def counts(x):
    d = {}
    for v in x:
        d[int(v)] = d.get(int(v), 0) + 1
    return d, len(d)


def counts_by_default(x):
    d = defaultdict(int)
    for v in x:
        d[int(v) % 2, bool(v > 0)] += 1
    return d, d[5, False], max(d.values())


def known_and_computed_keys(x):
    d = {0: x.sum(), 7: x.sum() * 2}
    d[int(x[0])] = x.max()
    return d, d[7], int(x[0]) in d, 99 in d


def groups(x):
    d = defaultdict(list)
    for v in x:
        d[int(v)].append(v * 2)
    return dict(d), {k: len(v) for k, v in d.items()}


def set_by_default(x):
    d = {}
    for v in x:
        d.setdefault(int(v), []).append(v)
    return list(d), [len(one) for one in d.values()]


def deleted(x):
    d = {int(v): v for v in x}
    first = d.pop(int(x[0]))
    return first, d.pop(77, None), d, d.popitem() if d else None, len(d)


def not_there(x):
    d = {int(v): v for v in x}
    del d[int(x.max()) + 1]
    return d


def not_there_but_caught(x):
    d = {int(v): v for v in x}
    try:
        return d[int(x.sum())]
    except KeyError:
        return x.sum()


def merged(x):
    d = {int(v): v for v in x}
    d.update({100: x[0], int(x[0]): x.sum()})
    d.update([(int(x[0]) + 1, x.min())], name=x.max())
    return d, {**d, "z": x.min()}, OrderedDict(d), d == dict(d), d == {1: x[0]}


def asked_of_views(x):
    d = {1: 2, 3: 4}
    return int(x[0]) in d.keys(), (int(x[0]), 4) in d.items(), 2 in d.values(), 5 in d.keys()


def compared(x):
    a, b = {int(v): 1 for v in x}, {int(v): 1 for v in reversed(list(x))}
    ordered = OrderedDict(a) == OrderedDict(b), OrderedDict(a) == b
    return a == b, a != b, *ordered, a == {}, {} == a, a == 3


def in_order(x):
    d = {int(v): v for v in x}
    return (
        sorted(d.items(), key=lambda pair: pair[0]),
        max(d, key=lambda k: d[k]),
        list(reversed(d)),
    )


def least_recently_used(x):
    d = OrderedDict()
    for v in x:
        key = int(v) % 3
        if key in d:
            d.move_to_end(key)
        d[key] = v
        if len(d) > 2:
            d.popitem(last=False)
    return d


def changed_while_going_through(x):
    d = {int(v): v for v in x}
    for k, v in d.items():
        d[k] = v * 2
    return d


def longer_while_going_through(x):
    d = {int(v): v for v in x}
    for k in d:
        d[k + 100] = x[0]
    return d


def in_the_order_of_use(x):
    d = OrderedDict(a=x, b=x * 2)
    if x.sum() > 3:
        d.move_to_end("a")
    return d, list(d), d["a"]


def set_again_where_it_may_be_missing(x):
    d = {"a": x, "b": x}
    if x.sum() > 3:
        del d["a"]
    d["a"] = x * 2
    return d


def set_before_another_where_it_may_be_missing(x):
    d = {}
    if x.sum() > 3:
        d["a"] = x
    d["b"] = x
    d["a"] = x * 2
    return d


def joined_from_the_left(x):
    d = OrderedDict()
    for v in x:
        d[int(v)] = v
    return {1: x[0]} | d, list({50: x[0]} | d)


def emptied_behind_copies(x):
    d, s, q = defaultdict(float), set(), deque(maxlen=2)
    for v in x:
        d[int(v)] += float(v)
        s.add(int(v))
        q.append(v)
    copies = d.copy(), sorted(s.copy()), q.copy()
    for one in (d, s, q):
        one.clear()
    q.extend([x[0], x[0], x[0]])
    return d, sorted(s), q, copies, d[50], copies[0][50]


def names_that_branches_choose(x):
    d = {}
    for v in x:
        name = "up" if v > 0 else "down"
        d[name] = d.get(name, 0) + v
    return d


def an_outside_cache():
    held = {1: 1.0}

    def step(x):
        held[int(x[0])] = x.sum()
        return len(held)

    return step


def seen(x):
    found = set()
    for v in x:
        if int(v) not in found:
            found.add(int(v))
    return found, len(found), sorted(found), max(found), 1 in found


def names_in_a_set(x):
    found = {"always"}
    for v in x:
        found.add("up" if v > 0 else "down")
    return found, len(found), "up" in found


def changed_sets(x):
    found = {int(v) for v in x}
    found.discard(int(x[0]))
    found.discard(99)
    found.update([1, int(x[0]) + 5])
    return found, bool(found), found == {1}


def counted(x):
    c = Counter()
    for v in x:
        c[int(v)] += 1
    return c, c[99], c.most_common(1), c.total(), 99 in c, len(c), Counter(int(v) for v in x) - c


def counted_names(x):
    c = Counter(a=3, up=1)
    for v in x:
        c["up" if v > 0 else "down"] += 1
    c.update(["a", "b"])
    c.subtract({"a": 2})
    c += Counter(["z", "z"])
    return c, c["up"], c["missing"], c.most_common(2), c.copy() + Counter("zzy")


def two_counters(x):
    c, other = Counter(int(v) for v in x), Counter([1, 2, 2])
    both = c | other
    return both, c & other, c == other, c <= both, other < both, -c, sorted(c.elements())


def counted_in_a_branch(x):
    c = Counter("aab")
    if x.sum() > 3:
        c["b"] += 2
        c["c"] += 1
    return c["b"], c["c"], c["d"], sum(c.values())


def two_sets(x):
    a, b = {int(v) for v in x}, {1, 2, 3}
    return a | b, a & b, a - b, a ^ b, a <= (a | b), a < a, a == set(a), a.isdisjoint({50})


def sets_in_place(x):
    a = {int(v) for v in x}
    a |= {5}
    a &= {int(x[0]), 5, 6}
    a.difference_update([6])
    return a


def removed_but_not_there(x):
    a = {int(v) for v in x}
    a.remove(50)
    return a


def visited(x):
    stack, done = [0], set()
    while stack:
        i = stack.pop()
        if i in done:
            continue
        done.add(i)
        for j in range(3):
            if x[0] + j > i and j not in done:
                stack.append(j)
    return sorted(done)


def sets_of_neighbours_in_order(x):
    near = defaultdict(set)
    near[1].add(0)
    place = int(x[0])
    near[2].add(place)
    near[place].add(2)
    return [(one, sorted(of)) for one, of in sorted(near.items())]


def the_oldest_of_those_that_may_be_there(x):
    held, gone = OrderedDict(), []
    for place, value in enumerate(x):
        if value > 0.5:
            held[place] = value
        if len(held) > 1:
            gone.append(held.popitem(last=False)[0])
    return list(held), gone


def texts_of_which_some_are_known(x):
    places, counts = defaultdict(list), Counter()
    for place, value in enumerate(x):
        key = f"bar {int(value)}" if value > 0 else "rest"
        places[key].append(place)
        counts[key, bool(value > 2)] += 1
    return places, counts, "rest" in places


def sets_of_several_sizes_as_entries(x):
    near = defaultdict(set)
    near[1].add(0)
    for value in x:
        near[int(value)].add(1)
        near[2].add(int(value))
    return {one: len(of) for one, of in near.items()}


def entries_of_several_kinds(x):
    moves, left = {0: ("start",)}, {}
    for place, value in enumerate(x):
        moves[place + 1] = "up" if value > 0 else ("down", 2)
        if value > 1:
            left[place] = None if value > 2 else [value]
    kinds = [str(type(one).__name__) for one in left.values()]
    return moves, moves[1], kinds, 0 in left


FUNCTIONS = (
    sets_of_neighbours_in_order,
    the_oldest_of_those_that_may_be_there,
    texts_of_which_some_are_known,
    sets_of_several_sizes_as_entries,
    entries_of_several_kinds,
    *(counts, counts_by_default, known_and_computed_keys, groups, set_by_default, deleted),
    *(
        not_there,
        not_there_but_caught,
        merged,
        compared,
        asked_of_views,
        in_order,
        least_recently_used,
    ),
    *(changed_while_going_through, longer_while_going_through, in_the_order_of_use),
    *(set_again_where_it_may_be_missing, set_before_another_where_it_may_be_missing),
    *(joined_from_the_left, emptied_behind_copies),
    *(names_that_branches_choose, seen, names_in_a_set, changed_sets, two_sets, sets_in_place),
    *(removed_but_not_there, visited, counted, counted_names, two_counters, counted_in_a_branch),
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_the_data_put_in_is_what_python_puts_in(function):
    same(function, sizes="unknown")
    same(function, VALUES[0], sizes="known")


@pytest.mark.parametrize("data", [[1.0, 2.0], [3.0, 1.0]])
def test_a_dict_from_outside_gets_the_keys_at_each_call(data):
    same(an_outside_cache(), data, sizes="unknown")


def test_a_copy_of_such_a_dict_holds_the_same_lists():
    def copied(x):
        d = {int(v): [v] for v in x}
        e = d.copy()
        e[int(x[0])].append(x[0] * 2)
        return d, e, d[int(x[0])] is e[int(x[0])]

    same(copied)


class Named:
    def __init__(self, cost, name):
        self.cost, self.name = cost, name

    def __lt__(self, other):
        return self.cost < other.cost

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


def test_objects_of_a_list_that_the_data_orders_are_no_keys():
    def names(x):
        held = []
        for cost, name in ((x.max(), "a"), (x.min(), "b"), (x.sum(), "c")):
            heapq.heappush(held, Named(cost, name))
        heapq.heappop(held)
        return len({one for one in held})

    refused(names, "gets a key that is a tensor or object")


class Bigram(NamedTuple):
    left: int
    right: int


def ranked_bigrams(x):
    ranks = {Bigram(1, 2): 0, Bigram(2, 2): 1}
    words = x.tolist()
    pairs = [Bigram(*pair) for pair in zip(words, words[1:])]
    return [ranks.get(pair, -1) for pair in pairs], [(2, 2) in ranks, pairs[0] in ranks]


def counted_bigrams(x):
    counts = {}
    for pair in zip(x.tolist(), x.tolist()[1:]):
        counts[Bigram(*pair)] = counts.get(pair, 0) + 1
    return counts.get((2, 2), 0), len(counts), Bigram(1, 2) in {Bigram(*x.tolist()[:2])}


@pytest.mark.parametrize("function", [ranked_bigrams, counted_bigrams])
def test_a_namedtuple_of_traced_numbers_is_a_key_as_its_tuple_is(function):
    static = to_static(function)
    for values in ([1, 2, 2, 2], [2, 2, 2, 2], [0, 1, 2, 5]):
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))
    assert len(static.program_cache) == 1


def test_a_key_is_looked_for_once_until_the_dict_changes():
    def counted(x):
        d = {}
        for v in x:
            key = int(v)
            if key in d:
                d[key] += 1
            else:
                d[key] = 1
        return d

    x = dy2st.to_tensor([2, 1, 2, 3, 1])
    converted = to_static(counted, input_spec=[dy2st.static.InputSpec([None], "int64")])
    assert comparable(converted(x)) == comparable(counted(x))
    assert str(converted.main_program).count('"dy2st.while"') == 2  # over x, and over the keys


def texts_as_keys(x):
    """As code names layers, columns and groups by their numbers."""
    sums, groups, seen = {"y0": 0.5}, {}, set()
    for place, v in enumerate(x):
        name = f"y{place // 2}"
        sums[name] = sums.get(name, 0.0) + v.item()
        groups.setdefault(("a", str(int(v) % 2)), []).append(place)
        if f"{int(v)}|" in seen:
            sums.pop(name)
        seen.add(f"{int(v)}|")
    named = {f"layer_{place}": v for place, v in enumerate(x)}
    return sums, "y1" in sums, groups, len(seen), named, named[f"layer_{x.shape[0] - 1}"]


def test_a_text_with_integers_in_it_is_a_key_as_any_other_is():
    same(texts_as_keys, sizes="unknown")
    same(lambda x: {f"x{int(x[0])}": x}[f"x{int(x[-1])}"])
