"""Steps of an optimizer that branches take, or leave: training that stops early."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import to_static
from dy2st.nn.initializer import Constant


def trained(kind):
    """A function that trains a parameter of its own, and gives the sum of it."""
    weight = dy2st.create_parameter([3], "float32", default_initializer=Constant(0.5))
    optimizer = dy2st.optimizer.SGD(0.1, parameters=[weight])

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

    return locals()[kind]


KINDS = [
    *("stops_behind_a_step", "stops_before_a_step", "steps_in_a_branch", "goes_back_in_a_branch"),
    *("goes_back_through_older_values", "steps_in_some_turns", "goes_back_on_both_paths"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_branch_leaves_in_a_parameter_is_where_its_gradients_begin(kind):
    eager, converted = trained(kind), to_static(trained(kind))
    x = dy2st.ones([3])
    for _ in range(5):
        assert converted(x).item() == pytest.approx(eager(x).item(), rel=1e-6)
    assert len(converted.program_cache) > 0
