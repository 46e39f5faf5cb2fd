"""A branch must not change what outlives it, on whatever way it reaches that: never silently."""

from __future__ import annotations

import functools
import linecache
import sys
from types import ModuleType

import pytest

import dy2st
from dy2st import nn
from dy2st.convert.heap import reached
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.dims import symbol

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
    "SETTINGS.note()",
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


@pytest.mark.parametrize("body", EXPRESSIONS + STATEMENTS)
def test_a_container_from_outside_that_a_branch_changes_is_refused(body):
    with pytest.raises(ConversionError, match="is changed in a branch or loop"):
        to_static(defined(body))(dy2st.to_tensor([1.0]))
    assert not LIST and not SETTINGS.items and not SETTINGS.table


def test_a_module_that_a_variable_holds_is_looked_at():
    def f(x, settings):
        if x.sum() > 0:
            settings.items.append(1)
        return x

    with pytest.raises(ConversionError, match="the variable `items` of the module"):
        to_static(f)(dy2st.to_tensor([1.0]), SETTINGS)


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


@pytest.mark.parametrize("mode", ["r", "rb"])
@pytest.mark.parametrize("reads", ["next(file)", "list(file)", "[line for line in file]"])
def test_lines_of_a_file_that_a_branch_reads_are_refused(tmp_path, mode, reads):
    (tmp_path / "text").write_text("a\nb\nc\n")
    with open(tmp_path / "text", mode) as file:
        f = defined(reads)
        f.__globals__["file"] = file
        with pytest.raises(ConversionError, match="is advanced in a branch or loop"):
            to_static(f)(dy2st.to_tensor([1.0]))
    del f.__globals__["file"]


def test_what_installed_packages_keep_for_themselves_is_no_concern():
    # pytest has put itself into this module, and `hypothesis` comes with much of its own.
    from hypothesis import strategies

    def f(x):
        if x.sum() > 0:
            assert x.sum() < 9 and strategies is not None
        return x

    heap = reached(f, ())
    assert not any("pytest" in type(one).__module__ for one, _ in heap.objects)
    static = to_static(f)
    assert [static(dy2st.to_tensor([1.0])).tolist() for _ in range(3)] == [[1.0]] * 3


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
