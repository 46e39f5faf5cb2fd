"""GPUs that jax finds: here they are its devices of the CPU, under another name."""

import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import device
from dy2st.errors import ArgumentError
from dy2st_runtime import devices
from dy2st_runtime.engine.xla import compilation

jax = pytest.importorskip("jax")


@pytest.fixture
def gpus(monkeypatch):
    there = jax.local_devices()
    monkeypatch.setattr(devices, "found", lambda kind: there if kind == "gpu" else [])
    monkeypatch.delenv("DY2ST_ENGINE", raising=False)
    yield there
    device.set_device("cpu")


def net_and_step():
    dy2st.seed(4)
    net = dy2st.nn.Linear(2, 3)
    adam = dy2st.optimizer.Adam(0.1, parameters=net.parameters())

    @dy2st.to_static
    def step(x):
        loss = net(x).square().sum()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return net, step


def trained(names):
    net, step = net_and_step()
    losses = []
    for name in names:
        device.set_device(name)
        losses.append(float(step(dy2st.ones([4, 2]))))
    return losses, net, step


def test_a_gpu_makes_xla_the_engine_of_converted_functions(gpus):
    wanted, net, step = trained(["cpu"] * 3)
    assert "xla" not in type(step.concrete_program.executable).__module__
    found, other, step = trained(["gpu:0"] * 3)
    assert "xla" in type(step.concrete_program.executable).__module__
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_allclose(other.weight.numpy(), net.weight.numpy(), rtol=1e-5)


def test_set_device_comes_before_the_environment(gpus, monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "numpy")
    _, _, step = trained(["gpu:0"])
    assert "xla" in type(step.concrete_program.executable).__module__


def test_the_state_of_a_step_lies_on_the_chosen_gpu(gpus):
    if len(gpus) < 2:
        pytest.skip("jax has one device")
    wanted, _, _ = trained(["cpu"] * 2)
    others = jax.live_arrays()  # held, so that no new array gets the id of one of them
    before = {id(one) for one in others}
    found, net, _ = trained(["gpu:1"] * 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    lying = [one for one in jax.live_arrays() if id(one) not in before and one.shape == (2, 3)]
    assert lying and all(one.devices() == {gpus[1]} for one in lying)
    assert net.weight.shape == [2, 3]


@pytest.mark.parametrize("many", [1000, 2], ids=["at once", "in the background"])
def test_a_step_goes_on_where_another_gpu_is_chosen(gpus, monkeypatch, many):
    if len(gpus) < 2:
        pytest.skip("jax has one device")
    monkeypatch.setattr(compilation, "MANY", many)
    names = ["gpu:0"] * 5 + ["gpu:1"] * 2 + ["gpu:0"]
    wanted, _, _ = trained(["cpu"] * len(names))
    net, step = net_and_step()
    for name, loss in zip(names, wanted):
        device.set_device(name)
        np.testing.assert_allclose(float(step(dy2st.ones([4, 2]))), loss, rtol=1e-5)
        step.concrete_program.executable.wait(100)
        lies = net.weight.as_resident().value
        assert lies is None or lies.devices() == {gpus[int(name[-1])]}
    assert lies is not None
    made = step.concrete_program.executable.compiled()
    places = [one.device_set for one in jax.tree.leaves([m.input_shardings for m in made])]
    assert {gpus[0]} in places and {gpus[1]} in places


def test_what_is_chosen_is_told_and_undone(gpus):
    assert device.set_device("gpu") == dy2st.CUDAPlace(0) and dy2st.get_device() == "gpu:0"
    assert repr(dy2st.CUDAPlace(0)) == "Place(gpu:0)" and dy2st.CUDAPlace(0) != dy2st.CPUPlace()
    with device.device_guard("cpu"):
        assert device.get_device() == "cpu"
    assert device.get_device() == "gpu:0"
    device.set_device("cpu")
    assert device.get_device() == "cpu"


def test_gpus_are_counted_and_named(gpus):
    assert device.device_count() == device.cuda.device_count() == len(gpus)
    assert device.get_available_device() == ["cpu", *[f"gpu:{n}" for n in range(len(gpus))]]
    assert device.cuda.get_device_name(0) == gpus[0].device_kind
    assert device.cuda.get_device_properties("gpu:0").name == gpus[0].device_kind
    assert device.memory_allocated() >= 0 and device.cuda.max_memory_reserved(0) >= 0
    device.synchronize()


def test_tensors_and_layers_may_go_to_a_gpu_that_is_there(gpus):
    x = dy2st.ones([2])
    assert x.cuda() is x and x.cuda(0) is x and x.to("gpu:0").cpu() is x
    assert dy2st.nn.Linear(2, 2).to("gpu:0").weight.shape == [2, 2]
    number = len(gpus)
    with pytest.raises(ArgumentError, match=f"'gpu:{number}' is not here: jax finds {number}"):
        x.cuda(number)


def test_without_a_gpu_the_words_say_what_jax_has():
    if devices.found("gpu"):
        pytest.skip("there is a GPU")
    with pytest.raises(ArgumentError, match=r"finds no GPU, but .*pip install 'jax\[cuda12\]'"):
        dy2st.set_device("gpu:0")
    assert device.get_device() == "cpu"


def test_a_plugin_of_jax_is_what_is_compiled_in(monkeypatch):
    class Entry:
        name = "xla_cuda12"

    monkeypatch.setattr(devices.metadata, "entry_points", lambda group: [Entry])
    assert dy2st.is_compiled_with_cuda() and not device.is_compiled_with_rocm()


def test_jax_is_not_loaded_unasked():
    code = (
        "import sys, dy2st; dy2st.get_device(); dy2st.set_device('cpu');"
        "dy2st.is_compiled_with_cuda(); dy2st.device.synchronize();"
        "dy2st.device.cuda.memory_allocated(); assert 'jax' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
