"""Operators know the path of the Layer that computes them, from the trace to the saved file."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.passes import Module, PassContext, find
from dy2st.static import InputSpec
from dy2st_runtime.io import read_pair
from dy2st_runtime.ir.text.parser import parse


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.others = [nn.Linear(3, 3), nn.Linear(3, 3)]  # in no table of the Layer

    def forward(self, x):
        if x.sum() > 0:
            x = self.inner(x)
        else:
            x = self.others[0](self.others[1](x))
        return x + 1


def paths(function, name):
    """The paths of the operators of a name, in order."""
    program = function(InputSpec([None, 3])).main_program
    return [one.location.layer for one in program.block.walk() if one.name == name]


def converted(layer):
    return lambda spec: to_static(layer, input_spec=[spec]).forward


def test_layers_of_a_sequential_are_told_apart():
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 3)))
    assert paths(converted(net), "matmul") == ["0", "2.0"]


def test_what_a_layer_computes_itself_has_its_own_path():
    assert paths(converted(nn.Sequential(Block())), "cond") == ["0"]


def test_a_layer_in_a_list_of_python_is_called_by_its_class():
    net = nn.Sequential(Block())
    assert paths(converted(net), "matmul") == ["0.inner", "0.Linear", "0.Linear_1"]


def test_a_layer_that_a_function_calls_is_called_by_its_class():
    first, second = nn.Sequential(nn.Linear(3, 3)), nn.Linear(3, 3)

    def f(x):
        return second(first(first(x)))

    found = paths(lambda spec: to_static(f, input_spec=[spec]), "matmul")
    assert found == ["Sequential.0", "Sequential.0", "Linear"]


def test_a_layer_with_two_names_has_the_first():
    shared = nn.Linear(3, 3)
    assert paths(converted(nn.Sequential(shared, nn.ReLU(), shared)), "matmul") == ["0", "0"]


def test_after_a_layer_that_raises_the_path_is_that_of_its_caller():
    class Raises(nn.Layer):
        def forward(self, x):
            raise ValueError("no")

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.bad = Raises()

        def forward(self, x):
            try:
                return self.bad(x)
            except ValueError:
                return x.exp()

    assert paths(converted(Net()), "exp") == [""]


@pytest.mark.parametrize("pipeline", ["inference", "training", "opu"])
def test_passes_keep_the_paths(pipeline):
    net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU())
    net.eval()
    with PassContext(4):
        program = to_static(net, input_spec=[InputSpec([1, 3, 8, 8])]).forward.main_program
        state = {name: one.numpy() for name, one in net.state_dict().items()}
        made = find(pipeline)(Module({"forward": program}, state)).programs["forward"]
    found = [one.location.layer for one in made.block.walk() if one.name != "constant"]
    assert found and set(found) <= {"0", "1", "2"}


def test_a_saved_file_has_the_paths(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    dy2st.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 3])])
    text, _ = read_pair(tmp_path / "net.mlir", tmp_path / "net.safetensors")
    (program,) = parse(text)
    assert [one.location.layer for one in program.operators] == ["0", "0", "1"]
    x = dy2st.ones([2, 3])
    assert (dy2st.jit.load(str(tmp_path / "net"))(x).numpy() == net(x).numpy()).all()
