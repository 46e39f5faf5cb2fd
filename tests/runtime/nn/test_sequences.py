"""Recurrent layers run at once on eager tensors: what their steps give, and all gradients."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st_runtime as rt
from dy2st import amp
from dy2st_runtime import nn, ops
from dy2st_runtime.autograd import grad
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.nn.sequences import SequenceNode

RNG = np.random.default_rng(0)
CELLS = {
    "tanh": lambda: nn.SimpleRNNCell(4, 5),
    "relu": lambda: nn.SimpleRNNCell(4, 5, "relu"),
    "lstm": lambda: nn.LSTMCell(4, 5),
    "projected": lambda: nn.LSTMCell(4, 5, proj_size=3),
    "gru": lambda: nn.GRUCell(4, 5),
}
KINDS = pytest.mark.parametrize("kind", CELLS)


def made(kind, dtype="float64"):
    """A cell, and the same one that is run step by step since its class is another."""
    ops.seed(0)
    cell = CELLS[kind]()
    for parameter in cell.parameters():
        parameter.set_value(RNG.normal(size=parameter.shape).astype("float32"))
    cell.to(dtype=dtype)
    own = type("Own", (type(cell),), {})
    stepwise = own.__new__(own)
    stepwise.__dict__.update(cell.__dict__)
    return cell, stepwise


def inputs(kind, dtype="float64", steps=6):
    states = [RNG.normal(size=(3, 3 if kind == "projected" else 5))]
    states += [RNG.normal(size=(3, 5))] if kind in ("lstm", "projected") else []
    arrays = [RNG.normal(size=(3, steps, 4)), *states]
    return [rt.to_tensor(array.astype(dtype), stop_gradient=False) for array in arrays]


def run(cell, x, *states, **settings):
    lengths = settings.pop("lengths", None)
    given = states[0] if len(states) == 1 else tuple(states)
    outputs, last = nn.RNN(cell, **settings)(x, given, lengths)
    return [outputs, *(last if len(states) > 1 else [last])]


def weighted(results):
    """A number of which every element of the results has another gradient."""
    return sum(
        (r * rt.to_tensor(np.cos(np.arange(r.size)).reshape(r.shape))).sum() for r in results
    )


def gradients(cell, tensors, **settings):
    leaves = [*tensors, *cell.parameters()]
    results = run(cell, *tensors, **settings)
    return results, grad(weighted(results), leaves)


def compare(found, expected, atol):
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.numpy(), other.numpy(), atol=atol, rtol=atol)


@KINDS
@pytest.mark.parametrize(("dtype", "atol"), [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("lengths", [None, [6, 1, 4]])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_run_at_once_gives_what_its_steps_give(kind, dtype, atol, is_reverse, lengths):
    cell, stepwise = made(kind, dtype)
    tensors = inputs(kind, dtype)
    settings = {"is_reverse": is_reverse, "lengths": lengths and rt.to_tensor(lengths)}
    found, slopes = gradients(cell, tensors, **settings)
    expected, expected_slopes = gradients(stepwise, tensors, **settings)
    assert isinstance(found[-1].grad_fn, SequenceNode)
    assert not isinstance(expected[-1].grad_fn, SequenceNode)
    compare(found, expected, atol)
    compare(slopes, expected_slopes, atol * 10)


@KINDS
def test_gradients_are_those_of_differences(kind):
    cell, _ = made(kind)
    tensors = inputs(kind)
    _, slopes = gradients(cell, tensors)
    for tensor, slope in zip([*tensors, *cell.parameters()], slopes, strict=True):
        array, direction = tensor.numpy(), RNG.normal(size=tensor.shape)
        values = []
        for step in (1e-6, -1e-6):
            tensor.set_value(array + step * direction)
            values.append(float(weighted(run(cell, *tensors))))
        tensor.set_value(array)
        expected = (values[0] - values[1]) / 2e-6
        assert (slope.numpy() * direction).sum() == pytest.approx(expected, rel=1e-6, abs=1e-6)


@KINDS
@pytest.mark.parametrize("settings", [{}, {"is_reverse": True, "lengths": [6, 2, 3]}])
def test_gradients_of_gradients(kind, settings):
    cell, stepwise = made(kind)
    tensors = inputs(kind)
    leaves = [*tensors, *cell.parameters()]
    found = []
    for one in (cell, stepwise):
        given = dict(settings)
        if settings:
            given["lengths"] = rt.to_tensor(settings["lengths"])
        scaled = [tensor * tensor for tensor in tensors]  # made of others, where the walk must end
        first = grad(weighted(run(one, *scaled, **given)), leaves, create_graph=True)
        found.append(grad(sum((slope * slope).sum() for slope in first), leaves))
    compare(*found, 1e-9)


def test_only_what_wants_gradients_gets_them_and_twice_if_the_graph_is_kept():
    cell, _ = made("lstm")
    x, h, c = inputs("lstm")
    x.stop_gradient = h.stop_gradient = True
    cell.bias_ih.stop_gradient = True
    outputs, last, _ = run(cell, x, h, c)
    last.sum().backward(retain_graph=True)
    once = cell.weight_hh.grad.numpy()
    last.sum().backward()
    np.testing.assert_allclose(cell.weight_hh.grad.numpy(), 2 * once)
    assert x.grad is None and cell.bias_ih.grad is None and outputs.grad is None
    with pytest.raises(RuntimeError, match="freed"):
        last.sum().backward()
    with no_grad():
        assert all(one.stop_gradient for one in run(cell, x, h, c))


def test_weights_that_cells_and_states_share_get_the_sum():
    cell, stepwise = made("gru")
    shared = rt.to_tensor(RNG.normal(size=(3, 5)), stop_gradient=False)
    x, _ = inputs("gru")
    found = []
    for one in (cell, stepwise):
        pair = nn.BiRNN(one, one)
        outputs, states = pair(x, (shared, shared))
        found.append(grad(weighted([outputs, *states]), [shared, *cell.parameters()]))
    compare(*found, 1e-12)


def test_hooks_and_settings_of_a_cell_see_every_step():
    cell, stepwise = made("tanh")
    x, h = inputs("tanh")
    seen = []
    remover = cell.register_forward_post_hook(lambda layer, given, results: seen.append(given))
    run(cell, x, h)
    assert len(seen) == 6
    remover.remove()
    run(cell, x, h)
    assert len(seen) == 6
    cell.forward = lambda x, state: (state, state)
    assert (run(cell, x, h)[1].numpy() == h.numpy()).all()
    del cell.forward
    cell.activation = stepwise.activation = "sigmoid"
    compare(run(cell, x, h), run(stepwise, x, h), 1e-12)


def test_a_state_for_all_samples_and_other_dtypes_go_step_by_step():
    cell, _ = made("gru", "float32")
    x, h = inputs("gru", "float32")
    one = rt.to_tensor(h.numpy()[:1])
    expected = run(cell, x, rt.to_tensor(np.repeat(one.numpy(), 3, 0)))
    compare(run(cell, x, one), expected, 1e-5)
    with amp.auto_cast(level="O2", dtype="bfloat16"):
        outputs, _ = run(cell, x, h)
    assert not isinstance(outputs.grad_fn, SequenceNode)
    empty, last = run(cell, rt.to_tensor(np.zeros((3, 0, 4), "float32")), h)
    assert empty.shape == [3, 0, 5] and (last.numpy() == h.numpy()).all()


@KINDS
def test_gates_far_from_zero_warn_of_nothing(kind):
    cell, stepwise = made(kind, "float32")
    tensors = inputs(kind, "float32")
    tensors[0] = rt.to_tensor(tensors[0].numpy() * 1000, stop_gradient=False)
    found, slopes = gradients(cell, tensors)
    expected, expected_slopes = gradients(stepwise, tensors)
    if kind != "relu":  # its states grow
        compare(found, expected, 1e-5)
        compare(slopes, expected_slopes, 1e-2)
