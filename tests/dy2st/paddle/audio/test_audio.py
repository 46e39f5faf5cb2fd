"""Windows and spectra against scipy and NumPy's transforms; scales against their formulas."""

import numpy as np
import pytest
from scipy import fft, signal

import dy2st
from dy2st.paddle.audio import features, functional
from dy2st.static import InputSpec

WINDOWS = (
    *("hamming", "hann", "bartlett", "nuttall", "triang", "bohman", "blackman", "cosine"),
    *("tukey", "taylor", ("kaiser", 12.0), ("gaussian", 3.0), ("exponential", None, 2.0)),
)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("periodic", [True, False])
def test_windows_are_those_of_scipy(window, periodic):
    for length in (1, 7, 8, 64):
        found = functional.get_window(window, length, periodic)
        expected = signal.get_window(window, length, periodic)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-7, atol=1e-9)
    assert functional.get_window(window, 8, dtype="float32").dtype == np.float32


def test_windows_are_functions_of_their_own():
    for name in ("hann", "hamming", "bartlett", "blackman", "kaiser"):
        found = getattr(dy2st, f"{name}_window")(9, requires_grad=True)
        expected = signal.get_window(("kaiser", 12.0) if name == "kaiser" else name, 9)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
        assert found.dtype == np.float32 and not found.stop_gradient
    found = dy2st.hamming_window(9, False, 0.6, 0.3, dtype="float64").numpy()
    np.testing.assert_allclose(found, 0.6 - 0.3 * np.cos(np.arange(9) * np.pi / 4))
    with pytest.raises(dy2st.errors.ArgumentError, match="dense tensor on the CPU"):
        dy2st.hann_window(4, device="gpu")


def test_windows_that_are_not_known_are_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match="is no window"):
        functional.get_window("round", 4)
    with pytest.raises(dy2st.errors.ArgumentError, match="give a tuple"):
        functional.get_window("kaiser", 4)


@pytest.mark.parametrize("htk", [True, False])
def test_mels_and_hertz_undo_each_other(htk):
    hertz = np.array([20.0, 999.0, 1000.0, 4000.0])
    mels = functional.hz_to_mel(dy2st.to_tensor(hertz), htk)
    each = [functional.hz_to_mel(value, htk) for value in hertz]
    np.testing.assert_allclose(mels.numpy(), each, rtol=1e-9)
    np.testing.assert_allclose(functional.mel_to_hz(mels, htk).numpy(), hertz, rtol=1e-9)
    assert [functional.mel_to_hz(value, htk) for value in each] == pytest.approx(hertz)
    expected = 2595 * np.log10(1 + hertz / 700) if htk else [0.3, 14.985, 15, 35.1637603]
    np.testing.assert_allclose(each, expected, rtol=1e-6)


@pytest.mark.parametrize("norm", ["slaney", None, 2])
def test_banks_are_triangles_on_the_mel_scale(norm):
    found = functional.compute_fbank_matrix(16000, 512, 20, norm=norm, dtype="float64").numpy()
    corners = functional.mel_frequencies(22, 0.0, 8000.0, dtype="float64").numpy()
    places = np.linspace(0, 8000, 257)
    for row, (low, middle, high) in zip(
        found, zip(corners, corners[1:], corners[2:], strict=False), strict=True
    ):
        expected = np.interp(places, [low, middle, high], [0, 1, 0])
        expected *= 2 / (high - low) if norm == "slaney" else 1
        expected /= np.linalg.norm(expected) if norm == 2 else 1
        np.testing.assert_allclose(row, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("norm", ["ortho", None])
def test_the_cosine_transform_is_that_of_scipy(norm):
    x = np.random.default_rng(0).standard_normal(40)
    matrix = functional.create_dct(13, 40, norm, "float64").numpy()
    np.testing.assert_allclose(x @ matrix, fft.dct(x, norm=norm)[:13], rtol=1e-9)


def test_decibels_are_cut_off_below_the_highest():
    power = dy2st.to_tensor([1e-12, 1.0, 100.0])
    for top_db, lowest in ((None, -100), (30.0, -10)):
        found = functional.power_to_db(power, top_db=top_db)
        np.testing.assert_allclose(found.numpy(), [lowest, 0, 20], rtol=1e-5, atol=1e-5)
    with pytest.raises(dy2st.errors.ArgumentError, match="above 0"):
        functional.power_to_db(power, amin=0.0)


def spectra(x, n_fft, hop, window, center, mode):
    wide = np.pad(x, [(0, 0), (n_fft // 2, n_fft // 2)], mode=mode) if center else x
    missing = n_fft - len(window)
    window = np.pad(window, (missing // 2, missing - missing // 2))
    starts = range(0, wide.shape[1] - n_fft + 1, hop)
    frames = np.stack([wide[:, start : start + n_fft] * window for start in starts], -1)
    return np.abs(np.fft.rfft(frames, axis=1))


@pytest.mark.parametrize(
    "n_fft, hop, length, power, center, mode",
    [(64, 16, None, 1.0, True, "reflect"), (63, 20, 50, 3.0, True, "constant")]
    + [(64, None, 40, 2.0, False, "reflect")],
)
def test_spectra_are_those_of_the_fourier_transform(n_fft, hop, length, power, center, mode):
    x = np.random.default_rng(1).standard_normal((2, 400)).astype("float32")
    layer = features.Spectrogram(n_fft, hop, length, "hamming", power, center, mode)
    window = signal.get_window("hamming", length or n_fft)
    expected = spectra(x, n_fft, hop or n_fft // 4, window, center, mode) ** power
    found = layer(dy2st.to_tensor(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(layer(dy2st.to_tensor(x[0])).numpy(), found[0], rtol=1e-6)


def test_layers_stand_on_each_other_and_keep_their_matrices():
    x = dy2st.to_tensor(np.random.default_rng(2).standard_normal((2, 900)).astype("float32"))
    layer = features.MFCC(8000, 13, 128, 64, n_mels=20)
    log_mel = layer._log_melspectrogram
    mel = log_mel._melspectrogram
    power = mel._spectrogram(x).numpy()
    found = mel.fbank_matrix.numpy() @ power
    np.testing.assert_allclose(mel(x).numpy(), found, rtol=1e-5)
    decibels = 10 * np.log10(np.maximum(found, 1e-10))
    np.testing.assert_allclose(log_mel(x).numpy(), decibels, rtol=1e-4, atol=1e-5)
    expected = fft.dct(decibels, axis=1, norm="ortho")[:, :13]
    np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-3, atol=1e-3)
    assert [*layer.state_dict()] == [
        "dct_matrix",
        "_log_melspectrogram._melspectrogram.fbank_matrix",
        "_log_melspectrogram._melspectrogram._spectrogram.fft_window",
    ]


def test_silence_has_no_slope():
    x = dy2st.zeros([1, 64])
    x.stop_gradient = False
    features.Spectrogram(16, 8)(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.zeros((1, 64)))


def test_spectra_of_unknown_batch_and_length_are_converted():
    layer = features.LogMelSpectrogram(8000, 64, 32, n_mels=10)
    call = dy2st.jit.to_static(layer.forward, input_spec=[InputSpec([None, None], "float32", "x")])
    for shape in ((1, 200), (3, 333)):
        x = dy2st.to_tensor(np.random.default_rng(3).standard_normal(shape).astype("float32"))
        np.testing.assert_allclose(call(x).numpy(), layer(x).numpy(), rtol=1e-4, atol=1e-4)
