"""Who sets a variable of a module says so first; nothing else changes."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import pytest

import dy2st
from dy2st.jit import save, to_static
from dy2st.static import InputSpec
from tests.dy2st.transpiler.same import traced

settings = ModuleType("settings")
settings.inner = ModuleType("settings.inner")
thing = SimpleNamespace()


def of_a_module():
    settings.scale = 1
    settings.inner.scale += 1
    del settings.scale
    for settings.scale in (1, 2):
        pass


def test_without_a_trace_it_is_as_in_python():
    settings.inner.scale = 4
    traced(of_a_module)()
    assert (settings.scale, settings.inner.scale) == (2, 5)


def test_every_call_sets_or_deletes_the_variable():
    def f(x):
        settings.latest = x * 2
        if x.sum() > 3:
            del settings.latest
        return x

    static = to_static(f)
    for values in ([1.0], [2.0], [4.0], [1.0]):
        static(dy2st.to_tensor(values))
        is_set = hasattr(settings, "latest")
        assert is_set == (values[0] <= 3)
        assert not is_set or settings.latest.tolist() == [values[0] * 2]


def test_a_value_that_is_read_and_set_is_read_anew_at_every_call():
    def f(x):
        settings.calls += 1
        return x * settings.calls

    settings.calls = 0
    static = to_static(f)
    assert [static(dy2st.to_tensor([1.0])).tolist() for _ in range(3)] == [[1.0], [2.0], [3.0]]


def test_a_program_that_is_saved_sets_nothing(tmp_path):
    def f(x):
        settings.latest = x * 2
        return x

    static = to_static(f, input_spec=[InputSpec([1], "float32", "x")])
    with pytest.raises(dy2st.errors.ConversionError, match="assigns `latest`"):
        save(static, str(tmp_path / "model"))
