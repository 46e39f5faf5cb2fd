"""What a loop has found, a container or an object of any kind, is what is returned, or None is."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest

import dy2st
from dy2st import jit
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

VALUES = ([0.0, 1.0, 7.0], [0.0, -1.0, 0.0], [0.0, 1.0, 1.5], [4.0, 0.0, 0.0], [0.0, 3.0, 1.0])


@dataclass
class Found:
    place: Any
    values: list = field(default_factory=list)


def positive(x):
    return [v for v in x if v > 0]


MAKES = {
    "list": lambda x, k: [k],
    "nested list": lambda x, k: [[k], [x]],
    "list of a length": lambda x, k: positive(x),
    "tuple": lambda x, k: (k, x),
    "dict": lambda x, k: {"place": k, "values": positive(x)},
    "deque": lambda x, k: deque([x[k]]),
    "set": lambda x, k: {k},
    "object": lambda x, k: Found(k, positive(x)),
}
IN_FILES = ("list", "nested list", "list of a length", "tuple", "dict")


def from_a_while(make):
    def search(x):
        k = 2
        while x[k] > 0:
            if x[k] > 2:
                return make(x, k)
            k -= 1
        return None

    return search


def from_a_for(make):
    def search(x):
        for k in range(3):
            if x[k] > 2:
                found = make(x, k)
                if x[0] > 3:
                    return found
        return None

    return search


def after_another_kind(make):
    def search(x):
        for k in range(3):
            if x[k] > 2:
                return make(x, k)
            if x[k] > 1:
                return x
        return None

    return search


def asked_for_outside(make):
    search = from_a_for(make)

    def asks(x):
        found = search(x)
        return ("none", x) if found is None else found

    return asks


WAYS = (from_a_while, from_a_for, after_another_kind, asked_for_outside)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAKES)
def test_what_a_loop_has_found_is_returned_or_none(way, kind):
    function = way(MAKES[kind])
    static = to_static(function)
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert comparable(static(x)) == comparable(function(x))
    assert len(static.program_cache) == 1


@pytest.mark.parametrize("kind", IN_FILES)
def test_so_it_is_from_a_file(kind, tmp_path):
    function = from_a_while(MAKES[kind])
    x = dy2st.to_tensor(VALUES[0])
    jit.save(to_static(function, input_spec=[x]), tmp_path / "search")
    loaded = jit.load(tmp_path / "search")
    for values in VALUES:
        x = dy2st.to_tensor(values)
        assert comparable(loaded(x)) == comparable(function(x))
