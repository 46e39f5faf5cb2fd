"""An engine may keep the state where it computes: nothing is fetched before somebody looks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer
from dy2st.jit import to_static
from dy2st_runtime import engine
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.runner import Runner
from dy2st_runtime.resident import Resident


class Far:
    """An array on the device."""

    def __init__(self, array):
        self.held, self.dtype, self.shape = array, array.dtype, array.shape


class Device:
    """Stands for memory that Python does not see; counts bytes sent, and tensors fetched."""

    def __init__(self):
        self.sent = self.fetched = 0

    def fetch(self, value):
        self.fetched += 1
        return value.held.copy()

    def send(self, array):
        self.sent += array.nbytes
        return Far(array)


class Keeping(Runner):
    """NumPy's engine, with the state on the device."""

    has_resident_state = True

    def __init__(self, program, device):
        super().__init__(program)
        self.device, self._own = device, reference.compile_program(program)

    def compute(self, inputs, state):
        return self._own.compute(inputs, state)

    def run_resident(self, inputs, state):
        for one in state:
            if one.value is None:
                one.value = self.device.send(one.array)
        results = self._own.run(inputs, [one.value.held for one in state])
        return [Resident(None, Far(array), self.device.fetch) for array in results]


@pytest.fixture
def device(monkeypatch):
    made = Device()
    monkeypatch.setitem(engine.ENGINES, "keeping", lambda program: Keeping(program, made))
    return made


XS = np.random.default_rng(1).standard_normal((6, 8, 4)).astype("float32")


NUMBERS = 8  # bytes of the learning rate


def training(name):
    dy2st.seed(2)
    net = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1D(5), nn.ReLU(), nn.Linear(5, 1))
    adam = optimizer.Adam(0.05, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return net, adam, to_static(step, engine=name)


def run(step, batches=XS):
    return [float(step(dy2st.to_tensor(x))) for x in batches]


def test_a_step_moves_no_state(device):
    net, adam, step = training("keeping")
    other, _, plain = training("numpy")
    wanted = run(plain)
    found = run(step, XS[:3])
    sent, fetched = device.sent, device.fetched  # by the traces of the first and the second step
    found += run(step, XS[3:])
    assert found == wanted
    assert (device.sent - sent, device.fetched - fetched) == (3 * NUMBERS, 3)  # and three losses
    for mine, theirs in zip(net.parameters(), other.parameters()):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    assert device.fetched == fetched + 3 + len(net.parameters())


def test_a_look_fetches_once(device):
    net, _, step = training("keeping")
    run(step, XS[:3])
    weight, before = net[0].weight, device.fetched
    assert weight.shape == [4, 5] and weight.dtype == np.float32
    weight.numpy()
    assert device.fetched == before + 1
    sent = device.sent
    run(step, XS[3:4])
    assert device.sent == sent + NUMBERS, "what was looked at is still on the device"


def test_a_value_that_is_set_is_the_next_steps(device):
    (net, _, step), (other, _, plain) = training("keeping"), training("numpy")
    for one, function in ((net, step), (other, plain)):
        run(function, XS[:3])
        one[0].weight.set_value(np.full((4, 5), 0.5, "float32"))
        with dy2st.no_grad():
            one[3].bias[0] = 2.0
    assert run(step, XS[3:]) == run(plain, XS[3:])


def set_data(weight):
    weight.data = np.full(weight.shape, 0.25, "float32")


WRITES = {
    "set_value": lambda weight: weight.set_value(np.full(weight.shape, 0.5, "float32")),
    "data": set_data,
    "index": lambda weight: weight.__setitem__(0, 2.0),
    "in place": lambda weight: weight.scale_(0.5),
    "view": lambda weight: weight.flatten().zero_(),
    "looked at": lambda weight: weight.numpy(),
    "nothing": lambda weight: None,
}


@pytest.mark.parametrize("seed", range(3))
def test_every_way_to_write_is_seen_by_the_next_step(device, seed):
    rng = np.random.default_rng(seed)
    (net, _, step), (other, _, plain) = training("keeping"), training("numpy")
    for x in XS[rng.integers(0, len(XS), 14)]:
        assert run(step, [x]) == run(plain, [x])
        way = WRITES[str(rng.choice([*WRITES]))]
        with dy2st.no_grad():
            way(net[0].weight), way(other[0].weight)
    np.testing.assert_array_equal(net[0].weight.numpy(), other[0].weight.numpy())


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))], ids=["copy", "pickle"]
)
def test_copies_have_the_values(device, copied):
    net, _, step = training("keeping")
    run(step, XS[:3])
    for mine, theirs in zip(net.parameters(), copied(net).parameters()):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_states_and_eager_calls_have_the_values(device):
    (net, adam, step), (other, plain_adam, plain) = training("keeping"), training("numpy")
    run(step), run(plain)
    net.eval(), other.eval()
    x = dy2st.to_tensor(XS[0])
    np.testing.assert_array_equal(net(x).numpy(), other(x).numpy())
    for name, value in other.state_dict().items():
        np.testing.assert_array_equal(net.state_dict()[name].numpy(), value.numpy())
    mine, theirs = adam.state_dict(), plain_adam.state_dict()
    assert [v.tolist() for v in mine.values()] == [v.tolist() for v in theirs.values()]


def test_a_converted_layer_keeps_its_parameters_there(device):
    net = nn.Linear(4, 3)
    static = to_static(net.forward, engine="keeping")
    x = dy2st.to_tensor(XS[0])
    net.eval()
    with dy2st.no_grad():
        for _ in range(4):
            np.testing.assert_array_equal(static(x).numpy(), net(x).numpy())
    assert device.sent == (4 * 3 + 3) * 4


def test_a_tensor_that_an_attribute_lacks_still_says_so():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = dy2st.ones([2]).nonsense


@pytest.mark.parametrize("is_training", [False, True])
def test_a_loaded_model_sends_its_parameters_once(device, tmp_path, is_training):
    dy2st.seed(2)
    net = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1D(5))
    net.train() if is_training else net.eval()
    net(dy2st.to_tensor(XS[0]))
    dy2st.jit.save(net, str(tmp_path / "net"), [dy2st.static.InputSpec([None, 4])])
    loaded, plain = (dy2st.jit.load(str(tmp_path / "net"), engine=e) for e in ("keeping", "numpy"))
    with dy2st.no_grad():
        for x in XS:
            np.testing.assert_array_equal(loaded(dy2st.to_tensor(x)), plain(dy2st.to_tensor(x)))
    assert device.sent == sum(one.numpy().nbytes for one in net.state_dict().values())
    for name, one in loaded.state_dict().items():
        np.testing.assert_array_equal(one.numpy(), plain.state_dict()[name].numpy())


def test_programs_of_several_sizes_share_what_lies_there(device):
    net = nn.Linear(4, 3)
    net.eval()
    static = to_static(net, input_spec=[dy2st.static.InputSpec(["batch", 4])], engine="keeping")
    fast = dy2st.static.bucket(static.forward, batch=[4, 8])
    for size in (3, 8, 4, 7):
        x = dy2st.to_tensor(XS[0][:size])
        np.testing.assert_allclose(fast(x).numpy(), net(x).numpy(), 1e-6)
    assert device.sent == (4 * 3 + 3) * 4
