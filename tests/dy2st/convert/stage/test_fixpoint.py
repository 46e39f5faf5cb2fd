"""Loops in loops are traced a few times each, and not twice as often at each level."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec

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


def _clamped(x):
    place, n, count = 0, x.shape[0], 0
    while place < n:
        for value in [x[min(place, n - 1)], x[min(place + 1, n - 1)]]:
            if place >= n:
                break
            place += 1 if value > 0 else 2
            count += 1
    return place, count


def test_what_the_test_says_of_sizes_holds_in_the_first_iteration():
    static = to_static(_clamped, input_spec=[InputSpec([None], "float32")])
    for values in ([1.0, 2.0, 0.0, 1.0, 0.0], [0.0], [1.0, 1.0], []):
        x = dy2st.to_tensor(values, dtype="float32")
        assert static(x) == _clamped(x)


def test_a_loop_of_which_each_iteration_raises_ends_with_the_first():
    def at_once(x):
        n = x.shape[0]
        while n > 1:
            raise ValueError(f"{n} are too many")
        return x[n - 1]

    static = to_static(at_once, input_spec=[InputSpec([None], "float32")])
    assert static(X[:1]).tolist() == 1.0
    with pytest.raises(ValueError, match="2 are too many"):
        static(X)
