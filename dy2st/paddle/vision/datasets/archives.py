"""Reads well-known small pictures from the archives in which they are published."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st.io import Dataset
from dy2st.paddle.vision.image import checked_backend, package
from dy2st_runtime.errors import ArgumentError, FormatError

Array = np.ndarray[Any, Any]


class _Pictures(Dataset[tuple[Any, Array]]):
    """Pictures and their labels in memory.

    A sample is (picture, label). The picture is an image of PIL, or with backend="cv2" an array of
    float32; `transform` changes it. The label is an array of int64.
    """

    images: Array
    labels: Array

    def __init__(
        self, mode: str, transform: Callable[[Any], Any] | None, backend: str | None
    ) -> None:
        if mode.lower() not in ("train", "test"):
            raise ArgumentError(f"mode is 'train' or 'test', not {mode!r}")
        self.mode, self.transform = mode.lower(), transform
        self.backend = checked_backend(backend, ("pil", "cv2"))

    def __getitem__(self, idx: int) -> tuple[Any, Array]:
        """The picture and its label."""
        picture: Any = self.images[idx]
        if self.backend == "pil":
            picture = package("PIL.Image").fromarray(picture)
        else:
            picture = picture.astype("float32")
        if self.transform is not None:
            picture = self.transform(picture)
        return picture, self.labels[idx]

    def __len__(self) -> int:
        """How many pictures there are."""
        return len(self.labels)


class MNIST(_Pictures):
    """Written digits, 28 x 28: from the files train-images-idx3-ubyte.gz and the like.

    Nothing is fetched from the network: image_path and label_path name the files.

    >>> import gzip, struct, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = f"{folder}/images.gz", f"{folder}/labels.gz"
    ...     with gzip.open(images, "wb") as file:
    ...         _ = file.write(struct.pack(">4i", 2051, 1, 28, 28) + bytes(28 * 28))
    ...     with gzip.open(labels, "wb") as file:
    ...         _ = file.write(struct.pack(">2i", 2049, 1) + bytes([7]))
    ...     data = dy2st.vision.datasets.MNIST(images, labels, backend="cv2")
    >>> picture, label = data[0]
    >>> len(data), picture.shape, int(label[0])
    (1, (28, 28), 7)
    """

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        """Read the files."""
        super().__init__(mode, transform, backend)
        self.image_path = _given("image_path", image_path)
        self.label_path = _given("label_path", label_path)
        self.images = _read_idx(self.image_path, 3)
        self.labels = _read_idx(self.label_path, 1).astype("int64")[:, np.newaxis]
        _refuse_unequal(self.image_path, self.images, self.labels)


class FashionMNIST(MNIST):
    """Pieces of clothing, 28 x 28: files as those of MNIST.

    >>> dy2st.vision.datasets.FashionMNIST(download=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: nothing is fetched from the network: give...
    """


def _read_idx(path: str, axes: int) -> Array:
    """The array of bytes in a file of the IDX format: axes, sizes, elements."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    sizes = np.frombuffer(data, ">u4", 1 + axes) if len(data) >= 4 * (1 + axes) else [0]
    if sizes[0] != 0x0800 + axes or len(data) != 4 * (1 + axes) + np.prod(sizes[1:], dtype=int):
        raise FormatError(f"{path} is no whole file of {axes}-dimensional bytes in the IDX format")
    return np.frombuffer(data, "uint8", offset=4 * (1 + axes)).reshape(sizes[1:])


class Cifar10(_Pictures):
    """Photographs of ten kinds, 32 x 32: from the file cifar-10-python.tar.gz.

    Nothing is fetched from the network: data_file names the file. Reading it runs no code of it.

    >>> dy2st.vision.datasets.Cifar10(download=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: nothing is fetched from the network: give...
    """

    _members = {"train": "data_batch", "test": "test_batch"}
    _key = b"labels"

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        """Read the file."""
        super().__init__(mode, transform, backend)
        self.data_file = _given("data_file", data_file)
        begin = self._members[self.mode]
        with tarfile.open(self.data_file) as archive:
            members = {member.name: member for member in archive if member.isfile()}
            chosen = [name for name in members if name.rpartition("/")[2].startswith(begin)]
            files = [archive.extractfile(members[name]) for name in sorted(chosen)]
            batches = [
                _Arrays(io.BytesIO(file.read()), encoding="bytes").load() for file in files if file
            ]
        if not batches:
            raise FormatError(f"{self.data_file} has no part {self._members[self.mode]}")
        pictures = np.concatenate([batch[b"data"] for batch in batches])
        self.images = pictures.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.labels = np.concatenate([batch[self._key] for batch in batches]).astype("int64")
        _refuse_unequal(self.data_file, self.images, self.labels)


class Cifar100(Cifar10):
    """Photographs of a hundred kinds, 32 x 32: from the file cifar-100-python.tar.gz.

    >>> dy2st.vision.datasets.Cifar100(download=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: nothing is fetched from the network: give...
    """

    _members = {"train": "train", "test": "test"}
    _key = b"fine_labels"


class _Arrays(pickle.Unpickler):
    """Reads arrays, lists and dicts; whatever else a file names is refused."""

    _functions = {
        "_reconstruct": np.empty(0).__reduce__()[0],
        "ndarray": np.ndarray,
        "dtype": np.dtype,
    }

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] != "numpy" or name not in self._functions:
            raise FormatError(f"a file of pictures names {module}.{name}, which is not read")
        return self._functions[name]


def _given(name: str, path: str | None) -> str:
    if path is None:
        raise ArgumentError(
            f"nothing is fetched from the network: give {name}=, the path of a file"
        )
    return path


def _refuse_unequal(path: str, images: Array, labels: Array) -> None:
    if len(images) != len(labels):
        raise FormatError(f"{path}: {len(images)} pictures have {len(labels)} labels")
