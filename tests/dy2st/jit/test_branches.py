"""What a branch makes, looks at, changes, reads outside and raises."""

from __future__ import annotations

import collections
import itertools
from types import ModuleType

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.dims import symbol

UP = [1.0, 2.0]


class Numbers(list):
    pass


def generator():
    yield from range(5)


def add_to_list_like(value):
    value.append(1)


THINGS = {
    "set": (set, lambda value: value.add(1)),
    "deque": (collections.deque, add_to_list_like),
    "bytearray": (bytearray, add_to_list_like),
    "subclass of list": (Numbers, add_to_list_like),
    "defaultdict": (lambda: collections.defaultdict(int), lambda value: value["a"]),
    "Counter": (collections.Counter, lambda value: value.update("a")),
    "iterator of a list": (lambda: iter([1, 2]), next),
    "iterator of a dict": (lambda: iter({1: 2}), next),
    "count": (itertools.count, next),
    "generator": (generator, next),
}


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_that_a_branch_makes_may_change_in_it(name):
    make, change = THINGS[name]

    def choose(x):
        if x.sum() > 0:
            change(make())
            x = x * 2
        return x

    assert to_static(choose)(dy2st.to_tensor(UP)).numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", THINGS)
def test_a_thing_that_is_only_looked_at_is_no_obstacle(name):
    make, _ = THINGS[name]

    def choose(x):
        thing = make()
        if x.sum() > 0:
            x = x * 2 if thing is not None else x
        return x

    assert to_static(choose)(dy2st.to_tensor(UP)).numpy().tolist() == [2.0, 4.0]


class Deep:
    shared: list[int] = []  # noqa: RUF012

    def __init__(self, inner):
        self.inner = inner

    def push(self):
        self.inner.inner.append(1)

    def share(self):
        self.shared.append(1)


def test_lists_deep_inside_of_objects_are_joined():
    def choose(x):
        deep = Deep(Deep([]))
        if x.sum() > 0:
            deep.push()
        return x * len(deep.inner.inner)

    static = to_static(choose)
    found = [static(dy2st.to_tensor(values)).numpy().tolist() for values in (UP, [-1.0, -2.0])]
    assert found == [UP, [0.0, 0.0]]


def test_variables_and_attributes_of_functions_are_joined():
    def with_attribute(x):
        def note():
            note.calls = 1

        note.calls = 0
        if x.sum() > 0:
            note()
        return x * note.calls

    def with_variable(x):
        calls = 0

        def note():
            nonlocal calls
            calls += 1

        if x.sum() > 0:
            note()
        return x * calls

    for choose in (with_attribute, with_variable):
        static = to_static(choose)
        for values in (UP, [-1.0, -2.0]):
            x = dy2st.to_tensor(values)
            assert static(x).numpy().tolist() == choose(x).numpy().tolist()


# -- what a branch reads ---------------------------------------------------------------------------


LIST: list[object] = []

SETTINGS = ModuleType("settings_of_this_test")

exec("items, table = [], {}\ndef note(): items.append(1)", vars(SETTINGS))


def test_what_a_branch_only_reads_on_such_a_way_is_no_concern():
    def f(x):
        if x.sum() > 0:
            x = x + len(SETTINGS.items) + len([k for k in LIST])
        return x

    assert to_static(f)(dy2st.to_tensor([1.0])).tolist() == [1.0]


def test_what_a_library_keeps_for_itself_is_no_concern():
    from re import compile as pattern
    from secrets import token_hex  # draws from a generator without a state

    def f(x, take=token_hex):
        if x.sum() > 0:
            x = x + len(pattern(f"a+b{len(LIST)}c*").pattern)
        return x

    assert to_static(f)(dy2st.to_tensor([1.0])).tolist() == [7.0]


def test_a_size_whose_text_a_branch_asks_for_keeps_it():
    def padded(first, second):
        longest = max(len(first), len(second))
        if len(first) < longest:
            first = dy2st.concat([first, dy2st.zeros([longest - len(first)])])
        return first

    spec = InputSpec([None])
    static = to_static(padded, [spec, spec])
    assert static(dy2st.ones([1]), dy2st.ones([3])).tolist() == [1.0, 0.0, 0.0]
    assert str(symbol("first_axis0")) == "first_axis0"


# -- what a branch raises --------------------------------------------------------------------------


def asserts():
    assert False, "no way"  # noqa: B011, PT015


def sets_item():
    items = [1]
    items[4] = 3


def pops():
    items: list[int] = []
    items.pop()


@pytest.mark.parametrize(
    "raising",
    [
        asserts,
        sets_item,
        pops,
        lambda: int("zz"),
        lambda: max([]),
        lambda: "{} {}".format(1),  # noqa: F524, UP032
        lambda: list(zip([1], [2, 3], strict=True)),
    ],
)
def test_it_is_raised_only_where_the_branch_is_taken(raising):
    def run(x):
        if x.sum() > 0:
            raising()
        return x

    static = to_static(run)
    assert static(dy2st.to_tensor([-1.0])).tolist() == [-1.0]
    with pytest.raises(Exception) as expected:  # noqa: PT011
        raising()
    with pytest.raises(type(expected.value)) as caught:
        static(dy2st.to_tensor([1.0]))
    first_line = str(expected.value).splitlines()[0]  # pytest adds to those of `assert`
    assert str(caught.value).splitlines()[0] == first_line


def test_texts_that_tensors_decide_on_are_joined():
    def run(x):
        words = ["big" if value > 1 else "small" for value in x]
        return " ".join(words), ", ".join(["a", words[0]])

    static = to_static(run)
    for values in ([1.0, 2.0], [3.0, 0.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == run(x)
