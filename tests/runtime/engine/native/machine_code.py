"""Functions as machine code that asks NumPy nothing, compared with NumPy's engine."""

from __future__ import annotations

import numpy as np

from dy2st_runtime.engine.native.executable import Executable
from tests.recorded import program_of
from tests.runtime.engine.exactly import flat


def native(function, *types):
    """The function as machine code, which asks NumPy nothing."""
    executable = Executable(program_of(function, *types))
    assert executable.explain().splitlines()[-1] == "computed by NumPy: nothing"
    return executable


def assert_same(executable, *arrays):
    """Every bit is that of NumPy's engine."""
    have = flat(executable.run([*arrays], []))
    want = flat(executable.reference.run([*arrays], []))
    for left, right in zip(have, want, strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        np.testing.assert_array_equal(left, right)
