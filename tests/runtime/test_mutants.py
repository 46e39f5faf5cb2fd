"""Saved models with random changes do nothing that they must not; `mutants.py` tries many more."""

import subprocess
import sys
from pathlib import Path

import pytest

from dy2st_runtime import io
from dy2st_runtime.errors import FormatError
from tests.effort import effort
from tests.runtime import mutants


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="exceptions have no notes that say who raised"
)
def test_mutants_are_refused_or_run_and_nothing_else_happens():
    arguments = [sys.executable, "-m", "tests.runtime.mutants", str(effort(50, 250))]
    result = subprocess.run(
        arguments, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "'runs'" in result.stdout and "'refused'" in result.stdout


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    return mutants.originals_in(tmp_path_factory.mktemp("models"))


def loaded(folder, originals, name, old, new):
    """The model with another text."""
    text, arrays = originals[name]
    assert old in text
    (folder / "net.mlir").write_text(text.replace(old, new, 1))
    (folder / "net.safetensors").write_bytes(arrays)
    return io.load(folder / "net")


def test_a_choice_by_a_number_that_has_no_case_is_refused(tmp_path, originals):
    """The value is an output of the Program: it is known only when it runs."""
    model = loaded(
        tmp_path, originals, "chosen", "dense<0> : tensor<i64>", "dense<7> : tensor<i64>"
    )
    inputs = next(given for name, _, _, given in mutants.MODELS if name == "chosen")
    seen = []
    for tag in range(4):
        try:
            seen.append(model(inputs[0], tag)[0])
        except FormatError as error:
            seen.append(str(error))
    assert any("values by the number 7" in str(entry) for entry in seen), seen


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("picked", "stops = [1, 3]} : (tensor<4x3", "stops = [9, 3]} : (tensor<4x3", "is outside of an axis of 4 elements"),
        ("spoken", "stream = \"stdout\"", "stream = \"modules\"", "not one of stdout, stderr"),
        ("spoken", "\".2f\"", "\"2000000000.2f\"", "not a nest of constants and operands"),
        ("images", "groups = 1 : i64", "groups = 1.5 : f64", "is 1.5, not a size from 1"),
    ],
)  # fmt: skip
def test_what_rules_did_not_ask_for_is_refused(tmp_path, originals, name, old, new, message):
    with pytest.raises(FormatError, match=message):
        loaded(tmp_path, originals, name, old, new)
