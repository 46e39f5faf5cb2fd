"""Windows as the operators that they are made of: NumPy's kernels are the reference."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import DEFINITIONS, apply
from tests.recorded import program_of as traced

WINDOWS = [
    {"kernel": (3, 3), "strides": (1, 1), "pads": ((1, 1), (1, 1))},
    {"kernel": (2, 2), "strides": (2, 2), "pads": ((0, 0), (0, 0))},
    {"kernel": (3, 2), "strides": (2, 3), "pads": ((0, 1), (1, 0))},
    {"kernel": (1, 7), "strides": (1, 1), "pads": ((0, 0), (3, 3))},
]
SIZES = (("n", 3, "h", "w"), (2, 3, 9, 20))
NOTHING = "computed by NumPy: nothing"


def native(function, shape, dtype="float32"):
    return Executable(traced(function, (dtype, shape)))


def image(dtype):
    x = np.random.default_rng(5).standard_normal((2, 3, 9, 20)) * 9
    x[0, 0, 3, 4] = np.nan if np.dtype(dtype).kind == "f" else 7
    return x.astype(dtype)


@pytest.mark.parametrize("name", ["window_sum", "window_max"])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_windows_are_those_of_numpy(name, window, dtype):
    x = image(dtype)
    want = DEFINITIONS[name].kernel(x, **window)
    for symbols in SIZES:
        executable = native(lambda x: apply(name, x, **window), symbols, dtype)
        assert executable.explain().endswith(NOTHING) and "oneDNN" not in executable.explain()
        np.testing.assert_allclose(executable.run([x], [])[0], want, rtol=2e-5, atol=1e-5)


def test_no_image_has_no_windows():
    executable = native(lambda x: ops.avg_pool2d(x, 2), SIZES[0])
    assert executable.run([np.zeros((0, 3, 4, 6), np.float32)], [])[0].shape == (0, 3, 2, 3)


def test_a_window_that_does_not_fit_is_refused():
    executable = native(lambda x: ops.max_pool2d(x, 3, 1), SIZES[0])
    with pytest.raises(ShapeError, match="a window of 3"):
        executable.run([np.zeros((1, 3, 9, 2), np.float32)], [])


@pytest.mark.parametrize("window", WINDOWS)
def test_places_of_the_largest_are_those_of_numpy(window):
    x = np.round(image("float32") / 4)
    x[1, 1] = -np.inf
    want = DEFINITIONS["max_pool"].kernel(x, **window)
    for symbols in SIZES:
        executable = native(lambda x: apply("max_pool", x, **window), symbols)
        assert executable.explain().endswith(NOTHING)
        for got, wanted in zip(executable.run([x], []), want, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("window", WINDOWS)
def test_windows_are_spread_as_by_numpy(window):
    kernel = DEFINITIONS["window_sum"].kernel
    y = kernel(np.zeros((2, 3, 9, 20), np.float32), **window)
    g = np.random.default_rng(5).standard_normal(y.shape).astype(np.float32)
    want = DEFINITIONS["window_spread"].kernel(g, (9, 20), **window)
    for symbols in (g.shape, ("n", 3, "h", "w")):
        executable = native(lambda g: apply("window_spread", g, sizes=(9, 20), **window), symbols)
        assert executable.explain().endswith(NOTHING)
        np.testing.assert_allclose(executable.run([g], [])[0], want, rtol=2e-5, atol=1e-5)


def test_wide_windows_are_numpys():
    executable = native(lambda x: ops.avg_pool1d(x, 100, 1), ("n", 3, "l"))
    x = np.random.default_rng(5).standard_normal((2, 3, 130)).astype(np.float32)
    want = np.lib.stride_tricks.sliding_window_view(x, 100, 2).mean(-1)
    np.testing.assert_allclose(executable.run([x], [])[0], want, rtol=2e-5, atol=1e-6)
