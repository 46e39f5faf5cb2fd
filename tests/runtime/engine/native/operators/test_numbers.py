"""Numbers and sizes as code."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir import apply
from tests.recorded import program_of as traced


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
@pytest.mark.parametrize("value", [True, False, 0, 3])
def test_a_size_that_is_decided_is_a_number_in_code(value, dtype):
    kind = np.dtype(dtype)
    function = lambda x: x.cast(kind) + apply("from_dim", value=value, dtype=kind)  # noqa: E731
    executable, x = Executable(traced(function, ("float32", ("n",)))), np.ones(3, "float32")
    (have,), (want,) = executable.run([x], []), executable.reference.run([x], [])
    assert have.dtype == want.dtype
    np.testing.assert_array_equal(have, want)
