"""Pictures from files, as tensors of bytes and of pixels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.paddle.vision.image import package
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.tensor import EagerTensor

__all__ = ["decode_jpeg", "read_file"]

_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str, name: str | None = None) -> EagerTensor:
    """The bytes of a file: (n,), uint8."""
    return EagerTensor(np.frombuffer(Path(filename).read_bytes(), np.uint8).copy())


def decode_jpeg(x: Any, mode: str = "unchanged", name: str | None = None) -> EagerTensor:
    """The pixels of a JPEG file given as bytes (n,): (c, h, w), uint8; by PIL.

    mode: 'unchanged' as many channels as the file has, 'gray' one, 'rgb' three.
    """
    if mode not in _MODES:
        raise ArgumentError(f"decode_jpeg: mode is one of {list(_MODES)}, not {mode!r}")
    with package("PIL.Image").open(io.BytesIO(np.asarray(x).tobytes())) as image:
        picture = np.asarray(image if _MODES[mode] is None else image.convert(_MODES[mode]))
    picture = picture[None] if picture.ndim == 2 else picture.transpose(2, 0, 1)
    return EagerTensor(np.ascontiguousarray(picture))
