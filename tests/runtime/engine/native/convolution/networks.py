"""Programs of convolutions, run as machine code and by NumPy's engine."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.convolution.library import find
from dy2st_runtime.engine.native.convolution.region_calls import RegionCall
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.program.planner import planned
from dy2st_runtime.tensor import EagerTensor
from tests.recorded import program_of as traced

needs_library = pytest.mark.skipif(find() is None, reason="oneDNN is not installed")


def compiled(function, *shapes):
    """The machine code of a function of float32 tensors; a size may be a name."""
    return Executable(traced(function, *(("float32", shape) for shape in shapes)))


def regions_of(executable):
    """The operators of each region, by name."""
    steps = planned(executable.program.block).steps
    regions = [step.region for step in steps if step.region is not None]
    return [[operator.name for operator in region.operators] for region in regions]


def drawn(*shapes, seed=0):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def in_float64(function, inputs):
    """What a function of tensors gives where rounding is nothing beside that of float32."""
    results = function(*(EagerTensor(array.astype(np.float64)) for array in inputs))
    return [result.numpy() for result in results]


def assert_alike(executable, inputs, rtol=2e-5, exact=None):
    """Twice the same as NumPy's engine gives: the second time there is a plan for these sizes.

    Sums of many products are as exact as their size allows. What shrinks them again, as tanh does,
    leaves errors that are large beside it: from what is `exact` they may be twice NumPy's.
    """
    have, want = executable.run(inputs, []), executable.reference.run(inputs, [])
    again, true = executable.run(inputs, []), want if exact is None else exact
    for left, right, one in zip([*have, *again], [*want, *want], [*true, *true], strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        scale = np.abs(right[np.isfinite(right)]).max(initial=0)
        rounding = 0 if exact is None else np.abs(right - one).max(initial=0)
        np.testing.assert_allclose(left, one, rtol=rtol, atol=max(rtol * scale, 2 * rounding))


def assert_by_library(executable, inputs, monkeypatch):
    """No kernel of NumPy computes a region in this call."""
    with monkeypatch.context() as patch:
        patch.setattr(RegionCall, "_by_kernels", None)
        executable.run(inputs, [])
