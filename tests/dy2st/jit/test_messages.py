"""What is refused is refused by name: a Dy2stError with file, line, cause, and what to write."""

from __future__ import annotations

import functools
import gc
import re
import warnings

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import ConversionError, Dy2stError

X = dy2st.to_tensor([1.0, 2.0, 3.0])


def refusal(function, *arguments, spec=None):
    """The text of the refusal of a call, once it is held to what every refusal says."""
    converted = to_static(function, input_spec=spec)
    with pytest.raises(Dy2stError) as refused:
        converted(*arguments or (X,))
    text = str(refused.value)
    assert re.match(rf"{re.escape(__file__)}:\d+(:\d+)?: .+\n  because: .+\n  instead: .+", text)
    return text


def _read_gradient(x):
    return x if x.grad is None else x.grad


def test_the_gradient_of_an_argument_inside_of_a_converted_function():
    assert re.search("the gradient of a traced tensor", refusal(_read_gradient))


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


def test_a_list_whose_length_a_tensor_decides_is_unpacked_into_arguments():
    use = lambda x: max(*grown(x))  # noqa: E731
    assert to_static(use, input_spec=[InputSpec([None])])(X).tolist() == use(X).tolist()


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
        (
            _grows_in_itself,
            "one of the variables `pair`, `x` has another form after every iteration",
        ),
        (lambda x: isinstance(x.max() if x.sum() > 0 else 0, dy2st.Tensor), "the class of a value"),
        (lambda x: type(x.max() if x.sum() > 0 else 0) is int, "the class of a value is asked"),
        (lambda x: (x.max() if x.sum() > 0 else 0).__class__, "the class of a value is asked"),
    ],
)
def test_values_of_several_forms(use, says):
    assert re.search(says, refusal(use))


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


def test_an_iterator_of_one_branch_is_not_that_of_the_other():
    def run(x):
        if x.sum() > 0:
            items = reversed([x, x + 1])
        else:
            items = reversed([x + 2, x])
        return next(items)

    assert "a list_reverseiterator is advanced in a branch or loop" in refusal(run)
