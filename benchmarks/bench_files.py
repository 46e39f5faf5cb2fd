"""Saving and loading a model of 90 MB: time against the disk, memory against the parameters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from measuring import times

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.static import InputSpec

WIDTH = 1024
LAYERS = 22  # of 4 MB each
ROUNDS = 7

# These run in new processes, where the peak is theirs alone.
LOAD = """
import sys
import bench_files, dy2st_runtime

before = bench_files.peak()
dy2st_runtime.load(sys.argv[1])(bench_files.ROW)
print(bench_files.peak() - before)
"""

SAVE = """
import sys
import bench_files, dy2st

before = bench_files.peak()
dy2st.jit.save(bench_files.deep(), sys.argv[1])
print(bench_files.peak() - before)
"""

ROW = np.ones((1, WIDTH), "float32")


def peak() -> int:
    """The most bytes this process ever held; getrusage would give the parent's."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


class Deep(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(nn.Linear(WIDTH, WIDTH, bias_attr=False) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def deep() -> nn.Layer:
    """A model of 90 MB, to be converted for any batch."""
    return dy2st.jit.to_static(Deep(), input_spec=[InputSpec([None, WIDTH], name="x")])


class Saved(NamedTuple):
    net: nn.Layer
    path: str
    arrays: list[np.ndarray]

    @property
    def size(self) -> int:
        return sum(array.nbytes for array in self.arrays)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    net = deep()
    path = str(tmp_path_factory.mktemp("files") / "net")
    dy2st.jit.save(net, path)
    return Saved(net, path, [parameter.numpy() for parameter in net.parameters()])


def write_bytes(path: Path, arrays: list[np.ndarray]) -> None:
    """The floor of saving: the same bytes, on the same disk, surely there."""
    with path.open("wb") as file:
        for array in arrays:
            file.write(array)
        file.flush()
        os.fsync(file.fileno())


def test_saving(figure, saved, tmp_path):
    def measure():
        return times(
            lambda: dy2st.jit.save(saved.net, str(tmp_path / "net")),
            lambda: write_bytes(tmp_path / "floor", saved.arrays),
            ROUNDS,
        )

    what = f"save {saved.size / 1e6:.0f} MB, against writing the bytes"
    figure(what, measure, "times", None)


def test_loading(figure, saved):
    def measure():
        return times(
            lambda: dy2st_runtime.load(saved.path)(ROW),
            lambda: np.fromfile(f"{saved.path}.safetensors", np.uint8),
            ROUNDS,
        )

    what = f"load {saved.size / 1e6:.0f} MB and run once, against reading the bytes"
    figure(what, measure, "times", None)


def grown_peak(code: str, path: str) -> float:
    """Bytes by which the peak of a new process grows, as the code says."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", code, path]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return float(done.stdout)


def test_memory_of_loading(figure, saved):
    measure = lambda: grown_peak(LOAD, saved.path) / saved.size  # noqa: E731
    figure("peak memory of loading and running, against the parameters", measure, "times", 1.2)


def test_memory_of_saving(figure, saved, tmp_path):
    measure = lambda: grown_peak(SAVE, str(tmp_path / "net")) / saved.size  # noqa: E731
    figure("peak memory of building and saving, against the parameters", measure, "times", 1.2)
