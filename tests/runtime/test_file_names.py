"""Names of files and of tensors: whatever a file can be called is a name, all else is refused."""

from __future__ import annotations

import os

import pytest

from dy2st_runtime import io, to_tensor
from dy2st_runtime.checkpoint import load, save
from dy2st_runtime.errors import ArgumentError, FileAccessError
from dy2st_runtime.tensor_file import read_arrays, write_arrays
from tests.runtime import kills

NAMES = ["a\nb", "a\tb", "a\udcffb", " ", "...", "é", "a\\b", "\x01", "x" * 200, "n.mlir", "0"]
NONE = ["a\ud800b", "a\0b", "\udfff"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", [".", "new\nfolder", "new\udcff"])
def test_what_is_saved_under_a_name_is_loaded_by_it(tmp_path, folder, name):
    os.makedirs(tmp_path / folder, exist_ok=True)
    kills.save(tmp_path / folder / name, 7)
    assert sorted(os.listdir(tmp_path / folder)) == [f"{name}.mlir", f"{name}.safetensors"]
    assert io.load(tmp_path / folder / name)()[0].numpy()[0] == 7
    save({"x": to_tensor([1.0, 2.0])}, tmp_path / folder / f"{name}.pdparams")
    assert load(tmp_path / folder / f"{name}.pdparams")["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", NONE)
def test_what_no_file_can_be_called_is_refused_before_anything_is_written(tmp_path, name):
    calls = [
        lambda: kills.save(tmp_path / "sub" / name, 7),
        lambda: io.load(tmp_path / name),
        lambda: save({}, tmp_path / "sub" / name),
        lambda: load(tmp_path / name),
    ]
    for call in calls:
        with pytest.raises(ArgumentError, match="no file can be called"):
            call()
    assert os.listdir(tmp_path) == []


def test_a_name_too_long_for_one_of_two_files_leaves_none(tmp_path):
    kills.save(tmp_path / "a", 1)
    with pytest.raises(FileAccessError, match="too long"):
        kills.save(tmp_path / ("x" * 248), 2)
    assert sorted(os.listdir(tmp_path)) == ["a.mlir", "a.safetensors"]


@pytest.mark.parametrize("name", ["w\ud800", "\udcff"])
def test_a_tensor_whose_name_is_no_text_is_refused(tmp_path, name):
    with pytest.raises(ArgumentError, match="half of a surrogate pair"):
        write_arrays(tmp_path / "x", {name: to_tensor([1.0]).numpy()})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["w\nx", "w\0x", '"', "é", "", "a" * 1000])
def test_a_tensor_may_have_any_other_name(tmp_path, name):
    write_arrays(tmp_path / "x", {name: to_tensor([1.0]).numpy()})
    assert list(read_arrays(tmp_path / "x")) == [name]
