"""Converted functions that are gone leave nothing behind: no entry in a table, no memory.

`python -m tests.dy2st.jit.test_leaks 200` shows the memory that remains of each.
"""

from __future__ import annotations

import gc
import linecache
import sys
import tracemalloc
from collections import Counter

import numpy as np
import pytest

import dy2st
from dy2st.transpiler import lower as traced

TEXT = """\
def helper(x):
    if x.sum() > 0:
        return x + 1
    return x

class Scale:
    def __init__(self, by):
        self.by = by
    def __mul__(self, x):
        return x * self.by

def f(x):
    for i in range(3):
        x = helper(x)
    while x.sum() > 100:
        x = Scale(0.5) * x
    return x

class Net(nn.Layer):
    def forward(self, x):
        return helper(f(x))
"""
FILE = "<dropped functions>.py"
TABLES = (traced._forms, traced._pushing_forms)


@pytest.fixture(autouse=True)
def known_text():
    linecache.cache[FILE] = (len(TEXT), None, TEXT.splitlines(True), FILE)
    yield
    del linecache.cache[FILE]


def made():
    """The functions anew: with other code objects."""
    namespace = {"nn": dy2st.nn, "__name__": "dropped"}
    exec(compile(TEXT, FILE, "exec"), namespace)
    return namespace


def convert():
    static = dy2st.to_static(made()["f"])
    static(np.ones(2, "float32"))
    static(np.ones(3, "float32"))


def convert_a_layer():
    net = dy2st.to_static(made()["Net"]())
    net(dy2st.ones([2]))


def optimise():
    dy2st.to_static(made()["f"], build_strategy="inference")(np.ones(2, "float32"))


def show_code():
    assert "def f" in dy2st.to_static(made()["f"]).code


def fail():
    static = dy2st.to_static(made()["f"])
    with pytest.raises(Exception):
        static(np.ones(2, "float32"), 3)
    with pytest.raises(Exception):
        static(np.array(["text"]))
    with pytest.raises(AttributeError):
        static("text")


def collect():
    """Twice: what code objects held becomes garbage when they have gone."""
    gc.collect()
    gc.collect()


def kept():
    """How many objects of ours there are, by type, and entries of tables that outlive them."""
    collect()
    names = (type(o).__qualname__ for o in gc.get_objects() if is_ours(type(o)))
    return Counter(names), len(linecache.cache), *map(len, TABLES)


def is_ours(kind):
    return str(kind.__module__).partition(".")[0] in ("dy2st", "dy2st_runtime", "dropped")


pytestmark = pytest.mark.usefixtures("small_heap")
WAYS = [convert, convert_a_layer, optimise, show_code, fail]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_functions_that_are_gone_leave_nothing(way):
    for _ in range(2):
        way()
    before = kept()
    for _ in range(5):
        way()
    assert kept() == before


def growth(way, rounds):
    """Bytes for each function that is converted and dropped."""
    for _ in range(rounds):  # caches of Python fill
        way()
    tracemalloc.start()
    try:
        collect()
        before = tracemalloc.take_snapshot()
        for _ in range(rounds):
            way()
        collect()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    return sum(s.size_diff for s in after.compare_to(before, "filename")) / rounds


if __name__ == "__main__":
    linecache.cache[FILE] = (len(TEXT), None, TEXT.splitlines(True), FILE)
    for tried in WAYS:
        print(f"{tried.__name__}: {growth(tried, int(sys.argv[1])):.0f} bytes a function")
