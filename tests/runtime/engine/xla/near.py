"""How near results of XLA are to those of NumPy: what docs/engines.md promises."""

from __future__ import annotations

import numpy as np

TOLERANCES = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 2e-5,
    "float64": 1e-12,
    "complex64": 2e-5,
    "complex128": 1e-12,
}


def assert_near(found, wanted, factor=1):
    """The same types, integers and bools, and floats in their tolerance."""
    assert len(found) == len(wanted)
    for have, want in zip(found, wanted):
        if isinstance(want, list):
            assert_near(have, want, factor)
            continue
        want = np.asarray(want)
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        tolerance = factor * TOLERANCES.get(want.dtype.name, 0)
        if not tolerance:
            np.testing.assert_array_equal(have, want)
        elif want.dtype.kind == "V":
            np.testing.assert_allclose(
                have.astype("float32"), want.astype("float32"), tolerance, tolerance
            )
        else:
            np.testing.assert_allclose(have, want, tolerance, tolerance)
