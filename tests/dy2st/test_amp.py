"""Mixed precision: which operators compute in short floats, and losses that are scaled."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import amp, nn, to_static
from dy2st import optimizer as o
from dy2st.nn import functional as F
from tests.dy2st.jit.training_steps import check

X = dy2st.to_tensor(np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4))
HALF = "float16"


def dtypes(*results):
    return [str(result.dtype) for result in results]


def several(x):
    """A product, a softmax, a sum with float32, and what follows the product."""
    y = x @ x.t()
    return y, F.softmax(y), y + dy2st.ones([3]), F.relu(y)


LEVELS = {
    "O1": ({}, [HALF, "float32", "float32", HALF]),
    "O2": ({"level": "O2"}, [HALF, HALF, "float32", HALF]),
    "O2_all": ({"level": "O2", "use_promote": False}, [HALF] * 4),
    "OD": ({"level": "OD"}, [HALF, "float32", "float32", "float32"]),
    "O0": ({"level": "O0"}, ["float32"] * 4),
    "off": ({"enable": False}, ["float32"] * 4),
    "bfloat16": ({"dtype": "bfloat16"}, ["bfloat16", "bfloat16", "float32", "bfloat16"]),
    "black": ({"custom_black_list": {"matmul_v2"}}, ["float32"] * 4),
    "white": (
        {"custom_white_list": ["softmax", "elementwise_add"]},
        [HALF, HALF, HALF, HALF],
    ),
}


@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("convert", [lambda f: f, to_static])
def test_what_computes_in_a_short_float(name, convert):
    options, wanted = LEVELS[name]
    if "bfloat16" in wanted:
        pytest.importorskip("ml_dtypes")

    def inside(x):
        with amp.auto_cast(**options):
            return several(x)

    assert dtypes(*convert(inside)(X)) == wanted
    assert dtypes(*several(X)) == ["float32"] * 4


@pytest.mark.parametrize("convert", [lambda f: f, to_static])
def test_a_product_is_that_of_short_floats(convert):
    short = X.numpy().astype(HALF)
    with amp.auto_cast():
        found = convert(lambda x: x @ x.t())(X)
    assert np.array_equal(found.numpy(), short @ short.T)


def test_a_converted_function_has_a_program_for_each_setting():
    function = to_static(several)
    for options in ({}, {"level": "O2"}, {"enable": False}, {}):
        with amp.auto_cast(**options):
            assert dtypes(*function(X)) == dtypes(*several(X))
    assert len(function.program_cache) == 3


def test_a_function_may_be_decorated():
    @amp.auto_cast()
    def product(x):
        return x @ x.t()

    assert dtypes(product(X), to_static(lambda x: product(x))(X), X @ X.t()) == [
        HALF,
        HALF,
        "float32",
    ]


def test_other_dtypes_stay_as_they_are():
    double = X.astype("float64")
    with amp.auto_cast():
        assert dtypes(double @ double.t(), X.astype("int64") + 1) == ["float64", "int64"]


def test_numbers_yield_to_bfloat16():
    pytest.importorskip("ml_dtypes")
    short = X.astype("bfloat16")
    assert dtypes(short * 0.5, 1 + short, to_static(lambda x: x * 0.5)(short)) == ["bfloat16"] * 3


@pytest.mark.parametrize("convert", [lambda f: f, to_static])
def test_gradients_have_the_dtypes_of_the_parameters(convert):
    layer = nn.Linear(4, 2)

    def loss(x):
        with amp.auto_cast():
            return layer(x).sum()

    convert(loss)(X).backward()
    wanted = X.numpy().astype(HALF).T @ np.ones((3, 2), HALF)
    assert dtypes(layer.weight.grad) == ["float32"]
    assert np.allclose(layer.weight.grad.numpy(), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "wrong", [lambda: amp.auto_cast(level="O3"), lambda: amp.decorate([], dtype="float32")]
)
def test_unknown_levels_and_dtypes_are_refused(wrong):
    with pytest.raises(dy2st.errors.ArgumentError):
        wrong()


def test_lists_that_overlap_are_refused_and_unknown_names_are_told():
    with pytest.raises(ValueError, match="both lists have exp"):
        amp.auto_cast(custom_white_list=["exp"], custom_black_list=["exp", "log"])
    with pytest.warns(UserWarning, match="no operator is called 'expp'"):
        amp.auto_cast(custom_white_list=["expp"])


def test_the_settings_can_be_asked():
    assert not amp.is_autocast_enabled() and amp.amp_state() is None
    with amp.auto_cast(dtype="float16"):
        assert amp.is_autocast_enabled() and amp.get_autocast_dtype() == HALF
        with amp.auto_cast(enable=False):
            assert not amp.is_autocast_enabled()
    assert not amp.is_autocast_enabled() and amp.is_float16_supported()


# -- models that are short ------------------------------------------------------------------------


def model():
    dy2st.seed(2)
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 3))


def test_a_decorated_model_is_short_but_for_norms_and_what_is_left_out():
    net = model()
    optimizer = o.AdamW(0.1, parameters=net.parameters())
    assert amp.decorate(net, optimizer, level="O1") == (net, optimizer)
    assert dtypes(*net.parameters()) == ["float32"] * 6
    amp.decorate(net, optimizer, level="O2", excluded_layers=[net[3]])
    assert dtypes(*net.parameters()) == [HALF] * 2 + ["float32"] * 4
    assert amp.decorate(model(), level="O2", excluded_layers=nn.Linear)[0].weight.dtype == "float32"


def test_a_decorated_optimizer_keeps_long_weights():
    for keeps in (None, True, False):
        net = model()
        optimizer = o.SGD(0.1, parameters=net.parameters())
        amp.decorate(net, optimizer, level="O2", master_weight=keeps)
        with amp.auto_cast(level="O2"):
            net(X).sum().backward()
        optimizer.step()
        assert ("master_weights" in optimizer.state_dict()) == (keeps is not False)
        assert dtypes(net[0].weight) == [HALF]


def test_a_decorated_model_is_saved_in_another_dtype_and_has_long_gradients():
    net = amp.decorate(model(), level="O2", save_dtype="float32", master_grad=True)
    assert {str(one.dtype) for one in net.state_dict().values()} == {"float32"}
    with amp.auto_cast(level="O2"):
        net(X).sum().backward()
    assert dtypes(net[0].weight, net[0].weight.grad) == [HALF, "float32"]


# -- scaled losses ----------------------------------------------------------------------------------


def weight_of(number):
    made = dy2st.create_parameter([1], "float32")
    made.set_value(np.full(1, number, "float32"))
    return made


def test_a_loss_is_scaled_and_its_gradients_are_brought_back():
    w = weight_of(2.0)
    optimizer, scaler = o.SGD(0.5, [w]), amp.GradScaler(init_loss_scaling=1024.0)
    scaled = scaler.scale((w * 3).sum())
    scaled.backward()
    assert scaled.item() == 6 * 1024 and w.grad.item() == 3 * 1024
    scaler.unscale_(optimizer)
    assert w.grad.item() == 3.0
    scaler.step(optimizer)
    scaler.update()
    assert w.item() == 0.5


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_gradient_that_is_no_number_leaves_the_step_out_and_shrinks_the_scale(bad):
    w = weight_of(2.0)
    optimizer = o.Momentum(0.5, 0.9, [w])
    scaler = amp.GradScaler(init_loss_scaling=16.0, decr_ratio=0.25, decr_every_n_nan_or_inf=2)
    scales = []
    for number in (1.0, bad, 1.0, bad, bad, 1.0):
        w.grad = dy2st.to_tensor([number])
        before = w.item()
        scaler.step(optimizer)
        scaler.update()
        assert (w.item() == before) == (number == bad or np.isnan(number))
        scales.append(scaler.state_dict()["scale"].item())
    assert scales == [16.0, 16.0, 16.0, 16.0, 4.0, 4.0]


def test_the_scale_grows_after_steps_without_an_error():
    w = weight_of(2.0)
    optimizer = o.SGD(0.5, [w])
    scaler = amp.GradScaler(init_loss_scaling=2.0, incr_ratio=3.0, incr_every_n_steps=2)
    scales = []
    for number in (1.0, np.inf, 1.0, 1.0, 1.0, 1.0):
        w.grad = dy2st.to_tensor([number])
        scaler.minimize(optimizer, w)
        scales.append(scaler.state_dict()["scale"].item())
    assert scales == [2.0, 1.0, 1.0, 3.0, 3.0, 9.0]


@pytest.mark.parametrize("goes_back", [True, False])
def test_minimize_takes_the_scale_out_of_gradients_whoever_has_asked_for_them(goes_back):
    w = weight_of(1.0)
    scaler = amp.GradScaler(init_loss_scaling=8.0)
    loss = scaler.scale(w * 3.0)
    if goes_back:
        loss.backward()
    scaler.minimize(o.SGD(0.5, [w]), loss)
    assert w.item() == -0.5


def test_a_fixed_scale_stays():
    w = weight_of(2.0)
    optimizer = o.SGD(0.5, [w])
    scaler = amp.GradScaler(init_loss_scaling=2.0, use_dynamic_loss_scaling=False)
    for _ in range(2):
        w.grad = dy2st.to_tensor([np.inf])
        scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict()["scale"].item() == 2.0 and w.item() == 2.0


def test_the_order_of_calls_is_checked():
    w = weight_of(2.0)
    optimizer, scaler = o.SGD(0.5, [w]), amp.GradScaler()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="is unscaled: call update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="is stepped: call update"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="was called since the last update"):
        scaler.step(optimizer)
    scaler.update()
    scaler.step(optimizer)


def test_a_scaler_goes_on_from_its_state():
    scaler = amp.GradScaler(init_loss_scaling=8.0, incr_ratio=4.0, incr_every_n_steps=7)
    w = weight_of(2.0)
    w.grad = dy2st.to_tensor([1.0])
    scaler.step(o.SGD(0.5, [w]))
    scaler.update()
    state = scaler.state_dict()
    assert list(state) == [
        *("scale", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf"),
        *("incr_count", "decr_count", "use_dynamic_loss_scaling"),
    ]
    other = amp.GradScaler()
    other.load_state_dict(state)
    assert other.state_dict() == state and state["incr_count"] == 1
    with pytest.raises(RuntimeError, match="the state is empty"):
        other.load_state_dict({})


def test_a_scaler_that_is_off_changes_nothing():
    scaler = amp.GradScaler(enable=False)
    assert scaler.scale(3.0) == 3.0 and not scaler.is_enable() and scaler.state_dict() == {}
    assert scaler.get_init_loss_scaling() == 1.0 and not scaler.is_use_dynamic_loss_scaling()
    w = weight_of(2.0)
    w.grad = dy2st.to_tensor([1.0])
    scaler.unscale_(None)
    scaler.step(o.SGD(0.5, [w]))
    scaler.update()
    assert w.item() == 1.5


def test_ratios_that_go_the_other_way_are_refused():
    for wrong in ({"incr_ratio": 0.5}, {"decr_ratio": 2.0}):
        with pytest.raises(ValueError, match="the ratio is"):
            amp.GradScaler(**wrong)


# -- whole steps --------------------------------------------------------------------------------------

STEPS = {
    "O1": ({}, 2.0**14),
    "O2": ({"level": "O2"}, 2.0**8),
    "overflow": ({}, 2.0**40),
    "bfloat16": ({"level": "O2", "dtype": "bfloat16"}, 1.0),
}


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("name", STEPS)
def test_a_converted_step_is_eagers(name):
    options, scale = STEPS[name]
    if "dtype" in options:
        pytest.importorskip("ml_dtypes")

    def make():
        net = model()
        optimizer = o.AdamW(
            0.05, parameters=net.parameters(), grad_clip=o.ClipGradByGlobalNorm(1.0)
        )
        if "level" in options:
            amp.decorate(net, optimizer, **options)
        scaler = amp.GradScaler(init_loss_scaling=scale, incr_every_n_steps=2)

        def step(x, y):
            with amp.auto_cast(**options):
                loss = F.mse_loss(net(x.astype("float32")), y.astype("float32"))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            optimizer.clear_grad()
            return loss.astype("float64")

        def state():
            held = [net.state_dict(), optimizer.state_dict(), scaler.state_dict()]
            return [[np.asarray(v, "float64") for v in _leaves(one)] for one in held]

        return step, state

    check(make, steps=6)


def _leaves(state):
    for value in state.values():
        if isinstance(value, dict):
            yield from _leaves(value)
        else:
            yield value.numpy() if isinstance(value, dy2st.Tensor) else value


def test_the_file_of_auto_cast_has_its_name():
    from dy2st.amp.auto_cast import amp_state, auto_cast

    assert auto_cast is dy2st.amp.auto_cast
    with dy2st.amp.auto_cast(enable=False):
        assert amp_state() is None
