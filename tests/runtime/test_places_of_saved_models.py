"""The places that a saved model names are text: nobody opens the files."""

from __future__ import annotations

import os
import signal
import traceback

import numpy as np
import pytest

from dy2st_runtime import io, to_tensor
from dy2st_runtime.checkpoint import load, save
from dy2st_runtime.errors import ArgumentError, FileAccessError, FormatError, Location, SpecError
from dy2st_runtime.ir.text.parser import parse
from dy2st_runtime.tensor_file import read_arrays, write_arrays
from tests.runtime import kills

MODEL = """
"dy2st.model"() <{format = 1 : i64, producer = "p"}> ({
  "dy2st.program"() <{
    name = "f",
    symbols = {n = [0]},
    inputs = ["x", "i"],
    constraints = [{at = loc(PLACE:1:1), condition = #dy2st.condition<"n > 1">, reason = "so"}],
    structure = #dy2st.output<0>
  }> ({
  ^bb0(%x: tensor<?xf32, ["n"]>, %i: tensor<i64>):
    %0 = "dy2st.cast"(%i) {dtype = i1} : (tensor<i64>) -> tensor<i1> loc(PLACE:1:1)
    "dy2st.assert"(%0) {message = "no"} : (tensor<i1>) -> () loc(PLACE:1:1)
    %1 = "dy2st.index"(%x, %i) {axes = [0]} : (tensor<?xf32, ["n"]>, tensor<i64>) -> tensor<f32> loc(PLACE:1:1)
    "dy2st.return"(%1) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def saved(folder, place):
    return written(folder, MODEL.replace("PLACE", f'"{place}"'))


def written(folder, text):
    (folder / "f.mlir").write_text(text)
    (folder / "f.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    return folder / "f"


def no_answer(*_):
    raise AssertionError("a file was read that has no end")


@pytest.mark.parametrize("kind", ["text", "pipe", "device"])
@pytest.mark.parametrize(("size", "index"), [(1, 1), (3, 0), (3, 9)])
def test_the_file_of_a_place_is_never_opened(tmp_path, kind, size, index):
    place = tmp_path / "secret.py"
    if kind == "text":
        place.write_text("the secret line\n")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place = "/dev/zero"
    model = io.load(saved(tmp_path, place))
    signal.signal(signal.SIGALRM, no_answer)
    signal.alarm(5)
    try:
        with pytest.raises(Exception) as caught:
            model(np.zeros(size, "float32"), np.array(index))
        shown = "".join(traceback.format_exception(caught.value))
    finally:
        signal.alarm(0)
    assert "the secret line" not in shown
    assert f"{place}:1" in shown or f"<{place}>" in shown


@pytest.mark.parametrize(
    "place", ['"a":99999999999:1', '"a":1:99999999999', '"a":-1:1', '"a\\00b":1:1', '"a\0b":1:1']
)
def test_a_place_that_no_file_has_is_refused(tmp_path, place):
    with pytest.raises(FormatError, match="no file has this name"):
        io.load(written(tmp_path, MODEL.replace("PLACE:1:1", place)))


def test_a_place_of_halves_of_characters_is_shown(tmp_path):
    model = io.load(saved(tmp_path, "a\\ED\\A0\\80.py"))
    with pytest.raises(IndexError) as caught:
        model(np.zeros(3, "float32"), np.array(9))
    assert "<a\\ud800.py>" in "".join(traceback.format_exception(caught.value))


def test_a_place_that_is_read_is_equal_to_the_one_that_was_written(tmp_path):
    text = MODEL.replace("PLACE", '"m.py"')
    (program,) = parse(text)
    assert program.operators[0].location == Location("m.py", 1, 1)
    assert program.operators[0].location.is_text
    assert program.constraints[0].location.is_text


@pytest.mark.parametrize("name", ["f\\00", "a\\0Ab", "\\ED\\A0\\80"])
@pytest.mark.parametrize("old", ['name = "f"', 'inputs = ["x"'])
def test_names_may_hold_any_character(tmp_path, name, old):
    path = saved(tmp_path, "m.py")
    file = tmp_path / "f.mlir"
    file.write_text(file.read_text().replace(old, old[: old.index('"')] + f'"{name}"'))
    model = io.load(path)
    assert model(np.ones(3, "float32"), np.array(1)).item() == 1
    with pytest.raises(IndexError):
        model(np.ones(3, "float32"), np.array(9))
    with pytest.raises(SpecError):
        model(np.ones(1, "float32"))


# -- names of files and of tensors -----------------------------------------------------------------


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
