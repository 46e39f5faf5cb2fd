"""Mistakes of a first day: each message says what is wrong, and no frame of dy2st's is shown."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec

MISTAKES: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {}


def mistake(error: type[Exception], message: str) -> Callable[[Callable[..., Any]], Any]:
    """A function that makes a mistake, the error that it gives, and a part of its message."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        MISTAKES[function.__name__] = function, error, message
        return function

    return keep


def called(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What the converted function gives."""
    return to_static(function, **options)(*args)


ones = dy2st.ones


@mistake(ValueError, "[2, 3] @ [4, 5]: 3 != 4")
def shapes_of_a_product():
    called(lambda x, w: dy2st.matmul(x, w), ones([2, 3]), ones([4, 5]))


@mistake(ValueError, "[2, 3] @ [4, 5]: 3 != 4")
def shapes_of_an_eager_product():
    ones([2, 3]) @ ones([4, 5])


@mistake(ValueError, "[2, 5] @ [4, 3]: 5 != 4")
def features_of_a_layer():
    nn.Linear(4, 3)(ones([2, 5]))


@mistake(ValueError, "x has 8 channels, the weight [8, 3, 3, 3] in 1 groups takes 3")
def channels_last():
    nn.Conv2D(3, 8, 3)(ones([1, 8, 8, 3]))


@mistake(ValueError, "the sizes 3 and 4 do not broadcast")
def shapes_of_a_sum():
    ones([2, 3]) + ones([2, 4])


@mistake(TypeError, "None is not a tensor")
def sum_with_none():
    ones([2]) + None


@mistake(ValueError, "'float31' not understood; did you mean 'float32'?")
def dtype_that_is_none():
    ones([2], dtype="float31")


@mistake(AttributeError, "did you mean 'concat'?")
def function_misspelled():
    dy2st.concatt


@mistake(AttributeError, "no attribute 'reshpe'; did you mean 'reshape'?")
def method_misspelled():
    ones([2]).reshpe([2, 1])


@mistake(AttributeError, "no attribute 'reshpe'; did you mean 'reshape'?")
def method_misspelled_in_a_converted_function():
    called(lambda x: x.reshpe([2, 1]), ones([2]))


@mistake(TypeError, "has no option 'input_specs'; it has 'input_spec'")
def option_misspelled():
    to_static(lambda x: x, input_specs=[InputSpec([2])])


@mistake(ValueError, "there is no engine 'nativ'")
def engine_misspelled():
    called(lambda x: x + 1, ones([2]), engine="nativ")


@mistake(ValueError, "did you mean 'inference'?")
def pipeline_misspelled():
    called(lambda x: x + 1, ones([2]), build_strategy="inferense")


@mistake(TypeError, "input_spec is a list of InputSpecs")
def spec_without_a_list():
    called(lambda x: x, ones([2]), input_spec=InputSpec([2]))


@mistake(ValueError, "give to_static, or save, an input_spec, or call the function once")
def saved_without_a_spec(folder: Path):
    dy2st.jit.save(nn.Linear(4, 3), folder / "net")


@mistake(ValueError, "argument `x`, axis 1: 5; its InputSpec says 4")
def size_against_the_spec():
    called(lambda x: x, ones([2, 5]), input_spec=[InputSpec([None, 4])])


@mistake(ValueError, "argument `x` has dtype int64; its InputSpec says float32: cast it")
def dtype_against_the_spec():
    called(lambda x: x, ones([2, 4], "int64"), input_spec=[InputSpec([None, 4])])


@mistake(FileNotFoundError, "give their path without the ending")
def model_that_is_not_there(folder: Path):
    dy2st.jit.load(folder / "net")


@mistake(FileNotFoundError, "No such file")
def weights_that_are_not_there(folder: Path):
    dy2st.load(folder / "net.pdparams")


@mistake(ValueError, "is no checkpoint")
def weights_that_are_no_file_of_weights(folder: Path):
    (folder / "net.pdparams").write_bytes(b"hello")
    dy2st.load(folder / "net.pdparams")


@mistake(ValueError, "give state['weight'].T")
def weights_the_other_way_round():
    nn.Linear(4, 3).set_state_dict({"weight": ones([3, 4]), "bias": ones([3])})


@mistake(TypeError, "numpy() of a traced tensor")
def arrays_in_a_converted_function():
    called(lambda x: dy2st.to_tensor(np.cumsum(x.numpy())), ones([2]))


@mistake(TypeError, "to_static takes a function, a method or a Layer, not 'net'")
def text_converted():
    to_static("net")


@mistake(IndexError, "index 3 is out of bounds for axis 1 with size 3")
def label_out_of_range():
    called(lambda x, y: F.cross_entropy(x, y), ones([2, 3]), dy2st.to_tensor([0, 3]))


@mistake(IndexError, "cross_entropy: the label 3 is not in 0 .. 2")
def eager_label_out_of_range():
    F.cross_entropy(ones([2, 3]), dy2st.to_tensor([0, 3]))


@mistake(ValueError, "class numbers are integers, not float32; for probabilities pass soft_label")
def label_of_floats():
    F.cross_entropy(ones([2, 3]), dy2st.to_tensor([0.0, 1.0]))


@mistake(ValueError, "the label [3] does not fit [2, 3]")
def labels_too_many():
    F.cross_entropy(ones([2, 3]), dy2st.to_tensor([0, 1, 2]))


@mistake(TypeError, "embedding takes integers, not float32")
def embedding_of_floats():
    nn.Embedding(10, 4)(ones([2]))


@mistake(IndexError, "index 5 is out of bounds: the axis has the size 3")
def index_out_of_range():
    called(lambda x: x[5], ones([3]))


@mistake(IndexError, "an index is an int, slice, None, '...' or a tensor of integers or bools")
def index_of_text():
    ones([3])["a"]


def of_a_vector(x):
    if x > 0:
        return x
    return -x


@mistake(ValueError, "the truth of a tensor of shape [3] is ambiguous: use any() or all()")
def branch_on_a_vector():
    called(of_a_vector, ones([3]))


def unbound(x):
    if x.mean() > 5:
        y = x
    return y


@mistake(UnboundLocalError, "local variable 'y'")
def variable_of_one_branch():
    called(unbound, ones([3]))


@mistake(RuntimeError, "pass retain_graph=True to keep it")
def backward_twice():
    x = ones([2])
    x.stop_gradient = False
    y = (x * x).sum()
    y.backward()
    y.backward()


@mistake(ValueError, "nothing that it was computed from wants a gradient")
def backward_of_a_constant():
    ones([2]).sum().backward()


@mistake(ValueError, "write Adam(learning_rate, parameters=layer.parameters())")
def optimizer_without_parameters():
    dy2st.optimizer.Adam(0.1)


@mistake(TypeError, "Adam() takes learning_rate, not lr")
def optimizer_of_torch():
    dy2st.optimizer.Adam(nn.Linear(4, 3).parameters(), lr=0.1)


@mistake(TypeError, "a learning rate is a number or a schedule, not '0.1'")
def learning_rate_of_text():
    dy2st.optimizer.SGD("0.1", parameters=nn.Linear(4, 3).parameters())


@mistake(ValueError, "step_size is 1 epoch or more, not 0")
def schedule_of_no_steps():
    dy2st.optimizer.lr.StepDecay(0.1, 0)


@mistake(TypeError, "ReLU is a layer, which is made before it is called: ReLU()(x)")
def layer_called_as_a_function():
    nn.ReLU(ones([2]))


@mistake(TypeError, "Sequential takes Layers, not the class ReLU: write ReLU()")
def class_in_a_sequential():
    nn.Sequential(nn.Linear(4, 4), nn.ReLU)


@mistake(AttributeError, "before super().__init__() is called")
def constructor_without_super():
    class Net(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(4, 3)

    Net()


@mistake(TypeError, "takes 2 positional arguments but 3 were given")
def argument_too_many():
    called(nn.Linear(4, 3), ones([2, 4]), ones([2, 4]))


@mistake(TypeError, "missing 1 required positional argument: 'x'")
def argument_missing():
    called(nn.Linear(4, 3))


@mistake(ValueError, "embed_dim 10 cannot be split into 3 heads")
def heads_that_do_not_divide():
    nn.MultiHeadAttention(10, 3)


@mistake(TypeError, "Linear(): `in_features` is an integer, not 4.0")
def features_of_floats():
    nn.Linear(4.0, 3)


@mistake(ValueError, "item() of a tensor of shape [2], which is not one number")
def item_of_a_vector():
    ones([2]).item()


@mistake(ValueError, "[6] has 6 elements, [4, 2] has 8")
def reshape_to_another_count():
    ones([6]).reshape([4, 2])


@mistake(ValueError, "[2, 3] and [2, 4] differ at axis 1")
def concat_of_other_widths():
    dy2st.concat([ones([2, 3]), ones([2, 4])], axis=0)


@mistake(ValueError, "axis 2 does not exist: the tensor has 2 axes")
def axis_that_is_not_there():
    ones([2, 3]).mean(axis=2)


@mistake(TypeError, "its lists differ in length")
def lists_of_other_lengths():
    dy2st.to_tensor([[1], [1, 2]])


@mistake(TypeError, "only an integer tensor can be an index, not float32")
def range_of_floats():
    def grown(x):
        for _ in range(x.mean()):
            x = x + 1
        return x

    called(grown, ones([2]))


@mistake(ValueError, "the device 'gpu:99' is not here")
def tensor_to_the_gpu():
    ones([2]).cuda(99)


@mistake(ValueError, "the device 'cuda:99' is not here")
def tensor_to_a_device():
    ones([2]).to("cuda:99")


@mistake(ValueError, "the device 'cuda:99' is not here")
def layer_to_a_device():
    nn.Linear(4, 3).to("cuda:99")


@mistake(ValueError, "the truth of a tensor of shape [2] is ambiguous: use any() or all()")
def truth_of_a_vector():
    bool(ones([2]))


@mistake(ValueError, "item() of a tensor of shape [2], which is not one number")
def number_of_a_vector():
    float(ones([2]))


@mistake(TypeError, "only an integer tensor can be an index, not float32")
def list_indexed_by_a_float():
    [1, 2][ones([])]


@mistake(TypeError, "len() of a 0-d tensor")
def length_of_a_number():
    len(ones([]))


@mistake(TypeError, "iteration over a 0-d tensor")
def loop_over_a_number():
    for _ in ones([]):
        pass


@mistake(ValueError, "Unknown format code 'f'")
def vector_formatted():
    f"{ones([2]):.2f}"


@mistake(AttributeError, "Net.__init__ has not called super().__init__()")
def plain_constructor_without_super():
    class Net(nn.Layer):
        def __init__(self):
            self.width = 3

        def forward(self, x):
            return x

    Net()(ones([2]))


@mistake(AttributeError, "Net.__init__ has not called super().__init__()")
def parameters_without_super():
    class Net(nn.Layer):
        def __init__(self):
            self.width = 3

    Net().parameters()


@mistake(AttributeError, "did you mean 'softmax'?")
def functional_misspelled():
    F.softmx


@mistake(AttributeError, "'Linear' object has no attribute 'wieght'; did you mean 'weight'?")
def weight_misspelled():
    nn.Linear(4, 3).wieght


@mistake(AttributeError, "'Linear' object has no attribute 'wieght'; did you mean 'weight'?")
def weight_misspelled_in_a_converted_function():
    layer = nn.Linear(4, 3)
    called(lambda x: x + layer.wieght, ones([3]))


@mistake(TypeError, "add_() missing 1 required positional argument: 'y'")
def argument_of_a_change_missing():
    ones([2]).add_()


@mistake(TypeError, "missing 1 required positional argument: 'label'")
def argument_of_a_late_function_missing():
    F.log_loss(ones([2]))


@mistake(ValueError, "the device 'cuda:99' is not here")
def device_of_torch():
    dy2st.device("cuda:99")


@mistake(ValueError, "f.main_program.view()")
def layer_viewed():
    dy2st.view(nn.Linear(4, 3))


@mistake(TypeError, "save(model, path) takes a path second, not a Linear")
def saved_path_first():
    dy2st.jit.save("net", nn.Linear(4, 3))


@mistake(ValueError, "write save(state, path) and load(path)")
def state_saved_path_first():
    dy2st.save("net.pdparams", nn.Linear(4, 3).state_dict())


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_its_message_and_shows_the_lines_of_the_user(name, tmp_path):
    function, kind, message = MISTAKES[name]
    try:
        function(*[tmp_path] * function.__code__.co_argcount)
    except Exception as error:
        assert isinstance(error, kind), repr(error)
        assert message in str(error)
        for name in ("EagerTensor", "Variable", "dy2st_runtime"):
            assert name not in str(error)
        lines = traceback.extract_tb(error.__traceback__)
        ours = [line.filename for line in lines if _is_ours(line.filename)]
        assert len(ours) <= (sys.version_info < (3, 11)), ours  # 3.10 adds what caught the error
    else:
        pytest.fail("no error")


def _is_ours(file: str) -> bool:
    folders = (str(Path(dy2st.__file__).parent), "dy2st_runtime")
    return any(folder in file for folder in folders)
