"""A function's tree is found in its own file, or refused."""

# ruff: noqa: E731 - lambdas are what is looked for

from __future__ import annotations

import ast
import linecache

import pytest

from dy2st.transpiler.source import find_source
from dy2st_runtime.errors import SourceUnavailable


def test_lambdas_on_one_line_are_told_apart(convert):
    first, second, third = lambda x: x and 1, lambda x: x or 2, lambda y: not y
    assert [convert(f)(0) for f in (first, second, third)] == [0, 2, True]


def test_a_lambda_over_several_lines_is_found(convert):
    function = (
        lambda x: [
            v
            for v in x
            if v and v > 1
        ]
    )  # fmt: skip
    assert convert(function)([0, 1, 2]) == [2]


def test_a_function_without_a_file_is_refused():
    namespace: dict[str, object] = {}
    exec("def f(x):\n    return x\n", namespace)
    with pytest.raises(SourceUnavailable, match="source of f is not available"):
        find_source(namespace["f"])


def test_a_file_that_changed_is_refused(tmp_path):
    file = tmp_path / "changing.py"
    text = "def f(x):\n    return x\n"
    file.write_text("def g(a, b):\n    return a\n")
    namespace: dict[str, object] = {}
    exec(compile(text, str(file), "exec"), namespace)
    with pytest.raises(SourceUnavailable, match="its text has changed"):
        find_source(namespace["f"])


def test_methods_of_two_classes_with_equal_text_keep_their_classes(convert):
    def make(base):
        class One(base):
            def get(self):
                return super().get() if self else None

        return One

    class A:
        def get(self):
            return "A"

    class B:
        def get(self):
            return "B"

    first, second = make(A), make(B)
    assert convert(first.get)(first()) == "A"
    assert convert(second.get)(second()) == "B"


def test_a_lambda_without_places_is_told_from_its_neighbour_by_its_code():
    text = "def pair(): return [lambda: 'one', lambda: len('two')]\n"
    linecache.cache["<pair>"] = (len(text), None, [text], "<pair>")
    namespace: dict[str, object] = {"__name__": "pair"}
    exec(compile(text, "<pair>", "exec"), namespace)
    first, second = namespace["pair"]()
    assert ast.dump(find_source(first).node.body) == "Constant(value='one')"
    assert isinstance(find_source(second).node.body, ast.Call)


def test_a_lambda_inside_of_another_is_the_inner_one():
    outer = lambda: lambda: 9.0
    assert isinstance(find_source(outer).node.body, ast.Lambda)
    assert isinstance(find_source(outer()).node.body, ast.Constant)
