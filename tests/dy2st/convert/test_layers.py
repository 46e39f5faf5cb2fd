"""Layers that hold others: chosen by a number of the Program, looped over, in branches and loops."""

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        self.steps = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.scales = nn.ParameterList([self.create_parameter([3]) for _ in range(2)])

    def by_number(self, x, k):
        return self.layers[int(k)](x)

    def by_item_from_the_end(self, x, k):
        return self.layers[-k.item()](x), self.steps[int(k) % 2](x)

    def by_turn(self, x, k):
        for i in range(k + 1):
            x = self.layers[i](x)
        return x

    def parameter_by_number(self, x, k):
        return x * self.scales[int(k) % 2]

    def some_of_them(self, x, k):
        for layer in self.layers[: int(k)]:
            x = layer(x)
        return x

    def all_in_a_branch(self, x, k):
        if x.sum() > 0:
            for layer in self.layers:
                x = layer(x)
            for scale in self.scales:
                x = x * scale
        return x

    def left_by_a_tensor(self, x, k):
        for layer in self.layers:
            x = layer(x) + 1
            if x.sum() > k:
                break
        return x

    def out_of_range(self, x, k):
        return self.layers[int(k) + 2](x)


def outcome(function, x, k):
    try:
        found = function(x, k)
    except IndexError as error:
        return str(error)
    return [one.numpy().tolist() for one in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("name", [name for name in vars(Model) if name[0] != "_"])
def test_the_program_takes_the_layers_that_python_takes(name):
    model = Model()
    eager = getattr(model, name)
    specs = [InputSpec([None, 3], "float32", "x"), InputSpec([], "int64", "k")]
    converted = to_static(eager, input_spec=specs)
    for row, k in (([1.0, 2.0, 3.0], 0), ([-1.0, 2.0, -9.0], 1), ([4.0, 0.5, 3.0], 2)):
        x, number = dy2st.to_tensor([row]), dy2st.to_tensor(np.asarray(k, "int64"))
        found, wanted = outcome(converted, x, number), outcome(eager, x, number)
        if isinstance(wanted, str):
            assert found == wanted
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
