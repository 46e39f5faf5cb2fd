"""What C code and libraries read of the process is asked again, or the call is traced each time."""

from __future__ import annotations

import gc
import os
import re
import sys

import pytest

import dy2st
from dy2st.jit import to_static

X = dy2st.ones([2])


class Named(list):
    pass


def test_what_is_told_is_asked_again():
    static = to_static(lambda x: x * 2 if gc.isenabled() else x * 3)
    assert [float(static(X)[0]), float(static(X)[0])] == [2.0, 2.0]
    assert len(static.program_cache) == 1
    gc.disable()
    try:
        assert float(static(X)[0]) == 3.0
    finally:
        gc.enable()


def test_other_names_of_the_environment_count_for_nothing(monkeypatch):
    monkeypatch.setenv("DY2ST_A", "2")
    static = to_static(lambda x: x * float(os.environ["DY2ST_A"]))
    static(X)
    monkeypatch.setenv("DY2ST_B", "3")
    static(X)
    assert len(static.program_cache) == 1
    monkeypatch.setenv("DY2ST_A", "5")
    assert float(static(X)[0]) == 5.0


def test_what_a_function_without_source_names_is_noticed():
    scope = {"level": 2.0}
    exec("def level_of():\n    return level", scope)
    static = to_static(lambda x: x * scope["level_of"]())
    static(X)
    static(X)
    assert len(static.program_cache) == 1
    scope["level"] = 3.0
    assert float(static(X)[0]) == 3.0


def test_a_function_that_reads_by_texts_is_traced_at_each_call():
    scope, name = {"level": 2.0}, "el"
    static = to_static(lambda x: x * eval("lev" + name, scope))
    static(X)
    scope["level"] = 3.0
    with pytest.warns(UserWarning, match=r"is not traced, and calls eval\(\)"):
        assert float(static(X)[0]) == 3.0


def test_what_a_callback_of_c_code_reads_is_noticed():
    level = [2.0]
    static = to_static(lambda x: x * float(re.sub("a", lambda _: str(level[0]), "a")))
    static(X)
    level[0] = 3.0
    assert float(static(X)[0]) == 3.0


@pytest.mark.filterwarnings("ignore:.* is traced anew for every call")
def test_variables_of_the_environment_that_the_code_sets_are_there():
    def run():
        os.environ["HOME"], os.environ["DY2ST_HELD"] = "/there", "a"
        found = os.environ.get("DY2ST_HELD"), os.getenv("DY2ST_HELD"), os.environ["DY2ST_HELD"]
        del os.environ["DY2ST_HELD"]
        return found, "DY2ST_HELD" in os.environ, os.path.expanduser("~/x")

    before = dict(os.environ)
    try:
        static = to_static(run)
        assert static() == static() == run() == (("a", "a", "a"), False, "/there/x")
        assert os.environ["HOME"] == "/there" and "DY2ST_HELD" not in os.environ
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_breakpoint_calls_the_hook_that_the_code_has_set():
    def f(x):
        stops = []
        hook, sys.breakpointhook = sys.breakpointhook, lambda *args: stops.append(args)
        breakpoint(1)
        sys.breakpointhook = hook
        return x * len(stops), stops

    result, stops = to_static(f)(X)
    assert float(result[0]) == 1.0
    assert stops == [(1,)]
    assert sys.breakpointhook is sys.__breakpointhook__
