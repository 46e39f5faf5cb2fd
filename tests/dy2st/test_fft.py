"""Frequencies and shifts against NumPy; what would be complex is refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st_runtime.errors import DTypeError

X = np.arange(20.0).reshape(4, 5)


@pytest.mark.parametrize("n", [1, 4, 7])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name, n):
    expected = getattr(np.fft, name)(n, 0.5)
    np.testing.assert_allclose(getattr(dy2st.fft, name)(n, 0.5).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("axes", [None, 0, [1], [0, -1]])
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name, axes):
    found = getattr(dy2st.fft, name)(dy2st.to_tensor(X), axes)
    np.testing.assert_array_equal(found.numpy(), getattr(np.fft, name)(X, axes))


TRANSFORMS = [f"{kind}fft{axes}" for kind in ("", "i", "r", "ir") for axes in ("", "2", "n")]
TRANSFORMS += [f"{kind}hfft{axes}" for kind in ("", "i") for axes in ("", "2", "n")]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_refused_with_what_to_do_instead(name):
    with pytest.raises(DTypeError, match=rf"fft\.{name}: .*two tensors"):
        getattr(dy2st.fft, name)(dy2st.ones([4]))


def test_real_tensors_have_the_parts_of_complex_numbers():
    x = dy2st.to_tensor([1.0, -2.0, np.nan])
    assert x.real()[1].item() == x.conj()[1].item() == -2.0 and x.imag().tolist() == [0.0] * 3
    np.testing.assert_allclose(dy2st.angle(x).numpy(), [0.0, np.pi, np.nan], rtol=1e-6)
    for refused in (x.as_complex, x.cfloat, lambda: dy2st.polar(x, x), lambda: dy2st.complex(x, x)):
        with pytest.raises(DTypeError, match="complex"):
            refused()


def test_sizes_and_ranges():
    assert dy2st.Size([2, 3]) == [2, 3] and dy2st.Size([2, 3]).numel() == 6
    assert dy2st.range(0, 4, 2).tolist() == [0.0, 2.0, 4.0]
