"""Fourier transforms, windows and filters as the reference has them."""

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.importers.onnx.functions import fourier as f
from dy2st_runtime.tensor import to_tensor
from tests.dy2st.importers.onnx.functions.reference import check


@pytest.mark.parametrize(("dtype", "parts"), [("float32", 1), ("float64", 2)])
@pytest.mark.parametrize("length", [None, 4, 9])
@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("inverse", [0, 1])
def test_any_transform(inverse, onesided, axis, length, parts, dtype):
    x = np.random.default_rng(0).normal(size=(2, 6, 5, parts)).astype(dtype)
    given = x, None if length is None else np.array(length), np.array(axis)
    named = {"inverse": inverse, "onesided": onesided}
    check("DFT", f.dft, *given, known=(1, 2), unknown={0: (0, 1, 2)}, opset=20, **named)


@pytest.mark.parametrize(("parts", "onesided"), [(1, 0), (1, 1), (2, 0)])
@pytest.mark.parametrize(("step", "length", "with_window"), [(3, 6, True), (2, 5, False)])
def test_frames_are_transformed(step, length, with_window, parts, onesided):
    draw = np.random.default_rng(1)
    x = draw.normal(size=(2, 20, parts)).astype("float32")
    window = draw.random(length).astype("float32") if with_window else None
    given = x, np.array(step), window, None if with_window else np.array(length)
    named = {"known": (1, 3), "unknown": {0: (0, 1)}, "opset": 17, "atol": 1e-5}
    check("STFT", f.stft, *given, onesided=onesided, **named)


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("name", ["hann", "hamming", "blackman"])
def test_windows(name, periodic):
    op, function = f"{name.capitalize()}Window", getattr(f, f"{name}_window")
    check(op, function, np.array(10), known=(0,), opset=17, periodic=periodic)
    wide = np.dtype("float64")
    named = {"periodic": periodic, "output_datatype": wide, "rtol": 1e-12, "atol": 1e-12}
    check(op, function, np.array(7), known=(0,), opset=17, **named)


@pytest.mark.parametrize("given", [(8, 16, 8192, 0.0, 4096.0), (20, 256, 16000, 80.0, 7600.0)])
def test_filters_of_mel(given):
    inputs = [np.array(one, "int64") for one in given[:3]]
    inputs += [np.array(one, "float32") for one in given[3:]]
    check("MelWeightMatrix", f.mel_weight_matrix, *inputs, known=range(5), opset=17)


def test_a_gradient_goes_through_a_transform():
    x = to_tensor(np.ones((4, 1), "float32"), stop_gradient=False)
    f.dft(x, onesided=1)[0].sum().backward()
    np.testing.assert_allclose(x.grad, np.ones((4, 1)), atol=1e-6)


def test_the_axis_of_parts_is_refused():
    with pytest.raises(ArgumentError, match="last axis"):
        f.dft(to_tensor(np.ones((4, 1), "float32")), None, -1)
