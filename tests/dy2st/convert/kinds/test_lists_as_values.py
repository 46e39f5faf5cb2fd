"""Everything that takes a list takes one whose length a tensor decides."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import same


def grown(x):
    """A list whose length the tensor decides."""
    found = []
    for value in x:
        if value > 0:
            found.append(value)
    return found


def chosen(x):
    """The same of a loop that is unrolled."""
    found = []
    for i in range(3):
        if x[i % x.shape[0]] > 1:
            found.append(x * i)
    return found


def set_by_a_slice(x):
    found = grown(x)
    found[0:1] = [x[0]]
    return found


@pytest.mark.parametrize(
    "use",
    [
        lambda x: grown(x).sort(reverse=True),
        lambda x: grown(x).insert(0, x[0]),
        lambda x: x * grown(x).count(x[0]),
        lambda x: [x[0]] + grown(x),
        lambda x: [x[0], *grown(x)],
        lambda x: grown(x) * 2,
        lambda x: x if grown(x) == [] else -x,
        lambda x: x if [] != grown(x) else -x,
        lambda x: sorted(grown(x), key=lambda v: -v),
        lambda x: sum(reversed(grown(x)), x[0]),
        lambda x: sum((v * 2 for v in chosen(x)), x),
        lambda x: sum(map(lambda v: v * 2, chosen(x)), x),
        set_by_a_slice,
    ],
)
def test_a_list_whose_length_a_tensor_decides(use):
    same(use)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: grown(x).pop() * 2,
        lambda x: x * grown(x).index(x[0]),
        lambda x: grown(x).__delitem__(0),
        lambda x: next(iter(chosen(x))),
    ],
)
def test_what_fails_on_an_empty_list_fails_when_the_program_runs(use):
    static = to_static(use, input_spec=[InputSpec([3])])
    for row in ([2.0, 1.0, 3.0], [-1.0, -2.0, -3.0]):
        x = dy2st.to_tensor(row)
        assert _outcome(static, x) == _outcome(use, x)
    assert len(static.program_cache) == 1


def _outcome(function, x):
    try:
        found = function(x)
    except Exception as error:
        return type(error)
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * math.ceil(x.shape[0] / 2),
        lambda x: x * math.sqrt(x.shape[0]),
        lambda x: x * np.sqrt(x.shape[0]),
        lambda x: [0] * x.shape[0],
        lambda x: x if ["a", "b", "c", "d", "e"][x.shape[0] - 1] == "c" else -x,
        lambda x: x * {1: 1, 3: 2, 4: 3, 5: 4}[x.shape[0]],
        lambda x: functools.reduce(lambda a, b: a + b, x),
    ],
)
def test_sizes_that_are_not_known_in_the_hands_of_python(use):
    same(use)
