"""What users read when they err: the cause, and what to write instead."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, ShapeError, SpecError


def test_a_list_of_numbers_for_a_loaded_model_is_to_become_one_tensor(tmp_path):
    dy2st.jit.save(nn.Linear(2, 2), str(tmp_path / "model"), [InputSpec([None, 2], name="x")])
    model = dy2st.jit.load(str(tmp_path / "model"))
    with pytest.raises(SpecError, match=r"takes 1 tensor, not 4: .*to_tensor\(x\)"):
        model([[1.0, 2.0], [3.0, 4.0]])
    x = dy2st.ones([1, 2])
    with pytest.raises(SpecError, match=r"takes 1 tensor, not 2$"):
        model(x, x)
    for value in (0.5, True, "mean", None):
        with pytest.raises(SpecError, match="not 2: all that was no tensor has its value since"):
            model(x, value)


class OfAnotherLibrary:
    """A tensor that is none of ours."""

    def __dlpack__(self):
        raise AssertionError("nobody asks for the numbers")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (OfAnotherLibrary(), r"is a .*OfAnotherLibrary, not a tensor of dy2st .*from_dlpack\(x\)"),
        ([1.0, 2.0, 3.0], r"is \[1.0, 2.0, 3.0\], not a tensor of dy2st .*to_tensor\(x\)"),
        ("three", r"`x` is 'three'; its InputSpec says tensor"),
    ],
)
def test_a_tensor_of_another_library_is_to_be_taken_over(given, words):
    double = dy2st.to_static(lambda x: x * 2, [InputSpec([3])])
    with pytest.raises(SpecError, match=words):
        double(given)


@pytest.mark.parametrize("name", ["Adam", "SGD"])
@pytest.mark.parametrize("kind", [list, iter, tuple])
def test_parameters_in_the_place_of_the_learning_rate_are_named(name, kind):
    words = rf"learning rate, .* write {name}\(learning_rate, parameters=layer.parameters\(\)\)"
    with pytest.raises(ArgumentError, match=words):
        getattr(dy2st.optimizer, name)(kind(nn.Linear(2, 2).parameters()))
    with pytest.raises(ArgumentError, match=rf"needs parameters .* write {name}\("):
        getattr(dy2st.optimizer, name)(0.1)


def test_a_layer_in_the_place_of_its_parameters_is_told():
    with pytest.raises(TypeError, match=r"is a list of parameters, .*layer.parameters\(\)"):
        dy2st.optimizer.SGD(0.1, parameters=nn.Linear(2, 2))


def test_weights_that_lie_as_in_torch_are_to_be_turned():
    layer = nn.Linear(2, 3)
    state = {"weight": np.zeros((3, 2), "float32"), "bias": np.zeros(3, "float32")}
    words = r"\[2, 3\], the state has \[3, 2\]: .*torch.* give state\['weight'\].T"
    with pytest.raises(ShapeError, match=words):
        layer.set_state_dict(state)
    state["weight"] = state["weight"].T
    layer.set_state_dict(state)
    with pytest.raises(ShapeError, match=r"the state has \[4\]$"):
        layer.set_state_dict({**state, "bias": np.zeros(4, "float32")})


def test_backward_without_anything_that_wants_gradients_names_the_way_out():
    with pytest.raises(ArgumentError, match=r"Set x.stop_gradient = False .* no_grad\(\)"):
        dy2st.ones([2]).sum().backward()


MISSPELT = {
    (dy2st, "to_tensr"): "to_tensor",
    (dy2st, "matmull"): "matmul",
    (nn, "Liner"): "Linear",
    (nn, "Relu"): "ReLU",
    (F, "leakyrelu"): "leaky_relu",
    (nn.initializer, "Uniforn"): "Uniform",
    (dy2st.optimizer, "Adan"): "Adam",
    (dy2st.optimizer.lr, "StepDeca"): "StepDecay",
    (dy2st.static, "InputSpecs"): "InputSpec",
    (dy2st.jit, "to_statik"): "to_static",
}


@pytest.mark.parametrize(
    ("module", "name"), MISSPELT, ids=lambda entry: getattr(entry, "__name__", entry)
)
def test_a_misspelt_name_is_answered_with_the_nearest(module, name):
    near = MISSPELT[module, name]
    words = f"has no attribute '{name}'; did you mean '{near}'"
    with pytest.raises(AttributeError, match=words):
        getattr(module, name)


def test_a_name_like_none_gets_no_suggestion():
    for name in ("qqqq", "__wrapped__", "_to_tenso"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(dy2st, name)


def test_the_import_does_not_pay_for_suggestions():
    code = "import sys, dy2st; assert 'difflib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: dy2st.optimizer.Adam(lr=0.1, parameters=[]),
            r"Adam\(\) takes learning_rate, not lr",
        ),
        (lambda: dy2st.optimizer.SGD(params=[]), r"SGD\(\) takes parameters, not params"),
        (lambda: dy2st.optimizer.AdamW(betas=(0.9, 0.99)), "takes beta1 and beta2, not betas"),
        (lambda: InputSpec([None], "flaot32"), "'flaot32' is no dtype: .*did you mean 'float32'"),
    ],
)
def test_a_name_that_is_wrong_is_told_with_the_right_one(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_an_optimizer_of_the_users_may_have_an_argument_of_that_name():
    class Mine(dy2st.optimizer.SGD):
        def __init__(self, lr, parameters):
            super().__init__(lr, parameters=parameters)

    assert Mine(lr=0.5, parameters=[dy2st.create_parameter([1], "float32")]).get_lr() == 0.5


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "gpu"])
def test_a_device_that_is_not_here_is_refused_with_what_is(name):
    with pytest.raises(ArgumentError, match=f"the device '{name}' is not here: .*write 'cpu'"):
        dy2st.ones([1]).to(name)


def test_a_model_is_loaded_by_the_name_of_its_text_too(tmp_path):
    path = str(tmp_path / "net")
    dy2st.jit.save(nn.Linear(2, 2), path, [InputSpec([None, 2])])
    x = dy2st.ones([1, 2])
    assert dy2st.jit.load(path + ".mlir")(x).tolist() == dy2st.jit.load(path)(x).tolist()


@pytest.mark.parametrize(
    ("ending", "what"), [("onnx", "ONNX"), ("pdmodel", "model of P"), ("pdiparams", "model of P")]
)
def test_a_model_is_saved_under_no_ending_of_other_libraries(tmp_path, ending, what):
    with pytest.raises(ArgumentError, match=f"net.{ending}.mlir, and no {what}.*: leave the end"):
        dy2st.jit.save(nn.Linear(2, 2), str(tmp_path / f"net.{ending}"), [InputSpec([None, 2])])
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("take", [dy2st.to_static, lambda net: dy2st.jit.save(net, "net")])
def test_a_module_of_torch_is_named_as_such(take):
    kind = type("Linear", (), {"__module__": "torch.nn.modules.linear", "__call__": lambda s: 1})
    with pytest.raises(dy2st.errors.NotConvertible, match="it is a Module of torch's") as caught:
        take(kind())
    assert "load_weights" in caught.value.hint


def _of_two(x, y, /, *, sign=1):
    return x - y * sign


def _with_default(x, n=2):
    return x * n


class _Net(nn.Layer):
    def forward(self, x, y):
        return x + y


ONE = InputSpec([None])
COUNTS = {
    "too many": (_of_two, [ONE] * 3, "_of_two() has 3 entries, and the function takes 2: 'x', 'y'"),
    "a default": (_with_default, [ONE, 2, 3], "has 3 entries, and the function takes 2: 'x', 'n'"),
    "a Layer": (_Net(), [ONE] * 3, "_Net.forward() has 3 entries, and the function takes 2: 'x'"),
    "nothing": (lambda: 1, [ONE], "has 1 entry, and the function takes 0: nothing"),
}


@pytest.mark.parametrize(("function", "specs", "words"), COUNTS.values(), ids=COUNTS)
def test_more_input_specs_than_parameters_are_refused_at_once(function, specs, words):
    with pytest.raises(ArgumentError, match=re.escape(words)):
        dy2st.to_static(function, input_spec=specs)


def test_a_parameter_without_input_spec_is_named_by_save(tmp_path):
    words = "forward() has 1 entry, none for 'y': its parameters are 'x', 'y'"
    with pytest.raises(ArgumentError, match=re.escape(words)):
        dy2st.jit.save(_Net(), str(tmp_path / "net"), [ONE])


def test_a_call_may_give_what_no_input_spec_says():
    one = dy2st.ones([1])
    assert dy2st.to_static(_Net(), input_spec=[ONE])(one, one).tolist() == [2.0]
    assert dy2st.to_static(lambda *xs: xs[1], input_spec=[ONE] * 2)(one, one).tolist() == [1.0]
