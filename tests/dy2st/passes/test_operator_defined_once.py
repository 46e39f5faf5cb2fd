"""An operator that one `define(...)` in somebody's module adds: everything knows what it is."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.passes import (
    CanonicalizeConcatPos,
    EliminateCommonSubexpr,
    EliminateDeadCode,
    FoldConstant,
    HoistLoopInvariants,
    Sequential,
    ToNCHWLayout,
)
from dy2st.passes.fuse import fusion_groups
from dy2st.passes.plan_memory import plan_memory
from dy2st.static import InputSpec, bucket
from dy2st_runtime import engine
from dy2st_runtime.errors import SpecError
from dy2st_runtime.ir import DEFINITIONS, F, View, apply
from dy2st_runtime.ir.aliasing import overwritten, owner, view_of
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ops.control_flow import while_loop

MODULE = """
import numpy as np
from dy2st_runtime.ir import F, Kind, Sample, View, apply, define
from dy2st_runtime.ir.attribute_kinds import AXES
from dy2st_runtime.ops.reduce import reduced_shape
from dy2st_runtime.ops.rules import same_type


def cube(x, out=None):
    return np.multiply(x * x, x, out=out)


define(
    "cube",
    doc="x * x * x.",
    inputs="x",
    kind=Kind.ELEMENTWISE,
    infer=same_type,
    kernel=cube,
    takes_out=True,
    gradient=lambda g, y, x: g * x * x * 3.0,
    samples=(Sample(((2, 3),)),),
)
define(
    "mirrored",
    doc="The last two axes exchanged.",
    inputs="x",
    kind=Kind.INJECTIVE,
    view=View.PERMUTED,
    padding=lambda site: [place(site.result, axis) for axis in site.longer[0]],
    infer=lambda x: x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2])),
    kernel=lambda x: x.swapaxes(-1, -2),
    gradient=lambda g, y, x: apply("mirrored", g),
)
define(
    "extent",
    doc="The distance of the largest and the smallest element along axes.",
    inputs="x",
    kind=Kind.REDUCTION,
    along="axes",
    attributes={"axes": AXES, "keep": False},
    infer=lambda x, axes, keep: x.with_shape(reduced_shape(x.shape, axes, keep)),
    kernel=lambda x, axes, keep: np.ptp(x, axis=axes, keepdims=keep),
)


def place(shape, axis):
    last = len(shape) - 1
    return {last: last - 1, last - 1: last}.get(axis, axis)
"""


@pytest.fixture(autouse=True)
def operators(tmp_path, monkeypatch):
    """Three operators, which are forgotten after the test."""
    known = set(DEFINITIONS)
    path = tmp_path / "somebodys_operators.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("somebodys_operators", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    yield
    for name in set(DEFINITIONS) - known:
        del DEFINITIONS[name]


def cube(x):
    return apply("cube", x)


def mirrored(x):
    return apply("mirrored", x)


def extent(x, *axes, keepdim=False):
    return apply("extent", x, axes=axes, keep=keepdim)


# -- an elementwise operator ----------------------------------------------------------------------


def test_it_runs_has_a_gradient_and_goes_through_text(t):
    x = dy2st.to_tensor([1.0, -2.0], stop_gradient=False)
    cube(x).sum().backward()
    assert x.grad.tolist() == [3.0, 12.0]
    program = t.program_of(lambda x: cube(F.exp(x)), t.floats("n", 3))
    again = verify(parse_one(str(program)))
    assert str(again) == str(program)
    values = t.array(4, 3)
    np.testing.assert_allclose(t.run(again, [values])[0], np.exp(values) ** 3, rtol=1e-5)


def test_common_ones_are_shared_and_those_of_constants_folded(t):
    program = t.program_of(lambda x: cube(x) + cube(x) + cube(np.full(3, 2.0, "f")), t.floats(3))
    after = t.settled(Sequential([EliminateCommonSubexpr(), FoldConstant()]), program, rtol=0)
    assert t.names(after) == ["cube", "add", "add"]


def test_it_leaves_a_loop_in_which_it_does_not_change(t):
    def build(x):
        initial = [F.full([], 0, "int64"), x]
        return while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, F.tanh(y) + cube(x)], initial)[1]

    after = t.settled(HoistLoopInvariants(), t.program_of(build, t.floats("n")), rtol=0)
    assert "cube" in [operator.name for operator in after.operators]


def test_it_goes_before_a_concat_and_a_transpose_goes_behind_it(t):
    parts = t.program_of(lambda x, y: cube(F.concat([x, y])), t.floats("n"), t.floats("m"))
    assert t.names(t.settled(CanonicalizeConcatPos(), parts)) == ["cube", "cube", "concat"]
    transposed = t.program_of(
        lambda x: F.transpose(cube(F.transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2]),
        t.floats("n", 2, 3, 4),
    )
    layout = Sequential([EliminateDeadCode(), ToNCHWLayout(), EliminateDeadCode()])
    assert t.names(t.settled(layout, transposed, rtol=0)) == ["cube"]


def test_it_is_fused_into_what_comes_before(t):
    w = t.array(2, 2, 3, 3)
    program = t.program_of(lambda x: cube(F.conv2d(x, w) + 1.0), t.floats(1, 2, 5, 5))
    assert [str(group) for group in fusion_groups(program)] == ["conv + add + cube"]


def test_it_is_written_over_an_operand_that_dies(t):
    program = t.program_of(lambda x: cube(F.exp(x)), t.floats(64, 64))
    assert [o.name for o in overwritten(program.block)] == ["cube"]
    assert "out=" in engine.compile(program).source
    assert len(plan_memory(program).buffers) == 1
    values = t.array(64, 64)
    np.testing.assert_allclose(t.run(program, [values])[0], np.exp(values) ** 3, rtol=1e-5)


def padded(function, *shape, **sizes):
    """What a bucket gives for numbers of a shape, and what comes without it."""
    static = to_static(function, [InputSpec(["n", "t", 4])])
    x = dy2st.to_tensor(np.random.default_rng(0).standard_normal(shape).astype("float32"))
    return bucket(static, **sizes)(x).numpy(), function(x).numpy()


def test_a_bucket_pads_it():
    found, wanted = padded(lambda x: cube(x) + 1.0, 3, 2, 4, n=[8], t=[5])
    np.testing.assert_array_equal(found, wanted)


# -- a view ---------------------------------------------------------------------------------------


def test_a_view_is_followed_to_its_owner(t):
    program = t.program_of(lambda x: mirrored(F.exp(x)), t.floats(3, 4))
    (last,) = program.outputs
    assert view_of(last.maker) is View.PERMUTED and owner(last).maker.name == "exp"
    both = t.program_of(lambda x: F.relu(F.exp(x)) + mirrored(F.exp(x)), t.floats(4, 4))
    assert "mirrored" not in [o.name for o in overwritten(both.block)]


def test_what_a_view_looks_into_is_not_written_over(t):
    def build(x):
        y = F.exp(x)
        z = mirrored(y)
        return F.relu(y) * z

    program = t.program_of(build, t.floats(64, 64))
    assert "relu" not in [o.name for o in overwritten(program.block)]
    values = t.array(64, 64)
    (found,) = t.run(program, [values])
    np.testing.assert_allclose(found, np.exp(values) * np.exp(values).T, rtol=1e-5)


def test_a_view_of_an_input_is_given_out_as_a_copy(t):
    program = t.program_of(mirrored, t.floats(3, 4))
    values = t.array(3, 4)
    (found,) = t.run(program, [values])
    assert not np.shares_memory(found, values)


def test_a_bucket_pads_a_view():
    found, wanted = padded(lambda x: mirrored(x) * 2.0, 3, 2, 4, n=[8], t=[5])
    np.testing.assert_array_equal(found, wanted)


# -- a reduction ----------------------------------------------------------------------------------


def test_a_bucket_pads_a_reduction_of_other_axes_only():
    found, wanted = padded(lambda x: extent(x, 2), 3, 2, 4, n=[8], t=[5])
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(SpecError, match="`extent` works along it"):
        padded(lambda x: extent(x, 1), 3, 2, 4, n=[8], t=[5])


def test_a_transpose_goes_behind_a_reduction(t):
    transposed = t.program_of(
        lambda x: F.transpose(extent(F.transpose(x, [0, 2, 3, 1]), 2, keepdim=True), [0, 3, 1, 2]),
        t.floats("n", 2, 3, 4),
    )
    layout = Sequential([EliminateDeadCode(), ToNCHWLayout(), EliminateDeadCode()])
    after = t.settled(layout, transposed, rtol=0)
    assert t.names(after) == ["extent"] and after.operators[-1].attributes["axes"] == (3,)


def test_a_reduction_goes_before_a_concat_along_channels(t):
    program = t.program_of(
        lambda x, y: extent(F.concat([x, y], 1), 2, keepdim=True),
        t.floats(2, 3, 4),
        t.floats(2, 1, 4),
    )
    after = t.settled(CanonicalizeConcatPos(), program, rtol=0)
    assert t.names(after) == ["extent", "extent", "concat"]


def test_a_reduction_is_the_end_of_a_group(t):
    program = t.program_of(lambda x: extent(F.exp(x) * 2.0, 1), t.floats("n", 4))
    assert [str(group) for group in fusion_groups(program)] == ["exp + multiply + extent"]
