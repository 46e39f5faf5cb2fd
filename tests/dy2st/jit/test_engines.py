"""to_static, its methods, saved models and buckets run on the engine that is named."""

from __future__ import annotations

import pickle

import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.static import InputSpec, bucket
from dy2st_runtime import engine
from dy2st_runtime.errors import ArgumentError

COUNTS = {}


def counted(program):
    """NumPy's engine; counts what it compiles."""
    COUNTS[program.name] = COUNTS.get(program.name, 0) + 1
    return engine.find("numpy")(program)


@pytest.fixture(autouse=True)
def counts(monkeypatch):
    monkeypatch.delenv("DY2ST_ENGINE", raising=False)
    monkeypatch.setattr(engine, "ENGINES", {**engine.ENGINES, "counted": counted})
    COUNTS.clear()
    return COUNTS


def made_net():
    """A Layer whose method names the engine, which must be there by then."""

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        @to_static(engine="counted")
        def forward(self, x):
            return self.fc(x)

    return Net()


def double(x):
    return x * 2.0


def test_a_function_runs_on_the_engine_that_is_named(counts):
    to_static(double, engine="counted")(dy2st.ones([2]))
    assert counts == {"double": 1}


def test_a_method_runs_on_the_engine_of_its_decorator(counts):
    with dy2st.no_grad():
        made_net()(dy2st.ones([1, 2]))
    assert counts["forward"] == 1


def test_both_halves_of_training_run_on_it(counts):
    net = made_net()
    for _ in range(3):
        net(dy2st.ones([1, 2])).sum().backward()
    assert sum(counts.values()) >= 2


def test_what_is_only_trained_is_compiled_once_for_each_half(counts):
    net = made_net()
    for _ in range(4):
        net(dy2st.ones([1, 2])).sum().backward()
    assert sum(counts.values()) == 2


def test_what_passes_make_runs_on_it(counts):
    to_static(double, engine="counted", build_strategy="inference")(dy2st.ones([2]))
    assert counts == {"double": 1}


def test_converting_again_keeps_the_engine_unless_another_is_named(counts):
    once = to_static(double, engine="counted")
    assert to_static(once).engine == "counted"
    assert to_static(once, engine="numpy").engine == "numpy"
    net = to_static(nn.Linear(2, 2), engine="counted")
    assert to_static(net).forward.engine == "counted"


def test_a_pickled_layer_keeps_the_engine(counts):
    net = pickle.loads(pickle.dumps(to_static(nn.Linear(2, 2), engine="counted")))
    with dy2st.no_grad():
        net(dy2st.ones([1, 2]))
    assert counts["forward"] == 1


def test_a_name_that_no_engine_has_is_refused_at_once():
    with pytest.raises(
        ArgumentError,
        match="no engine 'nmpy'; did you mean 'numpy'",
    ):
        to_static(double, engine="nmpy")
    with pytest.raises(ArgumentError, match="no engine 'nmpy'"):
        to_static(engine="nmpy")


def test_the_environment_is_read_when_a_program_is_compiled(counts, monkeypatch):
    function = to_static(double)
    monkeypatch.setenv("DY2ST_ENGINE", "counted")
    function(dy2st.ones([2]))
    monkeypatch.setenv("DY2ST_ENGINE", "nmpy")
    function(dy2st.ones([2]))
    assert counts == {"double": 1}


def test_backend_of_paddle_chooses_no_engine(counts):
    for backend in (None, "CINN"):
        to_static(double, backend=backend, engine="counted")(dy2st.ones([2]))
    assert counts == {"double": 2}


def test_buckets_run_on_the_engine_of_their_function_or_their_own(counts):
    spec = [InputSpec(["n"], "float32")]
    static = to_static(double, input_spec=spec, engine="counted")
    bucket(static, n=[4])(dy2st.ones([3]))
    assert counts == {"double": 1}
    bucket(static, n=[4], engine="numpy")(dy2st.ones([3]))
    assert counts == {"double": 1}
    bucket(static.main_program, n=[4], engine="counted")(dy2st.ones([3]))
    assert counts == {"double": 2}


def test_a_loaded_model_runs_on_the_engine_that_is_named(counts, tmp_path):
    dy2st.jit.save(to_static(double, input_spec=[InputSpec([2])]), str(tmp_path / "net"))
    counts.clear()
    dy2st.jit.load(str(tmp_path / "net"), engine="counted")(dy2st.ones([2]))
    assert counts == {"forward": 1}
    named = {"model_filename": "net.mlir", "engine": "counted"}
    dy2st.jit.load(str(tmp_path), **named)(dy2st.ones([2]))
    assert counts == {"forward": 2}
