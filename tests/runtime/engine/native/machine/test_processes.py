"""Threads that meet the engine at once, and processes that are forked while others compile."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.effort import effort

THREADS = """
import sys, threading
import numpy as np
import dy2st

start, wrong = threading.Barrier(8), []

def meet(number):
    f = dy2st.to_static(lambda x: (x @ x).sum(axis=0) + number, engine="native")
    x = dy2st.ones([6, 6])
    start.wait()
    try:
        for _ in range(3):
            if f(x).numpy().tolist() != [36.0 + number] * 6:
                wrong.append(number)
            arrays = [np.zeros(n) for n in range(1000)]
    except BaseException as error:
        wrong.append(repr(error))

threads = [threading.Thread(target=meet, args=(n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(wrong)
"""

FORKS = """
import os, signal, sys, threading
import numpy as np
import dy2st

numbers, stop = iter(range(10**9)), threading.Event()

def made():
    number = next(numbers) + 0.5
    f = dy2st.to_static(lambda x: (x * number).exp() @ x, engine="native")
    x = np.full((4, 4), 0.0, "float32")
    return f(x).numpy().sum() == 0

def compile_on():
    while not stop.is_set():
        made()

made()
threads = [threading.Thread(target=compile_on) for _ in range(2)]
for thread in threads:
    thread.start()
bad = 0
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(not made())
    bad += os.waitpid(child, 0)[1] != 0
stop.set()
for thread in threads:
    thread.join()
print(bad)
"""


def shown(code, *arguments):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *arguments]
    environment = {**os.environ, "DY2ST_CACHE": "off"}
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=400, env=environment, check=False
    )
    return ended.stdout.strip() or ended.stderr[-2000:]


@pytest.mark.parametrize("run", range(effort(2, 12)))
def test_threads_that_meet_the_engine_at_once_share_what_is_made_once(run):
    assert shown(THREADS) == "[]"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_that_is_forked_while_others_compile_compiles_too():
    assert shown(FORKS, str(effort(6, 50))) == "0"
