"""Attributes that a branch deletes: gone after the calls that take it, whoever holds them."""

from __future__ import annotations

import functools
import re
from types import ModuleType, SimpleNamespace

import pytest

import dy2st


class Holder:
    pass


MODULE = ModuleType("settings")
OWNERS = {"module": MODULE, "class": Holder, "object": SimpleNamespace(), "layer": dy2st.nn.Layer()}


@pytest.mark.parametrize("kind", OWNERS)
@pytest.mark.parametrize("order", [(1.0, 4.0, 4.0, 1.0), (4.0, 1.0, 4.0)])
def test_each_call_sets_or_deletes_the_attribute(kind, order):
    owner = OWNERS[kind]
    vars(owner).get("latest") is None or delattr(owner, "latest")

    def f(x):
        owner.latest = 7
        if x.sum() > 3:
            del owner.latest
        return x

    static = dy2st.jit.to_static(f)
    for value in order:
        static(dy2st.to_tensor([value]))
        assert hasattr(owner, "latest") == (value <= 3)
        assert getattr(owner, "latest", 7) == 7


class Pair:
    inherited = 5

    def __init__(self):
        self.own, self.inherited = 7, 1


def test_what_a_branch_has_deleted_is_not_there_behind_it():
    def read(x):
        pair, y = Pair(), x
        if x.sum() > 3:
            del pair.own
            try:
                y = x * pair.own
            except AttributeError:
                y = x * 2
        return y + hasattr(pair, "own")

    def inherit(x):
        pair, y = Pair(), x
        if x.sum() > 3:
            del pair.inherited
            y = x * pair.inherited
        return y + pair.inherited

    for f in (read, inherit):
        static = dy2st.jit.to_static(f)
        for value in (1.0, 4.0):
            x = dy2st.to_tensor([value])
            assert static(x).tolist() == f(x).tolist()


@pytest.mark.parametrize("name", ["own", "inherited"])
def test_what_is_deleted_twice_is_an_attribute_error(name):
    def f(x):
        pair = Pair()
        if x.sum() > 3:
            for _ in range(2):
                delattr(pair, name)
        return x

    def g(x):
        pair = Pair()
        if x.sum() > 3:
            delattr(pair, name)
        delattr(pair, name)
        return x

    for function in (f, g):
        with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
            dy2st.jit.to_static(function)(dy2st.to_tensor([4.0]))


def test_an_attribute_of_a_class_is_deleted():
    def f(x):
        class Made:
            kept, gone = 1, 2

        del Made.gone
        return x + hasattr(Made, "gone") + Made.kept

    x = dy2st.to_tensor([4.0])
    assert dy2st.jit.to_static(f)(x).tolist() == f(x).tolist() == [5.0]


def test_a_method_in_c_that_a_cached_function_gives_is_called():
    @functools.lru_cache
    def matcher(pattern):
        return re.compile(pattern).match

    def f(x):
        return x * 2 if matcher("a+")("aab") else x

    x = dy2st.to_tensor([4.0])
    assert dy2st.jit.to_static(f)(x).tolist() == [8.0]
