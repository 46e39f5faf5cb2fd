"""Lists of the Program made of tensors, by `unbind` and `unstack`, and tensors made of them."""

import pytest

import dy2st
from dy2st.errors import Dy2stError, EscapedVariable
from dy2st.jit import to_static
from dy2st.static import InputSpec

SPECS = [InputSpec([None, 3], "float32", "x")]
INPUTS = [dy2st.arange(3 * n, dtype="float32").reshape([n, 3]) - 2 for n in (1, 2, 5)]


def steps_of_a_cell(x):
    hidden, out = dy2st.zeros([3]), []
    steps = x.unbind(0)
    for place in range(len(steps)):
        hidden = steps[place] + hidden * 0.5
        out.append(hidden)
    return dy2st.stack(out)


def rows_one_by_one(x):
    total = dy2st.zeros([3])
    for place, row in enumerate(x.unbind()):
        total = total + row * place
    return total


def in_the_other_order(x):
    return dy2st.stack(x.unbind(0)[::-1])


def both_ways(x):
    rows = dy2st.unbind(x, axis=0)
    return dy2st.stack([one * other for one, other in zip(rows, reversed(rows))])  # noqa: B905


def appended(x):
    rows = x.unbind(0)
    rows.append(rows[-1])
    return dy2st.concat(rows) if isinstance(rows, list) else x


def along_another_axis(x):
    return sum(x.t().unbind(1))


def stacked_again(x):
    return dy2st.stack(x.unstack(0))


def changed_copies(x):
    y = x.clone()
    rows = y.unstack(0)
    y[0] = 9.0
    return rows[0]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize(
    "function",
    [
        steps_of_a_cell,
        rows_one_by_one,
        in_the_other_order,
        both_ways,
        appended,
        along_another_axis,
        stacked_again,
        changed_copies,
    ],
    ids=lambda one: one.__name__,
)
def test_the_tensors_along_an_axis_of_unknown_size_are_a_list(function, engine):
    static = to_static(function, input_spec=SPECS, engine=engine)
    for x in INPUTS:
        assert static(x).tolist() == function(x).tolist()


def of_the_base(x):
    y = x.clone()
    rows = y.unbind(0)
    y[0] = 9.0
    return rows[0]


def of_an_element(x):
    y = x.clone()
    y.unbind(0)[0][:] = 7.0
    return y


def of_each_element(x):
    y = x.clone()
    for row in y.unbind(0):
        row[0] = 5.0
    return y


def of_an_element_in_a_loop(x):
    y, total = x.clone(), x.sum()
    row = y.unbind(0)[0]
    while total > -99:
        total = total + y.sum() - 50
        row.zero_()
    return total


def of_an_element_of_a_list_in_a_loop(x):
    y, total = x.clone(), x.sum()
    row = list(y[::2])[0]
    while total > -99:
        total = total + y.sum() - 50
        row.zero_()
    return total


@pytest.mark.parametrize(
    "function",
    [
        of_an_element_in_a_loop,
        of_an_element_of_a_list_in_a_loop,
        of_the_base,
        of_an_element,
        of_each_element,
    ],
    ids=lambda one: one.__name__,
)
def test_a_change_in_place_that_such_a_list_cannot_show_is_refused(function):
    with pytest.raises(EscapedVariable, match="changed in place"):
        to_static(function, input_spec=SPECS)(INPUTS[1])


def pairs(x, make):
    found = []
    for k in range(x.shape[0]):
        found.append(make(x[k, 0], k))
    return found


ELEMENTS = {
    "sizes": lambda v, k: (k, k + 1),
    "numbers": lambda v, k: (float(v), float(v) * 2),
    "a number and a constant": lambda v, k: [k, 0.5],
    "two constants and a size": lambda v, k: (True, k, 3),
    "bools": lambda v, k: (k > 0, True),
    "a size alone": lambda v, k: (k,),
    "tensors": lambda v, k: (v, v * 2),
    "a tensor alone": lambda v, k: [v],
    "vectors": lambda v, k: [dy2st.stack([v, v]), dy2st.stack([v * 2, v])],
    "tables": lambda v, k: [[k, 1], [float(v), k]],
}


@pytest.mark.parametrize("make", ELEMENTS.values(), ids=ELEMENTS)
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"stop_gradient": False}], ids=str)
def test_a_tensor_is_made_of_a_list_of_tuples_of_a_length(make, options):
    def function(x):
        return dy2st.to_tensor(pairs(x, make), **options)

    static = to_static(function, input_spec=SPECS)
    for x in INPUTS:
        found, wanted = static(x), function(x)
        assert found.tolist() == wanted.tolist() and found.shape == wanted.shape
        assert found.dtype == wanted.dtype
        assert found.stop_gradient == wanted.stop_gradient or found.dtype.kind in "ib"


@pytest.mark.parametrize(
    "make",
    [
        lambda v, k: ("a", k),
        lambda v, k: (None, v),
        lambda v, k: {"a": v},
        lambda v, k: (v, 1),
        lambda v, k: (),
    ],
)
def test_a_list_of_other_things_is_refused(make):
    for take in (dy2st.to_tensor, dy2st.stack):
        with pytest.raises(Dy2stError):
            to_static(lambda x, take=take: take(pairs(x, make)), input_spec=SPECS)(INPUTS[0])


def test_numbers_of_python_that_are_stacked_are_a_tensor():
    def f(x):
        return dy2st.stack([float(x[0, 0]), float(x[0, 1])]), dy2st.stack([int(x[0, 2]), 3])

    for found, meant in zip(to_static(f, input_spec=SPECS)(INPUTS[1]), f(INPUTS[1]), strict=True):
        assert found.dtype == meant.dtype and found.tolist() == meant.tolist()


@pytest.mark.parametrize("x", INPUTS)
def test_what_is_one_of_several_is_given_to_the_library_in_a_list(x):
    def f(x):
        first = 0
        for row in x:
            if row[0] > 0:
                first = first + row
        second = x[0] if x[0, 0] > 0 else None
        given = [x[-1] if second is None else second, x[0] + first]
        return dy2st.stack(given), dy2st.concat(given)

    for found, meant in zip(to_static(f, input_spec=SPECS)(x), f(x), strict=True):
        assert found.tolist() == meant.tolist()


def padded(x, most=3):
    """Of each row the places of what is large, as many as asked for."""
    table, flags = [], []
    for place in range(2):
        row = x[place % x.shape[0]]
        found = [at for at, v in enumerate(row) if v > 0][:most]
        table.append(found + [place] * (most - len(found)))
        flags.append([v > 0 for v in row])
    rows = []
    for row in x:
        rows.append([float(v) for v in row if v == v])
    return [dy2st.to_tensor(one) for one in (table, [table, table], flags, rows)]


@pytest.mark.parametrize("x", INPUTS)
def test_a_tensor_is_made_of_lists_whose_lengths_the_data_decides(x):
    for found, meant in zip(to_static(padded, input_spec=SPECS)(x), padded(x), strict=True):
        assert found.tolist() == meant.tolist() and found.dtype == meant.dtype


@pytest.mark.parametrize("x", INPUTS)
def test_many_that_are_one_of_several_are_given_to_the_library_in_a_list(x):
    def f(x):
        rows = []
        for least in range(-3, 3):
            large = [row for row in x if row[0] > least]
            rows.append(sum(large) if large else x[0] * least)
            rows.append(sum([row for row in x if row[0] > -9]))
        return dy2st.stack(rows), dy2st.concat(rows)

    for found, meant in zip(to_static(f, input_spec=SPECS)(x), f(x), strict=True):
        assert found.tolist() == meant.tolist()
