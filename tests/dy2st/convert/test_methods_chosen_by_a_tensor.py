"""Bound methods, partial calls and slices that a branch or loop makes."""

from functools import partial

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec


class Kept:
    def __init__(self, value):
        self.value = value

    def times(self, number):
        return self.value * number

    def plus(self, number):
        return self.value + number


def of_tensors(x):
    reduce = (x + 1).sum if x.sum() > 0 else (x * 3).sum
    return reduce()


def of_two_functions(x):
    reduce = (x + 1).sum if x.sum() > 0 else (x * 3).mean
    return reduce()


def of_objects(x):
    method = Kept(x + 1).times if x.sum() > 0 else Kept(x - 1).plus
    return method(2)


def of_partials(x):
    if x.sum() > 0:
        call = partial(dy2st.add, x * 2)
    else:
        call = partial(dy2st.subtract, x * 3)
    return call(x)


def of_partials_with_names(x):
    call = partial(dy2st.subtract, y=x * 2) if x.sum() > 0 else partial(dy2st.subtract, y=x * 3)
    return call(x)


def of_slices(x):
    rows = slice(1, None) if x.sum() > 0 else slice(None, -1)
    return x[rows]


def of_iterations(x):
    last = x.sum
    for value in x:
        if value > 0:
            last = (x * value).max
    return last()


def of_elements(x):
    calls = []
    for value in x:
        if value > 0:
            calls.append(partial(dy2st.multiply, value))
    for call in calls:
        x = call(x)
    return x


FUNCTIONS = [
    of_tensors,
    of_two_functions,
    of_objects,
    of_partials,
    of_partials_with_names,
    of_slices,
    of_iterations,
    of_elements,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("shape", [[3], [None]], ids=["known", "unknown"])
def test_they_are_called_with_what_the_branch_taken_has_given_them(function, shape):
    static = to_static(function, input_spec=[InputSpec(shape, "float32")])
    for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [2.0, -1.0, 0.5]):
        x = dy2st.to_tensor(row)
        assert static(x).tolist() == function(x).tolist()


def test_a_method_of_another_rank_is_called_on_the_tensor_that_it_is_of():
    def function(x, y):
        chosen = x
        if y.sum() > 20:
            chosen = y.unsqueeze(0)
        chosen = chosen + 1
        return chosen.index_select(dy2st.arange(chosen.shape[0]) % chosen.shape[1], 1)

    static = to_static(function, input_spec=[InputSpec([None, None]), InputSpec([None, 2])])
    for scale in (1.0, 9.0):
        x, y = dy2st.ones([2, 3]), dy2st.ones([3, 2]) * scale
        assert static(x, y).tolist() == function(x, y).tolist()


def test_one_that_is_returned_is_refused():
    static = to_static(lambda x: (x + 1).sum if x.sum() > 0 else (x * 3).sum)
    with pytest.raises(ConversionError, match="returns a method"):
        static(dy2st.ones([2]))


class First:
    def __init__(self, value):
        self.value, self.count = value, 7

    def moved(self, value):
        self.value = value
        return self


class Second:
    def __init__(self, value):
        self.value, self.count = value, 0

    def moved(self, value):
        self.count += 1
        return self


def test_one_of_two_objects_goes_on_from_a_method_that_changes_it_in_a_branch():
    def chosen(x):
        one = First(x.sum()) if x[0] > 4 else Second(3)
        if x[1] < -1:
            one = one.moved(2)
        return one.value + one.count

    converted = to_static(chosen)
    for values in ([1.0, 2.0], [1.0, -2.0], [5.0, 2.0], [5.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert float(converted(x)) == float(chosen(x))
