"""Saved models whose files were given other names are loaded by them."""

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError, MissingFile


@pytest.fixture
def saved(tmp_path):
    layer = nn.Linear(2, 3)
    spec = [dy2st.static.InputSpec([None, 2])]
    dy2st.jit.save(layer, str(tmp_path / "net"), input_spec=spec)
    return tmp_path, layer


def assert_computes(loaded, layer):
    x = dy2st.ones([4, 2])
    np.testing.assert_array_equal(loaded(x).numpy(), layer(x).numpy())


def test_files_of_a_folder_are_named_one_by_one(saved):
    folder, layer = saved
    assert_computes(dy2st.jit.load(str(folder), model_filename="net.mlir"), layer)
    (folder / "net.safetensors").rename(folder / "weights.bin")
    (folder / "net.mlir").rename(folder / "program.txt")
    loaded = dy2st.jit.load(
        str(folder), model_filename="program.txt", params_filename="weights.bin"
    )
    assert_computes(loaded, layer)


def test_names_without_a_folder_are_refused(saved):
    folder, _ = saved
    for options in ({"params_filename": "net.safetensors"}, {"model_filename": "net.mlir"}):
        with pytest.raises(ArgumentError, match="names in a folder"):
            dy2st.jit.load(str(folder / "net"), **options)
    with pytest.raises(ArgumentError, match="names in a folder"):
        dy2st.jit.load(str(folder), params_filename="net.safetensors")
    with pytest.raises(MissingFile, match="other.mlir"):
        dy2st.jit.load(str(folder), model_filename="other.mlir")
