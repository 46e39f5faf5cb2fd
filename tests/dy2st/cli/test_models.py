"""`dy2st info`, `run` and `bench`: what they say of a saved model, and of what does not fit it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn
from dy2st.cli import bench, main
from dy2st.static import InputSpec

X = np.arange(16, dtype="float32").reshape(2, 8) / 8


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 4)

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return self.first(x)


class Two(nn.Layer):
    def forward(self, x, y):
        return {"sum": x + y, "first": x * 1}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`run(*arguments)`: the exit status, standard output and standard error, in a folder with models."""
    monkeypatch.chdir(tmp_path)
    dy2st.jit.save(Net(), "net", [InputSpec(["batch", 8], name="x")])
    vector = InputSpec(["n"], name="x"), InputSpec(["n"], name="y")
    dy2st.jit.save(Two(), "two", list(vector))
    np.save("x.npy", X)
    np.save("v.npy", np.ones(3, "float32"))
    np.savez("both.npz", y=np.ones(3, "float32"), x=np.zeros(3, "float32"))

    def call(*arguments):
        try:
            status = main(list(arguments))
        except SystemExit as end:  # argparse's own way out
            status = end.code
        return (status, *capsys.readouterr())

    return call


def test_info_says_what_a_model_takes_gives_and_has(run):
    status, out, err = run("info", "net")
    assert (status, err) == (0, "")
    assert re.match(rf"net: format \d, written by dy2st {dy2st.__version__}\n", out)
    for line in (
        "inputs      x: float32[batch, 8]",
        "sizes       batch: 0 or more",
        "outputs     float32[batch, 4]",
        "parameters  36 in 2 arrays, 144 bytes",
        "layers      first",
    ):
        assert f"  {line}\n" in out
    assert "cond 1" in out and "matmul 1" in out
    assert run("info", "net.mlir")[1].partition("\n")[2] == out.partition("\n")[2]


def test_info_names_no_buffers_and_no_sizes_that_data_decide(run):
    class Chosen(nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1D(2)
            self.norm.bias.stop_gradient = True

        def forward(self, x, mask):
            return self.norm(x)[mask] + x[mask]

    net = Chosen()
    net.eval()
    specs = [InputSpec(["n", 2], name="x"), InputSpec(["m"], "bool", name="mask")]
    dy2st.jit.save(net, "chosen", specs)
    out = run("info", "chosen")[1]
    assert "  frozen      norm.bias\n" in out and "buffers" in out
    assert "requires    m == n\n" in out and "size_" not in out.partition("requires")[2]


def test_info_says_from_where_on_a_size_may_be(run):
    net = nn.Sequential(nn.MaxPool2D(2), nn.MaxPool2D(2), nn.MaxPool2D(2))
    dy2st.jit.save(net, "pooled", [InputSpec([None, 3, "h", 32], name="x")])
    out = run("info", "pooled")[1]
    assert "h: 8 or more\n" in out and "requires" not in out


def test_run_writes_what_the_model_computes(run):
    status, out, _ = run("run", "net", "--input", "x.npy", "-o", "y.npy")
    assert status == 0 and out.startswith("result 0: float32 [2, 4]")
    assert np.array_equal(np.load("y.npy"), dy2st_runtime.load("net")(X).numpy())


def test_run_takes_inputs_by_name_in_any_order_and_from_one_file(run):
    named = ("--input", "y=v.npy", "--input", "x=v.npy")
    assert run("run", "two", *named, "-o", "a.npz")[0] == 0
    assert run("run", "two", "--input", "both.npz", "-o", "b.npz", "--engine", "numpy")[0] == 0
    assert np.load("a.npz")["result_0"].tolist() == [2, 2, 2]
    assert [np.load("b.npz")[f"result_{i}"].tolist() for i in (0, 1)] == [[1, 1, 1], [0, 0, 0]]


def test_bench_measures_engines_side_by_side_at_each_size(run, monkeypatch):
    monkeypatch.setattr(bench, "_SECONDS", 0.0)
    engines = ("--engine", "numpy", "--engine", "native")
    status, out, _ = run("bench", "net", "--sizes", "batch=1,3", *engines)
    assert status == 0
    assert "forward(x [1, 8])" in out and "forward(x [3, 8])" in out
    rows = [line.split() for line in out.splitlines() if line.startswith("  ")]
    assert [row[0] for row in rows] == ["engine", "numpy", "native"] * 2
    assert float(rows[2][-1]) < 1e-4
    assert run("bench", "two", "--input", "both.npz", "--engine", "numpy")[0] == 0


class Raising(nn.Layer):
    def forward(self, x):
        if x.sum() > 0:
            raise ValueError("too much")
        return x


def test_what_a_model_raises_is_said_in_a_line(run):
    dy2st.jit.save(Raising(), "raising", [InputSpec([3], name="x")])
    status, _, err = run("run", "raising", "--input", "v.npy")
    assert (status, err) == (2, "dy2st: forward raises ValueError: too much\n")
    status, out, err = run("bench", "raising", "--input", "v.npy", "--engine", "numpy")
    assert "refused" in out and err == "dy2st: note: numpy: ValueError: too much\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nett", "--input", "x.npy"], "no file nett and no nett.mlir; did you mean net?"),
        (["run", "net"], "--input is missing for x"),
        (["run", "net", "--input", "xx.npy"], "there is no file xx.npy; did you mean x.npy?"),
        (["run", "net", "--input", "z=x.npy"], "`z` is no input; the inputs are x"),
        (["run", "net", "--input", "x.npy", "--input", "x=x.npy"], "`x` is given twice"),
        (["run", "net", "--input", "v.npy"], "`x`"),
        (["run", "net", "--input", "net.mlir"], "net.mlir is no .npy or .npz"),
        (["run", "net", "--input", "x.npy", "-o", "y.txt"], "y.txt should be an .npy or .npz"),
        (["run", "net", "--input", "x.npy", "-o", "no/y.npy"], "there is no folder no"),
        (["run", "two", "--input", "both.npz", "-o", "y.npy"], "there are 2 results"),
        (["run", "net", "--input", "x.npy", "--engine", "numppy"], "did you mean 'numpy'?"),
        (["run", "net", "--input", "x.npy", "--program", "g"], "it has no Program 'g'"),
        (["run", "bare", "--input", "x.npy"], "bare lacks the arrays of first.weight, first.bias"),
        (["bench", "net", "--sizes", "bach=1"], "no size 'bach': do you mean 'batch'?"),
        (["bench", "net", "--sizes", "batch"], "as batch=1,8, not 'batch'"),
        (["bench", "net", "--sizes", "a=1,b=2,c=3"], "write --sizes a=1 --sizes b=2 --sizes c=3"),
        (["bench", "net", "--engine", "nativ"], "did you mean 'native'?"),
        (["bench", "two", "--sizes", "n=1", "--input", "both.npz"], "--sizes goes with random"),
        (["info", "x.npy"], "x.npy is no text"),
        (["info", "cut"], "cut.mlir:1:"),
    ],
)
def test_what_does_not_fit_is_said_in_a_line_and_ends_with_2(run, arguments, said):
    Path("bare.mlir").write_bytes(Path("net.mlir").read_bytes())
    Path("cut.mlir").write_bytes(Path("net.mlir").read_bytes()[:40])
    status, _, err = run(*arguments)
    assert status == 2 and said in err and "Traceback" not in err
    assert not list(Path().glob("y.*"))
