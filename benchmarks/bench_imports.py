"""Import times beyond NumPy's, in new processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def median(code: str) -> float:
    seconds(code)  # bytecode and disk caches
    return statistics.median(seconds(code) for _ in range(9))


def test_imports(benchmark):
    def measure():
        floor = median("import numpy")
        for name, goal in (("dy2st", 80), ("dy2st_runtime", 40)):
            beyond = (median(f"import {name}") - floor) * 1e3
            figures = (f"{beyond:.0f} ms", f"{goal} ms")
            benchmark.extra_info[f"import {name}, beyond NumPy"] = figures

    benchmark.pedantic(measure, rounds=1)
