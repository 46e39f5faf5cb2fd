"""enumerate(), zip() and others over a list that a tensor chooses: each loop has the items of that list."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ConversionError
from tests.dy2st.catalogue.comparing import comparable

VALUES = ([2.0, 2.0], [-1.0, 2.0], [3.0, 3.5], [-3.0, 0.0])


def lists(x):
    short, long = [1, 2], [x * 2, x, x + 1]
    return short if x.sum() > 3 else long


def tuples(x):
    return (x, 2.0) if x[0] > 0 else (x.sum(), 3.0, x + 1)


def kept_or_replaced(x):
    chosen = [0, 0]
    if x.sum() > 3:
        chosen = [int(x.argmax())] * 2
    return chosen


def dicts(x):
    return {1: x, 2: x + 1} if x.sum() > 3 else {3: x}


def one_or_more(x):
    return range(3) if x[1] > 1 else [5.0]


def in_a_loop(x, make):
    total = x * 0
    for place, one in enumerate(make(x), start=1):
        total = total + place * one
    return total


def in_a_branch(x, make):
    chosen = make(x)
    if x[0] > 1:
        for place, one in enumerate(chosen):
            x = x + place * one
    return x


def left_early(x, make):
    for one, place in zip(make(x), [1, 2, 3]):
        if (x + one).sum() > 4:
            return x + one, place
    return None


def in_comprehensions(x, make):
    chosen = make(x)
    pairs = [x + a * b for a, b in zip(chosen, chosen)]
    return sum(pairs), sum(a + x for _, a in enumerate(chosen)), len(pairs)


def in_a_while(x, make):
    steps = 0
    while steps < 2 and x.sum() < 50:
        for place, one in enumerate(make(x)):
            x = x + 1 + abs(one) * place
        steps += 1
    return x, steps


def given_to_a_function(x, make):
    return len(list(enumerate(make(x)))), sum(v[0] for v in zip(make(x), x))


def beside_another_choice(x, make):
    other = [1.0, 2.0] if x[0] < 0 else [3.0, 4.0, 5.0]
    total = x
    for a, b in zip(make(x), other):
        total = total + a * b
    return total


MAKES = (lists, tuples, kept_or_replaced, dicts, one_or_more)
WAYS = (in_a_loop, in_a_branch, left_early, in_comprehensions, in_a_while, given_to_a_function)


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("way", (*WAYS, beside_another_choice))
def test_the_items_are_those_of_the_chosen_list(way, make):
    static = to_static(way)
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert comparable(static(x, make)) == comparable(way(x, make))
    assert len(static.program_cache) == 1


def test_one_of_several_is_gone_through_beside_its_rest():
    def pairs_of_letters(x):
        words, count = {tuple("abc"[int(v) % 3] for v in x): 2, ("a", "b"): 1}, 0
        for _ in range(2):
            for word in words:
                for one, other in zip(word, word[1:]):
                    count += 1 + (one == "a") + (other == "b")
            if count > 9:
                break
            words = {tuple([letter for letter in word if letter != "b"]): 1 for word in words}
        return count

    static = to_static(pairs_of_letters)
    for values in VALUES:
        x = dy2st.to_tensor([*values, 3.0])
        assert static(x) == pairs_of_letters(x)


def letters(x):
    word = "cafe" if x.sum() > 3 else "bad"
    found = [place * (letter == "a") for place, letter in enumerate(word)]
    pairs = [a + b for a, b in itertools.pairwise(word)] + [a + b for a, b in zip(word, "xyz")]
    return found, pairs, list(itertools.chain(word, "!")), list(itertools.islice(word, 1, 3))


def test_so_are_those_of_a_text_that_a_tensor_chooses():
    static = to_static(letters)
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert static(x) == letters(x)


def test_a_list_that_grows_before_it_is_gone_through_backwards_is_refused():
    def backwards(x):
        found = [1, 2, 3]
        items = reversed(found if x.sum() > 3 else (4, 5))  # begins at the end that there is now
        found.append(9)
        return list(items)

    with pytest.raises(ConversionError, match="advanced in a branch"):
        to_static(backwards)(dy2st.to_tensor(VALUES[0]))


def test_an_iterator_is_not_taken_twice():
    def twice(x):
        pairs = enumerate(lists(x))
        for place, one in pairs:
            x = x + place * one
        return x, list(pairs)

    with pytest.raises(ConversionError, match="advanced in a branch"):
        to_static(twice)(dy2st.to_tensor(VALUES[0]))


def test_nor_once_in_a_branch_and_again_behind_it():
    def again(x):
        pairs = zip(lists(x), lists(x + 1))
        if x[0] > 0:
            for one, other in pairs:
                x = x + one * other
        for one, _ in pairs:
            x = x + one
        return x

    with pytest.raises(ConversionError, match="advanced in a branch"):
        to_static(again)(dy2st.to_tensor(VALUES[0]))


class Successors(dy2st.nn.Layer):
    """Counts which number follows which, in Counters from before the call and new ones."""

    def __init__(self):
        super().__init__()
        self.counts, self.last = defaultdict(Counter), None

    def forward(self, x):
        found = []
        for one in x.tolist():
            if self.last is not None:
                self.counts[self.last][one] += 1
            self.last = one
            known = self.counts.get(one)
            if known:
                found.append(min(known.items(), key=lambda pair: (-pair[1], pair[0]))[0])
        return found


def test_a_view_of_one_of_several_dicts_is_that_of_the_one_that_it_is():
    eager, static = Successors(), to_static(Successors())
    for values in ([1, 2, 1], [3], [2, 2, 1, 4], [1, 2]):
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(eager(x))


class Asked:
    def __init__(self, items):
        self.held, self.count = items, 0

    def items(self):
        self.count += 1
        return self.held


def test_a_method_of_the_users_of_that_name_is_called_once():
    def run(x):
        short, long = Asked([1, 2]), Asked([3])
        items = (short if x.sum() > 3 else long).items()
        return sum(items), short.count, long.count

    static = to_static(run)
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(run(x))
