"""Idioms of views and of buffers, as PaddlePaddle answers them, and as Programs."""

import json
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError, EscapedVariable
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.against_paddle.sharing import calls_of_layer, numbers
from tests.dy2st.jit import buffer_idioms, view_idioms

INPUTS = [
    (np.arange(16, dtype="float32").reshape(4, 4) - 2, 2),
    (np.full((4, 4), 0.5, "float32"), 3),
    (-np.arange(16, dtype="float32").reshape(4, 4), 0),
]
ANSWERS = json.loads((Path(__file__).parents[2] / "data" / "paddle" / "views.json").read_text())
IDIOMS = {**view_idioms.IDIOMS, **buffer_idioms.IDIOMS}
LAYERS = buffer_idioms.LAYERS
SIZES = pytest.mark.parametrize("sizes", [[4, 4], [None, 4]], ids=["known", "unknown"])
ENGINES = pytest.mark.parametrize("engine", ["numpy", "native"])


def answers(function):
    return [numbers(function(dy2st.to_tensor(x), dy2st.to_tensor(n))) for x, n in INPUTS]


def check(name, found, expected):
    """The same numbers in the same lists, those of buffers but for rounding."""
    if not isinstance(expected, list):
        is_exact = name in view_idioms.IDIOMS
        assert found == (expected if is_exact else pytest.approx(expected, rel=1e-5, abs=1e-6))
        return
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        check(name, one, other)


def specs(sizes):
    return [InputSpec(sizes, "float32", "x"), InputSpec([], "int64", "n")]


def test_there_are_forty_of_each():
    assert len(view_idioms.IDIOMS) >= 40 and len(buffer_idioms.IDIOMS) + len(LAYERS) >= 40


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_gives_what_paddlepaddle_gives(name):
    check(name, answers(IDIOMS[name])[0], ANSWERS["idioms"][name])


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_and_keeps_what_it_does_in_paddlepaddle(name):
    layer = LAYERS[name]()
    check(name, calls_of_layer(dy2st, layer, layer), ANSWERS["idioms"][name])


@ENGINES
@SIZES
@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_is_the_same_in_a_program(name, sizes, engine):
    converted = to_static(IDIOMS[name], input_spec=specs(sizes), engine=engine)
    check(name, answers(converted), answers(IDIOMS[name]))


@ENGINES
@SIZES
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_the_same_in_a_program(name, sizes, engine):
    layer = LAYERS[name]()
    converted = to_static(layer, input_spec=specs(sizes), engine=engine)
    check(name, calls_of_layer(dy2st, layer, converted), ANSWERS["idioms"][name])


@pytest.mark.parametrize("name", [*view_idioms.IDIOMS][::4] + [*buffer_idioms.IDIOMS][::4])
def test_an_idiom_is_the_same_once_it_is_saved(name, tmp_path):
    dy2st.jit.save(to_static(IDIOMS[name], input_spec=specs([4, 4])), str(tmp_path / "idiom"))
    check(name, answers(dy2st.jit.load(str(tmp_path / "idiom"))), answers(IDIOMS[name]))


def test_a_view_has_its_new_shape_behind_a_loop_that_has_changed_it():
    def function(x, n):
        grid = x.clone()
        row = grid[0:1]
        for _ in range(n):
            row[:] = row + 1
        row.reshape_([4, 1])
        row.add_(dy2st.ones([4, 1]))
        return grid, row, row * row.shape[0]

    assert answers(to_static(function)) == answers(function)


def test_an_element_that_a_loop_looks_up_is_a_view_wherever_it_lies():
    def function(x, n):
        grid = x.clone()
        row, place = grid[-2], dy2st.zeros([], "int64")
        while place < n:
            cell = row[place]
            cell[...] = cell * 2 + 1
            place = place + cell.detach().reshape([1]).sum() * 0 + 1
        return grid

    specs = [InputSpec([4, 4], "int64", "x"), InputSpec([], "int64", "n")]
    converted = to_static(function, input_spec=specs)
    x, n = dy2st.arange(16).reshape([4, 4]) * 1000000, dy2st.to_tensor(3)
    assert converted(x, n).tolist() == function(x, n).tolist()


def a_row_that_a_tensor_chooses(x, n):
    y = x.clone()
    row = y[0] if n > 1 else y[1]
    row.fill_(7.0)
    return y


def a_row_that_the_last_iteration_has_left(x, n):
    y = x.clone()
    row = y[0]
    for place in range(n):
        row = y[place]
    row.fill_(7.0)
    return y


def one_of_two_tensors(x, n):
    a, b = x.clone(), x * 2
    w = a if n > 1 else b
    w.add_(1.0)
    return a, b


def a_view_or_a_tensor_of_its_own(x, n):
    y = x.clone()
    row = y[0]
    if n > 1:
        row = row + 1
    row.fill_(4.0)
    return y


def a_view_of_what_has_changed(x, n):
    y = x.clone()
    row = y[0] if n > 1 else y[1]
    y[0, 0] = 9.0
    return row


CHOSEN = [
    a_row_that_a_tensor_chooses,
    a_row_that_the_last_iteration_has_left,
    one_of_two_tensors,
    a_view_or_a_tensor_of_its_own,
    a_view_of_what_has_changed,
]


@pytest.mark.parametrize("function", CHOSEN)
def test_what_a_tensor_has_chosen_and_code_changes_is_refused_in_words(function):
    with pytest.raises(EscapedVariable, match="may have been changed in place") as found:
        answers(to_static(function))
    assert "has chosen which" in str(found.value)
    assert "change it where it is chosen" in str(found.value)


def the_row_where_it_is_chosen(x, n):
    y = x.clone()
    if n > 1:
        y[0].fill_(7.0)
    else:
        y[1].fill_(7.0)
    return y


def the_place_of_the_row(x, n):
    y = x.clone()
    y[0 if n > 1 else 1].fill_(7.0)
    return y


@pytest.mark.parametrize("function", [the_row_where_it_is_chosen, the_place_of_the_row])
def test_what_the_words_say_instead_is_the_same_in_a_program(function):
    assert answers(to_static(function)) == answers(function)


def a_reshape_of_a_reshape(x):
    y = x.clone()
    rows = y.reshape([4, 3])
    flat = rows.reshape([12])
    flat[0] = 7.0
    y.add_(dy2st.ones([1]))
    return y, rows, flat


def a_reshape_of_whole_rows(x):
    y = x.clone()
    rows = y.reshape([3, 4])
    last = rows[1:].reshape([-1])
    last.add_(rows[0, 0])
    row = rows[0].unsqueeze(0).reshape([2, 2])
    row[1] = 5.0
    return y, rows, last, row


def a_reshape_of_a_squeezed_tensor(x):
    y = x.unsqueeze(0).clone()
    inner = y.squeeze(0)
    turned = inner.reshape([6, 2])
    turned[:, 1] = 0.0
    inner.add_(dy2st.ones([1]))
    return y, inner, turned


def a_reshape_of_rows_that_were_turned(x):
    y = x.clone()
    columns = y.reshape([3, 4]).t()
    flat = columns.reshape([12])  # a copy, whatever the sizes of x are
    flat[1] = 9.0
    columns[0] = 4.0
    return y, columns, flat


@pytest.mark.parametrize(
    "function",
    [
        a_reshape_of_a_reshape,
        a_reshape_of_whole_rows,
        a_reshape_of_a_squeezed_tensor,
        a_reshape_of_rows_that_were_turned,
    ],
)
def test_rows_of_unknown_sizes_are_reshaped_where_they_lie(function):
    converted = to_static(function, input_spec=[InputSpec([None, None], "float32", "x")])
    for shape in ((3, 4), (4, 3), (1, 12), (12, 1), (2, 6)):
        x = dy2st.to_tensor(np.arange(12, dtype="float32").reshape(shape))
        assert numbers(converted(x)) == numbers(function(x)), shape


def test_a_turned_tensor_of_unknown_sizes_that_is_reshaped_is_refused_in_words():
    def function(x):
        y = x.clone()
        flat = y.t().reshape([12])
        flat[0] = 7.0
        return y

    with pytest.raises(ConversionError, match="a reshaped tensor") as found:
        to_static(function, input_spec=[InputSpec([None, None], "float32", "x")]).concrete_program  # noqa: B018
    assert "clone() the reshaped tensor" in str(found.value)
