"""Numbers of the Program where Python would look at their values."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import TensorAsPython, UnsupportedSyntax

X = [1.0, 1.0, 2.0]


def add_to_set(x):
    seen = set()
    for value in x:
        seen.add(int(value))
    return len(seen)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: len({int(value) for value in x}),
        lambda x: len({int(x.sum()), 4}),
        lambda x: len(set([int(x.sum()), 4])),
        lambda x: {4: "four"}.get(int(x.sum())),
        lambda x: len(dict.fromkeys([int(x.sum()), 4])),
        add_to_set,
    ],
)
def test_a_number_of_the_program_is_no_key(function):
    with pytest.raises(TensorAsPython, match="key of a dict or set"):
        to_static(function)(dy2st.to_tensor(X))


@pytest.mark.parametrize("sequence", [[1, 2], "ab", (1, 2)])
def test_a_number_of_the_program_repeats_no_sequence(sequence):
    for function in (lambda x: sequence * int(x.sum()), lambda x: int(x.sum()) * sequence):
        with pytest.raises(TensorAsPython, match="repeated as often"):
            to_static(function)(dy2st.to_tensor(X))


def test_a_truth_of_the_program_is_true_or_false_itself():
    def run(x):
        truth = bool(x.sum() > 0)
        other = bool(x.max() > 0)
        return truth is True, truth is not False, truth is None, False is truth, truth is other

    static = to_static(run)
    for values in (X, [-1.0, -2.0], [-3.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == run(x)


def test_an_iterator_of_a_tensor_is_not_advanced_in_a_branch():
    def run(x):
        items = iter(x)
        first = next(items)
        if first > 0:
            first = next(items)
        return first, next(items)

    with pytest.raises(UnsupportedSyntax, match="is advanced in a branch"):
        to_static(run)(dy2st.to_tensor(X))


def test_a_begun_generator_is_not_advanced_in_a_branch():
    def run(x):
        items = (number for number in [1, 2, 3])
        first = next(items)
        if x.sum() > 0:
            first = next(items)
        return first, next(items)

    with pytest.raises(UnsupportedSyntax, match="is advanced in a branch"):
        to_static(run)(dy2st.to_tensor(X))
