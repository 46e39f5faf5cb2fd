"""What is made once, however many threads come at once, and whoever forks meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from dy2st_runtime.singletons import held_by_forks, once


def test_threads_that_come_at_once_get_one_object():
    made = []

    @once
    def slow(key):
        time.sleep(0.05)
        made.append(key)
        return object()

    found = []
    threads = [threading.Thread(target=lambda: found.append(slow("a"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, len(set(map(id, found)))) == (["a"], 1)


def test_each_argument_has_its_own_and_a_failure_is_tried_again():
    calls = []

    @once
    def half(n):
        calls.append(n)
        if len(calls) == 1:
            raise OSError("not yet")
        return [n]

    with pytest.raises(OSError, match="not yet"):
        half(1)
    assert half(1) is half(1) and half(2) == [2] and calls == [1, 1, 2]


def test_what_is_made_may_ask_for_what_is_made_once():
    inner = once(lambda: [])
    assert once(lambda: [inner()])()[0] is inner()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
@pytest.mark.filterwarnings("ignore:This process .* use of fork:DeprecationWarning")
def test_a_child_finds_no_lock_taken():
    lock, begun = threading.RLock(), threading.Event()
    held_by_forks(lock)

    @once
    def slow(n):
        begun.set()
        with lock:
            time.sleep(0.2)
        return n

    thread = threading.Thread(target=slow, args=(1,))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        with lock:
            os._exit(slow(1) + slow(2) - 3)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
