"""The shape of a tensor equals a tuple and joins with one, in a trace as outside of it."""

from __future__ import annotations

import pytest

import dy2st as P
from dy2st.static import InputSpec

X = P.ones([2, 3])
CALLS = {
    "equal": lambda s: s == (2, 3),
    "unequal": lambda s: s != (2, 3),
    "tuple first": lambda s: (2, 3) == s,
    "another size": lambda s: s == (2, 4),
    "another length": lambda s: s == (2,),
    "list": lambda s: s == [2, 3],
    "no sequence": lambda s: s == 2,
    "slice": lambda s: s[:1] == (2,),
    "joined": lambda s: s + (1,) == (2, 3, 1),
    "joined behind": lambda s: (1,) + s == [1, 2, 3],
    "joined with a list": lambda s: [1] + s == (1, 2, 3),
    "slices joined": lambda s: s[:1] + (4,) + s[1:] == (2, 4, 3),
    "repeated": lambda s: s * 2 == (2, 3, 2, 3),
    "inside": lambda s: s in [(2, 3)],
    "nested": lambda s: [s, 1] == [(2, 3), 1],
    "value of a dict": lambda s: {"a": s} == {"a": (2, 3)},
    "a list of them": lambda s: list(s) == (2, 3),
    "a copy": lambda s: s.copy() == (2, 3),
    "those of a comprehension": lambda s: [n for n in s] == (2, 3),  # noqa: C416
    "asked for a tuple": lambda s: (isinstance(s, tuple), isinstance(s[:1], (int, tuple))),
    "asked for a list": lambda s: (isinstance(s, list), isinstance(s, dict)),
    "asked for PaddlePaddle's class": lambda s: (isinstance(s, P.Size), isinstance([*s], P.Size)),
    "in order": lambda s: sorted(s) == (2, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_shape_beside_a_tuple_is_the_same_in_a_trace(name):
    def call(x):
        return CALLS[name](x.shape)

    assert P.to_static(call)(X) == call(X)


def test_a_shape_changed_in_place_is_one_still():
    def call(x):
        sizes = x.shape
        sizes += (5,)
        sizes[0] = 7
        return sizes == (7, 3, 5)

    assert P.to_static(call)(X) is call(X) is True


def test_a_tuple_decides_for_an_unknown_size():
    def call(x):
        return x * 2 if x.shape == (2, 3) else x

    converted = P.to_static(call, input_spec=[InputSpec([None, 3], "float32")])
    assert converted(X).tolist() == [[2.0] * 3] * 2
    assert converted(P.ones([1, 3])).tolist() == [[1.0] * 3]


def test_reshape_takes_sizes_that_are_joined_with_a_tuple():
    def call(x):
        return x.reshape(x.shape[:1] + (3, 1))

    converted = P.to_static(call, input_spec=[InputSpec([None, 3], "float32")])
    assert converted(X).shape == call(X).shape == (2, 3, 1)
