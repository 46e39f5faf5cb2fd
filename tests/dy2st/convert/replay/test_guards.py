"""What is read outside is guarded place by place: no more, and no less."""

from __future__ import annotations

import copy
import gc
import sys
import types
import weakref

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static

X = dy2st.to_tensor(np.array([1.0, 2.0], "float32"))


class Config:
    kind = "class"

    def __init__(self):
        self.scale, self.unread, self.table = 2.0, 1, {"a": 1.0, "b": 2.0}
        self.list, self.pair, self.set = [1.0, 2.0, 3.0], (1.0, 2.0), {1, 2}


def programs(function):
    return len(function.program_cache)


READS = {
    "attribute": (lambda c, x: x * c.scale, lambda c: setattr(c, "scale", 3.0)),
    "kind of a number": (
        lambda c, x: x if isinstance(c.scale, float) else x * 2,
        lambda c: setattr(c, "scale", 2),
    ),
    "sign of zero": (lambda c, x: x * c.zero, lambda c: setattr(c, "zero", -0.0)),
    "attribute of the class": (
        lambda c, x: x * 2 if c.kind == "class" else x,
        lambda c: setattr(Config, "kind", "other"),
    ),
    "attribute before that of the class": (
        lambda c, x: x * 2 if c.kind == "class" else x,
        lambda c: setattr(c, "kind", "own"),
    ),
    "item": (lambda c, x: x * c.table["a"], lambda c: c.table.update(a=4.0)),
    "missing item": (
        lambda c, x: x * 2 if "new" in c.table else x,
        lambda c: c.table.update(new=4.0),
    ),
    "item of a list": (lambda c, x: x * c.list[1], lambda c: c.list.__setitem__(1, 5.0)),
    "length": (lambda c, x: x * len(c.list), lambda c: c.list.append(1.0)),
    "truth": (lambda c, x: x if c.list else x * 2, lambda c: c.list.clear()),
    "all items": (lambda c, x: [x * v for v in c.list], lambda c: c.list.reverse()),
    "all values": (lambda c, x: [x * c.table[k] for k in c.table], lambda c: c.table.pop("a")),
    "tuple": (lambda c, x: x * c.pair[0], lambda c: setattr(c, "pair", (5.0, 2.0))),
    "membership": (lambda c, x: x * 2 if 1 in c.set else x, lambda c: c.set.discard(1)),
}


@pytest.fixture
def config():
    yield Config()
    Config.kind = "class"


@pytest.mark.parametrize("name", READS)
def test_what_was_read_and_changes_is_noticed(name, config):
    read, change = READS[name]
    config.zero = 0.0

    def f(x):
        return read(config, x)

    static = to_static(f)
    before, again = static(X), static(X)
    assert programs(static) == 1
    change(config)
    assert repr(static(X)) == repr(f(X)) != repr(before) == repr(again)


@pytest.mark.parametrize("name", READS)
def test_what_was_not_read_may_change(name, config):
    read, _ = READS[name]
    config.zero = 0.0
    static = to_static(lambda x: read(config, x))
    static(X)
    config.unread, config.other = 5, 6
    static(X)
    assert programs(static) == 1


def test_an_entry_that_is_read_is_guarded_and_the_others_are_not(config):
    static = to_static(lambda x: x * config.table["a"])
    static(X)
    config.table["b"] = 7.0
    config.table["c"] = 8.0
    static(X)
    assert programs(static) == 1


def test_an_entry_that_is_read_after_another_was_written_is_guarded(config):
    def f(x):
        config.table["b"] = 3.0
        return x * config.table["a"]

    static = to_static(f)
    static(X)
    config.table["a"] = 7.0
    assert static(X).numpy().tolist() == [7.0, 14.0]


def test_a_length_that_is_asked_after_an_append_is_guarded(config):
    def f(x):
        config.list.append(1.0)
        return x * len(config.list)

    static = to_static(f)
    assert [static(X).numpy().tolist()[0] for _ in range(3)] == [4.0, 5.0, 6.0]


def test_an_array_that_is_changed_in_place_is_noticed():
    array = np.ones(2, "float32")
    static = to_static(lambda x: x * array)
    static(X)
    array[0] = 5
    assert static(X).numpy().tolist() == [5.0, 2.0]


def test_a_default_that_holds_something_else_is_noticed(config):
    def f(x, c=config):
        return x * c.scale

    static = to_static(f)
    static(X)
    config.scale = 5.0
    assert static(X).numpy().tolist() == [5.0, 10.0]


# -- numbers that become inputs -----------------------------------------------------------------


def test_a_counter_costs_two_traces_and_then_none(config):
    config.count = 0

    def f(x):
        config.count += 1
        return x * config.count

    static = to_static(f)
    assert [static(X).numpy().tolist()[0] for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    assert config.count == 6 and type(config.count) is int
    assert programs(static) == 2


def test_a_counter_that_is_a_global_an_item_or_a_variable_of_a_closure():
    table, count = {"n": 0}, 0

    def f(x):
        nonlocal count
        table["n"] += 1
        count += 2
        return x * (table["n"] + count)

    static = to_static(f)
    assert [static(X).numpy().tolist()[0] for _ in range(5)] == [3, 6, 9, 12, 15]
    assert (table, count) == ({"n": 5}, 10)
    assert programs(static) <= 3


def test_a_counter_that_selects_objects_of_python_stays_a_constant():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts, self.step = [nn.Linear(2, 2), nn.ReLU()], 0

        def forward(self, x):
            y = self.parts[self.step](x)
            self.step = (self.step + 1) % 2
            return y

    net = to_static(Net())
    first, second = net.parts
    for _ in range(3):
        assert net(X).numpy().tolist() == first(X).numpy().tolist()
        assert net(X).numpy().tolist() == second(X).numpy().tolist()


def test_a_number_that_becomes_a_text_is_noticed(config):
    config.count = 0

    def f(x):
        if isinstance(config.count, str):
            return x
        config.count += 1
        return x * config.count

    static = to_static(f)
    for _ in range(3):
        static(X)
    config.count = "text"
    assert static(X).numpy().tolist() == X.numpy().tolist()


# -- Layers -------------------------------------------------------------------------------------


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear, self.scale = nn.Linear(2, 2), 2.0
        self.register_buffer("mean", dy2st.ones([2]))

    def forward(self, x):
        y = self.linear(x) * self.scale + self.mean
        return y * 2 if self.training else y


CHANGES = {
    "attribute": lambda net: setattr(net, "scale", 3.0),
    "parameter": lambda net: setattr(net.linear, "weight", nn.Linear(2, 2).weight),
    "no parameter": lambda net: setattr(net.linear, "bias", None),
    "sublayer": lambda net: setattr(net, "linear", nn.Linear(2, 2)),
    "sublayer by method": lambda net: net.add_sublayer("linear", nn.Linear(2, 2)),
    "mode": lambda net: net.eval(),
    "buffer of another shape": lambda net: setattr(net, "mean", dy2st.ones([1])),
    "buffer": lambda net: setattr(net, "mean", dy2st.zeros([2])),
    "hook": lambda net: net.register_forward_post_hook(lambda layer, x, y: y * 3),
    "hook of a sublayer": lambda net: net.linear.register_forward_pre_hook(lambda layer, x: x[0]),
    "hook of a sublayer behind it": lambda net: net.linear.register_forward_post_hook(
        lambda layer, x, y: y * 3
    ),
    "state": lambda net: net.set_state_dict(Net().state_dict()),
    "dtype": lambda net: net.to(dtype="float64"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_layer_that_changes_is_noticed(name):
    net = Net()
    static = to_static(net)
    for _ in range(2):
        static(X)
    CHANGES[name](net)
    expected = net.forward.dygraph_function
    wanted = net._call((X,), {}) if name == "hook" else expected(X)
    assert np.allclose(static(X).numpy(), wanted.numpy())
    assert str(static(X).dtype) == str(wanted.dtype)


def test_a_hook_that_is_removed_is_noticed():
    net = Net()
    hook = net.linear.register_forward_post_hook(lambda layer, x, y: y * 3)
    static = to_static(net)
    static(X)
    hook.remove()
    assert np.allclose(static(X).numpy(), net.forward.dygraph_function(X).numpy())


def test_two_modes_are_two_programs_that_are_kept():
    net = to_static(Net())
    for _ in range(3):
        net.train()
        net(X)
        net.eval()
        net(X)
    assert programs(net.forward) == 2


def test_a_layer_goes_with_its_last_reference():
    class Own(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear, self.parent = nn.Linear(2, 2), [self]

        @to_static
        def forward(self, x):
            return self.linear(x) * len(self.parent)

    net = Own()
    net(X)
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


# -- classes --------------------------------------------------------------------------------------


class Scaled:
    def factor(self):
        return 2.0


class Stays(Scaled):
    """A class of the module, which lives as long as it does."""


def scaled_by(kind):
    def f(x):
        return x * kind().factor()

    return to_static(f)


def a_class_of_a_function():
    class Local(Scaled):
        pass

    return Local


@pytest.mark.parametrize("make", [lambda: Stays, a_class_of_a_function])
def test_a_name_that_a_class_gets_is_noticed(make, monkeypatch):
    kind = make()
    static = scaled_by(kind)
    for _ in range(3):
        assert np.allclose(static(X).numpy(), X.numpy() * 2)
    monkeypatch.setattr(kind, "factor", lambda self: 3.0, raising=False)
    for _ in range(2):
        assert np.allclose(static(X).numpy(), X.numpy() * 3)
    monkeypatch.undo()
    monkeypatch.setattr(Scaled, "factor", lambda self: 5.0)
    assert np.allclose(static(X).numpy(), X.numpy() * 5)


class Other:
    def factor(self):
        return 7.0


@pytest.mark.parametrize("make", [lambda: Stays, a_class_of_a_function])
def test_a_class_that_gets_other_bases_is_noticed(make):
    kind = make()
    static = scaled_by(kind)
    for _ in range(2):
        assert np.allclose(static(X).numpy(), X.numpy() * 2)
    kind.__bases__ = (Other,)
    try:
        assert np.allclose(static(X).numpy(), X.numpy() * 7)
    finally:
        kind.__bases__ = (Scaled,)


# -- buffers --------------------------------------------------------------------------------------


def test_two_buffers_that_were_one_tensor_and_are_two_now():
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", dy2st.ones([2]))
            self.register_buffer("b", self.a)

        def forward(self, x):
            return x + self.a * 2 + self.b

    net = Two()
    static = to_static(net)
    static(X)
    net.a = dy2st.zeros([2])
    assert static(X).numpy().tolist() == [2.0, 3.0]


def test_a_buffer_that_is_kept_as_it_was():
    class Kept(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("h", dy2st.ones([2]))

        def forward(self, x):
            before = self.h
            self.h = self.h + x
            return before, self.h

    net, plain = to_static(Kept()), Kept()
    for _ in range(3):
        assert repr(net(X)) == repr(plain(X))
    assert programs(net.forward) == 1


def test_a_function_that_is_made_inside_is_no_guard():
    def f(x):
        total = 0

        def add(v):
            nonlocal total
            total = total + v

        for v in x:
            add(v)
        return total

    static = to_static(f)
    for _ in range(3):
        static(X)
        gc.collect()
    assert programs(static) == 1


# -- tensors that become inputs -------------------------------------------------------------------


def accumulates_in_an_attribute(state, x):
    state.h = state.h + x
    return state.h * 2


def accumulates_in_an_item(state, x):
    state.table["h"] = state.table["h"] + x
    return state.table["h"] * 2


def accumulates_in_a_list(state, x):
    state.list[0] = state.list[0] + x
    return state.list[0] * 2


def keeps_a_tuple(state, x):
    h, c = state.pair
    state.pair = h + x, c * 2
    return h + c


def keeps_a_list(state, x):
    h, c = state.list[0], state.list[1]
    state.list = [h + x, c * 2]
    return h + c


class Kept:
    def __init__(self):
        self.pair = dy2st.zeros([2]), dy2st.ones([2])
        self.h = dy2st.zeros([2])
        self.table, self.list = {"h": dy2st.zeros([2])}, [dy2st.zeros([2])]
        self.list.append(dy2st.ones([2]))


ACCUMULATES = (
    *(accumulates_in_an_attribute, accumulates_in_an_item, accumulates_in_a_list),
    *(keeps_a_tuple, keeps_a_list),
)


@pytest.mark.parametrize("function", ACCUMULATES, ids=lambda function: function.__name__)
def test_a_tensor_that_each_call_replaces_costs_few_traces(function):
    plain, kept = Kept(), Kept()
    static = to_static(lambda x: function(kept, x))
    for _ in range(5):
        assert repr(static(X)) == repr(function(plain, X))
    assert repr(vars(kept)) == repr(vars(plain))
    assert programs(static) <= 3


def test_defaults_of_the_function_itself_that_are_set_are_taken():
    def function(x, by=2.0, *, more=1.0):
        return x * by + more

    static = to_static(function)
    assert static(X).tolist() == [3.0, 5.0]
    function.__defaults__ = (3.0,)
    assert static(X).tolist() == [4.0, 7.0]
    function.__kwdefaults__["more"] = 0.0
    assert static(X).tolist() == [3.0, 6.0]


def test_a_module_that_is_put_in_place_of_another_is_noticed(monkeypatch):
    monkeypatch.setitem(sys.modules, "dy2st_a.b", types.SimpleNamespace(level=2.0))
    monkeypatch.setitem(sys.modules, "dy2st_a", types.SimpleNamespace(b=sys.modules["dy2st_a.b"]))

    def function(x):
        import dy2st_a.b as one
        from dy2st_a.b import level

        return x * one.level * level

    static = to_static(function)
    assert static(X).tolist() == [4.0, 8.0]
    static(X)
    assert programs(static) == 1
    monkeypatch.setattr(sys.modules["dy2st_a"], "b", types.SimpleNamespace(level=3.0))
    monkeypatch.setitem(sys.modules, "dy2st_a.b", sys.modules["dy2st_a"].b)
    assert static(X).tolist() == [9.0, 18.0]


class Counted(dict):
    def add(self, key):
        self[key] = self.get(key, 0) + 1


def test_what_a_container_of_an_own_class_gets_is_kept_at_each_call():
    held = Counted()

    def function(x):
        held.add("a")
        held.update(b=len(held))
        return x

    static = to_static(function)
    for _ in range(3):
        static(X)
    assert held == {"a": 3, "b": 2}


def test_an_iterator_from_outside_that_is_copied_is_looked_at_at_each_call():
    held = iter([1.0, 2.0, 3.0])
    static = to_static(lambda x: x * next(copy.copy(held)))
    assert static(X).tolist() == [1.0, 2.0]
    next(held)
    with pytest.warns(UserWarning, match="a list_iterator from outside is given to code"):
        assert static(X).tolist() == [2.0, 4.0]


def test_objects_of_the_users_live_no_longer_than_before():
    held = [Config()]
    reference = weakref.ref(held[0])
    static = to_static(lambda x: x if reference() is None else x * reference().scale)
    static(X)
    held.clear()
    assert reference() is None
    assert static(X).tolist() == [1.0, 2.0]


class Users(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear, self.scale, self.more = nn.Linear(2, 2), 2.0, (1.0, 2.0)
        self.table = {"a": 1.0}

    def forward(self, x):
        y = self.linear(x) * self.scale + self.more[1] * self.table["a"]
        return y + 1.0 if self.training else y


class Hundred(Users):
    def forward(self, x):
        return x * 100.0


def has_scale_of_its_class(layer):
    type(layer).scale = 3.0
    del layer.__dict__["scale"]


def other(*_):
    return X * 50.0


def of_any_name(layer, name):
    return 9.0 if name == "scale" else object.__getattribute__(layer, name)


# However a Layer of the user's is changed: through its own methods, and past them.
PAST = {
    "attribute": lambda layer: setattr(layer, "scale", 5.0),
    "attribute in __dict__": lambda layer: layer.__dict__.update(scale=5.0),
    "attribute of object": lambda layer: object.__setattr__(layer, "scale", 5.0),
    "another kind": lambda layer: vars(layer).update(scale=True),
    "sign": lambda layer: vars(layer).update(scale=-0.0),
    "entry": lambda layer: layer.table.update(a=4.0),
    "dict": lambda layer: vars(layer).update(table={"a": 6.0}),
    "tuple": lambda layer: vars(layer).update(more=(1.0, 9.0)),
    "mode": lambda layer: object.__setattr__(layer, "training", False),
    "__dict__": lambda layer: setattr(layer, "__dict__", {**vars(layer), "scale": 5.0}),
    "class": lambda layer: object.__setattr__(layer, "__class__", Hundred),
    "attribute of the class": has_scale_of_its_class,
    "property": lambda layer: setattr(
        type(layer), "scale", property(lambda _: 7.0, lambda *_: None)
    ),
    "__getattribute__": lambda layer: setattr(type(layer), "__getattribute__", of_any_name),
    "__call__": lambda layer: setattr(type(layer), "__call__", other),
    "forward of the class": lambda layer: setattr(type(layer), "forward", other),
    "forward": lambda layer: setattr(layer, "forward", other),
    "forward in __dict__": lambda layer: vars(layer).update(forward=other),
    "hook": lambda layer: layer.linear.register_forward_post_hook(other),
    "hook in its table": lambda layer: layer.linear._forward_post_hooks.update({9: other}),
    "sublayer": lambda layer: layer.add_sublayer("linear", nn.Linear(2, 2)),
    "sublayer in its table": lambda layer: layer._sub_layers.update(linear=nn.Linear(2, 2)),
    "sublayer in __dict__": lambda layer: vars(layer).update(linear=nn.Linear(2, 2)),
    "table of sublayers": lambda layer: vars(layer).update(_sub_layers={"linear": nn.ReLU()}),
    "parameter": lambda layer: layer.linear._parameters.update(weight=nn.Linear(2, 2).weight),
    "state": lambda layer: layer.__setstate__({"scale": 8.0}),
}


@pytest.mark.parametrize("wrap", [nn.Sequential, lambda layer: lambda x: layer(x)])
@pytest.mark.parametrize("name", PAST)
def test_a_layer_of_the_users_is_asked_however_it_is_changed(name, wrap):
    layer = type("Own", (Users,), {})()
    static = to_static(wrap(layer))
    for _ in range(2):
        before = static(X).tolist()
    PAST[name](layer)
    assert static(X).tolist() == layer(X).tolist() != before


def test_why_a_call_is_traced_anew_is_told_where_an_attribute_is_gone():
    config = Config()
    static = to_static(lambda x: x * config.scale if hasattr(config, "scale") else x)
    static(X)
    del config.scale
    static(X)
    assert "an attribute that it read is gone" in str(static.report())


class Asking(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(2, 2), nn.ReLU()])

    def forward(self, x):
        for layer in self.layers:
            if isinstance(layer, nn.Linear) or type(layer) is nn.Linear:
                x = layer(x)
        return x


def test_the_class_of_a_layer_is_guarded_and_no_more():
    net = to_static(Asking())
    found = [net(dy2st.ones([1, 2])).tolist() for _ in range(4)]
    assert programs(net.forward) == 1 and found == found[:1] * 4
    net.layers[0].__class__ = type("Other", (nn.ReLU,), {})
    assert net(dy2st.ones([1, 2])).tolist() == [[1.0, 1.0]]
