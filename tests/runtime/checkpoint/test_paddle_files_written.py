"""Files of PaddlePaddle's endings are what `paddle.save` writes, and come back."""

import pickle
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as arrays
from safetensors.numpy import load_file

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError, FormatError
from dy2st_runtime.tensor import EagerTensor
from tests.runtime.checkpoint.test_own_files import TREES

NAMES = "StructuredToParameterName@@"
DTYPES = "float64 float32 float16 int64 int32 int16 int8 uint8 bool complex64 complex128"


def pickled(file):
    return pickle.loads(file.read_bytes())


@pytest.fixture
def file(tmp_path):
    return tmp_path / "net.pdparams"


def test_a_state_dict_is_a_dict_of_arrays_with_a_table_of_names(file):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    dy2st.save(net.state_dict(), str(file))
    found = pickled(file)
    names = found.pop(NAMES)
    assert type(found) is dict and list(found) == list(names) == list(net.state_dict())
    for name, tensor in net.state_dict().items():
        assert type(found[name]) is np.ndarray and found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name], tensor.numpy())
        assert names[name] == tensor.name


def test_tensors_elsewhere_are_pairs_of_name_and_array(file):
    state = nn.Linear(1, 1).state_dict()
    one = dy2st.to_tensor(1.5)
    dy2st.save({"model": state, "epoch": 3, "losses": [one], "none": None}, str(file))
    found = pickled(file)
    assert list(found) == ["model", "epoch", "losses", "none"] and found["epoch"] == 3
    assert found["losses"] == [(one.name, np.float32(1.5))]
    name, array = found["model"]["weight"]
    assert name == state["weight"].name and array.shape == (1, 1)


def test_the_state_of_an_optimizer_has_numbers_beside_its_tensors(tmp_path):
    net = nn.Linear(2, 1)
    schedule = dy2st.optimizer.lr.StepDecay(0.1, 2)
    adam = dy2st.optimizer.Adam(schedule, parameters=net.parameters())
    net(dy2st.ones([1, 2])).sum().backward()
    adam.step()
    dy2st.save(adam.state_dict(), str(tmp_path / "adam.pdopt"))
    found = pickled(tmp_path / "adam.pdopt")
    assert found["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}
    moment = found[f"{net.weight.name}_moment1_0"]
    assert type(moment) is np.ndarray and moment.shape == (2, 1)
    again = dy2st.load(str(tmp_path / "adam.pdopt"))
    assert list(again) == list(adam.state_dict())


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_every_dtype_and_shape_comes_back(file, dtype, shape):
    tensor = EagerTensor(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype))
    for state in ({"a": tensor}, [tensor], tensor, {"a": tensor.T, "b": {"c": tensor}}):
        dy2st.save(state, str(file))
        found, wanted = dy2st.load(str(file)), state
        while type(wanted) in (dict, list):
            (key, *_) = wanted if type(wanted) is dict else [0]
            found, wanted = found[key], wanted[key]
        assert found.dtype == wanted.dtype and found.name == wanted.name
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_bfloat16_is_stored_as_uint16(file):
    array = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    dy2st.save({"a": EagerTensor(array), "b": 1}, str(file))
    assert pickled(file)["a"].tolist() == array.view("uint16").tolist()
    assert dy2st.load(str(file))["a"].dtype == array.dtype


@pytest.mark.parametrize("data", [bytearray(), bytearray(b"a\0")])
def test_bytes_that_may_change_come_back(file, data):
    dy2st.save([data], str(file))
    found = dy2st.load(str(file))
    assert found == [data] and type(found[0]) is bytearray


@pytest.mark.parametrize("call", [b"X\x01\x00\x00\x00a\x85R.", b"K\x05\x85R.", b"C\x00C\x00\x86R."])
def test_bytes_are_made_of_bytes_alone(file, call):
    file.write_bytes(b"\x80\x04cbuiltins\nbytearray\n" + call)
    with pytest.raises(FormatError, match="bytearray of what are no bytes"):
        dy2st.load(str(file))


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(TREES)
def test_every_nest_of_plain_objects_comes_back(tmp_path, tree):
    file = str(tmp_path / "net.pdparams")
    dy2st.save(tree, file)
    assert dy2st.load(file) == tree


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(arrays.arrays(np.float32, arrays.array_shapes(min_dims=0, min_side=0)))
def test_every_array_comes_back_beside_a_tensor(tmp_path, array):
    file = str(tmp_path / "net.pdparams")
    number = np.float32(array.size)
    dy2st.save({"array": array, "tensor": dy2st.ones([1]), "number": number}, file)
    found = dy2st.load(file)
    assert type(found["array"]) is np.ndarray and found["array"].dtype == array.dtype
    np.testing.assert_array_equal(found["array"], array)
    assert type(found["number"]) is np.float32


def test_the_same_object_gives_the_same_bytes(tmp_path):
    def state():
        return OrderedDict((f"layer.{n}", EagerTensor(np.ones(2), name="w")) for n in range(3))

    for name in ("a.pdparams", "b.pdparams"):
        dy2st.save({"model": state(), "name": "w" * 2}, str(tmp_path / name))
    assert (tmp_path / "a.pdparams").read_bytes() == (tmp_path / "b.pdparams").read_bytes()


def test_what_would_come_back_as_another_is_refused(file):
    with pytest.raises(ArgumentError, match="no tensor of uint16"):
        dy2st.save({"a": dy2st.to_tensor(np.ones(2, "uint16"))}, str(file))
    with pytest.raises(ArgumentError, match="a tuple of a text and an array means a tensor"):
        dy2st.save([("a", np.ones(2)), dy2st.ones([1])], str(file))
    assert not file.exists()


def test_safetensors_are_written_under_any_name_if_they_are_asked_for(file):
    dy2st.save({"a": dy2st.ones([2])}, str(file), safetensors=True)
    assert load_file(file)["a"].tolist() == [1.0, 1.0]
