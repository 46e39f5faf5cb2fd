"""Steps of an optimizer that branches and loops take, or leave: training that stops early."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import optimizer as o
from dy2st import to_static
from dy2st.errors import ConversionError
from dy2st.nn.initializer import Constant


def trained(kind, rule):
    """A function that trains a parameter of its own, and gives the sum of it."""
    weight = dy2st.create_parameter([3], "float32", default_initializer=Constant(0.5))
    optimizer = rule(0.1, parameters=[weight])

    def loss_of(x):
        return ((weight - x) ** 2).mean()

    def step():
        optimizer.step()
        optimizer.clear_grad()

    def stops_behind_a_step(x):
        for _ in range(3):
            loss = loss_of(x)
            loss.backward()
            step()
            if loss < 0.1:
                break
        return weight.sum()

    def stops_before_a_step(x):
        for _ in range(3):
            loss = loss_of(x)
            loss.backward()
            if loss < 0.1:
                optimizer.clear_grad()
                break
            step()
        return weight.sum()

    def steps_in_a_branch(x):
        loss = loss_of(x)
        loss.backward()
        if loss > 0.1:
            optimizer.step()
        optimizer.clear_grad()
        return weight.sum()

    def goes_back_in_a_branch(x):
        loss = loss_of(x)
        if loss > 0.1:
            loss.backward()
            step()
        return weight.sum()

    def steps_in_some_turns(x):
        for _ in range(3):
            loss = loss_of(x)
            loss.backward()
            if loss > 0.1:
                step()
        return weight.sum()

    def goes_back_on_both_paths(x):
        loss = loss_of(x)
        if loss > 0.1:
            loss.backward()
            step()
        else:
            (loss * 2).backward()
            step()
        return weight.sum()

    def goes_back_through_older_values(x):
        older = (weight * x).sum()
        loss_of(x).backward()
        step()
        newer = (weight * 2).sum()
        older.backward()
        step()
        newer.backward()
        step()
        return weight.sum()

    def goes_back_through_both_sides_of_a_step(x):
        before = loss_of(x)
        before.backward(retain_graph=True)
        if before > 0.1:
            optimizer.step()
        optimizer.clear_grad()
        (before + loss_of(x * 2)).backward()
        found = weight.grad.sum()
        optimizer.clear_grad()
        return found

    def steps_again_behind_a_branch(x):
        steps_in_a_branch(x)
        loss_of(x).backward()
        step()
        return weight.sum()

    def steps_in_a_loop(x):
        for _ in range(int(x.sum())):
            loss_of(x).backward()
            step()
        return weight.sum()

    def steps_in_some_turns_of_a_loop(x):
        turn, total = 0, dy2st.zeros([])
        while turn < x.sum():
            loss = loss_of(x)
            if loss > 0.1:
                loss.backward()
                step()
            turn, total = turn + 1, total + loss
        return total

    def gathers_in_a_loop(x):
        for _ in range(int(x.sum())):
            loss_of(x).backward()
        step()
        return weight.sum()

    def cuts_what_a_loop_carries(x):
        state = dy2st.zeros([3])
        for _ in range(int(x.sum())):
            state = (weight * state + x).tanh()
            state.sum().backward()
            state = state.detach()
        step()
        return weight.sum()

    return locals()[kind]


KINDS = [
    *("stops_behind_a_step", "stops_before_a_step", "steps_in_a_branch", "goes_back_in_a_branch"),
    *("goes_back_through_older_values", "steps_in_some_turns", "goes_back_on_both_paths"),
    *("goes_back_through_both_sides_of_a_step", "steps_again_behind_a_branch"),
    *("steps_in_a_loop", "steps_in_some_turns_of_a_loop", "gathers_in_a_loop"),
    "cuts_what_a_loop_carries",
]


@pytest.mark.parametrize("rule", [o.SGD, o.Momentum, o.Adam])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_branch_leaves_in_a_parameter_is_where_its_gradients_begin(kind, rule):
    eager, converted = trained(kind, rule), to_static(trained(kind, rule))
    x = dy2st.ones([3])
    for _ in range(5):
        assert converted(x).item() == pytest.approx(eager(x).item(), rel=1e-6)
    assert len(converted.program_cache) > 0


def test_backward_of_what_a_loop_carries_is_refused():
    weight = dy2st.create_parameter([3], "float32")

    def carried(x):
        loss = (weight * x).sum()
        while loss < 100:
            loss.backward()
            loss = (weight * x).sum() + 100
        return loss

    with pytest.raises(ConversionError, match="compute the loss in the turn"):
        to_static(carried)(dy2st.ones([3]))
