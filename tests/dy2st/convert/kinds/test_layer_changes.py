"""Layers that the code changes by their methods: at each call, or refused where only some do."""

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.jit import to_static


class Model(nn.Layer):
    def __init__(self, way):
        super().__init__()
        self.layers, self.drop = nn.LayerList([nn.Identity()]), nn.Dropout(0.0)
        self.way = way

    def forward(self, x):
        if x.sum() > 0:
            self.way(self)
        return self.drop(x)


WAYS = {
    "add_sublayer": lambda model: model.add_sublayer("more", nn.ReLU()),
    "append": lambda model: model.layers.append(nn.ReLU()),
    "replace": lambda model: model.layers.__setitem__(0, nn.ReLU()),
    "insert": lambda model: model.layers.insert(0, nn.ReLU()),
    "hook": lambda model: model.drop.register_forward_post_hook(lambda _, __, y: y + 1),
    "eval": lambda model: model.eval(),
    "mode of a sublayer": lambda model: model.drop.train(False),
    "apply": lambda model: model.apply(lambda layer: setattr(layer, "tag", 1)),
    "to": lambda model: model.to(dtype="float64"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_layer_that_some_paths_change_is_refused_and_stays_as_it_is(way):
    model = Model(way)
    with pytest.raises(ConversionError, match="in a branch or loop"):
        to_static(model)(dy2st.ones([2]))
    kinds = [type(layer).__name__ for layer in model.sublayers()]
    assert kinds == ["LayerList", "Identity", "Dropout"] and model.drop.training
    assert not model.drop._forward_post_hooks and not hasattr(model, "tag")


def test_a_layer_that_is_made_in_a_branch_may_change_there():
    def f(x):
        if x.sum() > 0:
            net = nn.Sequential(nn.Identity())
            net.eval()
            net.add_sublayer("more", nn.ReLU())
            x = net(x)
        return x

    static = to_static(f)
    for row in ([1.0, 2.0], [-1.0, -2.0], [3.0, -1.0]):
        assert static(dy2st.to_tensor(row)).tolist() == f(dy2st.to_tensor(row)).tolist()


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
def test_a_mode_that_each_call_sets_is_set_at_each_call():
    def forward(self, x):
        was = self.training
        self.eval()
        return x * 2 if was else x * 3

    kind = type("Kind", (nn.Layer,), {"forward": forward})
    for model in (kind(), to_static(kind())):
        found = []
        for _ in range(2):
            found += [model(dy2st.ones([1])).item(), model.training]
            found.append(model(dy2st.ones([1])).item())
            model.train()
        assert found == [2.0, False, 3.0] * 2


@pytest.mark.parametrize("table", ["_buffers", "_sub_layers"])
def test_a_table_of_a_layer_is_not_written_itself(table):
    def forward(self, x):
        getattr(self, table)["drop"] = None
        return x

    kind = type("Kind", (nn.Layer,), {"forward": forward})
    with pytest.raises(ConversionError, match="a table of parameters"):
        to_static(kind())(dy2st.ones([1]))


class Lazy(nn.Layer):
    def __init__(self, is_registered):
        super().__init__()
        if is_registered:
            self.register_buffer("shift", None)

    def forward(self, x):
        if not hasattr(self, "shift"):
            self.register_buffer("shift", x + 1)
        elif self.shift is None:
            self.shift = x + 1
        return x + self.shift


@pytest.mark.parametrize("is_registered", [False, True])
def test_a_buffer_may_be_computed_in_the_first_call(is_registered):
    layer = to_static(Lazy(is_registered))
    calls = [layer(dy2st.full([2], value)).tolist() for value in (1.0, 2.0)]
    assert calls == [[3.0, 3.0], [4.0, 4.0]] and list(layer.state_dict()) == ["shift"]


def made_and_switched(x):
    drop = nn.Dropout(0.5)
    if x.sum() > 0:
        drop.eval()
    return drop.training


def made_and_filled(x):
    layers = nn.LayerList([nn.Identity()])
    if x.sum() > 0:
        layers.append(nn.ReLU())
    return len(layers)


@pytest.mark.parametrize("function", [made_and_switched, made_and_filled])
def test_a_layer_of_the_call_that_some_paths_change_is_refused(function):
    with pytest.raises(ConversionError, match="in a branch or loop"):
        to_static(function)(dy2st.ones([2]))


def test_a_layer_is_changed_on_the_path_that_has_made_it():
    def run(x):
        if x.sum() > 0:
            layers = nn.Sequential(nn.ReLU())
            layers.add_sublayer("more", nn.Identity())
            layers.eval()
            x = layers(x) * len(layers)
        return x

    converted = to_static(run)
    for value in (1.0, -1.0):
        x = dy2st.full([2], value)
        assert converted(x).tolist() == run(x).tolist()
