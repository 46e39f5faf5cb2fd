"""Reads pictures from files: by PIL, or as arrays by OpenCV; both are loaded when needed."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.tensor import EagerTensor

_PACKAGES = {"PIL.Image": "pillow", "cv2": "opencv-python-headless"}
_BACKENDS = ("pil", "cv2", "tensor")

_backend = "pil"


def get_image_backend() -> str:
    """What pictures are loaded as: "pil", "cv2" or "tensor".

    >>> get_image_backend()
    'pil'
    """
    return _backend


def set_image_backend(backend: str) -> None:
    """Choose what pictures are loaded as from now on: images of PIL, arrays, or tensors.

    >>> set_image_backend("pil")
    """
    global _backend
    _backend = checked_backend(backend)


def checked_backend(backend: str | None, known: tuple[str, ...] = _BACKENDS) -> str:
    """The back end that is named, or the one that was chosen."""
    backend = _backend if backend is None else backend
    if backend not in known:
        raise ArgumentError(f"backend is one of {', '.join(map(repr, known))}, not {backend!r}")
    return backend


def image_load(path: str, backend: str | None = None) -> Any:
    """The picture in a file: an image of PIL; or by OpenCV an array (h, w, c) of blue, green and
    red; or a tensor (c, h, w) of red, green and blue.

    >>> dy2st.vision.image_load("cat.png", backend="pil").size  # doctest: +SKIP
    (640, 480)
    """
    backend = checked_backend(backend)
    if backend == "pil":
        return package("PIL.Image").open(path)
    if backend == "tensor":
        with package("PIL.Image").open(path) as image:
            colours = np.asarray(image.convert("RGB"))
        return EagerTensor(np.ascontiguousarray(colours.transpose(2, 0, 1)))
    picture = package("cv2").imread(path)
    if picture is None:
        raise ArgumentError(f"{path} is no picture that OpenCV can read")
    return picture


def colour_picture(path: str) -> Any:
    """The picture in a file in red, green and blue, as the chosen back end has it."""
    if get_image_backend() == "pil":
        with image_load(path) as image:
            return image.convert("RGB")
    picture = image_load(path)
    return picture if isinstance(picture, EagerTensor) else picture[:, :, ::-1].copy()


def package(module: str) -> Any:
    """A module of another package, or a refusal that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ArgumentError(
            f"pictures are read with {module}, which is not installed: "
            f"pip install {_PACKAGES[module]}"
        ) from error


_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str, name: str | None = None) -> EagerTensor:
    """The bytes of a file: (n,), uint8.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"abc")
    ...     file.flush()
    ...     bytes_of_file = dy2st.vision.ops.read_file(file.name)
    >>> bytes_of_file.tolist()
    [97, 98, 99]
    """
    return EagerTensor(np.frombuffer(Path(filename).read_bytes(), np.uint8).copy())


def decode_jpeg(x: Any, mode: str = "unchanged", name: str | None = None) -> EagerTensor:
    """The pixels of a JPEG file given as bytes (n,): (c, h, w), uint8; by PIL.

    mode: 'unchanged' as many channels as the file has, 'gray' one, 'rgb' three.

    >>> data = dy2st.vision.ops.read_file("cat.jpg")  # doctest: +SKIP
    >>> dy2st.vision.ops.decode_jpeg(data).shape  # doctest: +SKIP
    [3, 480, 640]
    """
    if mode not in _MODES:
        raise ArgumentError(f"decode_jpeg: mode is one of {list(_MODES)}, not {mode!r}")
    with package("PIL.Image").open(io.BytesIO(np.asarray(x).tobytes())) as image:
        picture = np.asarray(image if _MODES[mode] is None else image.convert(_MODES[mode]))
    picture = picture[None] if picture.ndim == 2 else picture.transpose(2, 0, 1)
    return EagerTensor(np.ascontiguousarray(picture))


__all__ = ["decode_jpeg", "get_image_backend", "image_load", "read_file", "set_image_backend"]
