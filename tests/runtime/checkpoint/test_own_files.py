"""What `save` writes, `load` gives back: the same objects, types and order, in a plain format."""

import io
import json
import math
import os
import subprocess
import sys
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import dy2st
from dy2st_runtime import nn, optimizer
from dy2st_runtime.checkpoint import load, save, structure
from dy2st_runtime.errors import ArgumentError, FileAccessError, FormatError, MissingFile
from dy2st_runtime.files import replacing
from dy2st_runtime.tensor import EagerTensor, to_tensor

KEYS = st.one_of(st.text(), st.binary(), st.booleans(), st.integers(-(2**63), 2**64 - 1))
NUMBERS = st.one_of(
    st.integers(-(2**900), 2**900), st.floats(allow_nan=False), st.complex_numbers(allow_nan=False)
)
TREES = st.recursive(
    st.one_of(KEYS, NUMBERS, st.none(), st.sets(KEYS), st.frozensets(KEYS)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(KEYS, inner),
        st.dictionaries(KEYS, inner).map(OrderedDict),
    ),
)


def again(value, **configs):
    buffer = io.BytesIO()
    save(value, buffer)
    buffer.seek(0)
    return load(buffer, **configs)


@pytest.fixture(params=["model.pdparams", "model.safetensors", "model"])
def file(tmp_path, request):
    return tmp_path / "new folder" / request.param


@pytest.fixture
def plain_file(tmp_path):
    return tmp_path / "model.safetensors"


def test_a_state_dict_comes_back_in_its_order_with_its_names(file):
    state = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4)).state_dict()
    save(state, str(file))
    found = load(str(file))
    assert list(found) == list(state)
    for name, tensor in state.items():
        assert type(found[name]) is EagerTensor
        assert found[name].name == tensor.name
        assert found[name].stop_gradient
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy())


def test_other_libraries_find_the_tensors_under_their_names(plain_file):
    save({"model": {"w": to_tensor([1.0, 2.0])}, "step": 3}, plain_file)
    assert load_file(plain_file)["model.w"].tolist() == [1, 2]


@pytest.mark.parametrize("tree", [
    None, True, False, 0, -1, 10**100, 0.1, -0.0, 1e308, math.inf, -math.inf, "", "ü\ud800\0", b"\x00\xff", bytearray(b"a"),
    1 + 2j, [], {}, (), set(), [[], [{}]], (1, [2, (3,)]), {1, "a", None, 2.5, b"x"}, frozenset({True}),
    {1: "a", "1": "b", None: "c", 2.5: "d", b"k": "e", False: "f"}, OrderedDict([("b", 1), ("a", OrderedDict())]),
    {"dict": {"tensor": "x"}, "tuple": [1]}, [1, 1.0, True],
])  # fmt: skip
def test_plain_objects_come_back(tree, file):
    save(tree, file)
    for found in (again(tree), load(file)):
        assert repr(found) == repr(tree) or found == tree
        assert type(found) is type(tree)


@settings(deadline=None, max_examples=40)
@given(TREES)
def test_any_tree_comes_back(tree):
    assert again(tree) == tree


def test_not_a_number_comes_back():
    assert math.isnan(again([math.nan])[0])
    assert math.isnan(again(complex(0, math.nan)).imag)


def test_tensors_arrays_and_numbers_of_numpy_stay_what_they_are():
    array = np.arange(6, dtype="int16").reshape(2, 3).T
    found = again({"t": to_tensor([[1.5]]), "a": array, "n": np.float32(2.5), "b": np.bool_(True)})
    assert type(found["t"]) is EagerTensor
    assert type(found["a"]) is np.ndarray and found["a"].dtype == "int16"
    np.testing.assert_array_equal(found["a"], array)
    assert found["n"] == 2.5 and type(found["n"]) is np.float32
    assert type(found["b"]) is np.bool_
    found["a"][0] = 7  # nothing of the file is in use


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int64", "float16", "float64", ml_dtypes.bfloat16]
)
def test_every_dtype_comes_back(dtype):
    array = np.arange(4).reshape(2, 2).astype(dtype)
    found = again(EagerTensor(array))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found.numpy(), array)


def test_names_that_meet_are_kept_apart():
    a, b, c, d = (to_tensor([float(n)]) for n in range(4))
    found = again({"x.y": a, "x": {"y": b, "y~1": c}, "__metadata__": d, "\ud800": a})
    assert found["x.y"].item() == 0 and found["x"]["y"].item() == 1
    assert found["x"]["y~1"].item() == 2 and found["__metadata__"].item() == 3
    assert found["\ud800"].item() == 0


def test_one_tensor_at_two_places_is_stored_once(plain_file):
    tensor = to_tensor(np.ones((100, 100)))
    save({"a": tensor, "b": tensor}, plain_file)
    assert plain_file.stat().st_size < 90_000
    assert load(plain_file)["b"].numpy().sum() == 10_000


def test_arrays_are_given_when_asked_for():
    found = again({"a": to_tensor([1.0]), "b": [to_tensor([2])]}, return_numpy=True)
    assert type(found["a"]) is np.ndarray and found["b"][0].tolist() == [2]


def test_objects_follow_each_other_in_a_buffer():
    buffer = io.BytesIO()
    save({"a": to_tensor([1.0])}, buffer)
    save([2], buffer)
    buffer.seek(0)
    assert load(buffer)["a"].item() == 1
    assert load(buffer) == [2]


def test_the_same_object_gives_the_same_bytes(tmp_path):
    code = (
        "import sys, numpy; from dy2st_runtime.checkpoint import save;"
        "save({'s': {'a', 'b', 'c', 1}, 'w': numpy.ones(3), 'v': numpy.ones(2)}, sys.argv[1])"
    )
    for seed in "12":
        env = {**os.environ, "PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / seed)], env=env, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    def made():
        layer = nn.Linear(3, 1)
        schedule = optimizer.lr.StepDecay(0.1, 2)
        return layer, optimizer.Adam(schedule, parameters=layer.parameters()), schedule

    def train(layer, adam, schedule):
        for number in range(3):
            loss = (layer(to_tensor([[1.0, 2.0, float(number)]])) ** 2).mean()
            loss.backward()
            adam.step()
            adam.clear_grad()
            schedule.step()

    first = made()
    train(*first)
    state = {"model": first[0].state_dict(), "opt": first[1].state_dict(), "epoch": 3}
    save(state, tmp_path / "a.pdparams")
    train(*first)

    second = made()
    found = load(tmp_path / "a.pdparams")
    second[0].set_state_dict(found["model"])
    second[1].set_state_dict(found["opt"])
    train(*second)
    for one, other in zip(first[0].parameters(), second[0].parameters()):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_the_names_of_paddle_are_there():
    assert dy2st.save is save and dy2st.load is load


# -- files of safetensors ---------------------------------------------------------------------


def test_any_safetensors_file_is_a_dict_of_tensors(tmp_path):
    arrays = {"b": np.eye(2), "a": np.ones(3, ml_dtypes.bfloat16)}
    save_file(arrays, tmp_path / "model.bin", metadata={"format": "pt"})
    found = load(tmp_path / "model.bin")
    assert found["a"].dtype == ml_dtypes.bfloat16
    assert found["b"].tolist() == [[1, 0], [0, 1]]


def shards(folder, **places):
    save_file({"a": np.ones(1), "x": np.ones(2)}, folder / "m-1.safetensors")
    save_file({"b": np.zeros(1)}, folder / "m-2.safetensors")
    index = {"metadata": {"total_size": 24}, "weight_map": places}
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    return path


def test_shards_are_read_by_their_index(tmp_path):
    index = shards(tmp_path, b="m-2.safetensors", a="m-1.safetensors")
    found = load(index)
    assert list(found) == ["b", "a"]
    assert found["a"].item() == 1 and found["b"].item() == 0


@pytest.mark.parametrize(
    "place", ["../m-1.safetensors", "/etc/passwd", "", "..", "a/b", "a\\b", 3, None, ["m-1"]]
)  # fmt: skip
def test_an_index_names_files_of_its_folder_alone(tmp_path, place):
    with pytest.raises(FormatError, match="index.json.*weight_map"):
        load(shards(tmp_path, a=place))


def test_an_index_in_an_index_is_refused(tmp_path):
    with pytest.raises(FormatError, match="index.json is no checkpoint"):
        load(shards(tmp_path, a="model.safetensors.index.json"))


def test_shards_without_their_tensors_are_refused(tmp_path):
    with pytest.raises(FormatError, match="m-2.safetensors has no 'a'"):
        load(shards(tmp_path, a="m-2.safetensors"))
    with pytest.raises(MissingFile):
        load(shards(tmp_path, a="m-3.safetensors"))


@pytest.mark.parametrize(
    "text", ["{}", "{", "{" * 100_000, '{"weight_map": 3}', '{"weight_map": []}']
)
def test_a_text_that_is_no_index_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FormatError, match="a.json"):
        load(tmp_path / "a.json")


# -- what is refused --------------------------------------------------------------------------


def endless():
    found = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    "value, cause",
    [
        (nn.Linear(1, 1), "is a Linear.*state_dict"),
        ({"a": [object()]}, "a.0 is a object"),
        ({"a": {(1, 2): 3}}, "a has the key"),
        ({(1,)}, "has the key"),
        ({1 << 70: 0}, "has the key"),
        ({"a": lambda: 0}, "a is a function"),
        (1 << 2000, "1024 bits"),
        (endless(), "deep, or holds itself"),
        ({"a": np.array(["b"])}, "'a' is an array of <U1"),
        ({"a": np.array([None])}, "array of object"),
        (np.float64, "is a type"),
        (type("Mine", (dict,), {})(), "is a Mine"),
    ],
)
def test_what_is_no_data_is_not_saved(file, value, cause):
    with pytest.raises(ArgumentError, match=cause):
        save(value, file)
    assert not file.exists()


def test_lists_that_unfold_endlessly_are_not_saved(monkeypatch):
    monkeypatch.setattr(structure, "_MOST", 10_000)
    value = [0]
    for _ in range(30):
        value = [value] * 2
    with pytest.raises(ArgumentError, match="more than 10000 objects"):
        save(value, io.BytesIO())


def test_options_and_places_that_do_not_exist_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="no option 'compress'"):
        save({}, "x", compress=True)
    with pytest.raises(ArgumentError, match="protocol is 2, 3 or 4"):
        save({}, "x", protocol=5)
    with pytest.raises(ArgumentError, match="use_binary_format"):
        save({}, "x", use_binary_format=True)
    with pytest.raises(ArgumentError, match="named like"):
        save({}, f"{tmp_path}/")
    with pytest.raises(ArgumentError, match="not list"):
        save({}, [])
    with pytest.raises(FileAccessError):
        load(tmp_path)


def test_nothing_is_saved_while_a_function_is_traced():
    layer = nn.Linear(2, 2)

    @dy2st.to_static
    def saves(x):
        save(layer.state_dict(), io.BytesIO())
        return x

    with pytest.raises(dy2st.errors.Dy2stError):
        saves(dy2st.ones([2]))


def test_a_failure_while_saving_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a"
    save([1], file)
    with pytest.raises(RuntimeError), replacing(file) as (temporary,):
        temporary.write_bytes(b"half")
        raise RuntimeError
    assert load(file) == [1]


def test_models_are_loaded_by_jit_load(tmp_path):
    path = str(tmp_path / "net")
    dy2st.jit.save(nn.Linear(2, 2), path, input_spec=[dy2st.static.InputSpec([None, 2])])
    for name in (path, path + ".mlir"):
        with pytest.raises(ArgumentError, match="jit.load"):
            load(name)
    assert set(load(path + ".safetensors")) == {"weight", "bias"}


@pytest.mark.parametrize("tree", [
    [], [1, 2], 3, "x", [{}], [{"tensor": "a"}], [{"tensor": ["b", ""]}], [{"tensor": 3}], [{"dict": 3}], [{"dict": [[1]]}], [{"dict": [[[1], 2]]}],
    [{"what": 1}], [{"float": "1"}], [{"bytes": "%"}], [{"complex": [1]}], [{"set": [[1]]}], [{"set": [2**70]}], [{"dict": [[{"tensor": ["a", ""]}, 1]]}], [None], [{"tensor": ["a"]}], [{"tensor": [[], ""]}],
    [{"set": [{"set": []}, {"tensor": ["a", ""]}]}],
])  # fmt: skip
def test_a_damaged_structure_is_refused(tmp_path, tree):
    text = json.dumps({"tree": tree})
    save_file({"a": np.ones(1)}, tmp_path / "bad", metadata={"dy2st": text})
    with pytest.raises(FormatError, match="bad"):
        load(tmp_path / "bad")


def test_a_file_that_is_cut_or_followed_is_refused(file):
    save({"a": to_tensor([1.0, 2.0]), "b": [1]}, file)
    data = file.read_bytes()
    for end in range(len(data)):
        file.write_bytes(data[:end])
        with pytest.raises(FormatError, match="model"):
            load(file)
    file.write_bytes(data + b"x")
    with pytest.raises(FormatError, match="model"):
        load(file)
