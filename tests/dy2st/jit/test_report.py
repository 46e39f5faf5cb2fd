"""StaticFunction.report(): nothing is left as Python without a word."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import dy2st

X = np.ones(3, "float32")


def helper(x, n):
    if n > 2:
        return x * n
    return x


@dy2st.jit.not_to_static
def marked(x):
    return x + 1


def of(function, *arguments):
    """The report after one call, by name."""
    static = dy2st.to_static(function)
    static(*arguments)
    return {entry.name.rpartition(".")[2]: entry for entry in static.report().functions}


def test_converted_functions_stand_with_name_file_and_line():
    def f(x):
        return helper(x, 1)

    report = of(f, X)
    assert list(report) == ["f", "helper"]
    code = helper.__code__
    assert (report["helper"].file, report["helper"].line) == (__file__, code.co_firstlineno)
    assert all(entry.converted for entry in report.values())


def test_statements_are_staged_or_run_by_python():
    def f(x, n):
        if x.sum() > 0:
            x = x + 1
        while n > 0:
            n -= 1
        for row in x:
            if row > 1:
                x = x + row
        return helper(x, n)

    report = of(f, X, 2)
    first = f.__code__.co_firstlineno
    found = [(s.line - first, s.kind, s.how) for s in report["f"].statements]
    assert found == [
        (1, "if", "staged"),
        (3, "while", "run by Python"),
        (5, "for", "run by Python"),
        (6, "if", "staged"),
    ]
    assert [s.how for s in report["helper"].statements] == ["run by Python"]


@pytest.mark.filterwarnings("ignore:.*unrolls the loop")
def test_a_loop_that_was_unrolled_is_not_called_staged():
    def f(x):
        for _ in range(len(x)):
            x = x * 0.5
            if x.sum() < 0:
                break
            for _ in range(120):
                x = x * 0.5
        return x

    report = of(f, dy2st.ones([6, 2]))
    assert [s.how for s in report["f"].statements][:2] == ["unrolled", "staged"]


def test_staged_expressions_stand_in_the_report():
    def f(x):
        y = x + 1 if x.sum() > 0 else x
        return y if (x.max() > 0) and (x.min() > 0) else -y

    found = {(s.kind, s.how) for s in of(f, X)["f"].statements}
    assert {("if expression", "staged"), ("and", "staged")} <= found


def test_a_function_that_looks_at_its_variables_stands_with_its_reason():
    def f(x):
        names = sorted(locals())  # an assert would bring in what pytest makes of it
        return x if names == ["x"] else x + 1

    entry = of(f, X)["f"]
    assert not entry.converted
    assert "locals()" in entry.why


def test_a_condition_in_a_function_that_looks_at_its_variables_names_the_reason():
    def f(x):
        locals()
        return x if x.sum() > 0 else x + 1

    with pytest.raises(dy2st.errors.TensorAsPython, match=r"locals\(\)"):
        of(f, X)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (marked, "it is marked with not_to_static"),
        (lambda x: functools.reduce(lambda a, b: a + b, [x]), ""),
        (lambda x: json.dumps(str(x.shape)) and x, ""),
    ],
)
def test_a_function_left_as_python_stands_with_its_reason(function, why):
    def f(x):
        return function(x)

    static = dy2st.to_static(f)
    static(X)
    entry = static.report().functions[1]
    assert entry.why == why
    assert entry.converted is (not why)


def test_a_function_without_source_stands_with_its_reason():
    namespace: dict = {}
    exec("def hidden(x):\n    return x\n", namespace)
    hidden = namespace["hidden"]

    def f(x):
        return hidden(x)

    why = of(f, X)["hidden"].why
    assert why.startswith("its source is not available: there is no text of it")


def test_library_functions_and_builtins_are_listed_by_name():
    def f(x):
        return dy2st.nn.functional.relu(x) * len([1, 2]) + np.float32(1)

    static = dy2st.to_static(f)
    static(X)
    report = static.report()
    assert report.others == ("len", "numpy.float32")
    assert [entry.name for entry in report.functions] == [f.__qualname__, "relu"]
    assert (
        str(report).splitlines()[-1]
        == "and 3 functions of libraries: report(whole=True) names them"
    )
    shown = str(static.report(whole=True)).splitlines()
    assert shown[-2].startswith("library functions, called as they are: ")
    assert shown[-2].endswith(".relu")
    assert shown[-1] == "C functions and classes, called as they are: len, numpy.float32"


def test_a_printed_report_has_a_line_for_every_function_and_statement():
    def f(x):
        if x.sum() > 0:
            x = marked(x)
        return x

    static = dy2st.to_static(f)
    static(X)
    first, line = f.__code__.co_firstlineno, marked.__code__.co_firstlineno
    assert str(static.report()).splitlines() == [
        f"{f.__qualname__} ({__file__}:{first}): converted",
        f"  line {first + 1}: if: staged",
        f"marked ({__file__}:{line}): left as Python: it is marked with not_to_static",
        "and 1 function of libraries: report(whole=True) names them",
    ]


def test_functions_of_an_optimizer_are_shown_if_all_are_wanted():
    net = dy2st.nn.Linear(2, 1)
    sgd = dy2st.optimizer.SGD(0.1, parameters=net.parameters())

    @dy2st.to_static
    def step(x):
        net(x).sum().backward()
        sgd.step()
        sgd.clear_grad()

    step(dy2st.ones([3, 2]))
    shown = str(step.report()).splitlines()
    assert len(shown) == 2 and shown[0].startswith(step.__qualname__)
    assert "Optimizer.step" in str(step.report(whole=True))


def test_the_report_is_that_of_the_last_program():
    def f(x, flag):
        if flag:
            x = x + 1
        return x

    static = dy2st.to_static(f)
    static(X, 1)
    assert [s.how for s in static.report().functions[0].statements] == ["run by Python"]
    static(X, dy2st.to_tensor(True))
    assert [s.how for s in static.report().functions[0].statements] == ["staged"]


def test_a_report_needs_a_program():
    with pytest.raises(dy2st.errors.ArgumentError, match="has no Program yet"):
        dy2st.to_static(helper).report()


def test_only_what_the_user_has_written_is_listed():
    def f(x):
        for value in x:
            if value > 2:
                return value
        with np.errstate():
            if x.sum() > 0:
                return x.sum()
        return x.max()

    [entry] = [e for e in of(f, dy2st.to_tensor(X)).values() if e.name.endswith("f")]
    first = entry.line
    assert [(s.kind, s.line - first) for s in entry.statements] == [
        ("for", 1),
        ("if", 2),
        ("if", 5),
    ]
