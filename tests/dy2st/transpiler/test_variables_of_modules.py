"""Who sets a variable of a module says so first; nothing else changes."""

from __future__ import annotations

import os
from types import ModuleType, SimpleNamespace

import pytest

import dy2st
from dy2st.convert import convert_call
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import save, to_static
from dy2st.static import InputSpec
from dy2st.transpiler import transpile

settings = ModuleType("settings")
settings.inner = ModuleType("settings.inner")
thing = SimpleNamespace()


def of_a_module():
    settings.scale = 1
    settings.inner.scale += 1
    del settings.scale
    for settings.scale in (1, 2):
        pass


def of_a_local_import():
    import json as own

    own.scale = 1


def of_globals(name):
    globals()["scale"] = 1
    globals()[name + "s"] = 2
    vars(settings)[name] = 3
    os.environ[name] = "4"


def of_objects(settings):
    settings.scale = 1
    thing.scale = 2
    thing.table[0] = 3


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            of_a_module,
            [
                "settings, 'scale'",
                "settings.inner, 'scale'",
                "settings, 'scale'",
                "settings, 'scale'",
            ],
        ),
        (of_a_local_import, ["own, 'scale'"]),
        (
            of_globals,
            ["globals(), 'scale'", "globals()", "vars(settings), name", "os.environ, name"],
        ),
        (of_objects, []),
    ],
)
def test_each_variable_of_a_module_is_said_before_it_is_set(function, said):
    lines = transpile(function).code.splitlines()
    found = [line.strip() for line in lines if "convert_module_variable" in line]
    plain = [line.replace("convert_call(globals)", "globals") for line in found]
    plain = [line.replace("convert_call(vars)", "vars") for line in plain]
    assert plain == [f"convert_module_variable({words})" for words in said]


def test_without_a_trace_it_is_as_in_python():
    settings.inner.scale = 4
    convert_call(of_a_module)()
    assert (settings.scale, settings.inner.scale) == (2, 5)


def test_a_computed_name_has_no_place_in_a_program():
    def f(x, name):
        globals()[name + "s"] = x
        return x

    with pytest.raises(UnsupportedSyntax, match="whose name is computed"):
        to_static(f)(dy2st.to_tensor([1.0]), "latest")


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
