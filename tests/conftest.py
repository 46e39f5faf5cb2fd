"""What all tests share: one thread a process, and on the gate the same generated cases each time."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# Before NumPy is loaded: its threads wait for each other wherever other processes are at work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("gate", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("gate")


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: no search for garbage need look at them."""
    gc.collect()
    gc.freeze()
