"""What is refused is refused by name: a Dy2stError with file, line, cause, and what to write."""

from __future__ import annotations

import functools
import gc
import math
import re
import warnings

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import ConversionError, Dy2stError, UndecidedDim

X = dy2st.to_tensor([1.0, 2.0, 3.0])


def refusal(function, *arguments, spec=None):
    """The text of the refusal of a call, once it is held to what every refusal says."""
    converted = to_static(function, input_spec=spec)
    with pytest.raises(Dy2stError) as refused:
        converted(*arguments or (X,))
    text = str(refused.value)
    assert re.match(rf"{re.escape(__file__)}:\d+(:\d+)?: .+\n  because: .+\n  instead: .+", text)
    return text


def _grad(x):
    x.stop_gradient = False
    y = x * x
    while y.sum() < 10:
        y = y * 2
    return dy2st.grad(y.sum(), x)[0]


def _backward(x):
    y = (x * x).sum()
    y.backward()
    return y


def _read_gradient(x):
    return x if x.grad is None else x.grad


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_grad, r"grad\(\) of traced tensors"),
        (_backward, r"backward\(\) of a traced tensor"),
        (_read_gradient, "the gradient of a traced tensor"),
    ],
)
def test_gradients_inside_of_a_converted_function(function, says):
    assert re.search(says, refusal(function))


def test_a_coroutine_that_nobody_awaits_is_closed():
    async def later(x):
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConversionError, match="returns a coroutine"):
            to_static(later)(X)
        gc.collect()


def test_no_error_of_ours_stands_before_the_users():
    def fails(x):
        raise ValueError("mine")

    def calls(x):
        return fails(x)

    with pytest.raises(ValueError, match="mine") as raised:
        to_static(calls)(X)
    assert raised.value.__context__ is None and raised.value.__cause__ is None


def grown(x):
    """A list whose length the tensor decides."""
    found = []
    for value in x:
        if value > 0:
            found.append(value)
    return found


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: grown(x).pop() * 2, r"pop\(\) of a list .* is called in an expression"),
        (lambda x: grown(x).sort(reverse=True), r"sort\(\) of a list .* is called in an expr"),
        (lambda x: grown(x).insert(0, x[0]), r"insert\(\) of a list .*no local variable"),
        (lambda x: x * grown(x).count(x[0]), r"a list .* is asked for count\(\)"),
        (lambda x: x * grown(x).index(x[0]), r"a list .* is asked for index\(\)"),
        (lambda x: grown(x).__delitem__(0), r"__delitem__\(\) of a list"),
        (lambda x: [x[0]] + grown(x), "a list .* is added to another list"),
        (lambda x: [x[0], *grown(x)], "a list .* is unpacked"),
        (lambda x: max(*grown(x)), "a list .* is unpacked"),
        (lambda x: grown(x) * 2, "a list .* is repeated"),
        (lambda x: grown(x) == [], "a list .* is compared"),
        (lambda x: sorted(grown(x), key=lambda v: -v), "a list .* gone through by code"),
        (lambda x: sum(reversed(grown(x))), "an iterable whose length is known only"),
    ],
)
def test_a_list_whose_length_a_tensor_decides(use, says):
    assert re.search(says, refusal(use, spec=[InputSpec([None])]))


def test_a_slice_of_such_a_list_is_not_set():
    def run(x):
        found = grown(x)
        found[0:1] = [x[0]]
        return found

    assert "is changed by a slice" in refusal(run, spec=[InputSpec([None])])


def test_such_a_list_is_copied_and_joined():
    def run(x):
        found = grown(x).copy()
        return dy2st.stack(found + [x.sum()]), grown(x)

    parts, items = to_static(run, input_spec=[InputSpec([None])])(X)
    assert parts.tolist() == [1.0, 2.0, 3.0, 6.0]
    assert [item.tolist() for item in items] == [1.0, 2.0, 3.0]


def test_such_a_list_has_no_other_attributes():
    with pytest.raises(AttributeError, match="'list' object has no attribute 'missing'"):
        to_static(lambda x: grown(x).missing, input_spec=[InputSpec([None])])(X)


def chosen(x):
    """A list whose length a tensor decides, of a loop that is unrolled."""
    found = []
    for i in range(3):
        if x[i] > 1:
            found.append(x * i)
    return found


def _grows_in_itself(x):
    pair = (x,)
    while x.sum() < 100:
        x = x + 1
        pair = (pair, x)
    return x


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: next(iter(chosen(x))), r"iter\(\) of one of several values"),
        (lambda x: sum(map(lambda v: v * 2, chosen(x))), r"map\(\) of one of several values"),
        (_grows_in_itself, "one of the variables `pair`, `x` has another form after every turn"),
        (lambda x: isinstance(x.max() if x.sum() > 0 else 0, dy2st.Tensor), "the class of a value"),
        (lambda x: type(x.max() if x.sum() > 0 else 0) is int, "the class of a value is asked"),
        (lambda x: (x.max() if x.sum() > 0 else 0).__class__, "the class of a value is asked"),
    ],
)
def test_values_of_several_forms(use, says):
    assert re.search(says, refusal(use))


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: x * math.ceil(x.shape[0] / 2), "C code, .* math, asks a traced number"),
        (lambda x: x * np.sqrt(x.shape[0]), "np.sqrt of a traced tensor"),
        (lambda x: functools.reduce(lambda a, b: a + b, x), "iteration over a traced tensor"),
    ],
)
def test_sizes_in_code_of_others(use, says):
    assert re.search(says, refusal(use, spec=[InputSpec([None])]))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * math.sqrt(x.shape[0]),
        lambda x: [0] * x.shape[0],
        lambda x: ["a", "b"][x.shape[0]],
        lambda x: x * {4: 2}[x.shape[0]],
    ],
)
def test_a_size_that_is_not_decided_says_where(use):
    with pytest.raises(UndecidedDim, match=rf"^{re.escape(__file__)}:\d+"):
        to_static(use, input_spec=[InputSpec([None])])(X)


@functools.singledispatch
def kind_of(value):
    return 1


@kind_of.register
def _(value: int):
    return 2


@kind_of.register
def _(value: dy2st.Tensor):
    return 3 if value.sum() > 0 else 4


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x if int(x[0]).__class__.__name__ == "int" else -x,
        lambda x: x if bool(x[0] > 0).__class__ is bool else -x,
        lambda x: x if x.shape[0].__class__ is int else -x,
        lambda x: x * kind_of(x.shape[0]) + kind_of(int(x[0])) * 10 + kind_of(x) * 100,
        lambda x: x * kind_of("text") if x.__class__ is X.__class__ else -x,
        lambda x: sum((v * 2 + k for k, v in enumerate(chosen(x))), x),
        lambda x: sum((v * 2 for v in reversed(chosen(x))), x),
        lambda x: sum((v * w for v, w in zip(chosen(x), chosen(x))), x),
    ],
)
def test_values_of_a_program_are_of_the_classes_of_python(use):
    for spec in (None, [InputSpec([None])]):
        assert to_static(use, input_spec=spec)(X).tolist() == use(X).tolist()


def test_two_objects_of_one_class_are_two():
    def run(x):
        if x.sum() > 0:
            items = reversed([x, x + 1])
        else:
            items = reversed([x + 2, x])
        return next(items)

    assert "is a list_reverseiterator in one branch" in refusal(run)
    assert "another list_reverseiterator in the other" in refusal(run)
