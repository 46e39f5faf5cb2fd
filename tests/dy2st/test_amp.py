"""Mixed precision: float32 on a CPU, exactly, and a warning where short floats are asked for."""

import pytest

import dy2st
from dy2st import amp

FREE = r"makes no effect: dy2st computes on the CPU, in float32"


def test_switched_off_it_says_and_changes_nothing():
    with amp.auto_cast(enable=False):
        assert dy2st.ones([2]).matmul(dy2st.ones([2])).dtype == dy2st.float32
    scaler = amp.GradScaler(enable=False)
    assert not scaler.is_enable() and scaler.get_init_loss_scaling() == 1.0
    assert scaler.state_dict() == {} and not amp.is_autocast_enabled()


@pytest.mark.parametrize("options", [{}, {"dtype": "bfloat16"}, {"level": "O2"}])
def test_switched_on_it_warns_and_stays_float32(options):
    with pytest.warns(UserWarning, match=FREE), amp.auto_cast(**options):
        assert (dy2st.ones([2, 2]) @ dy2st.ones([2, 2])).dtype == dy2st.float32


def test_a_scaler_that_is_on_warns():
    with pytest.warns(UserWarning, match=FREE):
        assert not amp.GradScaler(init_loss_scaling=1024).is_enable()


@pytest.mark.parametrize(
    "wrong", [lambda: amp.auto_cast(level="O3"), lambda: amp.decorate([], dtype="float32")]
)
def test_unknown_levels_and_dtypes_are_refused(wrong):
    with pytest.raises(dy2st.errors.ArgumentError):
        wrong()


@pytest.mark.parametrize("step", ["step", "minimize"])
def test_a_script_trains_as_without_it(step):
    def trained(scaled):
        model = dy2st.nn.Linear(2, 1, weight_attr=dy2st.nn.initializer.Constant(0.5))
        optimizer = dy2st.optimizer.SGD(0.1, parameters=model.parameters())
        loss = model(dy2st.ones([1, 2])).sum()
        if not scaled:
            loss.backward()
            optimizer.step()
            return model.weight.tolist()
        scaler = amp.GradScaler(enable=False)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer) if step == "step" else scaler.minimize(optimizer, loss)
        scaler.update()
        return model.weight.tolist()

    assert trained(True) == trained(False)


def test_a_model_may_be_decorated_and_compute_inside_of_a_converted_function():
    class Net(dy2st.nn.Layer):
        @amp.auto_cast(enable=False)
        def helped(self, x):
            return x * 2 if x.sum() > 0 else x

        def forward(self, x):
            with amp.auto_cast(enable=False):
                y = x + 1
                return self.helped(y)

    net = amp.decorate(Net(), level="O2")
    x = dy2st.ones([2])
    assert dy2st.to_static(net)(x).tolist() == net(x).tolist() == [4.0, 4.0]
    assert amp.decorate(net, [None]) == (net, [None])


def test_the_file_of_auto_cast_has_its_name():
    from dy2st.amp.auto_cast import amp_state, auto_cast

    assert auto_cast is dy2st.amp.auto_cast
    with dy2st.amp.auto_cast(enable=False):
        assert amp_state() is None
