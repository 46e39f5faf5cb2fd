"""bfloat16 is known by its name before anybody has imported ml_dtypes."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALLS = (
    "P.cast(P.ones([2]), 'bfloat16')",
    "P.ones([2]).astype('bfloat16')",
    "P.zeros([2], 'bfloat16')",
    "P.to_tensor([1.0], 'bfloat16')",
    "P.ones([2]).sum(dtype='bfloat16')",
    "P.create_parameter([2], 'bfloat16')",
    "P.static.InputSpec([2], 'bfloat16')",
    "P.nn.Linear(2, 2).to(dtype='bfloat16').weight",
)


@pytest.mark.parametrize("call", CALLS)
def test_the_name_is_enough(call):
    pytest.importorskip("ml_dtypes")
    code = f"import dy2st as P, sys; print('ml_dtypes' in sys.modules, {call}.dtype)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["False", "bfloat16"], run.stderr
