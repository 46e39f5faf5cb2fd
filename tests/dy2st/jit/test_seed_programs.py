"""The programs of the document that describes the conversion, each as it says."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as paddle
from dy2st.jit import to_static
from dy2st.nn.functional import cross_entropy
from dy2st.static import InputSpec


def add_two(x, y):
    out = x + y
    return out


class SimpleNet(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = paddle.nn.Linear(10, 3)

    @to_static
    def forward(self, x, y):
        out = self.my_fc(x)
        out = add_two(out, y)
        return out

    def my_fc(self, x):
        out = self.linear(x)
        return out


def not_depend_tensor_if(x, label=None):
    out = x + 1
    if label is not None:
        out = cross_entropy(out, label)
    return out


def depend_tensor_if(x):
    if paddle.mean(x) > 5.0:
        out = x - 1
    else:
        out = x + 1
    return out


def not_depend_tensor_while(x):
    a = 1

    while a < 10:
        x = x + 1
        a += 1

    return x


def depend_tensor_while(x):
    bs = paddle.shape(x)[0]

    for i in range(bs):
        x = x + 1

    return x


def names_of(program):
    return [operator.name for operator in program.block.walk()]


def test_functions_are_converted_through_all_calls(capsys):
    net = SimpleNet()
    paddle.jit.set_code_level(100)
    try:
        out = net(paddle.zeros([2, 10]), paddle.ones([3]))
    finally:
        paddle.jit.set_code_level(0)
    np.testing.assert_array_equal(out.numpy(), np.ones((2, 3), "float32"))
    shown = capsys.readouterr().err
    assert "out = convert_call(self.my_fc)(x)" in shown
    assert "out = convert_call(add_two)(out, y)" in shown
    assert "out = convert_call(self.linear)(x)" in shown
    assert "def add_two(x, y):\n    out = x + y\n    return out" in shown


def test_a_condition_on_none_stays_python():
    static = to_static(not_depend_tensor_if)
    code = static.code
    assert "def true_fn_0(" in code and "def false_fn_0(" in code
    assert "out = convert_ifelse(label is not None, true_fn_0, false_fn_0" in code
    x = paddle.to_tensor([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(static(x).numpy(), [[2.0, 3.0, 4.0]])
    assert names_of(static.main_program).count("cond") == 0
    label = paddle.to_tensor([1])
    expected = not_depend_tensor_if(x, label).item()
    assert static(x, label).item() == pytest.approx(expected)


def test_a_condition_on_a_tensor_becomes_one_cond_that_serves_both_answers():
    static = to_static(depend_tensor_if)
    code = static.code
    assert "out = undefined('out')" in code
    assert (
        "out = convert_ifelse(convert_call(paddle.mean)(x) > 5.0, true_fn_0," in code
        and "(x,), (x,), (out,))" in code
    )
    np.testing.assert_array_equal(static(paddle.to_tensor([1.0, 2.0])).numpy(), [2.0, 3.0])
    np.testing.assert_array_equal(static(paddle.to_tensor([10.0, 20.0])).numpy(), [9.0, 19.0])
    assert len(static.program_cache) == 1
    assert names_of(static.main_program).count("cond") == 1


def test_a_loop_on_a_python_number_is_unrolled():
    static = to_static(not_depend_tensor_while)
    assert "def while_condition_0(" in static.code
    assert "] = convert_while_loop(while_condition_0, while_body_0, [" in static.code
    np.testing.assert_array_equal(static(paddle.to_tensor([1.0])).numpy(), [10.0])
    assert "while" not in names_of(static.main_program)


def test_a_loop_on_a_tensor_becomes_a_while():
    static = to_static(depend_tensor_while, input_spec=[InputSpec([None, 2], name="x")])
    assert "def for_loop_body_0(i, x):" in static.code
    assert (
        "[x] = convert_for_loop(convert_call(range)(bs), None, for_loop_body_0, [x])" in static.code
    )
    for rows in (0, 1, 5):
        out = static(paddle.zeros([rows, 2]))
        np.testing.assert_array_equal(out.numpy(), np.full((rows, 2), rows, "float32"))
    assert names_of(static.main_program).count("while") == 1
    assert len(static.program_cache) == 1


def test_linear_with_input_specs_has_named_inputs_and_parameters():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(10, 3)

        def forward(self, x, y):
            out = self.linear(x)
            out = out + y
            return out

    x_spec = InputSpec(shape=[None, 10], name="x")
    y_spec = InputSpec(shape=[3], name="y")
    net = paddle.jit.to_static(Net(), input_spec=[x_spec, y_spec])
    program = net.forward.main_program
    assert [v.name for v in program.inputs] == ["x", "y"]
    assert list(program.parameters) == ["linear.weight", "linear.bias"]
    assert names_of(program) == ["matmul", "add", "add"]


class MaskNet(paddle.nn.Layer):
    def __init__(self, mask):
        super().__init__()
        self.linear = paddle.nn.Linear(10, 3)
        self.mask = mask

    def forward(self, x, y):
        out = self.linear(x)
        out = out + y
        mask = paddle.to_tensor(self.mask)
        out = out * mask
        return out


class BufferNet(paddle.nn.Layer):
    def __init__(self, mask):
        super().__init__()
        self.linear = paddle.nn.Linear(10, 3)
        self.mask = paddle.to_tensor(mask)

    def forward(self, x, y):
        out = self.linear(x)
        out = out + y
        out = out * self.mask
        return out


SPECS = [InputSpec([None, 10], name="x"), InputSpec([3], name="y")]


def test_a_list_made_a_tensor_in_forward_warns_with_the_line_and_what_to_write():
    net = paddle.jit.to_static(MaskNet([0, 1, 1]), input_spec=SPECS)
    with pytest.warns(UserWarning, match=r"test_seed_programs.py:\d+.*in __init__"):
        program = net.forward.main_program
    assert not program.buffers
    out = net(paddle.ones([2, 10]), paddle.ones([3]))
    assert out.numpy()[:, 0].tolist() == [0.0, 0.0]


def test_a_tensor_made_in_init_is_a_buffer_of_the_saved_model(tmp_path):
    net = paddle.jit.to_static(BufferNet([0, 1, 1]), input_spec=SPECS)
    assert list(net.forward.main_program.buffers) == ["mask"]
    paddle.jit.save(net, str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    assert loaded.state_dict()["mask"].tolist() == [0, 1, 1]
    x, y = paddle.randn([4, 10]), paddle.randn([3])
    np.testing.assert_array_equal(loaded(x, y).numpy(), net(x, y).numpy())


def test_both_annotations_of_the_document_print_the_seeds_names():
    assert paddle.jit.to_static(depend_tensor_if).code.startswith("def depend_tensor_if(x):")
