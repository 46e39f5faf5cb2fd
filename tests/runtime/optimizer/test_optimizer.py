"""What all optimizers share: arguments, groups, gradients, limits, state."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn, optimizer
from dy2st_runtime.errors import ArgumentError, ParameterMismatch
from dy2st_runtime.nn.parameters import ParamAttr, create_parameter
from dy2st_runtime.optimizer import lr
from dy2st_runtime.regularizer import L2Decay, WeightDecayRegularizer

ALL = "SGD Momentum Adam AdamW Adadelta Adagrad Adamax Lamb NAdam RAdam RMSProp ASGD Rprop".split()


def weight(value=1.0, name=None, **wishes):
    attr = ParamAttr(name, nn.initializer.Constant(value), **wishes)
    return create_parameter([2], "float32", attr=attr)


def taught(parameters, optimizer, steps=1):
    for _ in range(steps):
        sum((p * p).sum() for p in parameters).backward()
        optimizer.step()
        optimizer.clear_grad()


@pytest.mark.parametrize("name", ALL)
def test_every_optimizer_goes_on_from_its_state(name):
    make = getattr(optimizer, name)
    ws = [weight(name="a"), weight(2.0, name="b")]
    one = make(0.1, parameters=ws)
    taught(ws, one, 3)
    state, values = one.state_dict(), [w.numpy() for w in ws]
    taught(ws, one, 2)
    expected = [w.numpy() for w in ws]
    for names in (("a", "b"), ("c", "d")):
        others = [weight(name=n) for n in names]
        for w, value in zip(others, values, strict=True):
            w.set_value(value)
        two = make(0.1, parameters=others)
        two.set_state_dict(state)
        taught(others, two, 2)
        np.testing.assert_array_equal([w.numpy() for w in others], expected)


def test_a_state_has_paddles_names_and_knows_the_schedule():
    w = weight(name="w")
    schedule = lr.StepDecay(0.1, 2)
    adam = optimizer.Adam(schedule, parameters=[w])
    assert list(adam.state_dict()) == ["LR_Scheduler"]
    taught([w], adam)
    schedule.step()
    state = adam.state_dict()
    assert list(state) == [
        "w_moment1_0", "w_moment2_0", "w_beta1_pow_acc_0", "w_beta2_pow_acc_0", "LR_Scheduler"
    ]  # fmt: skip
    assert state["w_beta1_pow_acc_0"].item() == pytest.approx(0.81)
    other = optimizer.Adam(lr.StepDecay(0.1, 2), parameters=[w])
    other.set_state_dict(state)
    assert other._learning_rate.last_epoch == 1


def test_a_state_of_other_parameters_is_refused():
    ws = [weight(name="a"), weight(name="b")]
    adam = optimizer.Adam(parameters=ws)
    taught(ws, adam)
    with pytest.raises(ParameterMismatch, match="does not fit"):
        optimizer.Adam(parameters=[weight()]).set_state_dict(adam.state_dict())
    with pytest.raises(ParameterMismatch, match="does not fit"):
        optimizer.SGD(parameters=ws).set_state_dict(adam.state_dict())


def test_groups_have_settings_of_their_own():
    a, b, c = weight(), weight(learning_rate=0.5), weight()
    groups = [
        {"params": [a], "learning_rate": 0.1},
        {"params": b, "weight_decay": L2Decay(1.0)},
        {"params": [c], "grad_clip": nn.ClipGradByValue(0.5)},
    ]
    sgd = optimizer.SGD(0.1, groups)
    taught([a, b, c], sgd)
    np.testing.assert_allclose([p.numpy()[0] for p in (a, b, c)], [0.98, 0.85, 0.95], rtol=1e-6)
    assert [len(group["params"]) for group in sgd._param_groups] == [1, 1, 1]
    assert "params" in sgd._parameter_list[0] and groups[1]["params"] is b
    sgd._param_groups[0]["learning_rate"] = 0.0
    before = a.numpy()
    taught([a, b, c], sgd)
    np.testing.assert_array_equal(a.numpy(), before)
    with pytest.raises(ValueError, match="more than one"):
        optimizer.SGD(0.1, [{"params": [a]}, {"params": [a, b]}])


def test_a_regulariser_of_ones_own():
    class Pull(WeightDecayRegularizer):
        def __call__(self, weight):
            return weight - 3.0

    w = weight(1.0, regularizer=Pull())
    sgd = optimizer.SGD(0.5, [w], weight_decay=100.0)
    taught([w], sgd)
    np.testing.assert_allclose(w.numpy(), [1.0, 1.0])


def test_a_factor_on_the_rate_may_change():
    w = weight(learning_rate=0.5)
    w.optimize_attr["learning_rate"] *= 0.5
    taught([w], optimizer.SGD(0.2, [w]))
    np.testing.assert_allclose(w.numpy(), [0.9, 0.9], rtol=1e-6)


@pytest.mark.parametrize(
    ("clip", "limited"),
    [
        (nn.ClipGradByValue(0.5), [0.5, 0.5]),
        (nn.ClipGradByNorm(1.0), [0.70710677, 0.70710677]),
        (nn.ClipGradByGlobalNorm(2.0), [1.0, 1.0]),
    ],
)
def test_limits_take_pairs_and_leave_who_asks_for_it(clip, limited):
    a, b, c, d = weight(), weight(), weight(need_clip=False), weight()
    gradient = rt.to_tensor([2.0, 2.0])
    pairs = [(a, gradient), (b, gradient), (c, gradient), (d, None)]
    found = clip(pairs)
    assert [p for p, _ in found] == [a, b, c, d] and found[3][1] is None
    np.testing.assert_allclose(found[0][1].numpy(), limited)
    np.testing.assert_allclose(found[1][1].numpy(), limited)
    np.testing.assert_array_equal(found[2][1].numpy(), [2.0, 2.0])


def test_a_limit_of_ones_own():
    class Halve(nn.ClipGradBase):
        def _dygraph_clip(self, params_grads):
            return [(p, g * 0.5) for p, g in params_grads]

    w = weight()
    taught([w], optimizer.SGD(0.1, [w], grad_clip=Halve()))
    np.testing.assert_allclose(w.numpy(), [0.9, 0.9])


def test_gradients_are_set_to_zero_or_forgotten():
    w, frozen = weight(), weight(trainable=False)
    adam = optimizer.Adam(0.1, parameters=[w, frozen])
    (w * w).sum().backward()
    adam.step()
    adam.clear_grad()
    assert (w.grad.numpy() == 0).all() and frozen.grad is None
    before = w.numpy()
    adam.step()
    assert (w.numpy() < before).all()  # a gradient of zero is one: the mean moves on
    adam.clear_gradients(set_to_zero=False)
    assert w.grad is None
    before = w.numpy()
    adam.step()
    np.testing.assert_array_equal(w.numpy(), before)


@pytest.mark.parametrize("by_hand", [True, False])
def test_minimize_takes_gradients_that_are_there(by_hand):
    w = weight()
    sgd = optimizer.SGD(0.1, [w])
    for _ in range(2):
        loss = (w * w).sum()
        if by_hand:
            loss.backward()
        _, pairs = sgd.minimize(loss)
        sgd.clear_grad()
    assert pairs[0][0] is w
    np.testing.assert_allclose(w.numpy(), [0.64, 0.64], rtol=1e-6)


def test_minimize_of_some_parameters():
    a, b = weight(), weight()
    optimizer.SGD(0.1, [a, b]).minimize((a * b).sum(), parameters=[b])
    assert a.tolist() == [1.0, 1.0] and b.numpy()[0] == np.float32(0.9)


def test_rates_are_numbers_or_schedules():
    sgd = optimizer.SGD(1, [weight()])
    sgd.set_lr(0.5)
    assert sgd.get_lr() == 0.5 == sgd._learning_rate
    sgd.set_lr_scheduler(lr.StepDecay(0.2, 1))
    assert sgd.get_lr() == 0.2
    with pytest.raises(TypeError, match="schedule"):
        sgd.set_lr(0.1)
    with pytest.raises(TypeError, match="schedule"):
        sgd.set_lr_scheduler(0.1)


def test_short_floats_are_updated_in_long_ones():
    def half():
        return create_parameter([1], "float16", default_initializer=nn.initializer.Constant(1.0))

    results = []
    for multi_precision in (True, False):
        w = half()
        sgd = optimizer.SGD(0.0001, [w], multi_precision=multi_precision)
        for _ in range(10):
            w.grad = rt.to_tensor(np.ones(1, "float16"))
            sgd.step()
        results.append(w.item())
        assert w.dtype == np.float16
        assert ("master_weights" in sgd.state_dict()) == multi_precision
    assert results == [np.float16(0.999), 1.0]


@pytest.mark.parametrize("name", ALL)
def test_arguments_that_have_no_effect_here(name):
    make = getattr(optimizer, name)
    assert make(0.1, parameters=[weight()], name="optimizer", grad_clip=None).get_lr() == 0.1


def test_what_is_no_list_of_parameters_is_refused():
    with pytest.raises(ArgumentError, match="parameters"):
        optimizer.SGD(0.1)
    with pytest.raises(TypeError, match="list"):
        optimizer.SGD(0.1, {"params": [weight()]})
    with pytest.raises(TypeError, match="list"):
        optimizer.SGD(0.1, weight())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("name", ALL)
def test_a_copy_of_an_optimizer_goes_on_with_its_own_parameters(name, copied):
    ws = [weight(name="a"), weight(2.0, name="b")]
    one = getattr(optimizer, name)(0.1, parameters=ws)
    taught(ws, one, 2)
    others, other = copied((ws, one))
    taught(ws, one, 2)
    expected = [w.numpy() for w in ws]
    assert [w.tolist() for w in others] != [w.tolist() for w in expected]
    taught(others, other, 2)
    for w, x in zip(others, expected):
        np.testing.assert_array_equal(w, x)


def test_lbfgs_finds_the_minimum_of_rosenbrock():
    w = create_parameter([2], "float64", default_initializer=nn.initializer.Assign([-1.2, 1.0]))
    found = optimizer.LBFGS(
        1.0, 100, tolerance_change=1e-15, line_search_fn="strong_wolfe", parameters=[w]
    )

    def closure():
        found.clear_grad()
        loss = 100 * (w[1] - w[0] ** 2) ** 2 + (1 - w[0]) ** 2
        loss.backward()
        return loss

    assert found.step(closure).item() == pytest.approx(24.2)
    np.testing.assert_allclose(w.numpy(), [1.0, 1.0], atol=1e-6)
    with pytest.raises(ArgumentError, match="closure"):
        found.step()
