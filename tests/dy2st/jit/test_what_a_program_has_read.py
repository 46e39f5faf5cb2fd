"""What a Program has read of objects, classes and modules is read anew when it has changed."""

from __future__ import annotations

import argparse
import array
import collections
import contextvars
import gc
import io
import os
import queue
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


class Config:
    size = 2

    def __init__(self):
        self.own = 1

    @property
    def twice(self):
        return self._inner() * FACTORS[0]

    def _inner(self):
        return self.own

    def __getitem__(self, name):
        return self.own + len(name)


class Child(Config):
    pass


class Slots:
    __slots__ = ("size",)

    def __init__(self):
        self.size = 2


class Answering:
    def __getattr__(self, name):
        return 3


class Sized(nn.Layer):
    size = 2

    def forward(self, x):
        return x * self.size


FACTORS = {0: 2}


def _set(name: str, value: Any) -> Callable[[Any], None]:
    return lambda owner: setattr(owner, name, value)


@pytest.mark.parametrize(
    ("make", "use", "change"),
    [
        (Config, lambda x, c: x * c.size, _set("size", 9)),
        (Config, lambda x, c: x * getattr(c, "extra", 4), _set("extra", 9)),
        (Config, lambda x, c: x * (5 if hasattr(c, "extra") else 6), _set("extra", 9)),
        (Config, lambda x, c: x * c.twice, _set("own", 9)),
        (Config, lambda x, c: x * c["ab"], _set("own", 9)),
        (Answering, lambda x, c: x * c.size, _set("size", 9)),
        (Slots, lambda x, c: x * c.size, _set("size", 9)),
        (Sized, lambda x, c: c(x), _set("size", 9)),
        (lambda: types.SimpleNamespace(size=2), lambda x, c: x * c.size, _set("size", 9)),
        (lambda: argparse.Namespace(size=2), lambda x, c: x * c.size, _set("size", 9)),
        (lambda: collections.deque([1, 2]), lambda x, c: x * sum(c), lambda c: c.append(9)),
        (lambda: bytearray(b"ab"), lambda x, c: x * c[0], lambda c: c.reverse()),
    ],
)
def test_a_change_of_an_object_is_noticed(make, use, change):
    held = make()

    def function(x):
        return use(x, held)

    static = to_static(function)
    assert static(X).tolist() == function(X).tolist()
    before = static(X).tolist()
    change(held)
    assert static(X).tolist() == function(X).tolist()
    assert static(X).tolist() != before


def test_an_attribute_of_a_class_that_comes_before_an_inherited_one_is_noticed(monkeypatch):
    child = Child()
    static = to_static(lambda x: x * child.size)
    assert static(X).tolist() == [2.0, 4.0]
    monkeypatch.setattr(Child, "size", 5, raising=False)
    assert static(X).tolist() == [5.0, 10.0]


def test_a_change_of_a_class_of_a_layer_is_noticed(monkeypatch):
    layer = to_static(Sized())
    assert layer(X).tolist() == [2.0, 4.0]
    monkeypatch.setattr(Sized, "size", 5)
    assert layer(X).tolist() == [5.0, 10.0]


def test_what_a_property_reads_of_its_module_is_noticed(monkeypatch):
    config = Config()
    static = to_static(lambda x: x * config.twice)
    assert static(X).tolist() == [2.0, 4.0]
    monkeypatch.setitem(FACTORS, 0, 7)
    assert static(X).tolist() == [7.0, 14.0]


def test_an_attribute_of_a_function_is_noticed():
    def scaled(x):
        return x * scaled.factor

    scaled.factor = 2
    static = to_static(scaled)
    assert static(X).tolist() == [2.0, 4.0]
    scaled.factor = 5
    assert static(X).tolist() == [5.0, 10.0]


def test_a_variable_that_stands_before_a_builtin_is_noticed(monkeypatch):
    static = to_static(lambda x: x * abs(-2))
    assert static(X).tolist() == [2.0, 4.0]
    monkeypatch.setitem(globals(), "abs", lambda value: 7)
    assert static(X).tolist() == [7.0, 14.0]


def test_attributes_that_no_function_names_cost_no_new_trace():
    config = Config()
    static = to_static(lambda x: x * config.size)
    static(X)
    config.unrelated = 5
    static(X)
    assert len(static.program_cache) == 1


def test_a_class_is_not_kept_alive():
    class Local:
        size = 2

        @property
        def twice(self):
            return self.size * 2

    static = to_static(lambda x, local: x * local.twice)
    assert static(X, Local()).tolist() == [4.0, 8.0]
    known = weakref.ref(Local)
    del Local
    gc.collect()
    assert known() is None


# -- values that others change ---------------------------------------------------------------------


class Thing:
    value = 1


class Meta(type):
    @property
    def value(cls):
        return THING.value


class OfMeta(metaclass=Meta):
    pass


THING = Thing()
VARIABLE = contextvars.ContextVar("of this test", default=1)
ARRAY, VIEW, TEXT = array.array("i", [1]), memoryview(bytearray(b"a")), io.StringIO("a")
QUEUE, ENTRIES, LIST = queue.Queue(), {"a": 1}, collections.UserList([1])
PROXY, REFERENCE = types.MappingProxyType(ENTRIES), weakref.ref(THING)

CASES = {
    "environ": (lambda x: x + len(os.environ.get("OF_THIS_TEST", "")), None),
    "getenv": (lambda x: x + len(os.getenv("OF_THIS_TEST", "")), None),
    "argv": (lambda x: x + len(sys.argv), lambda: sys.argv.append("one more")),
    "context variable": (lambda x: x + VARIABLE.get(), lambda: VARIABLE.set(5)),
    "array": (lambda x: x + ARRAY[0], lambda: ARRAY.append(ARRAY.pop() + 4)),
    "memoryview": (lambda x: x + VIEW[0], lambda: VIEW.__setitem__(0, 4)),
    "StringIO": (lambda x: x + len(TEXT.getvalue()), lambda: TEXT.write("more")),
    "Queue": (lambda x: x + QUEUE.qsize(), lambda: QUEUE.put(1)),
    "UserList": (lambda x: x + LIST[0], lambda: LIST.__setitem__(0, 7)),
    "mappingproxy": (lambda x: x + PROXY["a"], lambda: ENTRIES.update(a=9)),
    "weak reference": (lambda x: x + REFERENCE().value, lambda: setattr(THING, "value", 3)),
    "metaclass": (lambda x: x + OfMeta.value, lambda: setattr(THING, "value", 5)),
}


@pytest.mark.parametrize(("reads", "change"), CASES.values(), ids=CASES)
def test_the_next_call_reads_it_anew(monkeypatch, reads, change):
    monkeypatch.setattr(sys, "argv", ["one"])
    static = to_static(reads)
    before = static(X).tolist()
    assert before == reads(X).tolist()
    program = static.main_program
    assert static(X).tolist() == before and static.main_program is program
    if change is None:
        monkeypatch.setenv("OF_THIS_TEST", "set")
    else:
        change()
    assert static(X).tolist() == reads(X).tolist() != before
