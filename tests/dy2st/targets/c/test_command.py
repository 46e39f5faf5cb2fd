"""`dy2st compile`: files that a compiler for C takes, and a program that computes what we do."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.cli import main
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st.targets.c.command import identifier

CC = shutil.which("cc")
has_cc = pytest.mark.skipif(CC is None, reason="there is no compiler for C")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 3)

    def forward(self, x, scale):
        hidden = nn.functional.gelu(self.norm(self.first(x)))
        if scale > 1:
            hidden = hidden * scale
        return nn.functional.softmax(self.last(hidden)), hidden.argmax(axis=1)


@pytest.fixture
def saved(tmp_path):
    dy2st.seed(0)
    net = Net()
    net.eval()
    specs = [InputSpec(["n", 8], "float32", name="float"), InputSpec([], "float32", name="n")]
    path = str(tmp_path / "saved" / "2nd-net")
    dy2st.jit.save(to_static(net, input_spec=specs), path)
    return path


def compiled(folder, *options):
    """The example, compiled without a warning."""
    name = next(folder.glob("*.h")).stem
    strict = ["-Wall", "-Wextra", "-Werror", "-std=c11"]
    command = [CC, *strict, f"{name}_example.c", f"{name}.o", "-lm", "-o", "example", *options]
    subprocess.run(command, cwd=folder, check=True)


@has_cc
@pytest.mark.parametrize("options", [[], ["--embed"]])
def test_the_example_computes_what_we_do(options, saved, tmp_path):
    build = tmp_path / "build"
    assert main(["compile", saved, "-o", str(build), *options]) == 0
    names = {"_2nd_net.o", "_2nd_net.h", "_2nd_net_example.c"}
    assert {one.name for one in build.iterdir()} == names | (
        set() if options else {"_2nd_net.parameters"}
    )
    compiled(build)
    net, random = dy2st.jit.load(saved), np.random.default_rng(0)
    for rows in (1, 2, 9):
        x = random.normal(size=(rows, 8)).astype(np.float32)
        for scale in (np.float32(0.5), np.float32(2)):
            ran = subprocess.run(
                ["./example", str(rows)],
                cwd=build,
                input=x.tobytes() + scale.tobytes(),
                capture_output=True,
                check=True,
            )
            shares, places = net(dy2st.to_tensor(x), dy2st.to_tensor(scale))
            first = np.frombuffer(ran.stdout[: 12 * rows], np.float32).reshape(rows, 3)
            np.testing.assert_allclose(first, shares.numpy(), rtol=2e-5, atol=2e-5)
            np.testing.assert_array_equal(
                np.frombuffer(ran.stdout[12 * rows :], np.int64), places.numpy()
            )


def test_the_header_tells_types_and_shapes(saved, tmp_path):
    assert main(["compile", saved, "-o", str(tmp_path)]) == 0
    lines = (tmp_path / "_2nd_net.h").read_text().splitlines()
    told = [line.split() for line in lines[1:5]]
    assert told[:2] == [["float_", "float[n][8]"], ["n_", "float"]]
    assert told[2:] == [["result0", "float[n][3]"], ["result1", "int64_t[n]"]]


@has_cc
def test_sizes_that_do_not_fit_end_the_example(saved, tmp_path):
    assert main(["compile", saved, "-o", str(tmp_path / "build")]) == 0
    compiled(tmp_path / "build")
    ran = subprocess.run(["./example", "-4"], cwd=tmp_path / "build", capture_output=True)
    assert (ran.returncode, ran.stdout) == (1, b"the sizes do not fit the Program\n")
    ran = subprocess.run(["./example"], cwd=tmp_path / "build", capture_output=True)
    assert (ran.returncode, ran.stderr) == (2, b"usage: ./example N < inputs > results\n")


def test_what_asks_numpy_is_refused(tmp_path, capsys):
    def function(x):
        return dy2st.linalg.det(x) + 1

    path = str(tmp_path / "net")
    dy2st.jit.save(to_static(function, input_spec=[InputSpec(["n", "n"], "float32")]), path)
    assert main(["compile", path, "-o", str(tmp_path / "build")]) == 2
    said = capsys.readouterr().err
    line = function.__code__.co_firstlineno + 1
    assert f"cannot run without Python:\n  det (line {line}): a library of Pyth" in said
    assert not (tmp_path / "build").exists()


def test_buffers_that_change_are_refused(tmp_path, capsys):
    net = to_static(nn.BatchNorm1D(3), input_spec=[InputSpec(["n", 3], "float32")])
    dy2st.jit.save(net, str(tmp_path / "net"))
    assert main(["compile", str(tmp_path / "net"), "-o", str(tmp_path)]) == 2
    assert "it changes the buffers" in capsys.readouterr().err


def test_a_text_without_its_arrays_is_refused(saved, tmp_path, capsys):
    shutil.copy(f"{saved}.mlir", tmp_path / "alone.mlir")
    assert main(["compile", str(tmp_path / "alone.mlir"), "-o", str(tmp_path)]) == 2
    assert "has no arrays for first.weight" in capsys.readouterr().err


def test_a_program_is_chosen_by_its_name(saved, tmp_path, capsys):
    assert main(["compile", saved, "-o", str(tmp_path / "b"), "--program", "other"]) == 2
    assert "it has no Program 'other': --program is one of forward" in capsys.readouterr().err
    assert main(["compile", saved, "-o", str(tmp_path / "b"), "--program", "forward"]) == 0


@pytest.mark.parametrize(
    ("text", "name"), [("x", "x"), ("a.b-c", "a_b_c"), ("2", "_2"), ("", "_"), ("int", "int_")]
)
def test_names_are_those_of_c(text, name):
    assert identifier(text) == name
