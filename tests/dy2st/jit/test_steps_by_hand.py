"""Steps of training that people write themselves: loops, averages, updates without an optimizer."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st import optimizer as o
from dy2st_runtime.nn.layer import attribute_changes
from tests.dy2st.jit.training_steps import batch, check, descended, loss_of, model_of

STEPS = {}


def step(make):
    """Note what makes a step and its state."""
    STEPS[make.__name__] = make
    return make


@step
def method_of_a_trainer():
    class Trainer:
        def __init__(self):
            self.model, self.count = model_of(), 0
            self.optimizer = o.Adam(0.1, parameters=self.model.parameters())

        def step(self, x, y):
            self.model.train()
            loss = loss_of(self.model, x, y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            self.count += 1
            return loss

    trainer = Trainer()
    return trainer.step, lambda: (trainer.model.state_dict(), trainer.count)


@step
def towards_the_worst_nearby():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    def train(x, y):
        loss_of(model, x, y).backward()
        kept = {}
        with dy2st.no_grad():
            norm = sum((p.grad**2).sum() for p in model.parameters()).sqrt()
            for name, p in model.named_parameters():
                kept[name] = p.clone()
                p.add_(p.grad * (0.05 / norm))
        model.clear_gradients()
        loss = loss_of(model, x, y)
        loss.backward()
        with dy2st.no_grad():
            for name, p in model.named_parameters():
                p.copy_(kept[name], True)
        optimizer.step()
        model.zero_grad()
        return loss

    return train, model.state_dict


@step
def moving_average():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())
    mean = {name: value.clone() for name, value in model.state_dict().items()}

    def step(x, y):
        loss = descended(model, optimizer, x, y)
        with dy2st.no_grad():
            for name, value in model.state_dict().items():
                mean[name].set_value(mean[name] * 0.9 + value * 0.1)
        return loss

    return step, lambda: (model.state_dict(), mean)


@step
def until_it_is_good():
    model = model_of()
    optimizer = o.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        loss = loss_of(model, x, y)
        while loss > 0.8:
            loss = descended(model, optimizer, x, y)
        return loss

    return step, model.state_dict


@step
def every_second_batch():
    model, count = model_of(), [0]
    optimizer = o.SGD(0.1, model.parameters())

    def step(x, y):
        loss = loss_of(model, x, y) / 2
        loss.backward()
        count[0] += 1
        if count[0] % 2 == 0:
            optimizer.step()
            optimizer.clear_grad()
        return loss

    return step, lambda: (model.state_dict(), count)


@step
def look_ahead():
    model, count = model_of(), [0]
    optimizer = o.SGD(0.1, model.parameters())
    slow = [parameter.detach().clone() for parameter in model.parameters()]

    def step(x, y):
        loss = descended(model, optimizer, x, y)
        count[0] += 1
        if count[0] % 3 == 0:
            for fast, one in zip(model.parameters(), slow, strict=True):
                one.set_value(one + 0.5 * (fast - one))
                fast.set_value(one)
        return loss

    return step, lambda: (model.state_dict(), slow)


@step
def update_by_set_value():
    model = model_of()

    def step(x, y):
        loss = loss_of(model, x, y)
        loss.backward()
        for parameter in model.parameters():
            parameter.set_value(parameter - 0.1 * parameter.grad)
            parameter.clear_gradient()
        return loss, loss_of(model, x, y)

    return step, model.state_dict


@step
def update_in_place():
    model = model_of()

    def step(x, y):
        losses = []
        for _ in range(2):
            losses.append(loss_of(model, x, y))
            losses[-1].backward()
            with dy2st.no_grad():
                for parameter in model.parameters():
                    parameter.subtract_(0.1 * parameter.grad)
                    parameter.grad = None
        return losses

    return step, model.state_dict


@step
def backward_in_a_branch():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    def step(x, y):
        loss = loss_of(model, x, y)
        if loss > 0.5:
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        return loss

    return step, model.state_dict


@step
def loss_of_a_branch():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    def step(x, y):
        z = model(x)
        loss = ((z - y) ** 2).mean() if z.mean() > 0 else (z - y).abs().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step, model.state_dict


@step
def gradient_penalty():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    def step(x, y):
        x.stop_gradient = False
        z = model(x)
        (slope,) = dy2st.grad(z.sum(), x, create_graph=True)
        loss = ((z - y) ** 2).mean() + (slope**2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        x.clear_grad()
        return loss

    return step, model.state_dict


@step
def frozen_in_the_step():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    def step(x, y):
        for parameter in model[0].parameters():
            parameter.stop_gradient = True
        return descended(model, optimizer, x, y)

    return step, model.state_dict


@step
def recurrent():
    dy2st.seed(5)
    cell, head = nn.GRUCell(1, 5).to(dtype="float64"), nn.Linear(5, 3).to(dtype="float64")
    optimizer = o.Adam(0.05, parameters=[*cell.parameters(), *head.parameters()])

    def step(x, y):
        state = dy2st.zeros([x.shape[0], 5], "float64")
        for time in range(4):
            _, state = cell(x[:, time : time + 1], state)
        loss = ((head(state) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step, cell.state_dict


@step
def loop_by_a_tensor():
    model, inner = model_of(), model_of(lambda: nn.Linear(4, 4))
    optimizer = o.Adam(0.05, parameters=[*model.parameters(), *inner.parameters()])

    def step(x, y):
        for _ in range((x[0] > 0).sum() - 1):  # none at all, for some batches
            x = dy2st.tanh(inner(x))
        return descended(model, optimizer, x, y)

    return step, lambda: (model.state_dict(), inner.state_dict())


@step
def layer_of_a_branch():
    model, inner = model_of(), model_of(lambda: nn.Linear(4, 4))
    optimizer = o.Adam(0.05, parameters=[*model.parameters(), *inner.parameters()])

    def step(x, y):
        x = inner(x) if x.sum() > 0 else x
        return descended(model, optimizer, x, y)

    return step, lambda: (model.state_dict(), inner.state_dict())


@step
def weight_of_a_norm():
    model = model_of()
    nn.utils.weight_norm(model[0])
    optimizer = o.SGD(0.1, model.parameters())
    return lambda x, y: descended(model, optimizer, x, y), model.state_dict


@pytest.mark.parametrize("name", STEPS)
def test_a_step_by_hand_is_eagers(name):
    # Gradients that the step before has cleared are not read, which is a Program of its own.
    programs = 4 if name == "every_second_batch" else 3
    check(STEPS[name], programs, steps=7)


def test_a_step_that_clears_its_gradients_reads_none():
    model = model_of()
    optimizer = o.SGD(0.1, model.parameters())

    @to_static
    def step(x, y):
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    for turn in range(4):
        step(*batch(turn))
    assert len(step.program_cache) == 2
    state = [*step.concrete_program.main_program.parameters]
    assert len(state) == len(model.parameters())


def test_what_only_a_branch_gives_is_added_to_cleared_gradients():
    def make():
        model, inner = model_of(), model_of(lambda: nn.Linear(4, 4))
        parameters = [*model.parameters(), *inner.parameters()]
        optimizer = o.SGD(0.1, parameters)

        def step(x, y):
            if x.mean() > 0:
                x = inner(x)
            loss = loss_of(model, x, y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step, lambda: (model.state_dict(), inner.state_dict())

    step = check(make, steps=6)
    # It is not taken for None, which a Program would check, and leave to Python.
    operators = {one.name for one in step.concrete_program.main_program.block.walk()}
    assert "assert_bound" not in operators


def test_gradients_that_are_cleared_outside_may_be_others_again():
    def backwards(model):
        def run(x, y):
            loss_of(model, x, y).backward()

        return run

    models = model_of(), model_of()
    models[1].set_state_dict(models[0].state_dict())
    steps = backwards(models[0]), to_static(backwards(models[1]))
    for turn, is_cleared in enumerate((False, True, True, False, False, True)):
        for model, step in zip(models, steps, strict=True):
            if is_cleared:
                model.clear_gradients()
            step(*batch(turn))
        for one, other in zip(*(model.parameters() for model in models), strict=True):
            np.testing.assert_allclose(other.grad.numpy(), one.grad.numpy(), 1e-10, 1e-12)
    assert len(steps[1].program_cache) == 3  # no gradient, zeros, others


def test_a_gradient_that_may_be_none_is_left_to_python():
    model, inner = model_of(), model_of(lambda: nn.Linear(4, 4))
    parameters = [*model.parameters(), *inner.parameters()]

    @to_static
    def step(x, y):
        x = inner(x) if x.sum() > 0 else x
        loss_of(model, x, y).backward()
        found = [parameter.grad for parameter in parameters]
        for parameter in parameters:
            parameter.grad = None
        return found

    for x in (dy2st.ones([2, 4], "float64"), -dy2st.ones([2, 4], "float64")):
        found = step(x, dy2st.ones([2, 3], "float64"))
        assert (found[-1] is None) == (x.sum() < 0) and found[0] is not None
    with pytest.raises(dy2st.errors.ConversionError, match="that only a branch"):
        step.get_concrete_program(*[dy2st.static.InputSpec([2, n], "float64") for n in (4, 3)])


def test_a_mode_that_stays_is_no_change():
    model = model_of()
    before = attribute_changes()
    assert model.train() is model and attribute_changes() == before
    assert not model.eval()[0].training and attribute_changes() > before
