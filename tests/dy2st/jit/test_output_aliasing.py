"""What a function returns unchanged is the caller's own object, as in Python."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec


class Model(nn.Layer):
    """A Layer with a parameter, a buffer, and a forward that is given."""

    def __init__(self, forward):
        super().__init__()
        self.w = self.create_parameter([2], default_initializer=nn.initializer.Constant(1.0))
        self.register_buffer("h", dy2st.zeros([2]))
        self.change = forward

    def forward(self, x, y):
        return self.change(self, x, y)


def both(self, x, y):
    return x, {"y": [y, y]}, (self.w, self.h)


def chosen(self, x, y):
    if x.sum() > 0:
        return x
    return y


def chosen_or_made(self, x, y):
    z = x
    if x.sum() > 0:
        z = x * 1.0
    return z


def after_turns(self, x, y):
    i, z = dy2st.zeros([]), x
    while i < x.sum():
        z, i = z + 1, i + 1
    return z, x


def copied(self, x, y):
    return x.clone(), x.detach(), x.reshape([2]), x.astype("float32")


def copied_or_not(self, x, y):
    z = x
    if x.sum() > 0:
        z = x.clone()
    return z


def detached_in_turns(self, x, y):
    i, z = dy2st.zeros([]), x
    while i < x.sum():
        z, i = z.detach(), i + 1
    return z


def changed(self, x, y):
    self.h[0] = 1.0
    return self.h


def kept(self, x, y):
    old, self.h = self.h, x
    return old, self.h


def twice(self, x, y):
    z = x + y
    return z, [z], x * y


def stopped(self, x, y):
    x.stop_gradient = True
    return x, y


FUNCTIONS = [both, chosen, chosen_or_made, after_turns, copied, copied_or_not]
FUNCTIONS += [detached_in_turns, changed, kept, twice, stopped]


def identities(layer, function, values, needs, recorded):
    """Which of the results are which objects, and whether they stop gradients."""
    x, y, held = dy2st.to_tensor(values), dy2st.to_tensor([3.0, 4.0]), layer.h
    x.stop_gradient = not needs
    with recorded():
        result = function(x, y)
    named = {"x": x, "y": y, "w": layer.w, "h": layer.h, "held": held}
    leaves = leaves_of(result)
    return [
        (
            [name for name, tensor in named.items() if tensor is leaf],
            [leaf is other for other in leaves],
            leaf.stop_gradient,
            leaf.numpy().tolist(),
        )
        for leaf in leaves
    ]


def leaves_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for entry in value for leaf in leaves_of(entry)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("specs", [None, [InputSpec([None]), InputSpec([2])]])
def test_a_result_is_the_object_that_python_returns(function, specs):
    for recorded in (dy2st.no_grad, dy2st.enable_grad):
        for needs in (False, True):
            eager, layer = Model(function), Model(function)
            static = to_static(layer, input_spec=specs)
            for values in ([1.0, 0.5], [-1.0, 0.5], [2.0, 1.0]):
                expected = identities(eager, eager, values, needs, recorded)
                assert identities(layer, static, values, needs, recorded) == expected


def test_two_arguments_that_share_an_array_are_told_apart():
    def forward(x, y):
        if x.sum() > 0:
            return x
        return y

    static = to_static(forward)
    for value in (1.0, -1.0):
        x = dy2st.to_tensor([value])
        y = x.detach()
        with dy2st.no_grad():
            assert static(x, y) is (x if value > 0 else y)


def test_a_saved_model_gives_a_tensor_of_its_own(tmp_path):
    dy2st.jit.save(to_static(lambda x: x, input_spec=[InputSpec([2])]), str(tmp_path / "m"))
    x = dy2st.ones([2])
    result = dy2st.jit.load(str(tmp_path / "m"))(x)
    result[0] = 5.0
    assert x.numpy().tolist() == [1.0, 1.0]
