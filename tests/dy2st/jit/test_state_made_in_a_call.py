"""Layers that make parameters, buffers and sublayers in their first call."""

import functools
import importlib.util
import tempfile

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import StateMade
from dy2st.jit import load, save, to_static
from dy2st.static import InputSpec

HAS_NATIVE = importlib.util.find_spec("llvmlite") is not None
X = [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]


class ParameterThatWasNone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = None

    def forward(self, x):
        if self.w is None:
            self.w = self.create_parameter([x.shape[-1], 2])
        return x @ self.w


class ParameterThatWasMissing(nn.Layer):
    def forward(self, x):
        print("called")
        if not hasattr(self, "w"):
            self.add_parameter("w", self.create_parameter([x.shape[-1]]))
        return x * self.w


class LayerThatWasNone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.proj = None

    def forward(self, x):
        if self.proj is None:
            self.proj = nn.Linear(x.shape[-1], 2)
        return self.proj(x)


class LayersByABuilder(nn.Layer):
    is_built = False

    def build(self, size):
        self.add_sublayer("first", nn.Linear(size, 4))
        self.rest = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), ParameterThatWasNone())
        self.is_built = True

    def forward(self, x):
        if not self.is_built:
            self.build(x.shape[-1])
        return self.rest(self.first(x))


class LayersInAList(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList()

    def forward(self, x):
        if not self.layers:
            self.layers.append(nn.ReLU())
            self.layers.append(nn.Linear(3, 3))
        for layer in self.layers:
            x = layer(x)
        return x


class LayersBySize(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerDict()

    def forward(self, x):
        name = str(x.shape[0])
        if name not in self.layers:
            self.layers[name] = nn.Linear(x.shape[-1], 2)
        return self.layers[name](x)


class ParameterOfTheFirstData(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = None

    def forward(self, x):
        if self.scale is None:
            self.scale = self.create_parameter([3])
            self.scale.set_value(x.mean(0))
        return x * self.scale


class BufferThatWasMissing(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        if not hasattr(self, "count"):
            self.register_buffer("count", dy2st.zeros([1]))
        self.count = self.count + 1
        return self.linear(x) * self.count


class MasksBySize(nn.Layer):
    def __init__(self):
        super().__init__()
        self.masks, self.linear = {}, nn.Linear(3, 3)

    def forward(self, x):
        size = x.shape[0]
        if size not in self.masks:
            self.masks[size] = dy2st.tril(dy2st.ones([size, size]))
        return self.masks[size] @ self.linear(x)


LAZY = (
    *(ParameterThatWasNone, ParameterThatWasMissing, LayerThatWasNone, LayersByABuilder),
    *(LayersInAList, LayersBySize, ParameterOfTheFirstData, BufferThatWasMissing, MasksBySize),
)


def trained(kind, engine=None):
    """What calls of a Layer in training give, and what it has after each."""
    dy2st.seed(7)
    layer, optimizer, found = kind(), None, []
    if engine is not None:
        to_static(layer, engine=engine)
    for count in (2, 2, 1, 2):
        x = dy2st.to_tensor(X[:count])
        y = layer(x)
        (y * y).mean().backward()
        state = {name: one.numpy().round(4).tolist() for name, one in layer.state_dict().items()}
        grads = [None if p.grad is None else p.grad.numpy().round(4) for p in layer.parameters()]
        found.append(
            (y.numpy().round(4).tolist(), state, [one.tolist() for one in grads if one is not None])
        )
        optimizer = optimizer or dy2st.optimizer.SGD(0.1, parameters=layer.parameters())
        optimizer.step()
        layer.clear_gradients()
    return layer, found


@pytest.mark.parametrize("kind", LAZY)
def test_the_first_call_makes_what_python_makes(kind, capsys):
    _, wanted = trained(kind)
    printed = capsys.readouterr().out
    for engine in ["numpy", "native"] if HAS_NATIVE else ["numpy"]:
        layer, found = trained(kind, engine)
        assert found == wanted and capsys.readouterr().out == printed
        assert 1 <= len(layer.forward.program_cache) <= 3


def test_what_a_call_has_made_is_saved():
    layer = to_static(LayersByABuilder(), [InputSpec(["n", 3])])
    wanted = layer(dy2st.to_tensor(X))
    with tempfile.TemporaryDirectory() as folder:
        save(layer, f"{folder}/net")
        loaded = load(f"{folder}/net", mmap=False)
    assert loaded(dy2st.to_tensor(X)).tolist() == wanted.tolist()
    assert set(loaded.state_dict()) == set(layer.state_dict())


def test_a_layer_that_was_never_called_is_not_saved():
    with pytest.raises(StateMade, match="call the function before it is saved"):
        save(to_static(ParameterThatWasNone(), [InputSpec(["n", 3])]), "nowhere")


def test_parameters_that_each_call_makes_are_refused():
    static = to_static(lambda x: x * dy2st.create_parameter([3], "float32"))
    static(dy2st.to_tensor(X))
    with pytest.raises(StateMade, match=r"test_state_made_in_a_call.py:\d+"):
        static(dy2st.to_tensor(X))


class OnOnePath(nn.Layer):
    def forward(self, x):
        if x.sum() > 0:
            self.w = self.create_parameter([3])
        return x


def test_parameters_that_a_tensor_decides_on_are_refused():
    with pytest.raises(StateMade, match="a tensor decides on"):
        to_static(OnOnePath())(dy2st.to_tensor(X))


class Smoothed(nn.Layer):
    def __init__(self, first):
        super().__init__()
        self.register_buffer("mean", first * 1)

    def forward(self, v):
        self.mean = self.mean + v if v > 0 else self.mean / 2
        return self.mean


def smoothed(x):
    smooth = Smoothed(x[0])
    return [smooth(v) for v in x], smooth.mean


def test_a_layer_of_the_call_has_buffers_that_the_call_computes(tmp_path):
    static = to_static(smoothed, input_spec=[InputSpec([None])])
    save(static, str(tmp_path / "net"))
    for run in (static, load(str(tmp_path / "net"))):
        for row in ([1.0, -2.0, 3.0], [-1.0]):
            every, last = run(dy2st.to_tensor(row))
            expected, _ = smoothed(dy2st.to_tensor(row))
            assert [one.item() for one in every] == [one.item() for one in expected]
            assert last.item() == expected[-1].item()


class OncePerLayer(nn.Layer):
    @functools.cached_property
    def scale(self):
        return dy2st.arange(3, dtype="float32") * 2

    def forward(self, x):
        return x * self.scale


def test_a_trace_leaves_no_cached_property_in_a_layer():
    net, x = OncePerLayer(), dy2st.to_tensor(X)
    static = to_static(net, input_spec=[InputSpec([2, 3])])
    assert static.forward.concrete_program and "scale" not in vars(net)
    assert static(x).tolist() == OncePerLayer()(x).tolist()
    kept = net.scale
    assert static(x).tolist() == (x * kept).tolist() and net.scale is kept
    with tempfile.TemporaryDirectory() as folder:
        save(static, f"{folder}/net")
        assert load(f"{folder}/net", mmap=False)(x).tolist() == (x * kept).tolist()
