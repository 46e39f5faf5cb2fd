"""`dy2st export`: what it writes runs in a process that has jax and not dy2st."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.cli import main
from dy2st.static import InputSpec

pytest.importorskip("jax", reason="export needs jax: pip install 'dy2st[jax]'")
pytest.importorskip("flatbuffers", reason="export needs flatbuffers: pip install 'dy2st[jax]'")

CALL = """
import sys, json
import numpy as np
import jax.export
assert "dy2st" not in sys.modules
folder = sys.argv[1]
order = json.load(open(folder + "/net.stablehlo.json"))
arrays = np.load(folder + "/arrays.npz")
with open(folder + "/net.stablehlo", "rb") as file:
    net = jax.export.deserialize(bytearray(file.read()))
enable = getattr(jax, "enable_x64", None)
if enable is None:
    from jax.experimental import enable_x64 as enable
with enable(True):
    for case in ("a", "b"):
        given = [arrays[case]] + [arrays[name] for name in order["state"]]
        np.save(folder + "/" + case, np.asarray(net.call(*given)[0]))
"""


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, x):
        steps = dy2st.zeros([], "int64")
        while x.abs().sum() > 1.0 and steps < 5:
            x = dy2st.tanh(self.last(self.norm(self.first(x)))) * 0.5
            steps += 1
        if x.sum() > 0:
            x = x - x.mean(axis=0)
        return nn.functional.softmax(x, axis=-1), x.shape[0]


def test_an_exported_model_runs_with_any_size_in_another_process(tmp_path):
    dy2st.seed(0)
    net = Net()
    dy2st.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec(["n", 4], "float32", "x")])
    assert main(["export", str(tmp_path / "net"), "--stablehlo", "-o", str(tmp_path)]) == 0
    rng = np.random.default_rng(0)
    inputs = {"a": rng.random((3, 4), "float32"), "b": rng.random((7, 4), "float32")}
    state = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    np.savez(tmp_path / "arrays.npz", **inputs, **state)
    order = json.loads((tmp_path / "net.stablehlo.json").read_text())
    assert order["inputs"] == ["x"] and set(order["state"]) <= set(state)
    subprocess.run([sys.executable, "-c", CALL, str(tmp_path)], check=True, timeout=600)
    for case, array in inputs.items():
        wanted = net(dy2st.to_tensor(array))[0].numpy()
        np.testing.assert_allclose(np.load(tmp_path / f"{case}.npy"), wanted, 2e-5, 2e-5)
    assert "stablehlo.while" in (tmp_path / "net.stablehlo.mlir").read_text()


def test_what_numpy_would_compute_is_refused_with_its_lines(tmp_path, capsys):
    def function(x):
        return dy2st.nonzero(x > 0).cast("float32") + dy2st.rand([])

    dy2st.jit.save(dy2st.to_static(function, [InputSpec(["n"])]), str(tmp_path / "net"))
    assert main(["export", str(tmp_path / "net"), "--stablehlo", "-o", str(tmp_path)]) == 2
    shown = capsys.readouterr().err
    assert "nonzero: how many elements there are depends on the data" in shown
    assert "uniform: random numbers" in shown and "test_export.py:" in shown


def test_a_result_that_is_a_list_is_refused(tmp_path, capsys):
    def function(x):
        rows = []
        for row in x:
            rows.append(row * 2)
        return rows

    dy2st.jit.save(dy2st.to_static(function, [InputSpec(["n", 2])]), str(tmp_path / "net"))
    assert main(["export", str(tmp_path / "net"), "--stablehlo", "-o", str(tmp_path)]) == 2
    assert "a result is a list of tensors" in capsys.readouterr().err
