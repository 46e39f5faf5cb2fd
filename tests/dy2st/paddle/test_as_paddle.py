"""An unchanged script of PaddlePaddle runs: `paddle` means dy2st in its process."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
import paddle
import paddle.nn.functional as F
import paddle.tensor.creation as creation
from paddle.nn import Linear
from paddle.nn.layer.transformer import MultiHeadAttention
import dy2st

assert paddle is dy2st.paddle and F is dy2st.nn.functional and creation is dy2st.tensor.creation
assert dy2st.nn.__spec__.name == "dy2st.nn" and Linear is dy2st.nn.Linear
assert paddle.__version__ >= "3.0" and paddle.__version__ == paddle.version.full_version

@paddle.jit.to_static
def f(x):
    if x.sum() > 0:
        x = x * 2
    return F.relu(x)

print(__name__, sys.argv[1:], f(paddle.ones([2])).tolist())
try:
    import paddle.sysconfig
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("module", [False, True])
def test_a_script_or_module_runs_with_its_arguments(tmp_path, module):
    (tmp_path / "script.py").write_text(SCRIPT)
    what = ["-m", "script"] if module else [str(tmp_path / "script.py")]
    command = [sys.executable, "-m", "dy2st.paddle", *what, "-x", "1"]
    shown = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path if module else None
    )
    assert shown.stderr == ""
    first, second = shown.stdout.splitlines()
    assert first == "__main__ ['-x', '1'] [2.0, 2.0]"
    assert second.startswith("dy2st has no 'paddle.sysconfig': operators in C++")


def test_another_paddle_that_is_loaded_is_refused():
    code = "import sys, types; sys.modules['paddle'] = types.ModuleType('paddle')\n"
    code += "from dy2st.as_paddle import install; install()"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "install() must come before" in shown.stderr


def test_an_error_of_the_script_is_its_own(tmp_path):
    (tmp_path / "bad.py").write_text("import paddle\nraise SystemExit(3)\n")
    command = [sys.executable, "-m", "dy2st.paddle", str(tmp_path / "bad.py")]
    assert subprocess.run(command).returncode == 3


def test_without_a_script_it_says_how_it_is_called():
    command = [sys.executable, "-m", "dy2st.paddle"]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert shown.returncode == 2 and shown.stdout.startswith("usage: ")
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and "train.py --epochs 3" in shown.stdout
