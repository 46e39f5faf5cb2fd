"""Rules of optimizers by machine code: the same steps as NumPy takes, recorded once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st_runtime import nn
from dy2st_runtime import optimizer as o
from dy2st_runtime.engine import background
from dy2st_runtime.nn.parameters import ParamAttr, create_parameter
from dy2st_runtime.regularizer import L1Decay, L2Decay
from dy2st_runtime.tensor import EagerTensor

SHAPES = ((7, 5), (4,), (1,), (3, 0))
STEPS = 4

RULES = {
    "SGD": lambda ps: o.SGD(0.1, ps),
    "SGD_l2": lambda ps: o.SGD(0.1, ps, weight_decay=0.1),
    "SGD_l1": lambda ps: o.SGD(0.1, ps, weight_decay=L1Decay(0.1)),
    "Momentum": lambda ps: o.Momentum(0.1, 0.9, ps, use_nesterov=True, rescale_grad=0.5),
    "Adam": lambda ps: o.Adam(0.01, parameters=ps),
    "amsgrad": lambda ps: o.Adam(0.01, parameters=ps, amsgrad=True),
    "limited": lambda ps: o.Adam(0.01, parameters=ps, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "AdamW": lambda ps: o.AdamW(
        0.01, parameters=ps, lr_ratio=lambda p: len(p.shape), apply_decay_param_fun="p0".__eq__
    ),
    "Adagrad": lambda ps: o.Adagrad(0.1, parameters=ps),
    "Adadelta": lambda ps: o.Adadelta(0.1, parameters=ps),
    "Adamax": lambda ps: o.Adamax(0.01, parameters=ps),
    "RMSProp": lambda ps: o.RMSProp(0.01, centered=True, momentum=0.5, parameters=ps),
    "NAdam": lambda ps: o.NAdam(0.01, parameters=ps),
    "Lamb": lambda ps: o.Lamb(0.01, parameters=ps),
    "scheduled": lambda ps: o.Adam(o.lr.ExponentialDecay(0.01, 0.5), parameters=ps),
    "groups": lambda ps: o.Momentum(
        0.1,
        parameters=[
            {"params": ps[:2], "weight_decay": L2Decay(0.1), "learning_rate": 0.5},
            {"params": ps[2:]},
        ],
    ),
}


def parameters(dtype="float32"):
    drawn = np.random.default_rng(0)
    values = [drawn.normal(size=shape).astype(dtype) for shape in SHAPES]
    assign = nn.initializer.Assign
    return [
        create_parameter(one.shape, dtype, attr=ParamAttr(f"p{n}", assign(one)))
        for n, one in enumerate(values)
    ]


def stepped(make, dtype="float32"):
    """The optimizer after some steps, weights, and what it remembers."""
    held, drawn = parameters(dtype), np.random.default_rng(1)
    optimizer = make(held)
    for _ in range(STEPS):
        for one in held:
            one.grad = rt.to_tensor(drawn.normal(size=one.shape).astype(dtype))
        optimizer.step()
        if isinstance(optimizer._learning_rate, o.lr.LRScheduler):
            optimizer._learning_rate.step()
    state = optimizer.state_dict()
    state.pop("LR_Scheduler", None)
    return optimizer, [one.numpy() for one in held], state


@pytest.fixture
def programs(monkeypatch):
    """The Programs that machine code was made of, which is the default engine."""
    made = []
    compile_program = background.compile_program
    monkeypatch.setattr(
        "dy2st_runtime.engine.ENGINES",
        {"native": lambda program: (made.append(program), compile_program(program))[1]},
    )
    monkeypatch.setenv("DY2ST_ENGINE", "native")
    return made


@pytest.mark.parametrize("name", RULES)
def test_the_steps_are_those_of_numpy(name, programs, monkeypatch):
    _, weights, state = stepped(RULES[name])
    assert len(programs) <= 3  # for both ranks, and for one element
    monkeypatch.setenv("DY2ST_ENGINE", "numpy")
    _, wanted, remembered = stepped(RULES[name])
    for found, one in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(found, one, rtol=1e-5, atol=1e-6)
    assert list(state) == list(remembered)
    for slot, one in remembered.items():
        found = np.asarray(state[slot])
        np.testing.assert_allclose(found, one, rtol=1e-5, atol=1e-6)
        assert (found.dtype, found.shape) == (np.asarray(one).dtype, one.numpy().shape)


def test_every_rule_has_code_of_its_own(programs):
    for make in RULES.values():
        made = stepped(make)[0]._recorded._by_facts.values()
        assert None not in [one for known in made for one in known.values()]


def test_a_weight_without_elements_says_nothing_of_others(programs):
    held = parameters()[::-1]
    optimizer = o.SGD(1.0, held)
    for one in held:
        one.grad = rt.to_tensor(np.zeros(one.shape, "float32"))
    optimizer.step()
    assert len(programs) == 2


def test_weights_of_many_axes_move_as_if_they_had_one(programs):
    drawn = np.random.default_rng(3)
    before = drawn.normal(size=(2, 3, 4)).astype("float32")
    weight = create_parameter(
        [2, 3, 4], "float32", attr=ParamAttr("p", nn.initializer.Assign(before))
    )
    optimizer = o.Momentum(1.0, 0.5, [weight])
    weight.grad = rt.to_tensor(np.ones((2, 3, 4), "float32"))
    for _ in range(2):
        optimizer.step()
    np.testing.assert_allclose(weight.numpy(), before - 2.5, rtol=1e-6)
    assert optimizer.state_dict()["p_velocity_0"].shape == [2, 3, 4] and len(programs) == 1


def test_a_gradient_that_does_not_lie_row_by_row(programs):
    weight = create_parameter([2, 3], "float32", attr=ParamAttr("p", nn.initializer.Constant(0.0)))
    given = np.arange(6, dtype="float32").reshape(3, 2).T
    weight.grad = EagerTensor(given)
    o.SGD(1.0, [weight]).step()
    np.testing.assert_array_equal(weight.numpy(), -given)
    assert len(programs) == 1


def test_a_state_that_no_longer_fits_computes_with_arrays(programs):
    weight = create_parameter([3], "float32", attr=ParamAttr("p", nn.initializer.Constant(0.0)))
    optimizer = o.Momentum(1.0, 0.5, [weight])
    weight.grad = rt.to_tensor(np.ones(3, "float32"))
    optimizer.step()
    optimizer._states[id(weight)]["velocity"].array = np.ones(3)  # float64
    optimizer.step()
    np.testing.assert_array_equal(weight.numpy(), np.full(3, -2.5, "float32"))
    assert len(programs) == 1


def test_float64_is_exact_but_for_rounding(programs, monkeypatch):
    _, weights, _ = stepped(RULES["Adam"], "float64")
    assert programs
    monkeypatch.setenv("DY2ST_ENGINE", "numpy")
    _, wanted, _ = stepped(RULES["Adam"], "float64")
    for found, one in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(found, one, rtol=1e-13, atol=1e-14)


def test_a_rate_that_changes_needs_no_other_program(programs):
    stepped(RULES["SGD"])
    before = len(programs)
    stepped(lambda ps: o.SGD(o.lr.StepDecay(0.1, 1), ps))
    assert before == 2 and len(programs) == 4  # one for each optimizer and rank


def test_a_setting_that_changes_has_another_program(programs):
    weight = parameters()[1]
    optimizer = o.Momentum(0.1, parameters=[{"params": [weight], "momentum": 0.0}])
    weight.grad = rt.to_tensor(np.ones(4, "float32"))
    before = weight.numpy()
    optimizer.step()
    np.testing.assert_allclose(weight.numpy(), before - 0.1, rtol=1e-6)
    optimizer._param_groups[0]["momentum"] = 1.0
    optimizer.step()
    np.testing.assert_allclose(weight.numpy(), before - 0.3, rtol=1e-6)
    assert len(programs) == 2


def test_settings_that_always_change_have_no_program_each(programs):
    weight = parameters()[1]
    optimizer = o.Momentum(0.1, parameters=[{"params": [weight], "momentum": 0.0}])
    weight.grad = rt.to_tensor(np.zeros(4, "float32"))
    before = weight.numpy()
    for step in range(20):
        optimizer._param_groups[0]["momentum"] = step / 20
        optimizer.step()
    assert len(programs) == 16
    np.testing.assert_array_equal(weight.numpy(), before)


def test_a_rule_of_the_users_computes_with_arrays(programs):
    class Halving(o.SGD):
        def update(self, weight, gradient, rate, state, settings):
            assert type(weight) is np.ndarray
            return weight / 2

    weight = parameters()[1]
    before = weight.numpy()
    weight.grad = rt.to_tensor(np.ones(4, "float32"))
    Halving(0.1, [weight]).step()
    assert weight.tolist() == (before / 2).tolist() and not programs


def test_a_regularizer_of_the_users_computes_with_arrays(programs):
    class Cubes(L2Decay):
        def __call__(self, weight):
            return np.power(weight, 3)

    weight = parameters()[1]
    before = weight.numpy()
    weight.grad = rt.to_tensor(np.zeros(4, "float32"))
    o.SGD(1.0, [weight], weight_decay=Cubes()).step()
    np.testing.assert_allclose(weight.numpy(), before - before**3, rtol=1e-6)
    assert not programs


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_an_optimizer_records_anew(copied, programs):
    optimizer, weights, _ = stepped(RULES["SGD"])
    other = copied(optimizer)
    before = len(programs)
    other.clear_grad(set_to_zero=False)
    weight = other._parameters[0]
    weight.grad = rt.to_tensor(np.ones(SHAPES[0], "float32"))
    other.step()
    np.testing.assert_allclose(weight.numpy(), weights[0] - 0.1, rtol=1e-6)
    assert len(programs) == before + 1


def test_the_best_engine_makes_code_when_steps_have_taken_long(monkeypatch):
    monkeypatch.delenv("DY2ST_ENGINE", raising=False)
    monkeypatch.setattr("dy2st_runtime.engine.DEFAULT", "auto")
    make = RULES["Adam"]
    _, wanted, _ = stepped(make)
    optimizer = o.Adam(0.01, parameters=parameters())
    assert optimizer._recorded._by_facts == {}
    monkeypatch.setattr(background, "_WORTH", 0.0)
    optimizer, weights, _ = stepped(make)
    (rules,) = optimizer._recorded._by_facts.values()
    assert rules and all(rule._executable.wait(60) for rule in rules.values())
    drawn = np.random.default_rng(1)
    for _ in range(2):
        for one in optimizer._parameters:
            one.grad = EagerTensor(drawn.normal(size=one.shape).astype("float32"))
        optimizer.step()
    assert all(rule._is_ready for rule in rules.values())
    for found, one in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(found, one, rtol=1e-5, atol=1e-6)
