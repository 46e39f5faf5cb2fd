"""Parameters: what may be wished of them, their names and first values, and initialisers."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dy2st
import dy2st_runtime as rt
from dy2st_runtime import nn, ops, unique_name
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.nn import initializer as init
from dy2st_runtime.nn.parameters import ParamAttr, create_parameter
from dy2st_runtime.regularizer import L1Decay, L2Decay
from dy2st_runtime.tensor import Parameter


def of_shape(*shape, dtype="float32"):
    return create_parameter(shape, dtype, default_initializer=init.Constant(0.0))


def test_a_parameter_keeps_what_was_wished():
    decay = L1Decay(0.1)
    attr = ParamAttr("w", init.Constant(2.0), 0.5, decay, False, False, False)
    made = nn.Linear(2, 3, weight_attr=attr).weight
    assert made.name == "w" and (made.numpy() == 2).all() and made.stop_gradient
    assert made.optimize_attr == {"learning_rate": 0.5} and made.regularizer is decay
    assert not made.need_clip and not made.do_model_average and not made.trainable


def test_a_shared_wish_stays_as_it_is():
    attr = ParamAttr(learning_rate=2.0)
    one, two = nn.Linear(2, 2, attr, attr), nn.Linear(2, 2, attr)
    assert one.weight.name != two.weight.name and (one.bias.numpy() == 0).all()
    one.weight.optimize_attr["learning_rate"] = 5.0
    assert vars(attr) == vars(ParamAttr(learning_rate=2.0))
    assert two.weight.optimize_attr == {"learning_rate": 2.0}


@pytest.mark.parametrize(
    ("wish", "check"),
    [
        (None, lambda p: p.name.endswith(".w_0")),
        (True, lambda p: p.name.endswith(".w_0")),
        (False, lambda p: p is None),
        ("kernel", lambda p: p.name == "kernel"),
        (init.Constant(3.0), lambda p: (p.numpy() == 3).all()),
        (L2Decay(0.1), lambda p: p.regularizer.coeff == 0.1),
        (ParamAttr(trainable=False), lambda p: p.stop_gradient),
    ],
    ids=lambda wish: type(wish).__name__,
)
def test_what_may_stand_for_a_wish(wish, check):
    assert check(nn.Layer().create_parameter([2, 2], wish))


@pytest.mark.parametrize("wish", [3, 0.5, dict()])
def test_other_wishes_are_refused(wish):
    with pytest.raises(TypeError, match="ParamAttr"):
        nn.Linear(2, 2, weight_attr=wish)


@pytest.mark.parametrize(
    "wrong", [{"name": 3}, {"initializer": 0.1}, {"regularizer": 0.1}, {"learning_rate": "fast"}]
)
def test_wishes_of_another_kind_are_refused(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        ParamAttr(**wrong)


def test_names_count_classes_and_parameters():
    class MyNET2D(nn.Layer):
        pass

    with unique_name.guard():
        names = [nn.Linear(1, 1).weight.name, nn.Linear(1, 1).bias.name]
        assert names == ["linear_0.w_0", "linear_1.b_0"]
        assert nn.Layer("block").full_name() == "block_0"
        assert MyNET2D().full_name() == "my_net2d_0" and nn.PReLU().full_name() == "p_re_lu_0"
        cell = nn.LSTMCell(1, 1)
        assert cell.weight_hh.name == "lstm_cell_0.w_1"
        assert create_parameter([1], "float32").name == "create_parameter_0.w_0"


def test_a_copied_parameter_keeps_its_wishes_and_takes_a_name_of_its_own():
    weight = nn.Linear(2, 2, ParamAttr(learning_rate=0.1, need_clip=False)).weight
    weight.split_axis = 1
    copied = copy.deepcopy(weight)
    assert copied.name != weight.name and copied.split_axis == 1 and not copied.need_clip
    assert copied.optimize_attr == {"learning_rate": 0.1}
    assert copied.optimize_attr is not weight.optimize_attr


def test_create_parameter_makes_values_of_any_dtype():
    made = create_parameter([2], "int64", default_initializer=init.Constant(4))
    assert made.dtype == np.int64 and made.tolist() == [4, 4] and isinstance(made, Parameter)
    assert create_parameter([3], "float64", is_bias=True).tolist() == [0.0, 0.0, 0.0]
    assert create_parameter([3], "float32", attr=False) is None


def test_layers_follow_the_default_dtype():
    ops.set_default_dtype("float64")
    try:
        assert nn.Linear(1, 1).weight.dtype == np.float64
    finally:
        ops.set_default_dtype("float32")
    assert nn.Layer(dtype="float16").create_parameter([1]).dtype == np.float16


# -- initialisers ------------------------------------------------------------------------------


def test_an_initialiser_fills_a_parameter():
    weight = nn.Linear(30, 40).weight
    init.Normal(std=0.02)(weight)
    assert weight.numpy().std() == pytest.approx(0.02, rel=0.1) and weight.dtype == np.float32
    init.Assign(rt.to_tensor(np.ones((30, 40))))(weight)
    assert (weight.numpy() == 1).all() and weight.dtype == np.float32


def test_initialisers_of_ones_own():
    class Twos(init.Initializer):
        def forward(self, var, block=None):
            var.set_value(np.full(var.shape, 2.0))

    class Threes(init.Initializer):
        def __call__(self, var, block=None):
            var[:] = 3.0

    layer = nn.Linear(2, 2, weight_attr=Twos(), bias_attr=ParamAttr(initializer=Threes()))
    assert (layer.weight.numpy() == 2).all() and (layer.bias.numpy() == 3).all()


@pytest.mark.parametrize(
    ("initializer", "std"),
    [
        (init.KaimingNormal(mode="fan_out"), (2 / 400) ** 0.5),
        (init.KaimingNormal(fan_in=50), (2 / 50) ** 0.5),
        (init.KaimingNormal(nonlinearity="tanh"), 5 / 3 / 300**0.5),
        (init.KaimingUniform(negative_slope=1.0, nonlinearity="leaky_relu"), (1 / 300) ** 0.5),
        (init.XavierNormal(gain=3.0), 3 * (2 / 700) ** 0.5),
        (init.XavierUniform(fan_out=100), (2 / 400) ** 0.5),
        (init.TruncatedNormal(std=0.02), 0.02),
        (init.XavierInitializer(False), (2 / 700) ** 0.5),
        (init.MSRAInitializer(False), (2 / 300) ** 0.5),
        (init.NormalInitializer(0.0, 0.3), 0.3),
        (init.UniformInitializer(-1.0, 1.0), 3**-0.5),
        (init.TruncatedNormalInitializer(0.0, 2.0, 0, -1.0, 1.0), 0.5694),
        (init.TruncatedNormal(std=2.0, a=-1.0, b=1.0), 0.5694),
    ],
)
def test_spreads(initializer, std):
    values = initializer(of_shape(300, 400)).numpy()
    assert values.std() == pytest.approx(std, rel=0.03) and abs(values.mean()) < std / 20


def test_limits_of_a_truncated_normal_are_limits_of_values():
    values = init.TruncatedNormal(1.0, 0.5, 0.8, 1.1)(of_shape(1000)).numpy()
    assert 0.8 <= values.min() and values.max() <= 1.1
    with pytest.raises(ValueError, match="next to no values"):
        init.TruncatedNormal(100.0, 1.0)


@pytest.mark.parametrize(("size", "row"), [(3, [0.25, 0.75, 0.75]), (4, [0.25, 0.75, 0.75, 0.25])])
def test_bilinear_is_the_product_of_two_triangles(size, row):
    weight = init.Bilinear()(of_shape(3, 2, size, size)).numpy()
    np.testing.assert_allclose(weight, np.broadcast_to(np.outer(row, row), weight.shape))
    with pytest.raises(ShapeError):
        init.Bilinear()(of_shape(3, 2, 3, 4))


def test_dirac_hands_channels_on():
    weight = init.Dirac(2)(of_shape(4, 2, 3, 4)).numpy()
    found = [entry.tolist() for entry in weight.nonzero()]
    assert found == [[0, 1, 2, 3], [0, 1, 0, 1], [1, 1, 1, 1], [2, 2, 2, 2]] and weight.max() == 1
    layer = nn.Conv1D(2, 5, 3, padding=1, weight_attr=init.Dirac(), bias_attr=False)
    x = np.arange(8.0, dtype="float32").reshape(1, 2, 4)
    np.testing.assert_array_equal(layer(rt.to_tensor(x)).numpy()[:, :2], x)


def test_a_global_initialiser_stands_before_defaults_and_after_wishes():
    init.set_global_initializer(init.Constant(5.0), init.Constant(6.0))
    try:
        layer = nn.Linear(2, 2)
        assert (layer.weight.numpy() == 5).all() and (layer.bias.numpy() == 6).all()
        assert (nn.Linear(2, 2, init.Constant(1.0)).weight.numpy() == 1).all()
    finally:
        init.set_global_initializer(None)
    assert (nn.Linear(2, 2).bias.numpy() == 0).all()


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("tanh", None, 5 / 3),
        ("leaky_relu", None, 1.4141428569978354),
        ("leaky_relu", 0.5, 1.2649110640673518),
        ("conv_transpose3d", None, 1.0),
        ("selu", None, 0.75),
    ],
)
def test_gains(name, param, gain):
    assert init.calculate_gain(name, param) == pytest.approx(gain, rel=1e-12)


def test_a_class_of_initializers_is_refused_where_it_is_used():
    attr = ParamAttr(initializer=nn.initializer.KaimingNormal)
    with pytest.raises(TypeError, match=r"write KaimingNormal\(...\)"):
        nn.Linear(2, 2, weight_attr=attr)


def test_a_parameter_is_made_of_a_tensor():
    x = dy2st.to_tensor([1.0, 2.0])
    one, two = Parameter(x), Parameter(x * 2, requires_grad=False)
    assert isinstance(one.array, np.ndarray) and one.name != two.name
    assert (one.trainable, two.trainable) == (True, False)
    x[0] = 5.0
    assert one.tolist() == [1.0, 2.0] and two.tolist() == [2.0, 4.0]
    (one * one).sum().backward()
    assert one.grad.tolist() == [2.0, 4.0]
    assert Parameter().shape == [0]


def test_a_parameter_of_a_tensor_is_part_of_the_state():
    class Shifted(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.shift = dy2st.nn.Parameter(dy2st.zeros([1, 2]))

        def forward(self, x):
            return x + self.shift

    net = Shifted()
    net.set_state_dict({"shift": np.ones((1, 2), "float32")})
    static = dy2st.to_static(net, input_spec=[dy2st.static.InputSpec([None, 2])])
    assert static(dy2st.zeros([3, 2])).tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize("data", [[2, 3], 1.0, "weights"])
def test_a_parameter_is_made_of_nothing_else(data):
    with pytest.raises(ArgumentError, match="create_parameter"):
        Parameter(data)


@pytest.mark.parametrize("value", [np.ones(2), 0, "tensor"])
def test_a_parameter_is_not_lost_by_an_assignment(value):
    layer = nn.Linear(2, 2)
    given = layer.weight * 5 if isinstance(value, str) else value
    with pytest.raises(TypeError, match=r"layer\.weight\.set_value"):
        layer.weight = given
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    layer.weight = None
    layer.bias = nn.Linear(2, 2).bias


def test_a_parameter_has_the_shape_of_the_array_that_it_is_assigned():
    made = create_parameter([4], "float32", default_initializer=init.Assign(np.ones((4, 3))))
    assert made.shape == [4, 3] and made.dtype == "float32"


def test_a_parameter_takes_an_assigned_tensor_outside_of_no_grad():
    weight = of_shape(2)
    weight.stop_gradient = False
    ops.assign(rt.to_tensor([1.0, 2.0]), weight)
    assert weight.tolist() == [1.0, 2.0] and weight.is_leaf and not weight.stop_gradient
    (weight * 3).sum().backward()
    assert weight.grad.tolist() == [3.0, 3.0]
