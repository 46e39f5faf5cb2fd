"""On which systems and builds of Python machine code is made at all."""

import sys

from dy2st_runtime import engine
from dy2st_runtime.engine import background
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.numpy.executable import Executable
from dy2st_runtime.ir import F
from tests.recorded import program_of


def test_on_windows_numpy_computes_what_native_is_asked_for(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert not abi.is_known.__wrapped__()
    monkeypatch.setattr(background.abi, "is_known", lambda: False)
    made = engine.compile(program_of(F.relu, ("float32", (2,))), "native")
    assert isinstance(made, Executable)
