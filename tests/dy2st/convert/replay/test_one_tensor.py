"""What a branch makes one tensor is one after the call: a change in place is seen under each name."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static


class Model(nn.Layer):
    def __init__(self, turns):
        super().__init__()
        self.turns = turns
        self.register_buffer("h", dy2st.zeros([2]))
        self.p = dy2st.ones([2])

    def forward(self, x):
        self.p.set_value(x * 3)
        before = self.h * 1
        self.h = x * 2
        self.p = x * 5
        for i in range(self.turns):
            if x.sum() > i:
                self.p = self.h
        return before, self.h, self.p


@pytest.mark.parametrize("turns", [1, 2])
def test_two_attributes_that_some_paths_make_one_tensor_are_one(turns):
    wanted, found = Model(turns), Model(turns)
    static = to_static(found)
    for number in (1.0, 2.0, -1.0, 4.0, 0.2):
        x = dy2st.full([2], number)
        assert str(static(x)) == str(wanted(x))
        assert (found.p is found.h) == (wanted.p is wanted.h)


def test_so_are_two_results():
    def f(x):
        one, other = x * 2, x * 3
        return one, one if x.sum() > 0 else other

    static = to_static(f)
    for x in (dy2st.ones([2]), -dy2st.ones([2])):
        one, other = static(x)
        assert (one is other) == (x.sum() > 0)
        other.add_(1)
        wanted = f(x)
        wanted[1].add_(1)
        assert str((one, other)) == str(wanted)
