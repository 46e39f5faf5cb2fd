"""A Layer of the library that is converted as it is has one Program, from its first call on."""

import subprocess
import sys

import pytest

# In a process of its own: what the first call imports must not let the second trace anew.
SCRIPT = """
import dy2st
from dy2st.static import InputSpec
from dy2st.paddle.vision import models
from dy2st_runtime.engine.native.convolution import regions

if {without}:
    regions.find = lambda: None
for make in (lambda: dy2st.nn.Conv2D(3, 4, 3), lambda: models.resnet18().eval()):
    net = dy2st.to_static(make(), input_spec=[InputSpec([None, 3, 32, 32])], engine={engine!r})
    for batch in (2, 2, 3):
        net(dy2st.rand([batch, 3, 32, 32]))
    print(len(net.forward.program_cache))
"""


@pytest.mark.parametrize("without", [False, True])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_three_calls_have_one_program(engine, without):
    script = SCRIPT.format(engine=engine, without=without)
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.split() == ["1", "1"], found.stderr
