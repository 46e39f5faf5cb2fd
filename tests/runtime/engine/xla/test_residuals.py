"""What a forward half keeps for the backward one stays on the device."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st_runtime.engine.xla import executable
from dy2st_runtime.engine.xla.compilation import Compiled

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")


def test_what_the_backward_half_reads_stays_where_it_is(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "xla")
    moved, run = [], Compiled.__call__

    def note(self, arguments, *rest):
        moved.extend(one.shape for one in arguments if isinstance(one, np.ndarray))
        return run(self, arguments, *rest)

    monkeypatch.setattr(Compiled, "__call__", note)
    net = to_static(nn.Sequential(nn.Linear(4, 7), nn.Tanh(), nn.Linear(7, 1)))
    for seed in range(2):
        x = dy2st.to_tensor(np.random.default_rng(seed).random((5, 4), "float32"))
        (net(x) ** 2).mean().backward()
    assert (5, 4) in moved
    assert (5, 7) not in moved  # what tanh gave


def test_parameters_of_a_layer_that_is_called_in_halves_are_moved_once(monkeypatch):
    moved, run = [], Compiled.__call__

    def note(self, arguments, *rest):
        moved.extend(one.shape for one in arguments if isinstance(one, np.ndarray))
        return run(self, arguments, *rest)

    net = nn.Sequential(nn.Linear(4, 7), nn.BatchNorm1D(7), nn.Tanh(), nn.Linear(7, 1))
    static = to_static(net, engine="xla")
    x = dy2st.to_tensor(np.random.default_rng(0).random((5, 4), "float32"))

    def gradient():
        (static(x) ** 2).mean().backward()
        found = net[0].weight.grad.numpy()
        net[0].weight.clear_grad()
        return found

    first = [gradient() for _ in range(3)][-1]
    monkeypatch.setattr(Compiled, "__call__", note)
    sent, put = [], executable.put
    monkeypatch.setattr(executable, "put", lambda a, w: sent.append(a.shape) or put(a, w))
    np.testing.assert_array_equal(gradient(), first)
    assert set(moved) == {(5, 4), (5, 1)}  # the input, and the gradient of the output
    assert sent == [(7,), (7,)]  # the means and variances that each call changes
    net[0].weight.set_value(net[0].weight * 2)
    assert not np.array_equal(gradient(), first)
