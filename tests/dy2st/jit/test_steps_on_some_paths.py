"""Steps of an optimizer that branches and loops take, or leave: training that stops early."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import optimizer as o
from dy2st import to_static
from dy2st.errors import ConversionError
from dy2st.nn.initializer import Constant
from dy2st.static import InputSpec


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

    def steps_by_what_a_loop_may_have_gathered(x):
        for _ in range(int(x.sum()) - 3):
            loss_of(x).backward()
        if x.sum() > 3:
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
    *("cuts_what_a_loop_carries", "steps_by_what_a_loop_may_have_gathered"),
]


@pytest.mark.parametrize("rule", [o.SGD, o.Momentum, o.Adam])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_branch_leaves_in_a_parameter_is_where_its_gradients_begin(kind, rule):
    eager, converted = trained(kind, rule), to_static(trained(kind, rule))
    for x in (dy2st.ones([3]), dy2st.ones([3]), dy2st.full([3], 1.5), dy2st.ones([3])):
        assert converted(x).item() == pytest.approx(eager(x).item(), rel=1e-6)
    assert len(converted.program_cache) > 0


def test_backward_through_a_value_that_a_branch_made_behind_a_step_is_refused():
    weight = dy2st.create_parameter([3], "float32")
    optimizer = o.SGD(0.1, parameters=[weight])

    def step(x):
        (weight * x).sum().backward()
        value = weight * 1
        if x.sum() > 0:
            optimizer.step()
            value = weight * 2
        value.sum().backward()
        return value

    with pytest.raises(ConversionError, match="call backward\\(\\) in there"):
        to_static(step)(dy2st.ones([3]))


def test_gradients_that_some_paths_have_not_stay_none_when_they_are_cleared():
    weight = dy2st.create_parameter([3], "float32")

    def step(x):
        if x.sum() > 0:
            (weight * x).sum().backward()
        weight.clear_gradient()
        return x * 1

    converted = to_static(step)
    converted(-dy2st.ones([3]))
    assert weight.grad is None
    converted(dy2st.ones([3]))
    assert weight.grad.tolist() == [0.0] * 3


def test_backward_of_what_a_loop_carries_is_refused():
    weight = dy2st.create_parameter([3], "float32")

    def carried(x):
        loss = (weight * x).sum()
        while loss < 100:
            loss.backward()
            loss = (weight * x).sum() + 100
        return loss

    with pytest.raises(ConversionError, match="compute the loss in the iteration"):
        to_static(carried)(dy2st.ones([3]))


def test_a_loop_of_steps_is_saved_and_trains_on(tmp_path):
    eager, converted = (trained("steps_in_some_turns_of_a_loop", o.Adam) for _ in range(2))
    converted = to_static(converted, input_spec=[InputSpec([3], stop_gradient=True)])
    x = dy2st.full([3], 1.5)
    for _ in range(2):
        assert converted(x).item() == pytest.approx(eager(x).item(), rel=1e-6)
    dy2st.jit.save(converted, str(tmp_path / "step"))
    loaded = dy2st.jit.load(str(tmp_path / "step"))
    for _ in range(3):
        assert loaded(x).item() == pytest.approx(eager(x).item(), rel=1e-6)
    assert x.grad is None


def test_a_loop_gathers_the_gradients_of_an_argument():
    def gathered(x):
        for _ in range(int(x.sum())):
            (x * x).sum().backward()
        return x * 1

    converted = to_static(gathered)
    for size in (0.0, 1.0, 2.0):
        left, right = (dy2st.to_tensor([size] * 2, stop_gradient=False) for _ in range(2))
        converted(left), gathered(right)
        assert (left.grad is None) == (right.grad is None) == (size == 0)
        assert size == 0 or left.grad.tolist() == right.grad.tolist()


def test_a_program_of_input_specs_alone_leaves_no_gradient_where_a_call_wants_none():
    weight = dy2st.create_parameter([2], "float32")

    def step(x):
        (weight * x).sum().backward()
        return weight * 1

    converted = to_static(step, input_spec=[InputSpec([2])])
    assert converted.concrete_program
    x = dy2st.ones([2])
    converted(x)
    assert x.grad is None
