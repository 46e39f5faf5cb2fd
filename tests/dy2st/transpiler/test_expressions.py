# ruff: noqa
"""Operators, calls, displays, f-strings: each operand is evaluated once and in order."""

from __future__ import annotations

from tests.dy2st.transpiler.same import same


def test_a_walrus_binds_a_global_and_a_free_variable():
    z = 1

    def f(x):
        global WALRUS
        nonlocal z
        total = (WALRUS := x) + (z := x + 1)
        return total, WALRUS, z

    same(f, (1,))
    del globals()["WALRUS"]


def test_imports_into_globals_and_captured_variables():
    def f():
        global math
        import math
        import os.path
        from os import sep

        get = lambda: (os.path.sep, sep)
        return math.pi, get()

    same(f)
    del globals()["math"]
