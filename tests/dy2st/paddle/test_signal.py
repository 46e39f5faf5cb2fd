"""Frames of signals: against windows cut by hand, and put together again."""

import numpy as np
import pytest

import dy2st
from dy2st import signal
from dy2st.static import InputSpec


@pytest.mark.parametrize("length, hop", [(2, 1), (3, 2), (4, 4)])
@pytest.mark.parametrize("shape", [(20,), (3, 20)])
def test_frames_are_windows_along_an_end(length, hop, shape):
    x = np.random.default_rng(0).standard_normal(shape)
    last = np.lib.stride_tricks.sliding_window_view(x, length, -1)[..., ::hop, :]
    found = signal.frame(dy2st.to_tensor(x), length, hop).numpy()
    np.testing.assert_array_equal(found, last.swapaxes(-1, -2))
    found = signal.frame(dy2st.to_tensor(x.T), length, hop, 0).numpy()
    np.testing.assert_array_equal(found, np.moveaxis(last.T, 0, 1))


@pytest.mark.parametrize("hop", [1, 3, 4])
def test_frames_are_added_where_they_overlap(hop):
    x = np.random.default_rng(0).standard_normal((5, 3, 6))
    expected = np.zeros((5, 5 * hop + 3))
    for index in range(6):
        expected[:, index * hop : index * hop + 3] += x[:, :, index]
    found = signal.overlap_add(dy2st.to_tensor(x), hop).numpy()
    np.testing.assert_allclose(found, expected)
    found = signal.overlap_add(dy2st.to_tensor(x.T.copy()), hop, 0).numpy()
    np.testing.assert_allclose(found, expected.T)


def test_frames_of_unknown_length_are_converted():
    def back(x):
        return signal.overlap_add(signal.frame(x, 4, 2), 2)

    back = dy2st.jit.to_static(back, input_spec=[InputSpec([2, None], "float32", "x")])
    for length in (6, 11):
        found = back(dy2st.ones([2, length])).numpy()
        assert found.shape == (2, length // 2 * 2)
        np.testing.assert_array_equal(found[0], [1, 1, *[2] * (found.shape[1] - 4), 1, 1])


def _spectra(x, n_fft, hop, window):
    """Of frames that are cut by hand: (frequencies, frames)."""
    frames = np.lib.stride_tricks.sliding_window_view(x, n_fft, -1)[..., ::hop, :]
    return np.fft.fft(frames * window, axis=-1).swapaxes(-1, -2)


@pytest.mark.parametrize("n_fft, hop", [(8, 2), (7, 3), (6, 6)])
@pytest.mark.parametrize("shape", [(20,), (2, 23)])
def test_spectra_are_those_of_frames(n_fft, hop, shape):
    rng = np.random.default_rng(0)
    x, window = rng.standard_normal(shape), rng.random(n_fft - 1) + 0.5
    tensors = [dy2st.to_tensor(x), n_fft, hop, n_fft - 1, dy2st.to_tensor(window)]
    ends = [(0, 0)] * (len(shape) - 1) + [(n_fft // 2, n_fft // 2)]
    wide = np.pad(window, (0, 1))
    half = n_fft // 2 + 1
    expected = _spectra(x, n_fft, hop, wide)[..., :half, :]
    np.testing.assert_allclose(signal.stft(*tensors, center=False).numpy(), expected, atol=1e-12)
    expected = _spectra(np.pad(x, ends, "reflect"), n_fft, hop, wide) / np.sqrt(n_fft)
    found = signal.stft(*tensors, normalized=True, onesided=False)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)
    expected = _spectra(np.pad(x, ends) * 1j, n_fft, hop, wide)
    found = signal.stft(tensors[0] * 1j, *tensors[1:], pad_mode="constant")
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("n_fft, hop", [(8, 2), (7, 3), (8, None)])
@pytest.mark.parametrize("shape", [(25,), (2, 25)])
def test_a_signal_comes_back_from_its_spectra(n_fft, hop, shape, normalized):
    rng = np.random.default_rng(0)
    x, window = rng.standard_normal(shape), dy2st.to_tensor(rng.random(n_fft) + 0.5)
    options = {"hop_length": hop, "window": window, "normalized": normalized}
    for onesided in (True, False):
        given = signal.stft(dy2st.to_tensor(x), n_fft, onesided=onesided, **options)
        found = signal.istft(given, n_fft, onesided=onesided, **options).numpy()
        np.testing.assert_allclose(found, x[..., : found.shape[-1]], atol=1e-12)
        found = signal.istft(given, n_fft, onesided=onesided, length=20, **options).numpy()
        np.testing.assert_allclose(found, x[..., :20], atol=1e-12)
    given = signal.stft(dy2st.to_tensor(x * 1j), n_fft, **options)
    found = signal.istft(given, n_fft, onesided=False, return_complex=True, **options).numpy()
    np.testing.assert_allclose(found, 1j * x[..., : found.shape[-1]], atol=1e-12)


def test_signals_of_unknown_length_have_spectra():
    def sizes(x):
        return signal.stft(x, 8, 2).abs()

    converted = dy2st.jit.to_static(sizes, input_spec=[InputSpec([None, None], "float64")])
    for length in (9, 16, 31):
        x = np.random.default_rng(0).standard_normal((3, length))
        spectra = _spectra(np.pad(x, ((0, 0), (4, 4)), "reflect"), 8, 2, np.ones(8))[:, :5]
        found = converted(dy2st.to_tensor(x)).numpy()
        np.testing.assert_allclose(found, abs(spectra), atol=1e-12)


def test_what_has_no_spectrum_is_refused():
    x = dy2st.ones([2, 8])
    refused = dy2st.errors.Dy2stError
    for call, cause in (
        (lambda: signal.stft(x, 16, center=False), "does not fit"),
        (lambda: signal.stft(x, 4, win_length=5), "win_length is from 1 to n_fft"),
        (lambda: signal.stft(x, 4, window=dy2st.ones([3])), "the window has 4 elements"),
        (lambda: signal.stft(x, 4, pad_mode="edge"), "pad_mode"),
        (lambda: signal.stft(x * 1j, 4, onesided=True), "no half spectrum"),
        (lambda: signal.stft(x.reshape([2, 2, 4]), 4), "takes .n,."),
        (lambda: signal.stft(x, 2), "hop_length is an int above 0"),
        (lambda: signal.istft(x, 4), "takes complex spectra"),
        (lambda: signal.istft(x * 1j, 4), "3 frequencies are needed"),
        (lambda: signal.istft(x * 1j, 2, return_complex=True), "onesided=False"),
        (lambda: signal.istft(x * 1j, 2, window=dy2st.ones([2]) * 1j), "return_complex=True"),
    ):
        with pytest.raises(refused, match=cause):
            call()
    window = dy2st.to_tensor([0.0, 1.0, 1.0, 0.0])
    with pytest.raises(AssertionError, match="leave elements out"):
        signal.istft(signal.stft(x, 4, 4), 4, 4, window=window)


def test_frames_that_do_not_fit_are_refused():
    x = dy2st.ones([5])
    with pytest.raises(dy2st.errors.ArgumentError, match="does not fit"):
        signal.frame(x, 6, 1)
    with pytest.raises(dy2st.errors.ArgumentError, match="axis is 0 or -1"):
        signal.frame(x, 2, 1, 1)
    with pytest.raises(dy2st.errors.ArgumentError, match="hop_length is an int above 0"):
        signal.overlap_add(dy2st.ones([2, 2]), 0)
