"""Who names no engine gets the best one, everywhere, and results that are right all the time."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import dy2st
import dy2st_runtime
from dy2st import nn, to_static
from dy2st.static import InputSpec, bucket
from dy2st_runtime import engine
from dy2st_runtime.engine import background
from dy2st_runtime.engine.background import Background
from dy2st_runtime.engine.native.executable import Executable

LONGEST = 60


@pytest.fixture(autouse=True)
def best_engine(monkeypatch):
    """The default of users, where a first call is worth to be compiled."""
    monkeypatch.delenv("DY2ST_ENGINE", raising=False)
    monkeypatch.setattr(engine, "DEFAULT", "auto")
    monkeypatch.setattr(background, "_WORTH", 0.0)
    monkeypatch.setattr(background, "_WORTH_AN_OPERATOR", 0.0)


def steps(x):
    return (x * 2.0 + 1.0).tanh()


def test_calls_change_to_machine_code_and_give_the_same():
    static, x = to_static(steps), dy2st.linspace(-1, 1, 50)
    want = steps(x)
    for _ in range(3):
        np.testing.assert_allclose(static(x), want, rtol=2e-5, atol=1e-6)
    executable = static.concrete_program.executable
    assert isinstance(executable, Background) and executable.wait(LONGEST)
    for _ in range(3):
        np.testing.assert_allclose(static(x), want, rtol=2e-5, atol=1e-6)
    assert static.concrete_program.straight is not None


@pytest.fixture
def gate(monkeypatch):
    """No code is made before the gate is set."""
    gate = threading.Event()

    def made(program):
        assert gate.wait(LONGEST)
        return Executable(program)

    monkeypatch.setattr(background, "native", SimpleNamespace(Executable=made))
    yield gate
    gate.set()


def test_report_says_what_is_compiled_now(gate):
    static = to_static(steps)
    static(dy2st.ones([2]))
    static(dy2st.ones([2]))
    assert "steps: machine code is being compiled in the background, for" in str(static.report())
    gate.set()
    assert static.concrete_program.executable.wait(LONGEST)
    assert "compiled" not in str(static.report())


def test_both_halves_of_training_change():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = dy2st.ones([2, 3])
    net(x).sum().backward()
    wants = [parameter.grad.numpy() for parameter in net.parameters()]
    to_static(net)
    for _ in range(2):
        for _ in range(3):
            net.clear_gradients()
            net(x).sum().backward()
            for parameter, want in zip(net.parameters(), wants, strict=True):
                np.testing.assert_allclose(parameter.grad, want, rtol=1e-4, atol=1e-6)
        concrete = net.forward.concrete_program
        halves = concrete._trained.executables()
        assert [half.wait(LONGEST) for half in halves] == [True, True], [h.status for h in halves]


def test_a_loaded_model_changes_in_both_packages(tmp_path):
    static = to_static(steps, input_spec=[InputSpec(["n"])])
    dy2st.jit.save(static, str(tmp_path / "net"))
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    for model in (dy2st.jit.load(str(tmp_path / "net")), dy2st_runtime.load(tmp_path / "net")):
        found = [model(x) for _ in range(3)]
        (method,) = model._methods.values()
        assert method._executable.wait(LONGEST)
        found.append(model(x))
        for one in found:
            np.testing.assert_allclose(one, np.tanh(x * 2 + 1), rtol=2e-5)


def test_buckets_and_passes_change():
    x = dy2st.linspace(-1, 1, 3)
    dispatched = bucket(to_static(steps, input_spec=[InputSpec(["n"])]), n=[4])
    improved = to_static(steps, build_strategy="inference")
    for function in (dispatched, improved):
        for _ in range(3):
            np.testing.assert_allclose(function(x), steps(x), rtol=2e-5)
    assert all(one.wait(LONGEST) for one in dispatched._made.values())
    assert improved.concrete_program.optimized.executable.wait(LONGEST)
    np.testing.assert_allclose(dispatched(x), steps(x), rtol=2e-5)
    np.testing.assert_allclose(improved(x), steps(x), rtol=2e-5)


def test_errors_of_a_call_are_the_same_before_and_after():
    @to_static(input_spec=[InputSpec(["n"]), InputSpec([1], "int64")])
    def taken(x, place):
        return x[place]

    x, place = dy2st.ones([3]), dy2st.to_tensor([7])
    messages = []
    for _ in range(2):
        with pytest.raises(IndexError) as caught:
            taken(x, place)
        messages.append(str(caught.value))
        assert taken.concrete_program.executable.wait(LONGEST)
    assert messages[0] == messages[1]


def test_an_engine_that_is_named_comes_before(monkeypatch):
    named = to_static(steps, engine="numpy")
    named(dy2st.ones([2]))
    assert not isinstance(named.concrete_program.executable, Background)
    monkeypatch.setenv("DY2ST_ENGINE", "numpy")
    by_environment = to_static(steps)
    by_environment(dy2st.ones([2]))
    assert not isinstance(by_environment.concrete_program.executable, Background)
