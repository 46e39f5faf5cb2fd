"""Reads pictures in folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dy2st.io import Dataset
from dy2st.paddle.vision.image import colour_picture
from dy2st_runtime.errors import ArgumentError

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class _Files:
    """The files of folders that are samples, and how one is read."""

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None,
        extensions: Sequence[str] | None,
        transform: Callable[[Any], Any] | None,
        is_valid_file: Callable[[str], bool] | None,
    ) -> None:
        if extensions is not None and is_valid_file is not None:
            raise ArgumentError("extensions and is_valid_file both choose files: give one")
        self.root, self.transform = root, transform
        self.loader = colour_picture if loader is None else loader
        self.extensions = IMG_EXTENSIONS if extensions is None else tuple(extensions)
        self._is_valid = is_valid_file or self._has_extension

    def _has_extension(self, path: str) -> bool:
        return path.lower().endswith(tuple(entry.lower() for entry in self.extensions))

    def _files(self, folder: Path) -> Iterator[str]:
        for place, _, names in sorted(os.walk(folder.expanduser(), followlinks=True)):
            paths = (os.path.join(place, name) for name in sorted(names))
            yield from filter(self._is_valid, paths)

    def _refuse_none(self, samples: Sequence[Any]) -> None:
        if not samples:
            raise ArgumentError(
                f"no files in the folders of {self.root} end with {' '.join(self.extensions)}"
            )

    def _load(self, path: str) -> Any:
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample)


class DatasetFolder(_Files, Dataset[Any]):
    """Pictures in folders that are named after their classes: (picture, number of the class).

    root/cat/1.png, root/cat/more/2.png and root/dog/3.png are of the classes cat, 0, and dog, 1.
    `is_valid_file(path)` says which files are samples if it is not their ending.

    Parameters
    ----------
    root
        The folder.
    loader
        What reads a file; pictures, if it is left out.
    extensions
        Endings of files that are samples.
    transform
        What becomes of each picture.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     for name in ("cat", "dog"):
    ...         os.mkdir(f"{root}/{name}")
    ...         np.save(f"{root}/{name}/1.npy", np.zeros((2, 2)))
    ...     data = dy2st.vision.datasets.DatasetFolder(root, np.load, (".npy",))
    ...     picture, label = data[1]
    >>> data.classes, len(data), picture.shape, label
    (['cat', 'dog'], 2, (2, 2), 1)
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        """Find the files."""
        super().__init__(root, loader, extensions, transform, is_valid_file)
        folder = Path(root).expanduser()
        self.classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        self.class_to_idx = {name: place for place, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in self._files(folder / name)
        ]
        self._refuse_none(self.samples)
        self.targets = [number for _, number in self.samples]

    def __getitem__(self, idx: int) -> tuple[Any, int]:
        """The picture, and the number of its class."""
        path, number = self.samples[idx]
        return self._load(path), number

    def __len__(self) -> int:
        """The number of files."""
        return len(self.samples)


class ImageFolder(_Files, Dataset[Any]):
    """Pictures in folders without classes: each sample is a list of one picture.

    Parameters
    ----------
    root
        The folder.
    loader
        What reads a file; pictures, if it is left out.
    extensions, is_valid_file
        Which files are samples.
    transform
        What becomes of each picture.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     np.save(f"{root}/1.npy", np.zeros((2, 2)))
    ...     data = dy2st.vision.datasets.ImageFolder(root, np.load, (".npy",))
    ...     [picture] = data[0]
    >>> len(data), picture.shape
    (1, (2, 2))
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        """Find the files."""
        super().__init__(root, loader, extensions, transform, is_valid_file)
        self.samples = list(self._files(Path(root)))
        self._refuse_none(self.samples)

    def __getitem__(self, idx: int) -> list[Any]:
        """The picture in a list."""
        return [self._load(self.samples[idx])]

    def __len__(self) -> int:
        """The number of files."""
        return len(self.samples)
