"""What a call does not need is not loaded for it."""

import subprocess
import sys

CODE = """
import sys, dy2st
net = dy2st.to_static(dy2st.nn.Linear(2, 2), engine="native")
net(dy2st.ones([1, 2]))
print(*sys.modules)
"""


def test_a_first_call_loads_no_passes_plans_and_checkpoints():
    shown = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    loaded = set(shown.stdout.split())
    late = {
        "dy2st.passes",
        "dy2st_runtime.checkpoint",
        "dy2st_runtime.engine.native.convolution.primitives",
    }
    assert not late & loaded and "dy2st_runtime.engine.native.entry" in loaded
