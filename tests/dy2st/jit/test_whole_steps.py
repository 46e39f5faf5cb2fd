"""A whole step of training as one Program: forward, loss, backward, the optimizer's update."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st import optimizer as o
from dy2st.errors import EngineError, PeerError
from dy2st_runtime import engine
from dy2st_runtime.engine.numpy.executable import Executable
from tests.dy2st.jit.training_steps import (
    MODELS,
    OPTIMIZERS,
    batch,
    check,
    descended,
    loss_of,
    model_of,
    plain,
)

FREED = "the graph was freed by an earlier backward"


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_of_every_optimizer_is_eagers(name):
    check(plain(MODELS["mlp"], OPTIMIZERS[name]))


@pytest.mark.parametrize("optimizer", ["SGD_l2", "Adam"])
@pytest.mark.parametrize("model", [name for name in MODELS if name != "mlp"])
def test_a_step_of_every_model_is_eagers(model, optimizer):
    check(plain(MODELS[model], OPTIMIZERS[optimizer]))


def trained(body, optimizer=OPTIMIZERS["Adam"], schedule=None):
    """What makes a step out of `body(model, optimizer, x, y)`."""

    def make():
        model = model_of()
        rate = None if schedule is None else schedule()
        made = (
            optimizer(model.parameters())
            if rate is None
            else o.Momentum(rate, 0.9, model.parameters())
        )

        def step(x, y):
            return body(model, made, x, y)

        state = lambda: (  # noqa: E731
            model.state_dict(),
            made.state_dict(),
            [parameter.grad for parameter in model.parameters()],
        )
        return step, state, *(() if rate is None else (rate,))

    return make


SCHEDULES = {
    "step": lambda: o.lr.StepDecay(0.1, 2, 0.5),
    "multi": lambda: o.lr.MultiStepDecay(0.1, [2, 5], 0.5),
    "exponential": lambda: o.lr.ExponentialDecay(0.1, 0.9),
    "natural": lambda: o.lr.NaturalExpDecay(0.1, 0.1),
    "polynomial": lambda: o.lr.PolynomialDecay(0.1, 5, 0.01, 2.0, cycle=True),
    "piecewise": lambda: o.lr.PiecewiseDecay([2, 4], [0.1, 0.05, 0.01]),
    "cosine": lambda: o.lr.CosineAnnealingDecay(0.1, 8),
    "warmup": lambda: o.lr.LinearWarmup(o.lr.CosineAnnealingDecay(0.1, 8), 3, 0.01, 0.1),
    "lambda": lambda: o.lr.LambdaDecay(0.1, lambda epoch: 0.9**epoch),
    "noam": lambda: o.lr.NoamDecay(4, 3, 0.1),
    "inverse": lambda: o.lr.InverseTimeDecay(0.1, 0.1),
    "multiplicative": lambda: o.lr.MultiplicativeDecay(0.1, lambda epoch: 0.9),
    "linear": lambda: o.lr.LinearLR(0.1, 5),
    "restarts": lambda: o.lr.CosineAnnealingWarmRestarts(0.1, 3, 2),
    "one_cycle": lambda: o.lr.OneCycleLR(0.1, 20),
    "cyclic": lambda: o.lr.CyclicLR(0.01, 0.1, 3, mode="triangular2"),
}


@pytest.mark.parametrize("name", ["step", "cosine"])
def test_a_schedule_moves_outside_of_the_step_without_a_new_program(name):
    def make():
        step, state, rate = trained(descended, schedule=SCHEDULES[name])()
        return step, lambda: (state(), rate.state_dict()), rate.step

    check(make)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_may_move_inside_of_the_step(name):
    def make():
        step, state, rate = trained(descended, schedule=SCHEDULES[name])()

        def whole(x, y):
            loss = step(x, y)
            rate.step()
            return loss

        return whole, lambda: (state(), rate.state_dict())

    check(make, programs=3, steps=8)


def test_a_rate_that_follows_the_loss_moves_inside_of_the_step():
    def make():
        model = model_of()
        rate = o.lr.ReduceOnPlateau(0.1, patience=1)
        optimizer = o.SGD(rate, model.parameters())

        def step(x, y):
            loss = descended(model, optimizer, x, y)
            rate.step(loss)
            return loss

        return step, lambda: (model.state_dict(), rate.last_lr, rate.num_bad_epochs)

    check(make, programs=4)


def test_a_rate_is_set_outside_without_a_new_program():
    def make():
        model = model_of()
        optimizer = OPTIMIZERS["Adam"](model.parameters())
        slower = lambda: optimizer.set_lr(optimizer.get_lr() * 0.9)  # noqa: E731
        return lambda x, y: descended(model, optimizer, x, y), model.state_dict, slower

    check(make)


def _clears_first(model, optimizer, x, y):
    optimizer.clear_grad()
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.step()
    return loss


def _forgets(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


def _minimizes(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    optimizer.minimize(loss)
    optimizer.clear_grad()
    return loss


def _minimizes_after_backward(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.minimize(loss)
    optimizer.clear_grad()
    return loss


def _accumulates(model, optimizer, x, y):
    total = 0.0
    for start in range(3):
        loss = loss_of(model, x[start:], y[start:]) / 3
        loss.backward()
        total = total + loss
    optimizer.step()
    optimizer.clear_grad()
    return total


def _goes_back_from_two(model, optimizer, x, y):
    z = model(x)
    losses = [((z - y) ** 2).mean(), z.abs().mean()]
    dy2st.autograd.backward(losses)
    optimizer.step()
    optimizer.clear_grad()
    return losses


def _keeps_the_graph(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward(retain_graph=True)
    (loss * 2).backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def _limits_by_hand(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward()
    norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
    if norm > 0.5:
        for parameter in model.parameters():
            parameter.grad = parameter.grad * (0.5 / norm)
    optimizer.step()
    optimizer.clear_grad()
    return loss, norm


def _limits_by_a_function(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    nn.utils.clip_grad_value_(model.parameters(), 0.1)
    optimizer.step()
    optimizer.clear_grad()
    return loss, norm


def _skips_a_step(model, optimizer, x, y):
    loss = loss_of(model, x, y)
    loss.backward()
    if loss < 1.0:
        optimizer.step()
    optimizer.clear_grad()
    return loss


def _goes_against_the_input(model, optimizer, x, y):
    x.stop_gradient = False
    loss = loss_of(model, x, y)
    loss.backward()
    worse = x + 0.1 * x.grad.sign()
    optimizer.clear_grad()
    again = loss_of(model, worse.detach(), y)
    again.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss, again, x.grad


def _steps_twice(model, optimizer, x, y):
    return descended(model, optimizer, x, y), descended(model, optimizer, x, y)


BODIES = {
    body.__name__.strip("_"): body
    for body in (
        _clears_first,
        _forgets,
        _minimizes,
        _minimizes_after_backward,
        _accumulates,
        _goes_back_from_two,
        _keeps_the_graph,
        _limits_by_hand,
        _limits_by_a_function,
        _goes_against_the_input,
        _steps_twice,
    )
}


@pytest.mark.parametrize("name", BODIES)
def test_a_step_may_be_written_in_many_ways(name):
    check(trained(BODIES[name]))


def test_a_step_that_a_tensor_decides_on():
    check(trained(_skips_a_step), programs=3)


def test_two_models_against_each_other():
    def make():
        generator, critic = model_of(), model_of(lambda: nn.Linear(3, 1))
        first = o.Adam(0.1, parameters=generator.parameters())
        second = o.Adam(0.05, parameters=critic.parameters())

        def step(x, y):
            fake = generator(x)
            apart = (critic(y) - critic(fake.detach())).mean()
            apart.backward()
            second.step()
            second.clear_grad()
            like = critic(fake).mean()
            like.backward()
            first.step()
            first.clear_grad()
            second.clear_grad()
            return apart, like

        return step, lambda: [one.state_dict() for one in (generator, critic, first, second)]

    check(make)


def test_the_update_alone_may_be_converted():
    model, other = model_of(), model_of()
    optimizers = [o.Adam(0.1, parameters=one.parameters()) for one in (model, other)]

    def update():
        optimizers[1].step()
        optimizers[1].clear_grad()

    update = to_static(update)
    for turn in range(5):
        descended(model, optimizers[0], *batch(turn))
        loss_of(other, *batch(turn)).backward()
        update()
    for left, right in zip(model.parameters(), other.parameters(), strict=True):
        # Machine code may round otherwise where it is the default: see docs/engines.md.
        np.testing.assert_allclose(left.numpy(), right.numpy(), 1e-12, 1e-12)
    assert len(update.program_cache) <= 2


def test_a_regularizer_and_a_limit_of_ones_own_are_traced():
    class Pull(o.L2Decay):
        def __call__(self, weight):
            return (weight - 1.0) * self.coeff

    class Halve(o.ClipGradByValue):
        def limited(self, gradients):
            return [gradient * 0.5 for gradient in gradients]

    check(plain(MODELS["mlp"], lambda p: o.SGD(0.1, p, Pull(0.1), Halve(1.0))))


def test_an_optimizer_of_ones_own_is_traced():
    class Signs(o.Optimizer):
        slots = ("seen",)

        def update(self, weight, gradient, rate, state, settings):
            state["seen"] = state["seen"] + abs(gradient)
            return weight - rate * gradient / (state["seen"] + 1e-3)

    check(plain(MODELS["mlp"], lambda p: Signs(0.1, p)))


def test_hooks_of_parameters_see_their_gradients():
    def make():
        model = model_of()
        model[0].weight.register_hook(lambda gradient: gradient * 0.5)
        optimizer = o.SGD(0.1, model.parameters())
        return lambda x, y: descended(model, optimizer, x, y), model.state_dict

    check(make)


def test_gradients_are_left_as_eager_leaves_them():
    wanted, found = model_of(), model_of()

    def go(model, x, y):
        loss_of(model, x, y).backward()

    step = to_static(lambda x, y: go(found, x, y))
    for turn in range(4):
        go(wanted, *batch(turn))
        step(*batch(turn))
        for left, right in zip(wanted.parameters(), found.parameters(), strict=True):
            np.testing.assert_allclose(right.grad.numpy(), left.grad.numpy(), 1e-12)
    assert len(step.program_cache) == 2


def test_no_gradient_flows_back_from_a_step():
    model = model_of()

    @to_static
    def step(x, y):
        loss = loss_of(model, x, y)
        loss.backward()
        return loss

    loss = step(*batch(0))
    assert not loss.stop_gradient
    with pytest.raises(RuntimeError, match=FREED):
        loss.backward()


def test_going_back_twice_is_refused_as_eagerly():
    model = model_of()

    def step(x, y):
        loss = loss_of(model, x, y)
        loss.backward()
        loss.backward()

    for function in (step, to_static(step)):
        with pytest.raises(RuntimeError, match=FREED):
            function(*batch(0))


def test_an_argument_that_was_computed_is_refused():
    model = model_of()

    @to_static
    def step(x, y):
        loss_of(model, x, y).backward()

    weight = dy2st.ones([1], "float64")
    weight.stop_gradient = False
    x, y = batch(0)
    with pytest.raises(dy2st.errors.TensorAsPython, match="`x` was computed"):
        step(x * weight, y)


def test_under_no_grad_there_is_no_way_back():
    model = model_of()

    @to_static
    def step(x, y):
        loss_of(model, x, y).backward()

    with dy2st.no_grad(), pytest.raises(dy2st.errors.ArgumentError, match="stop_gradient=True"):
        step(*batch(0))


def test_lbfgs_is_refused_and_takes_a_converted_closure():
    model, other = model_of(), model_of()
    optimizers = [o.LBFGS(0.1, max_iter=3, parameters=one.parameters()) for one in (model, other)]
    x, y = batch(0)

    def closure(model, optimizer):
        def compute():
            optimizer.clear_grad()
            loss = loss_of(model, x, y)
            loss.backward()
            return loss

        return compute

    with pytest.raises(dy2st.errors.ConversionError, match="LBFGS"):
        to_static(lambda: optimizers[0].step(closure(model, optimizers[0])))()
    for _ in range(3):
        eager = optimizers[0].step(closure(model, optimizers[0]))
        found = optimizers[1].step(to_static(closure(other, optimizers[1])))
        np.testing.assert_allclose(found.numpy(), eager.numpy(), 1e-10)


class FailingRuns(Executable):
    """Compiles, and then another process is gone, or the machine has no memory left."""

    error: Exception = PeerError("rank 1 is gone")
    entry = None

    def run(self, *args, **options):
        raise self.error


@pytest.mark.parametrize("error", [PeerError("rank 1 is gone"), EngineError("no memory left")])
def test_a_step_that_another_process_or_the_engine_fails_is_not_left_to_python(monkeypatch, error):
    monkeypatch.setitem(engine.ENGINES, "failing", FailingRuns)
    monkeypatch.setattr(FailingRuns, "error", error)
    net = nn.Linear(2, 1)
    best = o.SGD(0.1, parameters=net.parameters())
    calls = []

    def step(x):
        calls.append(x)
        loss = net(x).mean()
        loss.backward()
        best.step()
        best.clear_grad()
        return loss

    before, static = net.weight.numpy(), to_static(step, engine="failing")
    for _ in range(3):
        with pytest.raises(type(error), match=str(error)):
            static(dy2st.ones([3, 2]))
    np.testing.assert_array_equal(net.weight.numpy(), before)
    assert calls == []


def test_a_step_whose_engine_fails_is_not_left_to_python(monkeypatch):
    def fails(program):
        raise KeyError("n")

    monkeypatch.setitem(engine.ENGINES, "failing", fails)
    net = nn.Linear(2, 1)
    best = o.SGD(0.1, parameters=net.parameters())

    @to_static(engine="failing")
    def step(x):
        loss = net(x).mean()
        loss.backward()
        best.step()
        best.clear_grad()
        return loss

    before = net.weight.numpy()
    for _ in range(3):
        with pytest.raises(EngineError, match="the engine 'failing' cannot compile"):
            step(dy2st.ones([3, 2]))
    np.testing.assert_array_equal(net.weight.numpy(), before)
