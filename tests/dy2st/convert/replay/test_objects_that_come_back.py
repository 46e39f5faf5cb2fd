"""What a function returns, or lets an object from outside hold, is a new one at each call."""

from __future__ import annotations

from functools import partial
from types import MethodType

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def of(self, y):
        return self.factor * y


def a_method(x):
    scale = Scale(x * 2)
    return scale.of, scale


def a_partial(x):
    return partial(Scale(x).of, x + 1), None


def bytes_that_change(x):
    made = bytearray(b"ab")
    made.append(99)
    return made, None


RETURNED = {a_method: MethodType, a_partial: partial, bytes_that_change: bytearray}


@pytest.mark.parametrize("f", RETURNED, ids=lambda f: f.__name__)
def test_an_object_is_made_anew_at_each_call(f):
    static, seen = to_static(f, [InputSpec([None], "float32")]), []
    for values in ([1.0, 2.0], [3.0]):
        found, owner = static(dy2st.to_tensor(values))
        expected, _ = f(dy2st.to_tensor(values))
        assert type(found) is RETURNED[f] and all(found is not one for one in seen)
        seen.append(found)
        if type(found) is bytearray:
            assert found == expected
        elif type(found) is partial:
            assert found().tolist() == expected().tolist()
        else:
            assert found(2).tolist() == expected(2).tolist() and found.__self__ is owner


def test_a_layer_keeps_a_method_of_its_own():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.after, self.weight = None, 3

        def act(self, x):
            return x * self.weight

        def forward(self, x):
            self.after = self.act if x.sum() > 0 else None
            return x

    net = Net()
    static = to_static(net)
    static(dy2st.ones([2]))
    assert net.after(dy2st.ones([1])).tolist() == [3.0] and net.after.__self__ is net
    static(-dy2st.ones([2]))
    assert net.after is None


@pytest.mark.parametrize("make", [lambda x: memoryview(b"ab"), lambda x: zip([1], [x])])
def test_what_nobody_can_make_anew_is_refused(make):
    with pytest.raises(ConversionError, match=r"returns a (memoryview|zip)"):
        to_static(make)(dy2st.ones([2]))
