"""`dy2st profile` and `dy2st compare` on saved models."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.cli import main
from dy2st.static import InputSpec
from dy2st_runtime.engine.numpy import codegen


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`run(*arguments)` is the exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    net.eval()
    dy2st.jit.save(dy2st.to_static(net, input_spec=[InputSpec([None, 4], name="x")]), "net")
    np.save("x.npy", np.ones((3, 4), "float32"))

    def call(*arguments):
        status = main(arguments)
        return status, *capsys.readouterr()

    return call


def test_profile_prints_tables_and_writes_a_trace_and_a_page(run, tmp_path):
    files = ("--trace", "t.json", "--page", "p.html")
    status, out, err = run(
        "profile", "net", "--input", "x.npy", "--engine", "numpy", "--repeat", "2", *files
    )
    assert (status, err) == (0, "")
    assert "matmul" in out and "ran: numpy" in out and out.startswith("net: ")
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert "<table>" in (tmp_path / "p.html").read_text()


def test_profile_draws_numbers_where_none_are_given(run):
    status, out, _ = run("profile", "net", "--engine", "numpy", "--repeat", "1")
    assert status == 0 and "tanh" in out
    assert out.startswith("net, on random x [8, 4]: ")


def test_compare_says_whether_all_is_equal(run, monkeypatch):
    status, out, _ = run("compare", "net", "--engine", "numpy", "--input", "x.npy")
    assert status == 0 and out.startswith("net: equal, ")
    assert out.endswith("operators compared (NumPy and the Program, numpy)\n")
    form = lambda operator, operands: (np.matmul, f"2 * {{}}({', '.join(operands)})")  # noqa: E731
    monkeypatch.setitem(codegen._FORMS, "matmul", form)
    status, out, _ = run("compare", "net", "--engine", "numpy")
    assert status == 1 and "first at the operator 'matmul'" in out


def test_compare_takes_passes(run):
    status, out, _ = run("compare", "net", "-p", "inference", "--engine", "numpy")
    assert status == 0 and "equal" in out


def test_what_is_wrong_is_said(run):
    status, _, err = run("profile", "net", "--engine", "nump")
    assert status == 2 and "there is no engine 'nump'" in err
    status, _, err = run("profile", "other")
    assert status == 2 and "other" in err
    status, _, err = run("profile", "net", "--repeat", "0")
    assert status == 2 and "at least 1" in err
