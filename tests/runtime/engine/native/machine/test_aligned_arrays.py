"""Arrays of a thread that has compiled a Program begin at a line of the cache."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
import threading

import numpy as np
import pytest

from dy2st_runtime.engine.native.machine.aligned_arrays import align_arrays
from dy2st_runtime.engine.native.machine.pool import keep_freed_memory


def name_of_allocator() -> str:
    return np._core.multiarray.get_handler_name()


def in_thread(work):
    """What `work` gives in a thread of its own, whose arrays nobody has seen to."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def aligned(work):
    def both():
        align_arrays()
        return work()

    return in_thread(both)


@pytest.mark.parametrize("make", [np.empty, np.zeros, np.ones])
@pytest.mark.parametrize("size", [256, 1000, 1 << 16, (5 << 20) + 3])
def test_new_arrays_begin_at_a_line(make, size):
    place = aligned(lambda: make(size, np.uint8).ctypes.data)
    assert place % 64 == 0


@pytest.mark.parametrize("make", [np.empty, np.zeros, np.ones])
@pytest.mark.parametrize("size", [0, 1, 16, 255])
def test_small_ones_lie_as_those_of_malloc(make, size):
    place = aligned(lambda: make(size, np.uint8).ctypes.data)
    assert place % 16 == 0


def test_zeros_are_zeros_also_in_memory_that_was_used():
    def used_again():
        for _ in range(10):
            array = np.zeros(100_000)
            if array.any():
                return False
            array.fill(1.0)
            del array
        return True

    assert aligned(used_again)


def test_an_array_keeps_its_elements_when_it_grows_and_shrinks():
    def grown():
        array = np.arange(1000)
        array.resize(2_000_000, refcheck=False)
        array.resize(500, refcheck=False)
        return array.tolist()

    assert aligned(grown) == list(range(500))


def test_arrays_go_between_threads():
    array = aligned(lambda: np.arange(100_000))
    assert in_thread(lambda: (array + 1).sum()) == 100_000 * 100_001 // 2


@pytest.mark.parametrize("bytes", [1 << 46, (1 << 47) - 1, 1 << 47, (1 << 63) - 1])
def test_too_much_memory_is_an_error_of_python(bytes):
    def asked(make):
        with pytest.raises(MemoryError):
            make(bytes, np.uint8)
        return True

    assert aligned(lambda: asked(np.empty)) and aligned(lambda: asked(np.zeros))


def test_other_threads_have_numpys_own():
    assert aligned(name_of_allocator) == "dy2st"
    assert in_thread(name_of_allocator) == "default_allocator"


def test_an_allocator_of_somebody_else_stays(monkeypatch):
    monkeypatch.setattr(np._core.multiarray, "get_handler_name", lambda: "mine")
    assert in_thread(lambda: align_arrays() or True)
    monkeypatch.undo()
    assert in_thread(name_of_allocator) == "default_allocator"


_AT_THE_END = """\
import numpy as np
from dy2st_runtime.engine.native.machine.aligned_arrays import align_arrays
align_arrays()
kept = np.ones(100_000)
class Lazy:
    def __del__(self): self.array = None
late = Lazy(); late.array = np.ones(5); late.itself = late
"""


def test_a_process_ends_with_such_arrays():
    path = {"PYTHONPATH": ":".join(one for one in sys.path if one)}
    subprocess.run([sys.executable, "-c", _AT_THE_END], env=path, check=True)


# -- memory that is freed --------------------------------------------------------------------------


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
