"""The form of loop nests: its text, and what the verifier refuses."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.nests.nests import Leaf, Load, Nest, Part, Store, verify
from dy2st_runtime.ir import F, TensorType, Variable
from tests.recorded import program_of as traced
from tests.runtime.engine.native.running_nests import compiled


def copying(**changes):
    """A nest that copies a tensor of four elements, with some fields changed."""
    float32 = np.dtype("float32")
    one, other = (Variable(TensorType(float32, (4,)), None, name) for name in "xy")
    part = Part([4], 1, 0, [Load(float32, frozenset({0}))], [Store(0, 0, (1,))])
    for name, value in changes.items():
        setattr(part, name, value)
    return Nest([Leaf(one, (1,))], [other], [part])


def test_the_text_tells_all_loops():
    assert copying().text.split("\n") == [
        "nest",
        "  leaf 0: float32, rank 1",
        "  output 0: float32, rank 1",
        "  part [] x [4], lanes along axis 0",
        "    %0 = load 0 float32 [1]",
        "    store %0 in 0 [1]",
    ]
    verify(copying())


def test_sizes_that_are_not_known_are_numbered():
    (nest,) = compiled(traced(lambda x: x + x, ("float32", ("n", "m")))).nests
    assert "[] x [s0]" in nest.text
    assert len(nest.sizes) == 1


def test_equal_nests_on_other_sizes_have_one_text():
    def texts(*shape):
        code = compiled(traced(lambda x: F.exp(x), ("float32", shape)))
        return [nest.text for nest in code.nests]

    assert texts("n") == texts("k")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stores": []}, "not written"),
        ({"stores": [Store(0, 0, ())]}, "one stride an axis"),
        ({"stores": [Store(3, 0, (1,))]}, "no node"),
        ({"lane": 2}, "no axis"),
        ({"nodes": [Load(np.dtype("int8"), frozenset({0}))]}, "another dtype"),
    ],
)
def test_the_verifier_refuses_what_is_not_whole(changes, message):
    with pytest.raises(AssertionError, match=message):
        verify(copying(**changes))
