"""What PaddlePaddle's programs say to `to_static` and to what it gives."""

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import ArgumentError


@pytest.mark.parametrize(
    "options", [{"backend": "CINN"}, {"backend": None}, {"full_graph": False}, {"property": False}]
)
def test_options_that_change_no_result_are_taken(options):
    static = dy2st.to_static(lambda x: x + 1, **options)
    assert static(dy2st.to_tensor([1.0])).tolist() == [2.0]


def test_what_gives_a_python_value_stays_as_it_is():
    class Net(nn.Layer):
        @dy2st.to_static(property=True)
        def begin(self):
            return 7

        def forward(self, x):
            return x * self.begin()

    net = Net()
    assert net.begin() == 7
    assert dy2st.to_static(net)(dy2st.ones([1])).tolist() == [7.0]


def test_other_options_are_refused():
    with pytest.raises(ValueError, match="backend='TensorRT' is not supported"):
        dy2st.to_static(lambda x: x, backend="TensorRT")
    with pytest.raises(TypeError, match="no option 'full_grph'"):
        dy2st.to_static(lambda x: x, full_grph=True)


def test_a_converted_method_is_in_the_mode_of_its_layer():
    layer = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))
    static = dy2st.to_static(layer).forward
    static.train()
    with pytest.raises(ArgumentError, match=r"call layer\.eval\(\)"):
        static.eval()
    layer.eval()
    static.eval()


def test_a_converted_function_has_no_mode_of_its_own():
    static = dy2st.to_static(lambda x: x + 1)
    assert static._training
    static.eval()
    assert not static._training
    static.train()
    assert static._training


def test_names_of_arguments_are_paddlepaddles():
    dy2st.jit.enable_to_static(enable_to_static_bool=True)

    def function(x):
        return x

    assert dy2st.jit.not_to_static(func=function) is function
