"""A process that is forked while other threads trace: the child converts and calls as ever."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import os, signal, sys, threading
import numpy as np
import dy2st

class Scale:
    def __init__(self, by):
        self.by = by
    def __mul__(self, x):
        if x.sum() > 0:
            return x * self.by
        return x

def f(x, n):
    for i in range(n):
        x = Scale(2) * x
        if x.sum() > 1000:
            x = x / 2
    return x

stop = threading.Event()

def trace(shared):
    n = 0
    while not stop.is_set():
        n += 1
        shared(np.ones(3, "float32"), n % 7)
        shared.program_cache.clear()
        dy2st.to_static(f)(np.ones(2, "float32"), 3)

shared = dy2st.to_static(f)
own = Scale.__mul__.__code__
threads = [threading.Thread(target=trace, args=(shared,)) for _ in range(2)]
for thread in threads:
    thread.start()
ends = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        signal.alarm(100)  # one that hangs ends by this signal, however busy the machine is
        one = shared(np.ones(3, "float32"), 2).numpy().tolist()
        two = dy2st.to_static(f)(np.ones(3, "float32"), 1).numpy().tolist()
        os._exit(one != [4.0] * 3 or two != [2.0] * 3)
    ends.append(os.waitpid(child, 0)[1])
stop.set()
for thread in threads:
    thread.join()
print(ends, Scale.__mul__.__code__ is own)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_of_a_process_that_traces_does_not_hang(tmp_path):
    file = tmp_path / "forks.py"
    file.write_text(CODE)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(file), "10"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert shown.stdout.strip() == f"{[0] * 10} True", shown.stderr
