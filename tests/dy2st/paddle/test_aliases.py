"""A module of ours has two names where PaddlePaddle's name spaces stand in a folder of their own."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dy2st
import dy2st.paddle as paddle
from dy2st.paddle.spaces import HERE, LATE, OWN, SPACES, home, space_of

ROOT = dy2st.__path__[0]


@pytest.mark.parametrize("space", sorted(SPACES - {"_C_ops", "_legacy_C_ops"}))
def test_a_name_space_is_one_module_by_both_names(space):
    short = importlib.import_module(f"dy2st.{space}")
    assert importlib.import_module(f"dy2st.paddle.{space}") is short
    assert getattr(dy2st, space) is short and getattr(paddle, space) is short
    assert short.__name__ == home(space) == short.__spec__.name
    assert space_of(short.__name__) == space


MODULES = (
    "vision.models.lenet",
    "vision.transforms.functional",
    "nn.functional",
    "nn.layer.conv",
    "nn.initializer",
    "jit.dy2static",
    "static.nn",
    "optimizer.lr",
    "io.dataloader",
    "distributed.fleet.utils",
    "incubate.nn.functional",
    "tensor.creation",
    "utils.unique_name",
)


@pytest.mark.parametrize("first", ["dy2st", "dy2st.paddle"])
def test_whichever_name_is_imported_first_no_module_is_loaded_twice(first):
    other = {"dy2st": "dy2st.paddle", "dy2st.paddle": "dy2st"}[first]
    code = f"""
import importlib, sys
for name in {MODULES}:
    a = importlib.import_module("{first}." + name)
    b = importlib.import_module("{other}." + name)
    assert a is b, (a, b)
ours = {{id(one): one for one in sys.modules.values() if one.__name__.startswith("dy2st")}}
files = [one.__file__ for one in ours.values() if getattr(one, "__file__", None)]
assert len(files) == len(set(files))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_both_packages_have_the_same_names():
    public = {name for name in LATE if not name.startswith("_")}
    assert set(dy2st.__all__) | public <= set(dir(paddle))
    for name in [*dy2st.__all__, *LATE]:
        if name not in ("_C_ops", "_legacy_C_ops"):
            assert getattr(paddle, name) is getattr(dy2st, name), name
    names = {}
    exec("from dy2st.paddle import *", names)
    assert set(dy2st.__all__) <= set(names)


def test_the_table_names_every_public_module_of_the_folder():
    import os

    found = {entry.removesuffix(".py") for entry in os.listdir(f"{ROOT}/paddle")}
    helpers = {
        "aliases",
        "checks",
        "dtypes",
        "layer_helper",
        "mirrors",
        "model_summary",
        "modes",
        "private_modules",
    }
    helpers |= {"reader", "second_names", "sizes", "spaces", "__init__", "__main__", "__pycache__"}
    assert found - helpers == set(HERE) and not set(HERE) & set(OWN)


def test_what_is_not_there_is_an_import_error_that_says_so():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importlib.import_module("dy2st.vision.no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        importlib.import_module("dy2st.no_such_module")
    with pytest.raises(AttributeError, match="'linalgg'; did you mean 'linalg'"):
        paddle.linalgg  # noqa: B018


def test_objects_are_pickled_by_their_own_name_and_read_by_the_other():
    law = paddle.distribution.Normal
    assert pickle.loads(pickle.dumps(law)) is law
    assert pickle.loads(b"cdy2st.distribution\nNormal\n.") is law


def test_a_module_of_the_folder_runs_by_its_other_name(tmp_path):
    (tmp_path / "model.py").write_text("import paddle\nprint(paddle.ones([2]).shape)\n")
    for name in ("dy2st.as_paddle", "dy2st.paddle.as_paddle", "dy2st.paddle"):
        command = [sys.executable, "-m", name, str(tmp_path / "model.py")]
        shown = subprocess.run(command, capture_output=True, text=True)
        assert shown.stdout == "[2]\n" and shown.stderr == ""


def test_a_ported_model_is_converted_once():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.dense = paddle.nn.Linear(3, 2)

        def forward(self, x):
            y = self.dense(paddle.nn.functional.relu(x))
            if paddle.mean(y) > 0:
                y = paddle.concat([y, paddle.zeros_like(y)], axis=-1)
            else:
                y = paddle.concat([y, paddle.fft.fft(y).real()], axis=-1)
            return y, paddle.linalg.norm(y), y.astype(paddle.float64)

    net = Net()
    static = paddle.jit.to_static(Net())
    static.set_state_dict(net.state_dict())
    for sign in (1.0, -1.0, 2.0):
        x = paddle.to_tensor([[sign, 2.0, -3.0]])
        for mine, want in zip(static(x), net(x), strict=True):
            assert mine.dtype == want.dtype and paddle.allclose(mine, want).item()
    assert len(static.forward.program_cache) == 1


# -- names beside the usual ones -------------------------------------------------------------------


def test_a_tensor_stays_itself_where_it_fits():
    x = dy2st.ones([2])
    assert dy2st.as_tensor(x) is x and dy2st.as_tensor(x, "float64").dtype == np.float64
    assert dy2st.as_tensor([1, 2]).tolist() == [1, 2]
    assert not dy2st.as_tensor([1.0], requires_grad=True).stop_gradient
    with pytest.raises(dy2st.errors.ArgumentError, match="xpu"):
        dy2st.as_tensor([1], device="xpu")


def test_an_array_is_copied_if_asked_for():
    x = dy2st.ones([2])
    assert dy2st.asarray(x) is x and dy2st.asarray(x, copy=True) is not x
    assert dy2st.asarray([1.0], dtype="float64", requires_grad=True).dtype == np.float64


def test_random_numbers_begin_anew():
    dy2st.manual_seed(3)
    first = dy2st.rand([2]).tolist()
    dy2st.seed(3)
    assert dy2st.tolist(dy2st.rand([2])) == first
    assert dy2st.get_cuda_rng_state() == [] and dy2st.set_cuda_rng_state([]) is None
    with pytest.raises(ValueError, match="GPUs have no"):
        dy2st.set_cuda_rng_state([1])


def test_the_default_device_is_the_cpu():
    dy2st.set_default_device("cpu")
    assert dy2st.get_default_device() == "cpu"


def test_saving_is_done_when_it_returns(tmp_path):
    path = str(tmp_path / "a.pdparams")
    dy2st.async_save({"a": dy2st.ones([2])}, path)
    dy2st.clear_async_save_task_queue()
    assert np.asarray(dy2st.load(path)["a"]).tolist() == [1.0, 1.0]
