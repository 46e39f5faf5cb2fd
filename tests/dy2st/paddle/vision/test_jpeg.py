"""Pictures from files as tensors."""

import io
import sys

import numpy as np
import pytest

from dy2st.errors import ArgumentError
from dy2st.paddle.vision.ops import decode_jpeg, read_file


def test_a_file_is_read_as_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"\x01\xff\x00")
    found = read_file(str(tmp_path / "a"))
    assert found.tolist() == [1, 255, 0] and found.dtype == "uint8"


@pytest.mark.parametrize(("mode", "channels"), [("unchanged", 3), ("rgb", 3), ("gray", 1)])
def test_pixels_are_those_of_the_picture(tmp_path, mode, channels):
    image = pytest.importorskip("PIL.Image")
    colour = image.new("RGB", (6, 4), (200, 200, 200))
    buffer = io.BytesIO()
    colour.save(buffer, "JPEG")
    (tmp_path / "a.jpg").write_bytes(buffer.getvalue())
    pixels = decode_jpeg(read_file(str(tmp_path / "a.jpg")), mode)
    assert pixels.shape == [channels, 4, 6] and np.ptp(pixels.numpy()) <= 2


def test_without_a_decoder_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ArgumentError, match="pip install pillow"):
        decode_jpeg(np.zeros(3, "uint8"))


def test_modes_are_three():
    with pytest.raises(ArgumentError, match="'cmyk'"):
        decode_jpeg(np.zeros(3, "uint8"), "cmyk")
