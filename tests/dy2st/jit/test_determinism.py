"""The same source gives the same code, Program and files in every process and folder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """\
import sys
import numpy as np
import dy2st
from dy2st.static import InputSpec

OPTIONS = {"alpha", "beta", "gamma", "delta", "epsilon"}


def helper(x, zeta, eta=2):
    if x.mean() > zeta:
        first, second, third = x, x * eta, x + 1
        fourth = third
    else:
        first, second, third = x * 3, x, x - 1
    for n in range(3):
        if third.sum() > n:
            second = second + first
            continue
        if first.max() > 100:
            break
        third = third - second
    return first + second + third


class Net(dy2st.nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = dy2st.nn.LayerDict({name: dy2st.nn.Linear(3, 3) for name in sorted(OPTIONS)})
        self.register_buffer("seen", dy2st.zeros([1]))

    def forward(self, x):
        zeta = eta = x.sum()
        while zeta < 100 and eta > -100:
            zeta, eta = zeta * 2 + 1, eta - 1
            if zeta > 50:
                x = x * zeta
                break
        self.seen = self.seen + 1
        try:
            for name in sorted(OPTIONS):
                x = self.layers[name](x) if name in OPTIONS else x
        finally:
            theta = [row for row in (x, x + 1)]
        return {"result": helper(theta[1], 1), "eta": eta, "zeta": zeta}


dy2st.seed(1)
net = dy2st.to_static(Net())
net(np.ones((2, 3), "float32"))
for text in (net.forward.code, net.forward.main_program, net.forward.report(), net.forward.shapes()):
    print(text)
print(dy2st.to_static(helper).code)
spec = InputSpec([None, 3], "float32")
dy2st.jit.save(net, "saved", input_spec=[spec])
"""


def outcome(folder, seed):
    """What the program prints and saves in a folder, under a seed of Python's hashes."""
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": str(seed)},
    )
    assert result.returncode == 0, result.stderr
    files = {path.name: path.read_bytes() for path in folder.glob("saved*")}
    return result.stdout.replace(str(folder), "FOLDER"), files


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Three runs, each in a folder and under a seed of its own."""
    folder = tmp_path_factory.mktemp("runs")
    return [outcome(folder / name, seed) for seed, name in enumerate(("a", "bb", "a longer name"))]


def test_printed_code_programs_and_reports_are_the_same_bytes(outcomes):
    assert len({text for text, _ in outcomes}) == 1
    assert "cond" in outcomes[0][0] and "FOLDER/program.py" in outcomes[0][0]


def test_saved_files_are_the_same_bytes(outcomes):
    files = [files for _, files in outcomes]
    assert set(files[0]) == {"saved.mlir", "saved.safetensors"}
    assert files[0] == files[1] == files[2]


def test_saved_files_name_no_folder(outcomes):
    assert all(b"/program.py" not in data for _, files in outcomes for data in files.values())
    assert b'"program.py"' in outcomes[0][1]["saved.mlir"]
