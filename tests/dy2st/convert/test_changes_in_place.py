"""A tensor that is changed in place is so in all that holds it, or the change is refused."""

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable

INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0, 1.0])


class Box:
    pass


def given_on_one_path(x):
    h = None
    if x.sum() > 0:
        h = x * 2
    if h is not None:
        h[0] = 5.0
        h[1] = h[0] + 1
        return h
    return x


def under_a_second_name(x):
    h = None
    if x.sum() > 0:
        h = x * 2
    g = h
    if h is not None:
        h[0] = 5.0
    return x if g is None else g


def of_another_dtype_on_one_path(x):
    h = x.astype("float64")
    if x.sum() > 0:
        h = x * 2
    h[0] = 5.0
    return h


def of_an_object_that_may_be_missing(x):
    o = None
    if x.sum() > 0:
        o = Box()
        o.t = x * 2
    if o is not None:
        o.t[0] = 5.0
        return o.t
    return x


def in_a_loop(x):
    h = None
    for v in x:
        if h is None:
            h = x * 2
        else:
            h[0] = v
    return x if h is None else h


@pytest.mark.parametrize(
    "f",
    [
        given_on_one_path,
        under_a_second_name,
        of_another_dtype_on_one_path,
        of_an_object_that_may_be_missing,
        in_a_loop,
    ],
)
def test_a_tensor_that_a_variable_may_hold_is_changed_in_it(f):
    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    for row in INPUTS:
        assert comparable(static(dy2st.to_tensor(row))) == comparable(f(dy2st.to_tensor(row)))


def rows_of(x):
    rows = []
    for v in x:
        rows.append(v * dy2st.ones([2]))
    return rows


def of_an_element(x):
    rows = rows_of(x)
    rows[0][0] = 5.0
    return rows


def of_each_element(x):
    rows = rows_of(x)
    for row in rows:
        row[0] = 5.0
    return rows


def of_an_element_with_two_names(x):
    rows = rows_of(x)
    one, other = rows[0], rows[0]
    one[0] = 5.0
    return other


def of_what_was_put_into_a_list(x):
    rows, y = [], x * 2
    for _ in x:
        rows.append(y)
    y[0] = 7.0
    return rows


def of_what_another_name_holds_on_one_path(x):
    y = x * 2
    h = x.astype("float64")
    if x.sum() > 0:
        h = y
    h[0] = 5.0
    return h, y


@pytest.mark.parametrize(
    "f",
    [
        of_an_element,
        of_each_element,
        of_an_element_with_two_names,
        of_what_was_put_into_a_list,
        of_what_another_name_holds_on_one_path,
    ],
)
def test_a_change_is_refused_that_the_program_would_do_under_one_name_alone(f):
    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    with pytest.raises(ConversionError, match="changed in place"):
        static(dy2st.to_tensor(INPUTS[0]))


def test_an_element_that_is_changed_and_used_alone_is_what_it_is_then():
    def f(x):
        last = rows_of(x)[-1]
        last[0] = 5.0
        return last

    static = to_static(f, input_spec=[InputSpec([None], "float32")])
    for row in INPUTS:
        assert comparable(static(dy2st.to_tensor(row))) == comparable(f(dy2st.to_tensor(row)))


def test_a_loop_over_a_tensor_gives_what_it_holds_at_each_turn():
    def f(x):
        b, total = x * 1, 0
        for v in b:
            total = total + v
            if v > 0:
                b[1] = total
        return b, total

    static = to_static(f)
    for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, 1.0]):
        assert comparable(static(dy2st.to_tensor(row))) == comparable(f(dy2st.to_tensor(row)))


def test_a_leaf_that_needs_gradients_is_changed_on_no_path_that_runs():
    leaf = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)

    def f(x):
        if x.sum() > 3:
            leaf[0] = 5.0
        return x + leaf

    static = to_static(f)
    assert static(dy2st.ones([2])).tolist() == [2.0, 3.0]
    with pytest.raises(RuntimeError, match="a leaf that needs gradients"):
        static(dy2st.ones([2]) * 2)
