"""Loops in loops are traced a few times each, and not twice as often at each level."""

import dy2st
from dy2st import nn
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])
DEEP = 12  # at two rounds a level this would be 4,000 bodies


def _nested(x, k):
    if k == 0:
        return x * 1.5
    i = 0
    while i < 1 + x.max() * 0:
        x = _nested(x, k - 1) + x
        i = i + 1
    return x


def test_a_deep_nest_of_loops_is_traced_soon():
    assert to_static(lambda x: _nested(x, DEEP))(X).tolist() == _nested(X, DEEP).tolist()


class _Counts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.total = dy2st.zeros([])

    def deep(self, x, k):
        if k == 0:
            self.total = self.total + x.sum()
            return x
        i = 0
        while i < 1 + x.max() * 0:
            x = self.deep(x, k - 1)
            i = i + 1
        return x

    def forward(self, x):
        return self.deep(x, DEEP)


def test_so_is_one_that_writes_an_attribute():
    found, wanted = _Counts(), _Counts()
    static = to_static(found)
    for x in (X, X * 2):
        assert static(x).tolist() == wanted(x).tolist()
        assert found.total.tolist() == wanted.total.tolist()
