"""Large Programs are compiled in the background, while NumPy computes them."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine.xla.table import LOWERINGS
from dy2st_runtime.ir import F
from tests.runtime.engine.xla.test_meaning import compiled_of, program_of

pytest.importorskip("jax", reason="the engine xla needs jax: pip install 'dy2st[jax]'")

X = np.linspace(0, 1, 30)


@pytest.fixture
def executable(monkeypatch):
    monkeypatch.setattr("dy2st_runtime.engine.xla.compilation.MANY", 2)
    return engine.compile(program_of(lambda x: F.exp(F.sin(x) * 2.0), X), "xla")


def test_numpy_computes_until_xla_does(executable):
    (first,) = executable.run([X], [])
    assert first.tobytes() == np.exp(np.sin(X) * 2).tobytes()
    assert executable.wait(300)
    (then,) = executable.run([X], [])
    np.testing.assert_allclose(then, first, 1e-12)
    assert executable.wait()


def test_without_a_background_the_first_call_compiles(monkeypatch, executable):
    monkeypatch.setenv("DY2ST_XLA_BACKGROUND", "off")
    (found,) = executable.run([X], [])
    assert not compiled_of(executable)[0]._compiling
    np.testing.assert_allclose(found, np.exp(np.sin(X) * 2), 1e-12)


def test_a_part_that_jax_cannot_compile_is_said_once_and_computed(monkeypatch, executable):
    monkeypatch.setitem(LOWERINGS, "exp", lambda x: 1 / 0)
    with pytest.warns(RuntimeWarning, match="xla' could not compile a part.*ZeroDivisionError"):
        executable.run([X], [])
        assert not executable.wait(300)
        executable.run([X], [])
    assert np.allclose(executable.run([X], [])[0], np.exp(np.sin(X) * 2))
