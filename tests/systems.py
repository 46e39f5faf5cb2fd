"""Which tests need Linux, and why: elsewhere `tests/conftest.py` does not collect them.

Those that need it for a part say so by a mark on that part.
"""

from __future__ import annotations

import sys

_KILLS = "it forks processes, and kills them"
_BOUNDS = "it bounds memory and time of processes, and reads /proc"
_SIGNALS = "it interrupts code by POSIX's timers and signals"

# Files and folders in tests/.
NEED_LINUX = {
    "dy2st/importers/onnx/test_mutants.py": _BOUNDS,
    "dy2st/importers/paddle/test_bad_files.py": _SIGNALS,
    "dy2st/jit/test_interrupts.py": _SIGNALS,
    "dy2st/jit/test_random_models.py": _SIGNALS,
    "dy2st/paddle/distributed": "it starts groups of processes, kills them and looks for what is left",
    "runtime/engine/native/machine/test_threads.py": "helping threads are on Linux and x86-64 only",
    "runtime/engine/native/nests/test_shares.py": "helping threads are on Linux and x86-64 only",
    "runtime/engine/native/operators/test_no_memory.py": _BOUNDS,
    "runtime/engine/native/test_signals.py": _SIGNALS,
    "runtime/engine/xla/test_kept_programs.py": _SIGNALS,
    "runtime/test_attribute_mutants.py": _BOUNDS,
    "runtime/test_interrupted_saves.py": _KILLS,
    "runtime/test_limits.py": _BOUNDS,
    "runtime/test_mutants.py": _BOUNDS,
    "runtime/test_places_of_saved_models.py": "it looks at pipes and devices as files",
}


def not_here() -> list[str]:
    """What is not collected on this system.

    >>> set(not_here()) <= set(NEED_LINUX)
    True
    """
    return [] if sys.platform == "linux" else list(NEED_LINUX)
