"""A branch changes what is outside where it is taken, on whatever way it reaches that."""

from __future__ import annotations

import functools
import linecache
import sys
from types import ModuleType

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.jit import to_static

UP, DOWN = [1.0], [-1.0]

LIST: list[object] = []
SETTINGS = ModuleType("settings_of_this_test")
exec("items, table = [], {}\ndef note(): items.append(1)", vars(SETTINGS))


def note(*_):
    LIST.append(1)


class Noting:
    def __init__(self, is_noting=True):
        if is_noting:
            note()

    def method(self):
        LIST.append(1)

    @staticmethod
    def static():
        LIST.append(1)

    @classmethod
    def of_class(cls):
        LIST.append(1)

    @property
    def attribute(self):
        return LIST.append(1)

    def __call__(self):
        LIST.append(1)

    def __len__(self):
        LIST.append(1)
        return 3

    def __getattr__(self, name):
        LIST.append(name)

    def __enter__(self):
        LIST.append(1)

    def __exit__(self, *_):
        return False


class Below(Noting):
    pass


class Described:
    def __get__(self, *_):
        LIST.append(1)


class Holder:
    held = Described()


class Meta(type):
    def __call__(cls):
        LIST.append(1)


class OfMeta(metaclass=Meta):
    pass


class NotingLayer(nn.Layer):
    def forward(self, x):
        LIST.append(1)
        return x


noting, below, layer = Noting(False), Below(False), NotingLayer()
bound = functools.partial(note, 2)
table = {"note": note}

EXPRESSIONS = [
    "[LIST.append(k) for k in range(3)]",
    "any(LIST.append(k) for k in range(3))",
    "(lambda: LIST.append(1))()",
    "list(map(lambda k: LIST.append(k), [1, 2]))",
    "noting.method()",
    "noting.static()",
    "Noting.of_class()",
    "noting.attribute",
    "noting()",
    "len(noting)",
    "noting.no_such_attribute",
    "Noting()",
    "below.method()",
    "Holder().held",
    "OfMeta()",
    "layer(x)",
    "bound()",
    "table['note']()",
    "SETTINGS.items.append(1)",
    "SETTINGS.table.update(a=1)",
    "globals()['LIST'].append(1)",
    "getattr(SETTINGS, 'items').append(1)",
]
STATEMENTS = [
    "with noting: pass",
    "from settings_of_this_test import items; items.append(1)",
    "import settings_of_this_test as own; own.items.append(1)",
]


@pytest.fixture(autouse=True)
def _empty(monkeypatch):
    monkeypatch.setitem(sys.modules, SETTINGS.__name__, SETTINGS)
    LIST.clear()  # pytest asks `noting` for attributes
    SETTINGS.items.clear()
    SETTINGS.table.clear()


def defined(body):
    """The function with this statement in a branch."""
    text = f"def f(x):\n    if x.sum() > 0:\n        {body}\n    return x + len(LIST)\n"
    name = f"<branch with {body}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), globals())
    return globals().pop("f")


def outside():
    """What a call leaves behind."""
    return list(LIST), list(SETTINGS.items), dict(SETTINGS.table)


def over_calls(function):
    """The results of some calls, and what each leaves behind."""
    LIST.clear()
    SETTINGS.items.clear()
    SETTINGS.table.clear()
    return [(function(dy2st.to_tensor(v)).tolist(), outside()) for v in (UP, DOWN, UP, UP)]


@pytest.mark.parametrize("body", EXPRESSIONS + STATEMENTS)
def test_a_container_from_outside_changes_where_the_branch_is_taken(body):
    function = defined(body)
    assert over_calls(to_static(function)) == over_calls(function)


def test_a_module_that_an_argument_is_changes_where_the_branch_is_taken():
    def function(x, settings=SETTINGS):
        if x.sum() > 0:
            settings.items.append(1)
        return x

    assert over_calls(to_static(function)) == over_calls(function)


class Tally:
    total = 0
    shared: list[int] = []  # noqa: RUF012

    def note(self):
        type(self).total += 1
        self.shared.append(1)


def test_attributes_and_lists_of_a_class_change_where_the_branch_is_taken():
    def function(x):
        if x.sum() > 0:
            Tally().note()
        return x * Tally.total

    def calls(run):
        Tally.total = 0
        Tally.shared.clear()
        found = [run(dy2st.to_tensor(v)).tolist() for v in (UP, DOWN, UP)]
        return found, Tally.total, list(Tally.shared)

    assert calls(to_static(function)) == calls(function)


class Plain:
    def __init__(self, x):
        self.x, self.n = x, 0


def test_an_object_and_a_list_from_outside_get_tensors():
    def calls(convert):
        one, history = Plain(None), []

        def note(x):
            one.x = x * 2
            one.n += 1
            history.append(one.x)
            return x + one.n

        run = convert(note)
        found = [run(dy2st.to_tensor(v)).tolist() for v in (UP, DOWN, UP, UP)]
        return found, one.x.tolist(), one.n, [item.tolist() for item in history]

    assert calls(to_static) == calls(lambda function: function)


def test_a_tensor_gets_no_name_on_some_paths_alone():
    def named(x):
        y = x * 2
        y.name = "twice"
        if x.sum() > 0:
            y.name = "big"
        return y

    with pytest.raises(ConversionError, match="gets a name in a branch"):
        to_static(named)(dy2st.ones([2]))


def test_the_body_of_a_class_sets_a_variable_on_its_path_alone():
    def counted(x):
        n = 1

        def made():
            nonlocal n

            class Counting:
                nonlocal n
                n = n + 4

            return Counting

        if x.sum() > 0:
            made()
        return x * n

    static = to_static(counted)
    for values in (UP, DOWN):
        x = dy2st.to_tensor(values)
        assert static(x).tolist() == counted(x).tolist()


class Attributed:
    def __init__(self, value=None):
        if value is not None:
            self.__dict__["b"] = value


def set_by_the_class_in_a_branch(x):
    made = Attributed(x) if x.sum() > 0 else Attributed(x * 2)
    return made.b, made


def set_in_a_branch(x):
    made = Attributed(x)
    if x.sum() > 0:
        made.__dict__["c"] = x + 1
        vars(made).update(b=x * 3)
    return made.b, getattr(made, "c", None), made


@pytest.mark.parametrize("function", [set_by_the_class_in_a_branch, set_in_a_branch])
def test_attributes_that_are_entries_of_the_dict_of_an_object_stay(function):
    static = to_static(function)
    for values in ([1.0, 2.0], [-1.0, 0.0]):
        x = dy2st.to_tensor(values)
        found, expected = static(x), function(x)
        assert repr(found[:-1]) == repr(expected[:-1])
        assert repr(vars(found[-1])) == repr(vars(expected[-1]))
