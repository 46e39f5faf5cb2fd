"""CanonicalizeCast: every elementwise user of a widening cast after the first gets its own."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import CanonicalizeCast, EliminateCommonSubexpr, Sequential, fusion_groups
from dy2st_runtime.ir import F
from dy2st_runtime.ops.control_flow import cond

PASS = CanonicalizeCast()


def casts(t, function, *types):
    after = t.settled(PASS, t.program_of(function, *types), rtol=0)
    return t.names(after).count("cast")


def test_two_additions_of_a_widened_convolution_get_a_cast_each(t):
    w = np.ones((4, 3, 1, 1), np.float16)

    def build(x, y):
        wide = F.cast(F.conv2d(x, w), "float32")
        return [wide + y, wide + y * 2.0]

    types = t.floats("n", 3, 4, 4, dtype="float16"), t.floats("n", 4, 4, 4)
    program = t.program_of(build, *types)
    after = t.settled(PASS, program, rtol=0)
    made = [o for o in after.operators if o.name == "cast"]
    assert len(made) == 2 and made[0].operands[0] is made[1].operands[0]
    readers = [o.operands[0].maker for o in after.operators if o.name == "add"]
    assert set(readers) == set(made)


USES = {
    "one user": (lambda x: [F.exp(x)], 1),
    "two users": (lambda x: [F.exp(x), F.relu(x)], 2),
    "three users": (lambda x: [F.exp(x), x * 2.0, F.relu(x)], 3),
    "one that is not elementwise": (lambda x: [F.exp(x), F.sum(x), F.reshape(x, [-1])], 1),
    "none that is elementwise": (lambda x: [F.sum(x), F.transpose(x, [1, 0])], 1),
    "a product": (lambda x: [F.matmul(x, np.ones((3, 3))), F.exp(x)], 1),
    "an output": (lambda x: [x, F.exp(x)], 1),
    "twice in one operator": (lambda x: [x * x], 2),
    "a branch": (lambda x: [F.exp(x), *cond(F.sum(x) > 0, lambda: [x + 1.0], lambda: [x])], 1),
}


@pytest.mark.parametrize("kind", USES)
def test_each_elementwise_user_after_the_first_gets_a_cast(t, kind):
    function, count = USES[kind]
    assert casts(t, lambda x: function(F.cast(x, "float64")), t.floats("n", 3)) == count


@pytest.mark.parametrize(
    ("source", "target", "count"),
    [
        ("int8", "int32", 2),
        ("float16", "float32", 2),
        ("bool", "float32", 2),
        ("int32", "int64", 2),
        ("int8", "float16", 2),
        ("float64", "float32", 1),
        ("int64", "int8", 1),
        ("int32", "float32", 1),
        ("float32", "int32", 1),
        ("bool", "int8", 1),
    ],
)
def test_only_widening_casts_are_copied(t, source, target, count):
    def build(x):
        y = F.cast(x, target)
        return [F.neg(y), F.abs(y)]

    assert casts(t, build, t.floats("n", dtype=source)) == count


def test_casts_inside_branches_and_loops_are_copied(t):
    def inner(x):
        wide = F.cast(x, "float64")
        return F.cast(F.exp(wide) + F.tanh(wide), "float32")

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3))
    assert t.names(t.settled(PASS, program, rtol=0)).count("cast") == 3


def test_names_places_and_types_of_casts_are_kept(t):
    def build(x):
        y = F.cast(x, "float64")
        return [F.exp(y), F.relu(y)]

    program = t.program_of(build, t.floats("n"))
    first, second = (o for o in PASS(program).operators if o.name == "cast")
    assert first.results[0].type == second.results[0].type
    assert first.location == second.location and first.attributes == second.attributes


def test_common_subexpressions_undo_it(t):
    def build(x):
        y = F.cast(x, "float64")
        return [F.exp(y), F.relu(y)]

    program = t.program_of(build, t.floats("n"))
    again = t.check(Sequential([PASS, EliminateCommonSubexpr()]), program, rtol=0)
    assert str(again) == str(program)


def test_after_it_the_narrow_tensor_goes_from_group_to_group(t):
    def build(x):
        y = F.cast(F.flip(x, axis=[0]), "float64")
        return [F.sum(F.exp(y)), F.sum(F.relu(y))]

    program = t.program_of(build, t.floats("n", 3))
    dtypes = [
        {v.dtype.name for group in fusion_groups(entry) for v in group.inputs()}
        for entry in (program, PASS(program))
    ]
    assert "float64" in dtypes[0] and dtypes[1] == {"float32"}
