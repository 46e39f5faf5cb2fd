"""Memory of large arrays that are freed is there for the next ones."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from dy2st_runtime.engine.native.machine.pool import keep_freed_memory

_PAGES = """\
from resource import RUSAGE_SELF, getrusage
import numpy as np
from dy2st_runtime.engine.native.machine.pool import keep_freed_memory
keep_freed_memory()
for _ in range(4):
    before = getrusage(RUSAGE_SELF).ru_minflt
    arrays = [np.zeros(1 << 20, np.float32) + 1 for _ in range(8)]
    del arrays
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_no_pages_are_taken_anew():
    path = ":".join(one for one in sys.path if one)
    settings = {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _PAGES]
    made = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    assert int(made.stdout) < 200


def test_a_setting_of_the_user_holds(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    monkeypatch.setattr(ctypes, "CDLL", None)  # so that nothing can be set
    keep_freed_memory.__wrapped__()
