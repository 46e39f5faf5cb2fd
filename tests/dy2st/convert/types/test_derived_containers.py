"""Objects of classes that are derived from containers: read, changed, chosen, returned."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import Dy2stError

X = dy2st.to_tensor([1.0, 2.0])


class Named(dict[str, Any]):
    def __init__(self, **entries: Any):
        super().__init__(**entries)
        self.scale = 2.0

    def total(self) -> Any:
        return sum(self.values())


class ByAttribute(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Logged(dict[str, Any]):
    last = ""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value * 1)
        self.last = key


class Row(list[Any]):
    name = "row"


class Window(deque[Any]):
    pass


class Ordered(OrderedDict[str, Any]):
    pass


def an_entry(x: Any) -> Any:
    names = Named(a=x)
    if x.sum() > 0:
        names["a"] = x * 2
    return names["a"] * names.scale


def entries_and_attributes(x: Any) -> Any:
    names = Named(a=x, b=x)
    if x.sum() > 0:
        names["a"] = x * 2
        names.scale = x
    else:
        names["b"] = x * 5
    return names["a"] + names["b"] * names.scale + names.total()


def entries_by_attribute(x: Any) -> Any:
    state = ByAttribute(n=0.0, s=x)
    for one in x:
        state.n = state.n + one
        if one > 1:
            state.s = state.s * 2
    return state.s * state.n


def a_method_of_its_own(x: Any) -> Any:
    log = Logged(a=x)
    if x.sum() > 0:
        log["a"] = x * 2
        log["a"] = log["a"] + 1
    return log["a"], log.last


def items_of_a_list(x: Any) -> Any:
    row = Row([x, x * 2])
    if x.sum() > 0:
        row[0] = x * 9
        row.reverse()
    return row[0] - row[1], len(row), row.name


def an_item_of_each_branch(x: Any) -> Any:
    row = Row()
    if x.sum() > 0:
        row.append(x)
    else:
        row.append(x * 2)
    return row[0], len(row)


def a_loop(x: Any) -> Any:
    names = Named(a=x)
    count = 0
    while names["a"].sum() < 30 and count < 5:
        names["a"] = names["a"] * 2
        count = count + 1
    return names["a"]


def branches_in_branches(x: Any) -> Any:
    names = Ordered(a=x, b=x + 1)
    if x.sum() > 0:
        if x[0] > 2:
            names["a"] = names["b"] * 3
        names["b"] = names["a"] + 1
    return list(names), names["a"], names["b"]


def methods_in_c(x: Any) -> Any:
    names = Named(a=x)
    if x.sum() > 0:
        names.update(a=x * 3)
    else:
        names.setdefault("a", x * 5)
    return dict(names), [*names], names.get("a"), "a" in names


def a_window(x: Any) -> Any:
    window = Window([x, x + 1], maxlen=2)
    if x.sum() > 0:
        window.append(x * 4)
    return window[0] * 2 + window[1]


def returned(x: Any) -> Any:
    names = Named(a=x)
    if x.sum() > 0:
        names["a"] = x * 2
    return names


def shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{type(value).__name__}{[(key, shown(one)) for key, one in value.items()]}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[*map(shown, value)]}"
    return str(value.numpy() if hasattr(value, "numpy") else value)


FUNCTIONS = [
    *(an_entry, entries_and_attributes, entries_by_attribute, a_method_of_its_own),
    *(
        items_of_a_list,
        an_item_of_each_branch,
        a_loop,
        branches_in_branches,
        methods_in_c,
        a_window,
        returned,
    ),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_one_program_has_all_paths(function):
    static = to_static(function)
    for scale in (1.0, -1.0, 3.0):
        assert shown(static(X * scale)) == shown(function(X * scale))
    assert len(static.program_cache) == 1


def outside(make: Any) -> Any:
    held = make()

    def function(x: Any) -> Any:
        held["a"] = x * held["a"]
        if x.sum() > 0:
            held["b"] = held["b"] + 1.0
        values = [one * 1 for one in held.values()]
        found = dict(held)["a"], {**held}["b"], held.copy()["a"], list(held.items())[0][1]
        return values, found, sorted(held), len(held), [key for key in held], "z" in held

    return held, function


@pytest.mark.parametrize("kind", [Named, Ordered, ByAttribute])
def test_what_is_changed_outside_is_seen_by_all_ways_to_read_it(kind):
    (held, function), (twin, python) = (outside(lambda: kind(a=1.0, b=2.0)) for _ in range(2))
    static = to_static(function)
    for scale in (1.0, -1.0, 2.0):
        assert shown(static(X * scale)) == shown(python(X * scale))
        assert shown({**held}) == shown({**twin})


def test_a_new_entry_is_there_for_all():
    held = Named(a=1.0)

    def function(x: Any) -> Any:
        view = held.values()
        held["z"] = x
        return len(held), "z" in held, [*held], len(view), list(view)

    found = to_static(function)(X)
    assert found[:4] == (2, True, ["a", "z"], 2)
    assert np.array_equal(found[4][1].numpy(), X.numpy())


def test_the_factory_and_the_length_of_returned_objects_stay():
    class Grouped(defaultdict[str, Any]):
        pass

    made, window = to_static(lambda x: (Grouped(list, a=x), Window([x, x], maxlen=3)))(X)
    assert type(made) is Grouped and np.array_equal(made["a"].numpy(), X.numpy())
    assert made["new"] == [] and window.maxlen == 3


@pytest.mark.parametrize("use", [len, list, lambda one: one["a"], lambda one: one])
def test_a_count_that_a_tensor_decides_is_refused(use):
    def function(x: Any) -> Any:
        names = Named(a=x)
        if x.sum() > 0:
            names["c"] = x
        names["a"] = x
        return use(names)

    with pytest.raises(Dy2stError, match="a Named is used whose items"):
        to_static(function)(X)


class Noting(dict[str, Any]):
    def __setitem__(self, key: str, value: Any) -> None:
        dict.__setitem__(self, key, value)
        self.last = key


@pytest.mark.parametrize("kind", [Noting, Logged])
def test_a_method_that_calls_that_of_its_base_changes_items_and_attributes(kind):
    held = kind(a=1.0, b=2.0)

    def function(x: Any) -> Any:
        held["b"] = x
        held["a"] = x * 2
        held["a"] = held["a"] + held["b"]
        held.size = len(held)
        return held["a"]

    static = to_static(function)
    for scale in (1.0, 2.0):
        assert np.array_equal(static(X * scale).numpy(), X.numpy() * 3 * scale)
        assert list(held) == ["a", "b"] and (held.last, held.size) == ("a", 2)
        assert np.array_equal(held["a"].numpy(), X.numpy() * 3 * scale)


def test_an_attribute_of_an_ordered_dict_that_a_branch_sets_is_returned():
    def function(x: Any) -> Any:
        names = Ordered(a=x)
        if x.sum() > 0:
            names.scale = x * 2
        else:
            names.scale = x * 3
        return names

    static = to_static(function)
    assert np.array_equal(static(X).scale.numpy(), X.numpy() * 2)
    assert np.array_equal(static(-X).scale.numpy(), X.numpy() * -3)
