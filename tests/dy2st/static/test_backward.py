"""append_backward and gradients: Programs with their gradients, against the tape and differences."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from dy2st.errors import ArgumentError, DTypeError, ShapeError
from dy2st.jit import to_static
from dy2st.static import InputSpec, append_backward, gradients
from dy2st_runtime import engine
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.clone import clone

SPECS = [InputSpec([None, 3], "float64", "x"), InputSpec([3, 3], "float64", "w")]


def straight(x, w):
    return F.relu(x @ w + 1.0).tanh().sum()


def composites(x, w):
    return (F.layer_norm(x @ w, [3]) * F.softmax(x)).sum()


def several_uses(x, w):
    h = x @ w
    a, b, _ = dy2st.split(h, 3, axis=1)
    return (a * b + h.exp()).sum() + (h[0] * h).mean()


def stopped_and_whole(x, w):
    mask = (x > 0).astype("int64")
    return (x * mask.astype("float64") * w.sum().detach() + (x * w[0]).detach()).sum()


def a_branch(x, w):
    if x.sum() > 0:
        y = (x @ w).exp()
    else:
        y = x * 2
    return (y * y).sum()


def a_branch_without_gradient(x, w):
    y = x.sum() * w if x.sum() > 0 else dy2st.ones([3, 3], dtype="float64")
    return (y.exp() * y).sum()


def branches_in_branches(x, w):
    y = x
    if x.sum() > 0:
        z = (x @ w).tanh()
        if z.sum() > 0:
            y = z * z.exp() * x
        else:
            y = z * 3
    return (y * w.sum()).sum()


def sizes_of_a_branch(x, w):
    if x.sum() > 0:
        y = x[:2] * 3
        z = y.exp() @ w
    else:
        y = x * x
        z = y * w[0]
    return (y * z).sum()


def a_loop(x, w):
    h, i = x, dy2st.zeros([], "int64")
    while i < 3:
        h = (h @ w).tanh() + x
        i = i + 1
    return h.sum()


def a_loop_that_may_not_turn(x, w):
    h, s = x * 1, x.sum()
    while s < 4:
        h = h * w[0].exp()
        s = s + 2
    return (h * h).sum()


def loops_in_loops(x, w):
    h, s = x, x.sum()
    while s < 20:
        s = s + 2
        h = (h @ w).tanh()
        if h.sum() > 0:
            h = h * x.exp()
        n = h.sum()
        while n < 3:
            n = n + 1
            h = h * w.exp().sum().sqrt() * 0.3 + n
    return h.sum()


def turns_that_forget(x, w):
    kept, h = x[0], x
    for row in x:
        if row.sum() > 0:
            kept = row * w[0]
        else:
            h = h * kept.exp()
    return (kept * h).sum()


def a_loop_over_rows(x, w):
    state = dy2st.zeros([3], dtype="float64")
    for row in x:
        state = (row + state @ w).tanh()
    return state.sum()


def sizes_that_change(x, w):
    y, n = x, x.sum()
    while n < 3:
        y = dy2st.concat([y, (y @ w)[:1]])
        n = n + 2
    return (y * y).sum()


def in_a_body_that_stops(x, w):
    h = x
    for _ in range(2):
        h = h @ w
        mask = (h > 0).astype("float64")
        mask.stop_gradient = True
        h = h * mask
    return h.sum()


def a_list_that_is_stacked(x, w):
    rows = []
    for row in x:
        rows.append((row @ w).tanh())
    return (dy2st.stack(rows) * x.exp()).sum()


def a_list_that_is_joined(x, w):
    rows = []
    for row in x:
        if row.sum() > 0:
            rows.append(row.unsqueeze(0) @ w)
        rows.append(row.unsqueeze(0) * 2)
    return (dy2st.concat(rows) ** 2).sum()


def elements_that_are_read(x, w):
    rows = [w[0] * 1]
    for row in x:
        rows.append(rows[-1] * row + rows[0])
    return (rows[1] * rows[-2]).sum()


def elements_that_change(x, w):
    rows = []
    for row in x:
        rows.append(row * w[0])
    rows[0] = rows[1] * rows[0]
    rows.insert(1, w[1] * 3)
    last = rows.pop()
    del rows[0]
    rows.extend([last * last, w[2] + 0])
    return (rows[-1] * rows[0] + rows[-2]).sum()


def parts_of_a_list(x, w):
    rows = []
    for row in x:
        rows.append(row * w[0])
    rows = rows[::-1] + rows[:2]
    rows = rows[1:]
    return dy2st.stack(rows).exp().sum() + rows[0].sum()


def a_list_of_lists(x, w):
    groups = []
    for row in x:
        inner = []
        for i in range(2):
            inner.append(row * w[i])
        groups.append(inner)
    total = x[0] * 0
    for group in groups:
        total = total + group[1] * group[0]
    return total.sum()


def a_branch_that_requires_later(x, w):
    """Where `h` is made nothing tells yet that there is a row."""
    if len(x) > 1:
        y = x
    else:
        h = F.layer_norm(x @ w, [3])
        y = h * h[0]
    return (y * y * w.sum()).sum()


def sizes_that_only_a_turn_knows(x, w):
    a, b, i = x, x * 2, dy2st.zeros([], "int64")
    while i < 3:
        i = i + 1
        if a.sum() > 0:
            j = dy2st.zeros([], "int64")
            while j < 2:
                j = j + 1
                a, b = b, (a * b.mean()).tanh()[::-1]
        elif len(x) > 3:
            b = b * 2
        else:
            a = ((a * b).exp().tanh() @ w).tanh() if len(x) > 2 else b[::-1]
    return (a.mean(0) * b.mean(0) * w[0]).sum()


def a_list_that_a_branch_makes_longer(x, w):
    rows = [x[:1]]
    if x.sum() > 0:
        for row in x:
            rows.append(x * row)
            if row.sum() > 0:
                rows[0] = row * x
    return rows[0].sum() * rows[-1].sum() * w.sum()


FUNCTIONS = [
    a_branch_that_requires_later,
    a_list_that_a_branch_makes_longer,
    a_list_that_is_stacked,
    a_list_that_is_joined,
    elements_that_are_read,
    elements_that_change,
    parts_of_a_list,
    a_list_of_lists,
    straight,
    composites,
    several_uses,
    stopped_and_whole,
    a_branch,
    a_branch_without_gradient,
    branches_in_branches,
    sizes_of_a_branch,
    a_loop,
    a_loop_that_may_not_turn,
    loops_in_loops,
    turns_that_forget,
    a_loop_over_rows,
    sizes_that_change,
    in_a_body_that_stops,
]
ONCE = [sizes_that_only_a_turn_knows]
"""What is not differentiated twice: the types of lists in loops of loops would not fit."""


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def calls():
    """Inputs that take every branch, and iterate no time or often."""
    for rows in (2, 3, 5):
        for x in (numbers(rows, 3), -numbers(rows, 3), numbers(rows, 3) + 1):
            yield x, numbers(3, 3) * 0.5


def with_gradients(function):
    """A Program of the result and of its gradients, and which inputs have one."""
    program = clone(to_static(function, input_spec=SPECS).main_program)
    found = gradients(program.outputs[0], program.inputs)
    program.block.yields += [gradient for gradient in found if gradient is not None]
    verify(program)
    return engine.compile(program), [gradient is not None for gradient in found]


def taped(function, arrays):
    leaves = [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]
    result = function(*leaves)
    if not result.stop_gradient:
        result.backward()
    grads = [np.zeros_like(a) if t.grad is None else t.grad.numpy() for t, a in zip(leaves, arrays)]
    return result.numpy(), grads


@pytest.mark.parametrize("function", FUNCTIONS + ONCE, ids=lambda f: f.__name__)
def test_gradients_are_those_of_the_tape(function):
    executable, there = with_gradients(function)
    for arrays in calls():
        value, *found = executable.run(arrays, [])
        expected, grads = taped(function, arrays)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        for one, other in zip(found, [g for g, is_there in zip(grads, there) if is_there]):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS + ONCE, ids=lambda f: f.__name__)
def test_gradients_are_quotients_of_differences(function):
    if function is stopped_and_whole:
        pytest.skip("what is detached changes too")
    executable, there = with_gradients(function)
    for arrays in list(calls())[:3]:
        _, *found = executable.run(arrays, [])
        wanted = [array for array, is_there in zip(arrays, there) if is_there]
        for gradient, array in zip(found, wanted, strict=True):
            place, step = tuple(np.array(array.shape) // 2), 1e-6
            ends = []
            for sign in (1, -1):
                moved = {id(one): one.copy() for one in arrays}
                moved[id(array)][place] += sign * step
                moved = list(moved.values())
                ends.append(executable.run(moved, [])[0])
            np.testing.assert_allclose(
                gradient[place], (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-6
            )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients_can_be_differentiated_again(function):
    program = clone(to_static(function, input_spec=SPECS).main_program)
    x = program.inputs[0]
    (slope,) = gradients(program.outputs[0], x)
    found = gradients(slope, x, [x])
    program.block.yields += [gradient for gradient in found if gradient is not None]
    verify(program)
    executable = engine.compile(program)
    for arrays in list(calls())[::2]:
        _, *bends = executable.run(arrays, [])
        leaves = [dy2st.to_tensor(array, stop_gradient=False) for array in arrays]
        result = function(*leaves)
        if result.stop_gradient:
            continue
        (once,) = dy2st.grad(result, leaves[0], create_graph=True, allow_unused=True)
        if once is None or once.stop_gradient or not bends:
            continue
        (twice,) = dy2st.grad(once, leaves[0], grad_outputs=leaves[0], allow_unused=True)
        expected = np.zeros_like(arrays[0]) if twice is None else twice.numpy()
        np.testing.assert_allclose(bends[0], expected, rtol=1e-9, atol=1e-10)


def test_append_backward_gives_pairs_of_parameters_and_gradients():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    net[0].bias.stop_gradient = True
    x = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")
    forward = to_static(lambda x: (net(x) ** 2).mean(), input_spec=[InputSpec([None, 3])])
    program = clone(forward.main_program)
    state = forward.concrete_program.state
    program.trainable = {name: not tensor.stop_gradient for name, tensor in state.items()}
    pairs = append_backward(program.outputs[0])
    program.block.yields += [gradient for _, gradient in pairs]
    verify(program)
    found = engine.compile(program).run([x], [tensor.array for tensor in state.values()])[1:]
    (net(dy2st.to_tensor(x)) ** 2).mean().backward()
    wanted = [tensor.grad for tensor in state.values() if not tensor.stop_gradient]
    assert len(found) == len(wanted) == 3
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-5, atol=1e-7)


def program_of(function):
    return clone(to_static(function, input_spec=SPECS).main_program)


def test_no_gradient_flows_through_what_is_in_no_grad_set():
    program = program_of(lambda x, w: (x * w[0], (x * w[0]).exp().sum() + x.sum()))
    (one,) = gradients(program.outputs[1], program.inputs[0], no_grad_set=[program.inputs[0]])
    assert one is None


def test_an_input_off_the_path_has_no_gradient():
    program = program_of(lambda x, w: (x * 2).sum())
    x, w = gradients(program.outputs, program.inputs)
    assert x.shape == program.inputs[0].shape and w is None


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda p: gradients(p.outputs[1], p.inputs), DTypeError, "target of dtype int64"),
        (lambda p: gradients(dy2st.ones([2]), p.inputs), ArgumentError, "a value of a Program"),
        (lambda p: append_backward(None), ArgumentError, "the loss is a value of a Program"),
        (lambda p: append_backward(p.outputs[0]), ArgumentError, "to a parameter"),
        (lambda p: gradients(p.outputs[0], "y"), ArgumentError, "input is a value of"),
        (lambda p: gradients(p.outputs[0], p.inputs, p.inputs), ArgumentError, "1 targets have 2"),
        (lambda p: gradients(p.outputs[0], p.inputs[0], p.inputs[1]), ShapeError, "start with is"),
        (lambda p: append_backward(p.outputs[0], ["v"]), ArgumentError, "no parameter or buffer"),
    ],
)
def test_what_has_no_gradient_is_refused_in_words(ask, error, text):
    program = program_of(lambda x, w: ((x @ w).sum(), x.astype("int64")))
    with pytest.raises(error, match=text):
        ask(program)


def test_only_the_taken_branch_is_worked_for():
    program = program_of(lambda x, w: (x @ w).sum() if x.sum() > 0 else (x * 2).sum())
    gradients(program.outputs, program.inputs)
    made = [o for o in program.operators if o.name == "cond"][1]
    assert not any(inner.name == "matmul" for inner in made.blocks[1].walk())
