"""Attributes that a branch deletes: gone after the calls that take it, whoever holds them."""

from __future__ import annotations

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
