"""Checkpoints of PaddlePaddle and torch give the numbers that these libraries have in them."""

import io
import pickle
import shutil
from collections import OrderedDict
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dy2st
from dy2st_runtime import nn, optimizer
from dy2st_runtime.checkpoint import load, tensors
from dy2st_runtime.errors import ArgumentError, DTypeError, FormatError, MissingFile
from dy2st_runtime.tensor import EagerTensor

DATA = Path(__file__).parent / "data"
PADDLE = dict(np.load(DATA / "paddle.npz"))
TORCH = dict(np.load(DATA / "torch.npz"))


def of(expected, prefix):
    return {k[len(prefix) :]: v for k, v in expected.items() if k.startswith(prefix)}


def assert_same(found, expected):
    assert set(found) == set(expected)
    for name, tensor in found.items():
        assert isinstance(tensor, EagerTensor)
        assert tensor.dtype == expected[name].dtype
        np.testing.assert_array_equal(tensor.numpy(), expected[name])


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 2))


# -- Paddle -----------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_a_state_dict_of_paddle_runs_as_it_does_there(protocol):
    state = load(DATA / f"paddle_net_{protocol}.pdparams")
    assert_same(state, of(PADDLE, "net."))
    assert state["0.weight"].name == "linear_0.w_0"
    assert state["0.weight"].stop_gradient
    net = network()
    net.set_state_dict(state)
    net.eval()
    np.testing.assert_allclose(net(EagerTensor(PADDLE["x"])).numpy(), PADDLE["y"], rtol=1e-5)


def test_the_table_of_names_is_kept_when_asked_for():
    state = load(DATA / "paddle_net_4.pdparams", keep_name_table=True)
    assert state["StructuredToParameterName@@"]["2.bias"] == "linear_1.b_0"


def test_a_state_of_an_optimizer_is_read():
    state = load(DATA / "paddle_adam.pdopt")
    schedule = state.pop("LR_Scheduler")
    assert_same(state, of(PADDLE, "adam."))
    assert schedule == {"last_epoch": 3, "last_lr": 0.1 * 0.1}


def test_training_that_paddle_began_goes_on_as_it_does_there():
    with dy2st.utils.unique_name.guard():
        net = network()
    schedule = optimizer.lr.StepDecay(0.1, step_size=2)
    adam = optimizer.Adam(learning_rate=schedule, parameters=net.parameters())
    net.set_state_dict(load(DATA / "paddle_net_4.pdparams"))
    adam.set_state_dict(load(DATA / "paddle_adam.pdopt"))
    for _ in range(2):
        loss = (net(EagerTensor(PADDLE["x"])) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        schedule.step()
    for name, expected in of(PADDLE, "later.").items():
        if name in ("0.bias", "1._mean"):
            continue  # a bias whose mean is taken away has no gradient, only rounding
        found = net.state_dict()[name].numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6, err_msg=name)
    assert adam.get_lr() == pytest.approx(float(PADDLE["rate"]))


def test_nested_containers_are_read():
    found = load(DATA / "paddle_nested.pdparams")
    assert_same(found["model"], of(PADDLE, "net."))
    assert type(found["model"]) is OrderedDict
    assert found["tags"] == ["a", None, True, (1, 2)]
    assert (found["epoch"], found["best"], found["set"]) == (3, 0.5, {1, 2})
    assert found["np"] == 1.5 and type(found["np"]) is np.float32
    assert type(found["array"]) is np.ndarray and found["array"].tolist() == [0, 1, 2]


def test_short_floats_are_read():
    found = load(DATA / "paddle_short.pdparams")
    assert found["a"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found["a"].numpy().astype("float32"), PADDLE["bf"])
    assert (found["b"].dtype, found["u"].dtype) == (np.float16, np.uint8)
    assert load(DATA / "paddle_short.pdparams", return_numpy=True)["a"].dtype == np.uint16


def test_a_tensor_alone_is_read():
    found = load(DATA / "paddle_tensor.pdtensor")
    assert found.name == "linear_0.w_0"
    np.testing.assert_array_equal(found.numpy(), PADDLE["net.0.weight"])
    assert type(load(DATA / "paddle_tensor.pdtensor", return_numpy=True)) is np.ndarray


def test_arrays_alone_are_tensors():
    found = load(io.BytesIO(pickle.dumps({"a": np.arange(3), "b": [np.eye(2, order="F")]}, 4)))
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"][0].tolist() == [[1, 0], [0, 1]]


def test_arrays_in_slices_are_put_together():
    array = np.arange(6.0).reshape(2, 3)
    file = {
        "b": np.ones(1),
        "StructuredToParameterName@@": {"a": "w_0", "b": "w_1"},
        "a@@.0": array.ravel()[:4],
        "a@@.1": array.ravel()[4:],
        "UnpackBigParamInfor@@": {"a": {"OriginShape": (2, 3), "slices": ["a@@.0", "a@@.1"]}},
    }
    found = load(io.BytesIO(pickle.dumps(file, 2)))
    assert list(found) == ["b", "a"]
    assert found["a"].name == "w_0"
    assert found["a"].tolist() == array.tolist()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_and_kind_of_array_is_read(protocol):
    arrays = [
        np.arange(6).reshape(2, 3).astype(kind)
        for kind in ("b1 i1 i2 i4 i8 u1 u4 u8 f2 f4 f8 >f4 >i8").split()
    ]
    arrays += [np.float64(1.5), np.zeros((0, 3)), np.array(7), arrays[0].T, arrays[3][::-1]]
    data = pickle.dumps({"named": ("t", np.ones(1)), "arrays": arrays}, protocol)
    found = load(io.BytesIO(data))["arrays"]
    for one, other in zip(found, arrays):
        assert one.dtype == other.dtype.newbyteorder("=") and one.dtype.isnative
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_plain_object_is_read(protocol):
    value = [
        None, True, 0, -1, 255, 65536, -(2**40), 2**100, 1.5, float("inf"), 1 + 2j, "", "ü" * 300, b"", b"\x00\xff" * 200,
        [], {}, (), set(), {1, "a"}, frozenset({2}), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), OrderedDict(a=1), {1: {2: [3]}},
    ]  # fmt: skip
    found = load(io.BytesIO(pickle.dumps(value, protocol)))
    assert found == value
    assert [type(entry) for entry in found] == [type(entry) for entry in value]


KEYS = st.one_of(st.text(), st.binary(), st.booleans(), st.none(), st.integers(-(2**63), 2**64 - 1))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False), st.complex_numbers(allow_nan=False))
TREES = st.recursive(
    st.one_of(KEYS, NUMBERS, st.sets(KEYS), st.frozensets(KEYS), st.binary(min_size=300)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(KEYS, inner),
        st.dictionaries(KEYS, inner).map(OrderedDict),
    ),
)


@settings(deadline=None, max_examples=40)
@given(TREES, st.integers(2, 5))
def test_any_tree_is_what_pickle_itself_reads(tree, protocol):
    assert load(io.BytesIO(pickle.dumps(tree, protocol))) == tree


def test_pickles_of_python_2_are_read():
    data = (
        b"\x80\x02}q\x01(U\x01acnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01bt"
        b"R(K\x01K\x02\x85cnumpy\ndtype\n(U\x02i2K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
        b"K\x00tb\x89U\x04\x01\x00\xff\xfftbU\x01nI8589934592\nU\x01tI01\nu."
    )
    found = load(io.BytesIO(data))
    assert found.pop("a").tolist() == [1, -1]
    assert found == {"n": 2**33, "t": True}


def test_objects_that_follow_each_other_in_a_buffer_are_read():
    buffer = io.BytesIO(pickle.dumps([1], 4) + pickle.dumps([2], 4))
    assert (load(buffer), load(buffer)) == ([1], [2])


# -- torch ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["torch_net.pt", "torch_legacy.bin"])
def test_a_state_dict_of_torch_is_read(file):
    state = load(DATA / file)
    assert type(state) is OrderedDict
    assert_same(state, of(TORCH, "net."))


def test_a_checkpoint_with_an_optimizer_is_read():
    found = load(DATA / "torch_checkpoint.pt")
    moments = found["opt"]["state"]
    assert_same(
        {f"{i}.{k}": v for i, s in moments.items() for k, v in s.items()}, of(TORCH, "adam.")
    )
    assert found["opt"]["param_groups"][0]["betas"] == (0.9, 0.999)
    assert found["epoch"] == 3


@pytest.mark.parametrize("file", ["torch_many.pt", "torch_many_legacy.bin"])
def test_views_and_every_dtype_are_read(file):
    found = load(DATA / file)
    for name, expected in of(TORCH, "many.").items():
        array = found[name].numpy()
        assert array.dtype == (ml_dtypes.bfloat16 if name == "b" else expected.dtype)
        np.testing.assert_array_equal(array.astype(expected.dtype), expected)
    assert found["size"] == (3, 4) and type(found["size"]) is tuple
    assert (found["cplx"], found["bytes"], found["od"]) == (1j, b"ab", OrderedDict(a=1))
    assert found["np"].tolist() == [0, 1]
    if "legacy" not in file:
        assert found["u16"].dtype == np.uint16 and found["u16"].tolist() == [0, 1]


def test_a_file_in_a_buffer_is_read():
    assert_same(load(io.BytesIO((DATA / "torch_net.pt").read_bytes())), of(TORCH, "net."))


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["paddle_short.pdparams", "torch_many.pt"])
def test_without_ml_dtypes_bfloat16_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr(tensors, "named_dtype", lambda name: None)
    with pytest.raises(DTypeError, match="pip install ml_dtypes"):
        load(DATA / file)


def test_complex_tensors_are_loaded():
    data = io.BytesIO(pickle.dumps(("w", np.ones(2, "complex64")), 4))
    assert load(data).dtype == np.complex64
    data.seek(0)
    assert load(data, return_numpy=True).dtype == np.complex64


def test_the_end_of_the_name_is_not_asked(tmp_path):
    shutil.copy(DATA / "torch_net.pt", tmp_path / "model.pdparams")
    assert_same(load(tmp_path / "model.pdparams"), of(TORCH, "net."))


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x00" * 100, b"<html>", b"(dp0\n."])
def test_other_files_are_refused_by_name(tmp_path, content):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(FormatError, match="a.txt"):
        load(tmp_path / "a.txt")


def test_a_path_without_its_ending_says_the_whole_name(tmp_path):
    (tmp_path / "net.pdparams").write_bytes(b"x")
    with pytest.raises(MissingFile, match="give the whole name, .*net.pdparams"):
        load(tmp_path / "net")
    with pytest.raises(MissingFile):
        load(tmp_path / "other")


@pytest.mark.parametrize("name", ["net", "net.pdmodel", "net.pdiparams"])
def test_models_of_paddle_say_what_to_do_instead(tmp_path, name):
    (tmp_path / "net.pdiparams").write_bytes(bytes(40))
    with pytest.raises(FormatError, match="net was saved by Paddle's jit.save.*state_dict"):
        load(tmp_path / name)


def test_options_of_paddle_1_and_unknown_ones_are_refused():
    with pytest.raises(ArgumentError, match="Paddle 1"):
        load("x", params_filename="y")
    with pytest.raises(ArgumentError, match="no option 'map_location'"):
        load("x", map_location="cpu")
    with pytest.raises(ArgumentError, match="a path or an io.BytesIO, not int"):
        load(3)
