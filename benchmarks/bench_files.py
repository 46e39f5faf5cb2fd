"""Saving and loading a model of 90 MB: time against the disk, memory against the parameters."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

WIDTH = 1024
LAYERS = 22  # of 4 MB each

LOAD = """
import sys, time
import numpy as np
import dy2st_runtime

def peak():  # the kernel's own count: getrusage inherits that of the parent
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
start = time.perf_counter()
model = dy2st_runtime.load(sys.argv[1])
loaded = time.perf_counter() - start
model(np.ones((1, int(sys.argv[2])), "float32"))
print(loaded, (peak() - before) * 1024)
"""


class Deep(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(nn.Linear(WIDTH, WIDTH, bias_attr=False) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_saving_and_loading(benchmark):
    def measure():
        net = Deep()
        arrays = [parameter.array for parameter in net.parameters()]
        size = sum(array.nbytes for array in arrays)
        info = benchmark.extra_info
        with tempfile.TemporaryDirectory() as folder:
            floor = write_floor(Path(folder) / "floor", arrays)
            dy2st.jit.to_static(net, input_spec=[InputSpec([None, WIDTH], name="x")])
            path = str(Path(folder) / "net")
            start = time.perf_counter()
            dy2st.jit.save(net, path)
            saved = time.perf_counter() - start
            command = [sys.executable, "-c", LOAD, path, str(WIDTH)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            loaded, memory = map(float, done.stdout.split())
        info[f"save {size / 1e6:.0f} MB, against writing the bytes"] = (
            f"{saved / floor:.2f} times ({saved * 1e3:.0f} ms)",
            "disk speed",
        )
        info[f"load {size / 1e6:.0f} MB, memory-mapped"] = (f"{loaded * 1e3:.0f} ms", "disk speed")
        info["peak memory of loading and running, against the parameters"] = (
            f"{memory / size:.2f} times",
            "1.2 times",
        )

    benchmark.pedantic(measure, rounds=1)


def write_floor(path: Path, arrays) -> float:
    """Seconds to write the same bytes to the same disk."""
    data = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    start = time.perf_counter()
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - start
