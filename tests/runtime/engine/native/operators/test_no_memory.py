"""Operators that need more memory beside their results than there is: MemoryError, and no crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource")

SCRIPT = """
import resource
import numpy as np
from dy2st_runtime.engine import compile
from dy2st_runtime.ir import Program, TensorType, Tracer, apply

arrays = [np.zeros((2000, 1, 2), np.float32), np.zeros((1, 200_000), np.int8), np.zeros(1, int), np.zeros(1, int)]
program = Program()
for array in arrays:
    program.inputs.append(program.block.add_parameter(TensorType(array.dtype, array.shape), "x"))
with Tracer(program).tracing():
    program.block.yields = [apply("ctc", *program.inputs, blank=0)]
executable = compile(program, "native")
resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
try:
    executable.run(arrays, [])
except MemoryError:
    print("refused")
"""


def test_rows_for_all_steps_and_labels_that_do_not_fit():
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300
    )
    assert (result.returncode, result.stdout) == (0, "refused\n"), result.stderr[-2000:]
