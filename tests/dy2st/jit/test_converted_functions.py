"""to_static and its neighbours: caches, specs, marks, hooks, saving."""

from __future__ import annotations

import copy
import functools
import gc
import json
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import StaticFunction, to_static
from dy2st.static import InputSpec


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.norm = nn.BatchNorm1D(2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(self.fc(x)))

    @to_static(input_spec=[InputSpec(["n", 3], name="x")])
    def predict(self, x):
        return self.fc(x).argmax(-1)

    @to_static(input_spec=[InputSpec([2], name="v"), 3])
    def scaled(self, v, factor):
        return {"scaled": v * factor, "fc": self.fc.weight.sum()}


def double(x):
    return x * 2


def test_a_decorator_with_and_without_arguments_and_a_call_are_the_same():
    with_brackets = to_static(input_spec=[InputSpec([None], name="x")])(double)
    for static in (to_static(double), with_brackets, to_static(to_static(double))):
        assert isinstance(static, StaticFunction)
        assert static(dy2st.ones([2])).tolist() == [2.0, 2.0]
        assert static.__name__ == "double"


def test_a_layer_is_converted_in_place_and_rolled_back():
    net = Net().eval()
    x = dy2st.ones([4, 3])
    before = net(x).numpy()
    assert to_static(net) is net
    assert isinstance(net.forward, StaticFunction)
    np.testing.assert_allclose(net(x).numpy(), before, rtol=1e-6)
    net.forward.rollback()
    assert not isinstance(net.forward, StaticFunction)
    np.testing.assert_array_equal(net(x).numpy(), before)


def test_instances_have_programs_of_their_own():
    one, two = Net(), Net()
    assert one.predict == one.predict and one.predict != two.predict
    x = dy2st.ones([2, 3])
    one.predict(x)
    assert len(one.predict.program_cache) == 1 and len(two.predict.program_cache) == 0


def test_training_and_inference_are_two_programs():
    net = to_static(Net())
    x = dy2st.ones([4, 3])
    net.train()
    net(x)
    net.eval()
    np.testing.assert_array_equal(net(x).numpy(), net(x).numpy())
    net.train()
    net(x)
    assert len(net.forward.program_cache) == 2


def test_running_statistics_and_parameters_are_live():
    eager, static = Net(), Net()
    static.set_state_dict(eager.state_dict())
    to_static(static)
    eager.drop.p = static.drop.p = 0.0
    x = dy2st.randn([8, 3])
    np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5, atol=1e-6)
    for name, tensor in eager.state_dict().items():
        np.testing.assert_allclose(static.state_dict()[name].numpy(), tensor.numpy(), rtol=1e-5)
    static.fc.weight.set_value(np.zeros((3, 2), "float32"))
    static.eval()
    assert np.ptp(static(x).numpy(), axis=0).max() == 0


def test_training_through_a_converted_layer_gives_the_eager_gradients():
    eager = Net()
    eager.drop.p = 0.0
    static = to_static(copy.deepcopy(eager))
    x = dy2st.randn([8, 3])
    for net in (eager, static):
        nn.functional.mse_loss(net(x), dy2st.zeros([8, 2])).backward()
    for a, b in zip(eager.parameters(), static.parameters(), strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_nested_specs_python_values_and_defaults():
    def mix(pair, table, scale=2.0):
        return pair[0] + pair[1] * scale + table["a"]

    spec = [(InputSpec([None], name="p"), InputSpec([None])), {"a": InputSpec([1])}]
    static = to_static(mix, input_spec=spec)
    out = static((dy2st.ones([1]), dy2st.ones([1])), {"a": dy2st.ones([1])})
    assert out.tolist() == [4.0]
    names = [v.name for v in static.main_program.inputs]
    assert names[0] == "p" and len(set(names)) == 3
    assert static((dy2st.ones([1]), dy2st.ones([1])), {"a": dy2st.ones([1])}, 3.0).tolist() == [5.0]


def test_keyword_arguments_and_numpy_arrays():
    static = to_static(lambda_free_sub)
    assert static(y=np.ones(2, "float32"), x=dy2st.ones([2]) * 3).tolist() == [2.0, 2.0]


def lambda_free_sub(x, y):
    return x - y


def test_enable_to_static_off_runs_python():
    calls = []

    def noted(x):
        calls.append(1)
        return x

    static = to_static(noted)
    try:
        dy2st.jit.enable_to_static(False)
        static(dy2st.ones([1]))
        static(dy2st.ones([1]))
    finally:
        dy2st.jit.enable_to_static(True)
    assert len(calls) == 2 and len(static.program_cache) == 0


def test_ignored_modules_and_marked_functions_are_called_as_they_are():
    dy2st.jit.ignore_module([json])

    @dy2st.jit.not_to_static
    def helper(x):
        return x + len(json.dumps([1]))

    def calls(x):
        return helper(x)

    assert to_static(calls)(dy2st.ones([1])).tolist() == [4.0]


def test_set_verbosity_names_what_is_converted(capsys):
    def fresh(x):
        return x + 1

    dy2st.jit.set_verbosity(1)
    try:
        to_static(fresh)(dy2st.ones([1]))
    finally:
        dy2st.jit.set_verbosity(0)
    assert "converted" in capsys.readouterr().err


def test_nothing_is_printed_unless_asked_for(tmp_path, capfd):
    net = Net().eval()
    dy2st.jit.save(to_static(net, input_spec=[InputSpec([None, 3], name="x")]), str(tmp_path / "n"))
    dy2st.jit.load(str(tmp_path / "n"))(dy2st.ones([1, 3]))
    out, err = capfd.readouterr()
    assert out == "" and err == ""


def test_every_converted_method_is_saved_with_one_set_of_parameters(tmp_path):
    net = Net().eval()
    to_static(net, input_spec=[InputSpec(["n", 3], name="x")])
    path = str(tmp_path / "deep" / "net")
    dy2st.jit.save(net, path)
    loaded = dy2st.jit.load(path)
    for rows in (0, 1, 5):
        x = dy2st.randn([rows, 3])
        np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
        np.testing.assert_array_equal(loaded.predict(x).numpy(), net.predict(x).numpy())
    out = loaded.scaled(dy2st.ones([2]))
    assert out["scaled"].tolist() == [3.0, 3.0]
    assert out["fc"].item() == pytest.approx(net.fc.weight.sum().item())


def test_a_plain_function_is_saved(tmp_path):
    dy2st.jit.save(double, str(tmp_path / "f"), input_spec=[InputSpec([None, None], name="x")])
    loaded = dy2st.jit.load(str(tmp_path / "f"))
    assert loaded(np.ones((2, 1), "float32")).tolist() == [[2.0], [2.0]]


SAVE = """
import sys, dy2st
from dy2st.static import InputSpec
dy2st.seed(1)
net = dy2st.nn.Sequential(dy2st.nn.Linear(3, 4), dy2st.nn.ReLU(), dy2st.nn.Linear(4, 2))
dy2st.jit.save(net, sys.argv[1], input_spec=[InputSpec([None, 3], name="x")])
"""


def test_the_same_model_gives_the_same_bytes_in_every_process_and_folder(tmp_path):
    texts = []
    for number, hash_seed in enumerate(("0", "12345")):
        path = tmp_path / f"folder{number}" / "net"
        path_of_modules = os.pathsep.join(sys.path)
        environment = {"PYTHONHASHSEED": hash_seed, "PATH": "", "PYTHONPATH": path_of_modules}
        command = [sys.executable, "-c", SAVE, str(path)]
        subprocess.run(command, check=True, env=environment, cwd=tmp_path)
        texts.append([path.with_suffix(s).read_bytes() for s in (".mlir", ".safetensors")])
    assert texts[0] == texts[1]
    assert str(tmp_path).encode() not in texts[0][0]


def test_loading_needs_the_runtime_alone(tmp_path):
    dy2st.jit.save(double, str(tmp_path / "f"), input_spec=[InputSpec([None], name="x")])
    code = (
        "import sys, numpy as np, dy2st_runtime\n"
        "assert dy2st_runtime.load(sys.argv[1])(np.ones(2, 'float32')).tolist() == [2.0, 2.0]\n"
        "bad = {'dy2st', 'gast', 'astor', 'torch'} & {n.split('.')[0] for n in sys.modules}\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "f")], check=True)


def test_hooks_and_sublayers_are_part_of_the_program():
    net = nn.Sequential(nn.Linear(3, 3))
    net[0].register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    x = dy2st.ones([1, 3])
    expected = net(x).numpy()
    np.testing.assert_allclose(to_static(net)(x).numpy(), expected, rtol=1e-6)


def test_the_python_values_of_a_layer_are_set_by_each_call():
    class Counts(nn.Layer):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x

    net = to_static(Counts())
    for calls in (1, 2, 3):
        net(dy2st.ones([1]))
        assert net.calls == calls


@pytest.mark.parametrize("layer", ["SimpleRNN", "LSTM", "GRU"])
def test_recurrent_layers_run_for_every_length_by_one_program(layer):
    net = getattr(nn, layer)(3, 4, num_layers=2, direction="bidirect").eval()
    static = to_static(net, input_spec=[InputSpec(["n", "length", 3], name="x")])
    for shape in ([2, 5, 3], [1, 1, 3]):
        x = dy2st.randn(shape)
        expected = type(net).forward(net, x)
        found = static(x)
        np.testing.assert_allclose(found[0].numpy(), expected[0].numpy(), rtol=1e-5, atol=1e-6)
    assert len(static.forward.program_cache) == 1
    assert "while" in {operator.name for operator in static.forward.main_program.operators}


def test_a_transformer_serves_every_batch_and_length():
    net = nn.TransformerEncoderLayer(8, 2, 16).eval()
    static = to_static(net, input_spec=[InputSpec(["n", "length", 8], name="x")])
    for shape in ([1, 3, 8], [4, 1, 8]):
        x = dy2st.randn(shape)
        expected = type(net).forward(net, x)
        np.testing.assert_allclose(static(x).numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


FACTOR = 2.0


def scaled_by_global(x):
    return helper_with_global(x)


def helper_with_global(x):
    return x * FACTOR


def test_a_global_that_changes_is_seen(monkeypatch):
    static = to_static(scaled_by_global)
    x = dy2st.ones([1])
    assert static(x).item() == 2.0
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)
    monkeypatch.setitem(scaled_by_global.__globals__, "FACTOR", 5.0)
    assert static(x).item() == 5.0


def test_a_closure_variable_that_changes_is_seen():
    factor = 2.0

    def scaled(x):
        return x * factor

    static = to_static(scaled)
    assert static(dy2st.ones([1])).item() == 2.0
    factor = 3.0
    assert static(dy2st.ones([1])).item() == 3.0


class Scaled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.factor = 2.0
        self.inner = nn.Linear(1, 1)

    def forward(self, x):
        return self.inner(x) * self.factor


def test_attributes_parameters_and_sublayers_that_are_replaced_are_seen():
    net = to_static(Scaled())
    x = dy2st.ones([1, 1])

    def expected():
        return net.forward.dygraph_function(x).item()

    assert net(x).item() == expected()
    net.factor = 7.0
    assert net(x).item() == expected()
    net.inner = nn.Linear(1, 1)
    assert net(x).item() == expected()
    net.inner.weight = nn.Layer().create_parameter([1, 1])
    assert net(x).item() == expected()
    assert len(net.forward.program_cache) == 4
    net(x)
    assert len(net.forward.program_cache) == 4


def test_a_deep_copy_of_a_converted_layer_runs_on_its_own_parameters():
    net = to_static(nn.Sequential(nn.Linear(2, 2)))
    x = dy2st.ones([1, 2])
    net(x)
    other = copy.deepcopy(net)
    other[0].weight.set_value(np.zeros((2, 2), "float32"))
    other[0].bias.set_value(np.zeros(2, "float32"))
    assert other(x).tolist() == [[0.0, 0.0]] and net(x).tolist() != [[0.0, 0.0]]
    assert isinstance(other.forward, StaticFunction)


class Plain:
    def __init__(self):
        self.factor = 2.0

    @to_static
    def scaled(self, x):
        return x * self.factor


def test_attributes_of_plain_objects_that_change_are_seen():
    plain = Plain()
    assert plain.scaled(dy2st.ones([1])).item() == 2.0
    plain.factor = 5.0
    assert plain.scaled(dy2st.ones([1])).item() == 5.0


def test_elements_of_a_buffer_that_are_set_in_branches_and_loops_are_kept():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", dy2st.zeros([3], "int64"))

        def forward(self, x):
            self.seen[0] = self.seen[0] + 1
            if x.sum() > 0:
                self.seen[1:] = self.seen[:2] * 2
            while self.seen[2] < 5:
                self.seen[2] = self.seen[2] + 3
            return x * self.seen

    python, static = Counting(), to_static(Counting())
    for numbers in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [4.0, 0.0, 0.0]):
        x = dy2st.to_tensor(np.float32(numbers))
        np.testing.assert_array_equal(static(x).numpy(), python(x).numpy())
        np.testing.assert_array_equal(static.seen.numpy(), python.seen.numpy())


def _with_self_alone(function):
    """As decorators are often written: no keywords are handed on."""

    @functools.wraps(function)
    def call(self, *args):
        return function(self, *args)

    return call


class Signatures:
    """Methods with parameters of every kind."""

    @dy2st.to_static
    def positional_only(self, x, /, y=2):
        return x * y

    @dy2st.to_static
    def many(self, *xs):
        return xs[0] * len(xs)

    @dy2st.to_static
    def many_after_one(self, x, *xs, k=1, **rest):
        return x * len(xs) * k + len(rest)

    @dy2st.to_static
    def with_self_among_many(*args):
        return args[1] * len(args)

    @dy2st.to_static
    @_with_self_alone
    def decorated(self, x):
        return x * 2


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("positional_only", [2.0], {}),
        ("positional_only", [2.0, 5], {}),
        ("positional_only", [2.0], {"y": 5}),
        ("many", [2.0, 3.0], {}),
        ("many_after_one", [2.0], {}),
        ("many_after_one", [2.0, 3.0, 4.0], {"k": 3, "z": 1}),
        ("with_self_among_many", [2.0, 3.0], {}),
        ("decorated", [2.0], {}),
    ],
)
def test_methods_get_their_arguments_as_in_python(name, args, kwargs):
    owner = Signatures()
    tensors = [dy2st.to_tensor(arg) if isinstance(arg, float) else arg for arg in args]
    python = getattr(owner, name).dygraph_function(*tensors, **kwargs)
    assert float(getattr(owner, name)(*tensors, **kwargs)) == float(python)


def test_a_bound_method_keeps_its_object_alive():
    x = dy2st.to_tensor(2.0)
    assert float(Signatures().decorated(x)) == 4.0
    method = Signatures().many
    assert float(method(x, x)) == 4.0


def test_an_object_goes_with_the_last_of_its_methods():
    owner = Signatures()
    method = owner.many
    assert method == owner.many and hash(method) == hash(owner.many)
    assert method != Signatures().many
    method(dy2st.to_tensor(2.0))
    assert len(owner.many.program_cache) == 1
    gone = weakref.ref(owner)
    del owner
    assert gone() is not None
    del method
    gc.collect()
    assert gone() is None
