"""A signal is noticed in whatever machine code is at: in loops, products, scans and sorts."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from tests.effort import IS_FULL

F = dy2st.nn.functional


def counted(x):
    i = x.sum()
    while i < 1e30:
        i = i + 1e-9
    return i


def squashed(x):
    while x.sum() < 1e30:
        x = (x * 0.5 + 0.1).tanh()
    return x


def multiplied(x):
    while x.sum() < 1e30:
        x = F.softmax(x @ x, axis=-1)
    return x


def ones(*shape):
    return lambda: np.ones(shape, "float32")


def drawn(*shape):
    return lambda: np.random.default_rng(3).random(shape, "float32")


# Each takes much longer than a second without a signal; in the ordinary run some of them.
LONG = {
    "sum": (lambda x: dy2st.full([10**12], 1.0).sum() + x.sum(), ones(1)),
    "sum of exp": (lambda x: (dy2st.full([10**11], 1.0) * x).exp().sum(), ones(1)),
    "long rows": (lambda x: (dy2st.full([10**6, 10**6], 1.0) * x).sum(axis=1), ones(1)),
    "columns": (lambda x: (dy2st.full([10**6, 10**6], 1.0) * x).sum(axis=0), ones(1)),
    "two rows": (lambda x: (dy2st.full([2, 10**11], 1.0) * x).max(axis=1), ones(1)),
    "three axes": (lambda x: (dy2st.full([10**4, 10**4, 10**4], 1.0) * x).mean(), ones(1)),
    "argmax": (lambda x: (dy2st.full([10**11], 1.0) * x).argmax(), ones(1)),
    "a number": (counted, ones(1)),
    "a small tensor": (squashed, ones(50)),
    "a large tensor": (squashed, ones(1000, 1000)),
    "products in a loop": (multiplied, drawn(60, 60)),
    "large products in a loop": (multiplied, drawn(800, 800)),
    "matmul": (lambda x: x @ x, drawn(3500, 3500)),
    "batches": (lambda x: (x.reshape([-1, 1, 1]) * dy2st.ones([60, 60])) @ dy2st.ones([60, 60]), ones(20_000)),
    "tall": (lambda x: (x.reshape([-1, 1]) * dy2st.ones([8])) @ dy2st.ones([8, 8]), ones(2 * 10**7)),
    "softmax": (lambda x: F.softmax(x.exp().log().exp().log().sin().cos(), axis=-1), drawn(6000, 6000)),
    "powers": (lambda x: ((x + 1) ** x).lgamma().tanh(), drawn(6 * 10**7)),
    "cumsum": (lambda x: (x * dy2st.ones([2 * 10**8])).cumsum(axis=0), ones(1)),
    "sort": (lambda x: x.sort(), drawn(2 * 10**7)),
    "sorted rows": (lambda x: x.argsort(axis=1), drawn(20_000, 1000)),
}  # fmt: skip
FEW = ("sum", "long rows", "a number", "a large tensor", "products in a loop", "two rows")


class Asked(Exception):
    """What the handler raises."""


def taken_to_answer(executable, x):
    """Seconds from a signal until the run ends by it, None if it ended before."""
    sent = []

    def send():
        time.sleep(0.2)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGUSR1)

    def raised(*_):
        raise Asked

    before = signal.signal(signal.SIGUSR1, raised)
    thread = threading.Thread(target=send)
    try:
        thread.start()
        executable.run([x], [])
        while True:  # it was done before the signal
            time.sleep(0.01)
    except Asked:
        answered = time.perf_counter()
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
    return answered - sent[0]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LONG if IS_FULL else FEW)
def test_a_signal_is_answered_in_a_fifth_of_a_second(name, threads):
    function, make = LONG[name]
    x = make()
    spec = [InputSpec(list(x.shape), "float32")]
    program = dy2st.to_static(function, input_spec=spec).main_program
    executable = Executable(program)
    set_num_threads(threads)
    try:
        # Other work of the machine may take the processor meanwhile.
        assert any(taken_to_answer(executable, x) < 0.2 for _ in range(10))
    finally:
        set_num_threads(1)


def test_a_call_after_one_that_was_left_is_whole():
    function = dy2st.to_static(
        lambda x: (x * dy2st.ones([10**9, 1])).sum(axis=1).max(), input_spec=[InputSpec([3])]
    )
    executable = Executable(function.main_program)
    taken_to_answer(executable, np.ones(3, "float32"))
    small = Executable(
        dy2st.to_static(lambda x: x.sum() * 2, input_spec=[InputSpec([None])]).main_program
    )
    for _ in range(3):
        assert small.run([np.ones(100_000, "float32")], [])[0] == 200_000


def test_a_handler_that_does_not_raise_changes_nothing():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    function = dy2st.to_static(
        lambda x: (x * dy2st.ones([10**10])).sum(), input_spec=[InputSpec([1])]
    )
    executable = Executable(function.main_program)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        result = executable.run([np.ones(1, "float32")], [])[0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    expected = executable.run([np.ones(1, "float32")], [])[0]
    assert seen and result == expected


def doubled(x, n):
    for _ in range(n):
        for _ in range(n):
            x = x + x
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8"])
def test_a_look_for_signals_leaves_vectors_as_they_are(dtype):
    n = dy2st.to_tensor(1)
    for size in range(1, 70, 3):
        x = np.arange(size).astype(dtype)
        specs = [InputSpec([size], dtype), InputSpec([], "int64")]
        static = dy2st.to_static(doubled, engine="native", input_spec=specs)
        assert np.array_equal(static(dy2st.to_tensor(x), n).numpy(), x + x), size
