"""Integers that another thread changes while a call uses them: an error of ours, or a result."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.effort import effort

SCRIPT = """
import sys, threading, time
import numpy as np
import dy2st as P
from dy2st.static import InputSpec

N, SECONDS, ENGINE = 20_000, float(sys.argv[1]), sys.argv[2]
CALLS = {
    "gather": (lambda x, i: P.gather(x, i), 2**40),
    "index": (lambda x, i: x[i] * 2, 2**40),
    "embedding": (lambda x, i: P.nn.functional.embedding(i, x), 2**40),
    "one_hot": (lambda x, i: P.nn.functional.one_hot(i, 8), 2**40),
    "scatter": (lambda x, i: P.scatter(x, i, x), 2**40),
    "put_along_axis": (lambda x, i: P.put_along_axis(x[:, 0], i, x[:, 1], 0), 2**40),
    "index_add": (lambda x, i: P.index_add(x, i, 0, x), 2**40),
    "joined": (lambda x, i: P.put_along_axis(x[:, 0], i, x[:, 1], 0, "mul"), 2**40),
    "nonzero": (lambda x, i: P.nonzero(i), 1),
    "unique": (lambda x, i: P.unique(i), 1),
    "bincount": (lambda x, i: P.bincount(i), 1000),
}
x = P.zeros([N, 4])
for name, (function, bad) in CALLS.items():
    spec = [InputSpec([N, 4]), InputSpec([N], "int64")]
    static, index = P.to_static(function, input_spec=spec, engine=ENGINE), P.zeros([N], "int64")
    static(x, index)
    over = threading.Event()

    def write():
        good, wrong = np.zeros(N, np.int64), np.full(N, bad)
        while not over.is_set():
            np.copyto(index.array, wrong)
            np.copyto(index.array, good)

    writer = threading.Thread(target=write)
    writer.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            try:
                static(x, index)
            except P.errors.Dy2stError as error:
                assert str(error), name
    finally:
        over.set()
        writer.join()
print("survived")
"""


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_integers_may_be_changed_during_a_call(engine):
    seconds = str(effort(1, 20) / 5)
    command = [sys.executable, "-c", SCRIPT, seconds, engine]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stdout) == (0, "survived\n"), result.stderr[-2000:]
