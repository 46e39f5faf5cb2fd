"""What is made when it is first asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dy2st_runtime.lazy import cached_property


class Counted:
    """How often its attribute was made."""

    made = 0

    @cached_property
    def value(self):
        """The number."""
        self.made += 1
        return self.made


def test_an_attribute_is_made_once_for_each_object():
    one, other = Counted(), Counted()
    assert (one.value, one.value, other.value) == (1, 1, 1)
    assert isinstance(Counted.value, cached_property)
    assert Counted.value.__doc__ == "The number."


FORKS = """
import os, signal, threading
from dy2st_runtime.lazy import cached_property

begun, goes_on = threading.Event(), threading.Event()

class Slow:
    @cached_property
    def value(self):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            goes_on.wait()
        return 1

thread = threading.Thread(target=lambda: Slow().value)
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(Slow().value != 1)
print(os.waitpid(child, 0)[1])
goes_on.set()
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_of_a_fork_makes_one_that_another_thread_was_making():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert shown.stdout.strip() == "0", shown.stderr
