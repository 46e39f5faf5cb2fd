"""`x.unbind(axis)` of a size that only the run knows is a list of a length."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

SPEC = [InputSpec([None, None], "float32", "x")]


def _unpacked(x):
    a, b, c = x.unbind(0)
    return a + b - c


def _rest(x):
    first, *rest = dy2st.unbind(input=x)
    return first + len(rest)


def _changed(x):
    rows = x.unbind(0)
    rows.append(x[0])
    rows[0] = rows[0] * 2
    return dy2st.concat(rows)


FUNCTIONS = {
    "a tuple": lambda x: tuple(x.unbind(0)),
    "a generator": lambda x: tuple(row * 2 for row in x.unbind(0)),
    "a sum": lambda x: sum(tuple(x.unbind(1))),
    "from the end": lambda x: (len(x.unbind()), x.unbind(-1)[0]),
    "the other way round": lambda x: dy2st.stack(dy2st.unbind(x, axis=1)[::-1]),
    "of a known size": lambda x: dy2st.unbind(x[:, 0:1], axis=1)[0],
    "unpacked": _unpacked,
    "the rest": _rest,
    "changed": _changed,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_gives_what_an_eager_call_gives(name):
    static = to_static(FUNCTIONS[name], input_spec=SPEC)
    for shape in ((3, 3), (3, 4), (3, 1)):
        x = dy2st.to_tensor(np.arange(np.prod(shape)).reshape(shape).astype("float32"))
        assert comparable(static(x)) == comparable(FUNCTIONS[name](x))


def test_too_many_to_unpack_raises_what_python_raises():
    x = dy2st.ones([2, 2])
    with pytest.raises(ValueError, match="not enough values to unpack"):
        to_static(_unpacked, input_spec=SPEC)(x)


def test_gradients_flow_through_it():
    static = to_static(lambda x: sum(row * i for i, row in enumerate(x.unbind(0))).sum(), SPEC)
    x = dy2st.ones([3, 2])
    x.stop_gradient = False
    static(x).backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
