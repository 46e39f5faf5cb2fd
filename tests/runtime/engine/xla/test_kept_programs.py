"""State that lies on the devices is what it is on the host, whatever one does beside the steps."""

from __future__ import annotations

import signal
import sys
import threading

import numpy as np
import pytest

import dy2st
from dy2st import nn, optimizer, to_static
from tests.effort import effort
from tests.runtime.engine.xla.kept_programs import check

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")


@pytest.fixture(autouse=True)
def by_default(monkeypatch):
    monkeypatch.delenv("DY2ST_XLA_REUSE", raising=False)


@pytest.mark.parametrize("seed", range(effort(1, 25)))
def test_a_random_sequence_is_that_of_numpy(seed):
    check(seed)


def counting():
    """A step that adds 1 to all elements of two parameters, and begins to be compiled."""
    net = nn.Linear(16, 16)
    with dy2st.no_grad():
        net.weight.zero_(), net.bias.zero_()
    best = optimizer.SGD(1.0, parameters=net.parameters())

    @to_static(engine="xla")
    def step():
        loss = -(net.weight.sum() + net.bias.sum())
        loss.backward()
        best.step()
        best.clear_grad()
        return loss

    for _ in range(3):
        step()
    return net, step


def test_other_threads_read_what_some_step_has_left():
    net, step = counting()
    counts, errors, is_over = [], [], threading.Event()

    def read():
        try:
            while not is_over.is_set():
                weight, bias = net.weight.numpy(), net.bias.numpy()
                for one in (weight, bias):
                    assert one.min() == one.max() == int(one.max()) >= 3
                assert bias.max() >= weight.max() - 1  # read later
                counts.append(1)
        except Exception as error:  # shown below
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for one in readers:
            one.start()
        for _ in range(effort(200, 3000)):
            step()
    finally:
        is_over.set()
        for one in readers:
            one.join()
        sys.setswitchinterval(before)
    assert not errors and counts
    assert (net.weight.numpy() == 3 + effort(200, 3000)).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_steps_go_on_after_interrupts():
    def interrupt(*_):
        raise KeyboardInterrupt

    net, step = counting()
    random, count, interrupted = np.random.default_rng(5), effort(100, 2000), 0
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(count):
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 2e-3))
                step()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    weight, bias = net.weight.numpy(), net.bias.numpy()
    step()
    assert interrupted
    for before, after in ((weight, net.weight.numpy()), (bias, net.bias.numpy())):
        assert 3 + count - interrupted <= before.min() == before.max() <= 3 + count
        np.testing.assert_array_equal(after, before + 1)


def test_an_output_that_a_buffer_becomes_by_numpy_is_an_array_of_its_own(tmp_path):
    class Counts(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", dy2st.zeros([3]))

        def forward(self, x):
            self.seen = dy2st.bincount(x, minlength=3)[:3].astype("float32")
            return self.seen

    dy2st.jit.save(Counts(), str(tmp_path / "net"), [dy2st.static.InputSpec([None], "int64")])
    loaded = dy2st.jit.load(str(tmp_path / "net"), engine="xla")
    first = loaded(dy2st.to_tensor([0, 2, 2]))
    kept = first.numpy()
    second = loaded(dy2st.to_tensor([1]))
    assert first.tolist() == kept.tolist() == [1, 0, 2] and second.tolist() == [0, 1, 0]
    assert loaded.state_dict()["seen"].tolist() == [0, 1, 0]
