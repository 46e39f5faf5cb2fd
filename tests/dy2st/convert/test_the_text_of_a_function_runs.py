"""The text of a converted function is what runs, and does in a module what the function does."""

from __future__ import annotations

import ast
import linecache
from collections import Counter

import numpy as np
import pytest

import dy2st
from dy2st.convert.protocol.machine import Machine
from dy2st.jit import dy2static, to_static
from dy2st.static import InputSpec
from dy2st.transpiler.lower import code_of


def a_branch(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


def one_side(x, label=None):
    y = x + 1
    if label is not None:
        y = y * label
    if x.mean() > 1 and not x.max() > 5:
        y = y * 3
    return y


def a_loop_over_a_size(x):
    n = dy2st.shape(x)[0]
    total = x[0]
    for i in range(n):
        total = total + x[i] * i
    return total


def a_loop_that_a_tensor_ends(x):
    steps = 0
    while x.abs().sum() > 1:
        x = x / 2
        steps += 1
    return x, steps


def a_break(x):
    total = dy2st.zeros([])
    for row in x:
        if row.sum() > 3:
            break
        total = total + row.sum()
    return total


def an_early_return(x):
    if x.sum() > 4:
        return x
    y = x * 2
    if y.sum() > 4:
        return y
    return y * 2


def a_value_on_one_path(x):
    if x.sum() > 0:
        z = x + 1
    if x.sum() > 0:
        return z
    return x


def operators(x):
    y = x if x.sum() > 0 else -x
    assert (y > 9).any() or y.sum() > 0, "negative"
    return [v * 2 for v in y]


def operators_alone(x):
    y = x if x.sum() > 0 else -x
    assert (y > 9).any() or y.sum() > 0, "negative"
    return y


def a_closure(x):
    scale = 1.0
    if x.sum() > 0:
        scale = 2.0
    return (lambda v: v * scale)(x)


FUNCTIONS = (
    a_branch,
    one_side,
    a_loop_over_a_size,
    a_loop_that_a_tensor_ends,
    a_break,
    an_early_return,
    a_value_on_one_path,
    operators,
    a_closure,
)
VALUES = ([[1.0, -2.0], [3.0, 0.5]], [[-1.0, -2.0], [-3.0, 0.5]], [[4.0, 3.0], [2.0, 1.0]])


def printed(function):
    """The text as a function of a file."""
    text, name = code_of(function), f"<text of {function.__name__}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {name: getattr(dy2static, name) for name in dy2static.__all__}
    space = {**globals(), **names, "__name__": "printed"}
    exec(compile(text, name, "exec"), space)
    return space[function.__name__]


def arrays(result):
    many = result if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(one) for one in many]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_the_text_gives_the_same_eagerly_and_in_a_trace(function):
    text = printed(function)
    static, original = to_static(text), to_static(function)
    for values in VALUES:
        x = dy2st.to_tensor(values)
        expected = arrays(function(x))
        for one in (text, static, original):
            for found, wanted in zip(arrays(one(x)), expected, strict=True):
                np.testing.assert_allclose(found, wanted)
    assert len(static.program_cache) == len(original.program_cache)


def test_a_variable_without_a_value_is_refused_as_python_does():
    def f(n):
        if n > 1:
            y = 1
        return y

    text = printed(f)
    assert text(2) == 1
    with pytest.raises(UnboundLocalError, match="'y'"):
        text(0)


def counted(monkeypatch):
    """How often each function of `dy2static` is called, from now on."""
    calls = Counter()

    def count(name, function):
        def call(*args, **kwargs):
            calls[name] += 1
            return function(*args, **kwargs)

        return call

    for name in dy2static.STATEMENTS:
        counting = staticmethod(count(name, getattr(dy2static, name)))
        monkeypatch.setattr(Machine, name, counting)  # through which a trace calls them
    return calls


def shown(text):
    called = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)]
    return Counter(one.func.id for one in called if getattr(one.func, "id", "") in STATEMENTS)


STATEMENTS = frozenset(dy2static.STATEMENTS)
OF_TENSORS = (a_branch, an_early_return, a_value_on_one_path, operators_alone)
WITH_LOOPS = (a_loop_over_a_size, a_loop_that_a_tensor_ends, a_break, operators)


@pytest.mark.parametrize("function", OF_TENSORS, ids=lambda one: one.__name__)
def test_what_the_text_calls_is_called_as_often_as_it_says(function, monkeypatch):
    calls, text = counted(monkeypatch), to_static(function).code
    to_static(function, input_spec=[InputSpec([2, 2])]).main_program  # noqa: B018  traces
    assert calls == shown(text)


@pytest.mark.parametrize("function", WITH_LOOPS, ids=lambda one: one.__name__)
def test_what_the_body_of_a_loop_calls_is_called_for_each_time_that_it_is_traced(
    function, monkeypatch
):
    calls, text = counted(monkeypatch), to_static(function).code
    to_static(function, input_spec=[InputSpec([None, 2])]).main_program  # noqa: B018  traces
    assert calls.keys() == shown(text).keys()
    assert all(calls[name] >= times for name, times in shown(text).items())
