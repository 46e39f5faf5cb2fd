"""A value that a function has read of an object of Python, and that somebody changes later."""

from __future__ import annotations

import array
import collections
import contextvars
import io
import os
import queue
import sys
import types
import weakref

import pytest

import dy2st
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


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
