"""A DataLoader without workers against a plain loop that makes the same batches."""

from __future__ import annotations

import numpy as np
import pytest
from measuring import times

from dy2st.io import DataLoader
from dy2st_runtime.tensor import from_numpy

# Samples, sizes of one, samples of a batch.
SHAPES = {
    "rows of 16 in batches of 64": (50_000, (16,), 64),
    "rows of 16 one by one": (5_000, (16,), 1),
    "images of 3x64x64 in batches of 32": (1_024, (3, 64, 64), 32),
}


class Rows:
    """Samples with an array and a number."""

    def __init__(self, count: int, shape: tuple[int, ...]) -> None:
        self.data = np.ones((count, *shape), "float32")

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        return self.data[index], index


def plain(rows: Rows, batch: int) -> None:
    """What one would write by hand."""
    for start in range(0, len(rows), batch):
        samples = [rows[index] for index in range(start, min(start + batch, len(rows)))]
        data, labels = zip(*samples)
        from_numpy(np.stack(data)), from_numpy(np.array(labels))


def loaded(loader: DataLoader) -> None:
    for _ in loader:
        pass


@pytest.mark.parametrize("name", SHAPES)
def test_loading(figure, name):
    count, shape, batch = SHAPES[name]
    rows = Rows(count, shape)
    loader = DataLoader(rows, batch_size=batch)
    measure = lambda: times(lambda: loaded(loader), lambda: plain(rows, batch))  # noqa: E731
    goal = 1.2 if batch > 1 else None  # of one row, what has to be asked of types weighs most
    figure(f"load {name}, against a plain loop", measure, "times", goal)
