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


def test_what_would_be_complex_or_does_not_fit_is_refused():
    x = dy2st.ones([5])
    for name in ("stft", "istft"):
        with pytest.raises(dy2st.errors.ArgumentError, match=r"audio\.features\.Spectrogram"):
            getattr(signal, name)(x, 4)
    with pytest.raises(dy2st.errors.ArgumentError, match="does not fit"):
        signal.frame(x, 6, 1)
    with pytest.raises(dy2st.errors.ArgumentError, match="axis is 0 or -1"):
        signal.frame(x, 2, 1, 1)
    with pytest.raises(dy2st.errors.ArgumentError, match="hop_length is an int above 0"):
        signal.overlap_add(dy2st.ones([2, 2]), 0)
