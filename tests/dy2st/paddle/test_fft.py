"""Fourier transforms, frequencies and shifts against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st_runtime.errors import Dy2stError

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


def _given(name, *shape):
    """Random numbers: real ones for what takes real ones."""
    rng = np.random.default_rng(0)
    found = rng.normal(size=shape)
    is_real = name.startswith(("rfft", "ihfft"))
    return found if is_real else found + 1j * rng.normal(size=shape)


@pytest.mark.parametrize("norm", ["backward", "forward", "ortho"])
@pytest.mark.parametrize("n", [None, 4, 5, 9])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_along_one_axis(name, n, norm):
    x = _given(name, 6, 3)
    for axis in (0, -1):
        found = getattr(dy2st.fft, name)(dy2st.to_tensor(x), n, axis, norm).numpy()
        expected = getattr(np.fft, name)(x, n, axis, norm)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("s", [None, (4, 5)])
@pytest.mark.parametrize("end", ["2", "n"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_along_several_axes(name, end, s):
    x = _given(name, 3, 4, 6)
    for axes in ((-2, -1), (2, 0)):
        found = getattr(dy2st.fft, name + end)(dy2st.to_tensor(x), s, axes, "ortho").numpy()
        expected = getattr(np.fft, name + end)(x, s, axes, "ortho")
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("end", ["2", "n"])
def test_hermitian_transforms_are_the_real_ones_the_other_way(end):
    x = _given("hfft", 3, 4, 6)
    found = getattr(dy2st.fft, "hfft" + end)(dy2st.to_tensor(x), axes=(1, 2)).numpy()
    np.testing.assert_allclose(found, np.fft.irfft2(x.conj(), norm="forward"), atol=1e-12)
    found = getattr(dy2st.fft, "ihfft" + end)(dy2st.to_tensor(x.real), axes=(1, 2)).numpy()
    np.testing.assert_allclose(found, np.fft.rfft2(x.real, norm="forward").conj(), atol=1e-12)


def test_all_axes_are_those_of_a_transform_without_any():
    x = _given("fft", 2, 3, 4)
    found = dy2st.fft.fftn(dy2st.to_tensor(x)).numpy()
    np.testing.assert_allclose(found, np.fft.fftn(x), atol=1e-12)
    found = dy2st.fft.fftn(dy2st.to_tensor(x), s=[5, 3]).numpy()
    np.testing.assert_allclose(found, np.fft.fftn(x, (5, 3), (1, 2)), atol=1e-12)


def test_short_floats_and_integers_give_short_complex_numbers():
    assert dy2st.fft.rfft(dy2st.arange(4)).dtype == np.complex64
    assert dy2st.fft.fft(dy2st.ones([4])).dtype == np.complex64
    assert dy2st.fft.irfft(dy2st.fft.rfft(dy2st.ones([4]))).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda x: dy2st.fft.fft(x, norm="half"), "norm is one of"),
        (lambda x: dy2st.fft.fft2(x, axes=(0, 0)), "different axes"),
        (lambda x: dy2st.fft.fft2(x, axes=(0,)), "two axes"),
        (lambda x: dy2st.fft.fftn(x, s=[2], axes=(0, 1)), "1 sizes are given for 2 axes"),
        (lambda x: dy2st.fft.rfft(x * 1j), "takes no tensor of complex64"),
        (lambda x: dy2st.fft.fft(x, n=0), "of no elements"),
        (lambda x: dy2st.fft.irfft(x, n=0), "to 0 elements"),
        (lambda x: dy2st.fft.rfft(x.astype("float16")), "float32 or float64"),
    ],
)
def test_what_has_no_transform_is_refused(call, cause):
    with pytest.raises(Dy2stError, match=cause):
        call(dy2st.ones([2, 4]))


def test_one_program_transforms_signals_of_all_lengths():
    def spectra(z):
        fft = dy2st.fft
        return fft.fft(z), fft.irfft(z, 7), fft.irfft(z), fft.rfft(z.abs(), n=9), fft.ifft(z, 5)

    converted = dy2st.jit.to_static(
        spectra, input_spec=[dy2st.static.InputSpec([None], "complex128")]
    )
    for size in (2, 5, 8, 13):
        x = _given("fft", size)
        expected = [np.fft.fft(x), np.fft.irfft(x, 7), np.fft.irfft(x)]
        expected += [np.fft.rfft(abs(x), 9), np.fft.ifft(x, 5)]
        for found, wanted in zip(converted(dy2st.to_tensor(x)), expected, strict=True):
            np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)


def test_sizes_and_ranges():
    assert dy2st.Size([2, 3]) == [2, 3] and dy2st.Size([2, 3]).numel() == 6
    assert dy2st.range(0, 4, 2).tolist() == [0.0, 2.0, 4.0]
