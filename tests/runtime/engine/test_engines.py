"""Engines are chosen by name: ours, registered ones, and those of installed packages."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata, util
from types import SimpleNamespace

import numpy as np
import pytest

from dy2st_runtime import engine, io, ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ArgumentError, EngineError, ShapeError, SpecError
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.program import Output
from dy2st_runtime.tensor import EagerTensor, to_tensor
from tests import recorded


def program_of(function, *shapes):
    """The Program of a function on float32 Variables."""
    program = recorded.program_of(function, *[("float32", shape) for shape in shapes])
    program.structure = Output(0)
    return program


class Interpreting(engine.Runner):
    """Runs a Program by its meaning; knows how often it ran."""

    runs = 0

    def compute(self, inputs, state):
        self.runs += 1
        outputs, updates = interpret(self.program, [EagerTensor(x) for x in inputs], {})
        return [result.array for result in (*outputs, *updates.values())]


def doubling():
    return program_of(lambda x: x * 2.0, (symbol("n"),))


@pytest.fixture(autouse=True)
def own_table(monkeypatch):
    monkeypatch.delenv("DY2ST_ENGINE", raising=False)
    monkeypatch.setattr(engine, "ENGINES", dict(engine.ENGINES))


def offer(monkeypatch, **places):
    """Let there be a package whose entry points are these."""
    entries = [metadata.EntryPoint(name, at, engine.GROUP) for name, at in places.items()]
    monkeypatch.setattr(
        engine,
        "metadata",
        SimpleNamespace(entry_points=lambda group: entries * (group == engine.GROUP)),
    )


def hide(monkeypatch, *modules):
    """Let these modules be missing."""

    def find_spec(name):
        return None if name in modules else util.find_spec(name)

    monkeypatch.setattr(engine, "import_util", SimpleNamespace(find_spec=find_spec))


def test_without_a_name_a_program_gets_the_best_engine(monkeypatch):
    monkeypatch.setattr(engine, "DEFAULT", "auto")
    assert type(engine.compile(doubling())) is type(engine.compile(doubling(), "auto"))


def test_in_tests_numpy_runs_a_program_where_no_engine_is_named():
    assert type(engine.compile(doubling())) is type(engine.compile(doubling(), "numpy"))


def test_a_registered_engine_is_chosen_by_its_name():
    engine.register_engine("meaning", Interpreting)
    executable = engine.compile(doubling(), "meaning")
    assert executable.run([np.ones(3, np.float32)], [])[0].tolist() == [2, 2, 2]
    assert executable.runs == 1


def test_an_engine_that_fails_says_so():
    def fails(program):
        raise KeyError("n")

    engine.register_engine("failing", fails)
    with pytest.raises(EngineError, match="the engine 'failing' cannot compile .*KeyError: 'n'"):
        engine.compile(doubling(), "failing")


def test_the_environment_names_the_engine_where_nobody_else_does(monkeypatch):
    engine.register_engine("meaning", Interpreting)
    monkeypatch.setenv("DY2ST_ENGINE", "meaning")
    assert isinstance(engine.compile(doubling()), Interpreting)
    assert not isinstance(engine.compile(doubling(), "numpy"), Interpreting)


def test_the_engine_of_an_entry_point_is_loaded_when_it_is_chosen(monkeypatch):
    offer(monkeypatch, abroad="dy2st_runtime.engine.numpy.executable:compile_program")
    assert engine.names() == ["abroad", "auto", "native", "numpy", "onnxruntime", "xla"]
    (result,) = engine.compile(doubling(), "abroad").run([np.ones(2, np.float32)], [])
    assert result.tolist() == [2, 2]


def test_an_unknown_name_is_refused_with_those_there_are(monkeypatch):
    offer(monkeypatch, abroad="somewhere:compile_program")
    with pytest.raises(ArgumentError) as caught:
        engine.compile(doubling(), "nmpy")
    assert str(caught.value) == "there is no engine 'nmpy'; did you mean 'numpy'?"
    with pytest.raises(ArgumentError) as caught:
        engine.compile(doubling(), "other")
    known = "abroad, auto, native, numpy, onnxruntime, xla"
    assert str(caught.value) == f"there is no engine 'other'; there are {known}"


def test_an_unknown_name_in_the_environment_is_said_to_be_there(monkeypatch):
    monkeypatch.setenv("DY2ST_ENGINE", "nmpy")
    with pytest.raises(
        ArgumentError, match="'nmpy', which DY2ST_ENGINE names; did you mean 'numpy'"
    ):
        engine.compile(doubling())


@pytest.mark.parametrize("name", [7, "", ["numpy"]])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ArgumentError, match="there is no engine"):
        engine.check_name(name)


@pytest.mark.parametrize(
    ("name", "needed", "extra"), [("native", "llvmlite", "native"), ("xla", "jax", "jax")]
)
def test_an_engine_whose_extra_is_missing_says_how_to_install_it(monkeypatch, name, needed, extra):
    hide(monkeypatch, needed)
    with pytest.raises(ArgumentError) as caught:
        engine.compile(doubling(), name)
    assert str(caught.value) == (
        f"the engine '{name}' needs {needed}, which is not installed: pip install 'dy2st[{extra}]', "
        "or take the engine 'numpy'"
    )


def test_no_engine_is_loaded_before_it_is_named():
    code = (
        "import sys, dy2st, dy2st_runtime.engine as engine; engine.names(); "
        "import dy2st_runtime.engine.xla.executable; assert not {'jax', 'llvmlite'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_engine_that_cannot_be_imported_says_why(monkeypatch):
    offer(monkeypatch, abroad="no_such_package.inside:compile_program")
    with pytest.raises(ArgumentError, match="'abroad' cannot be loaded from no_such.*No module"):
        engine.compile(doubling(), "abroad")


def test_a_name_is_taken_once():
    engine.register_engine("meaning", Interpreting)
    engine.register_engine("meaning", Interpreting)
    for name in ("meaning", "numpy", "auto"):
        with pytest.raises(ArgumentError, match=f"there is an engine {name!r} already"):
            engine.register_engine(name, engine.Runner)


def test_results_of_a_runner_share_no_memory_with_what_is_given():
    executable = Interpreting(program_of(lambda x: (x, x.reshape([-1]), x + 1.0), (2, 2)))
    x = np.ones((2, 2), np.float32)
    results = executable.run([x], [])
    assert not any(np.shares_memory(x, result) for result in results)
    assert executable.run([x], [], as_is=(0,))[0] is x


def test_a_runner_explains_a_program_by_its_operators():
    assert Interpreting(doubling()).explain().startswith("multiply  (line ")


def test_a_runner_refuses_what_does_not_fit():
    n = symbol("n")
    executable = Interpreting(program_of(lambda x, y: x + y, (n,), (2,)))
    with pytest.raises(SpecError):
        executable.run([np.ones(2, np.float32)], [])
    with pytest.raises(ShapeError):
        executable.run([np.ones(3, np.float32), np.ones(2, np.float32)], [])
    assert [executable.takes_shapes([(size,), (2,)]) for size in (2, 3)] == [True, False]


def test_a_loaded_model_runs_on_the_engine_that_is_named(tmp_path):
    engine.register_engine("meaning", Interpreting)
    io.save_programs(tmp_path / "net", {"forward": doubling()}, {})
    model = io.load(tmp_path / "net", engine="meaning")
    assert model(to_tensor([1.0])).tolist() == [2]
    assert isinstance(model._methods["forward"]._executable, Interpreting)
    with pytest.raises(ArgumentError, match="no engine 'other'"):
        io.load(tmp_path / "net", engine="other")


def test_gradients_of_a_loaded_model_are_computed_by_its_engine(tmp_path):
    engine.register_engine("meaning", Interpreting)
    io.save_programs(tmp_path / "net", {"forward": program_of(ops.tanh, (symbol("n"),))}, {})
    model = io.load(tmp_path / "net", engine="meaning")
    x = to_tensor([0.5], stop_gradient=False)
    model(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 - np.tanh(0.5) ** 2, rtol=1e-6)
    (parts,) = model._methods["forward"]._trained._parts.values()
    (second,) = parts._second.values()
    assert isinstance(parts._executable, Interpreting) and isinstance(second[1], Interpreting)


def test_no_engine_is_loaded_before_a_program_is_compiled():
    code = (
        "import sys, dy2st_runtime; from dy2st_runtime import engine; "
        "engine.check_name('native'); "
        "loaded = [n for n in sys.modules if n.startswith(('llvm', 'importlib.meta'))]; "
        "engines = [n for n in sys.modules if 'engine.' in n]; "
        "print(*loaded, *engines)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
