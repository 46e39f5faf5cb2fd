"""Sizes from the user's side: declared, found out by calls, shown, and refused."""

from __future__ import annotations

import math
import re
import threading

import numpy as np
import pytest

import dy2st
from dy2st import to_static
from dy2st.errors import ShapeError, SpecError
from dy2st.jit.programs import MOST_PROGRAMS
from dy2st.static import Dim, InputSpec
from dy2st_runtime import dims
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.text.parser import parse
from dy2st_runtime.ir.text.printer import to_text


def ones(*shape):
    return dy2st.ones(list(shape))


def add_one(x):
    return x + 1.0


def add(x, y):
    return x + y


def program(function, *shapes):
    specs = [InputSpec(shape, "float32") for shape in shapes]
    return verify(to_static(function, input_spec=specs).main_program)


def conditions(program):
    return [str(located.constraint.condition) for located in program.constraints]


# -- what a Dim may say -----------------------------------------------------------------------


def test_a_declared_size_has_its_range_in_the_program():
    (size,) = program(add_one, [Dim("batch", min=1, max=512)]).inputs[0].shape
    assert (str(size), size.minimum, size.maximum) == ("batch", 1, 512)


def test_a_multiple_is_the_first_constraint_with_its_place():
    def function(x, y):
        return dy2st.concat([x, y], axis=1)

    made = program(function, [Dim("h", multiple=16), "a"], ["b", "a"])
    first, second = made.constraints
    assert first.constraint.reason == "declared in InputSpec of `x`, axis 0"
    assert str(first.constraint.condition) == "h % 16 == 0"
    assert first.location is None and second.location is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min": 5, "max": 4}, "min=5 is above max=4"),
        ({"multiple": 0}, "multiple of the size n is at least 1, not 0"),
        ({"min": -1}, "min of the size n is at least 0, not -1"),
        ({"min": 5, "max": 7, "multiple": 8}, "no multiple of 8 lies from 5 to 7"),
    ],
)
def test_a_declaration_without_values_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Dim("n", **options)


@pytest.mark.parametrize("name", ["2n", "", "a b", "class", 3])
def test_a_name_that_is_no_identifier_is_refused(name):
    with pytest.raises(ValueError, match="the name of a size is an identifier"):
        Dim(name)


@pytest.mark.parametrize("options", [{"min": "1"}, {"max": 2.0}, {"multiple": True}])
def test_a_limit_that_is_no_int_is_refused(options):
    with pytest.raises(TypeError, match="of the size n is an int"):
        Dim("n", **options)


def test_other_limits_for_the_same_name_name_both_places():
    message = (
        r"`n` is from 0 to 8 in the InputSpec of `x`, axis 0, but at least 0 in that of `y`, axis 1"
    )
    with pytest.raises(SpecError, match=message):
        program(add, [Dim("n", max=8), 2], [1, Dim("n")])


def test_other_limits_in_one_formula_are_refused():
    with pytest.raises(ValueError, match="from 0 to 8 in one part of a formula, at least 0 in"):
        Dim("n", max=8) + Dim("n")


def test_a_bare_name_takes_the_declared_limits():
    made = program(add, ["n"], [Dim("n", min=2, max=8)])
    assert made.inputs[0].shape[0] is made.inputs[1].shape[0]
    assert made.inputs[0].shape[0].maximum == 8


def test_dims_are_equal_when_all_that_they_say_is():
    assert Dim("n", max=8) * 2 == 2 * Dim("n", max=8)
    assert Dim("n", max=8) != Dim("n") and InputSpec([Dim("n", max=8)]) != InputSpec([Dim("n")])
    assert hash(InputSpec([Dim("n") + 1])) == hash(InputSpec([Dim("n") + 1]))


def test_symbols_that_differ_in_limits_make_different_specs():
    assert InputSpec([dims.symbol("n", 1)]) != InputSpec([dims.symbol("n", 2)])


def test_unknown_sizes_never_take_a_name_that_is_used():
    made = program(add, ["y_axis0"], [None])
    assert made.inputs[0].shape[0] is not made.inputs[1].shape[0]


def test_inputs_of_one_name_have_unknown_sizes_of_their_own():
    static = to_static(lambda pair: pair[0]["a"] + pair[1]["a"].sum())
    specs = [[{"a": InputSpec([None])}, {"a": InputSpec([None])}]]
    first, second = static.concrete_program_specify_input_spec(specs).inputs
    assert first.shape[0] is not second.shape[0]


# -- formulas ---------------------------------------------------------------------------------


def test_a_formula_relates_the_sizes_of_two_inputs():
    n = Dim("n")
    static = to_static(
        lambda x, y: x[1:].reshape([2, -1]) + y,
        input_spec=[InputSpec([2 * n + 1]), InputSpec([1, n])],
    )
    assert not static.main_program.constraints
    assert static(ones(5), ones(1, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(SpecError, match=r"`x`, axis 0: 6; must be 2\*n \+ 1, with n = 2: 5"):
        static(ones(6), ones(1, 2))


def test_a_formula_alone_tells_its_size():
    static = to_static(lambda x: x[: x.shape[0] // 2], input_spec=[InputSpec([2 * Dim("n") + 1])])
    assert static(ones(7)).shape == [3]
    assert "zeros" not in str(static.main_program) and '["n"]' in str(static.main_program)
    with pytest.raises(SpecError, match="`x`, axis 0: 8; must be"):
        static(ones(8))


def test_a_size_that_no_axis_tells_is_refused():
    with pytest.raises(
        SpecError, match=r"`x`, axis 0 of an InputSpec is m\*n, from which m cannot"
    ):
        program(add_one, [Dim("n") * Dim("m")])


def test_a_size_that_is_always_negative_is_refused():
    with pytest.raises(SpecError, match="n - 10, which is always below 0"):
        program(add_one, [Dim("n", max=8) - 10])


def test_a_call_that_breaks_the_multiple_says_what_was_declared():
    static = to_static(add_one, input_spec=[InputSpec([None, Dim("h", multiple=16)], name="x")])
    assert static(ones(1, 32)).shape == [1, 32]
    with pytest.raises(ShapeError) as caught:
        static(ones(1, 30))
    assert str(caught.value) == (
        "the sizes of this call break `h % 16 == 0`: h = 30 (argument `x`, axis 1) "
        "(declared in InputSpec of `x`, axis 1)"
    )


def test_a_call_outside_the_declared_range_is_refused():
    static = to_static(add_one, input_spec=[InputSpec([Dim("n", min=1, max=4)])])
    with pytest.raises(SpecError, match="`x`, axis 0: 5; `n` is from 1 to 4"):
        static(ones(5))


# -- saved ------------------------------------------------------------------------------------


def test_declarations_survive_saving(tmp_path):
    spec = InputSpec([Dim("n", min=1, max=64, multiple=8), 2 * Dim("m") + 1])
    static = to_static(add_one, input_spec=[spec])
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    assert loaded(ones(16, 5)).shape == [16, 5]
    with pytest.raises(SpecError, match="from 1 to 64"):
        loaded(ones(72, 5))
    with pytest.raises(ShapeError, match=r"`n % 8 == 0`: n = 12 .*declared in InputSpec of `x`"):
        loaded(ones(12, 5))


def test_declarations_are_the_same_after_printing_and_parsing():
    made = program(add_one, [Dim("n", min=1, max=64, multiple=8), 2 * Dim("m") + 1])
    (again,) = parse(to_text(made))
    assert to_text(again) == to_text(made) and conditions(again) == conditions(made)


# -- sizes that change from call to call ------------------------------------------------------


def check(static, *shapes, programs):
    """Results equal those of the plain function, for every call; returns the shapes."""
    random = np.random.default_rng(0)
    found = []
    for call in shapes:
        args = [dy2st.to_tensor(random.standard_normal(s).astype("float32")) for s in call]
        expected = static.dygraph_function(*args)
        result = static(*args)
        np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
        found.append(result.shape)
    assert len(static.program_cache) == programs
    return found


def test_ten_batch_sizes_need_two_programs():
    layer = dy2st.nn.Linear(4, 3)
    static = to_static(lambda x: dy2st.nn.functional.softmax(layer(x)))
    check(static, *[[(n, 4)] for n in (5, 3, 1, 0, 2, 7, 8, 9, 10, 11)], programs=2)


def test_a_size_is_named_after_argument_and_axis():
    static = to_static(add)
    check(static, [(2, 3), (3,)], [(5, 3), (3,)], programs=2)
    assert [[str(s) for s in v.shape] for v in static.inputs] == [["x_axis0", "3"], ["3"]]


@pytest.mark.parametrize("first", [0, 1])
def test_sizes_of_0_and_1_in_the_first_call_are_not_special(first):
    static = to_static(lambda x: x * 2.0 + x.sum())
    check(static, [(first, 2)], [(4, 2)], [(0, 2)], [(1, 2)], [(3, 2)], programs=2)


def test_sizes_that_happen_to_agree_are_not_assumed_equal():
    static = to_static(add)
    check(static, [(2,), (2,)], [(3,), (3,)], [(3,), (1,)], [(1,), (4,)], [(5,), (5,)], programs=2)


def test_sizes_that_do_not_broadcast_are_the_error_of_the_plain_function():
    static = to_static(add)
    check(static, [(2,), (2,)], [(3,), (3,)], programs=2)
    with pytest.raises(ShapeError, match=r"add: the shapes \[3\] and \[4\] do not fit"):
        static(ones(3), ones(4))
    check(static, [(6,), (6,)], programs=2)


def test_a_new_axis_that_changes_makes_one_more_program():
    static = to_static(lambda x: x.reshape([-1]))
    calls = [[(2, 3)], [(4, 3)], [(5, 3)], [(5, 6)], [(7, 8)], [(2, 9)]]
    check(static, *calls, programs=3)


def test_a_branch_on_a_size_is_in_the_program():
    def function(x):
        if x.shape[0] > 3:
            return x[3] * 2.0
        return x.sum(axis=0)

    check(to_static(function), *[[(n, 2)] for n in (2, 5, 0, 3, 4, 9)], programs=2)


def test_equality_that_the_trace_needs_gives_other_shapes_their_own_program():
    def function(x, y):
        if x.shape[0] == 1:
            return x * 2.0 + y.sum()
        return dy2st.concat([x, y], axis=1)

    static = to_static(not_converted(function))
    check(
        static, [(2, 3), (2, 3)], [(4, 3), (4, 3)], [(1, 3), (7, 3)], [(5, 3), (5, 3)], programs=4
    )


def not_converted(function):
    """The same function in code that is left as Python, so that its `if` needs a number."""
    inner = dy2st.jit.not_to_static(function)

    def outer(x, y):
        return inner(x, y)

    return outer


def test_a_constraint_that_fails_gives_the_shape_its_own_program():
    def function(x, y):
        try:
            return dy2st.concat([x, y], axis=1).sum()
        except ShapeError:
            return x.sum() - y.sum()

    static = to_static(not_converted(function))
    check(
        static, [(2, 3), (2, 3)], [(4, 3), (4, 3)], [(2, 3), (7, 3)], [(6, 3), (6, 3)], programs=3
    )


def test_python_lists_of_a_size_are_lists_of_a_length():
    def function(x):
        names = ["row"] * x.shape[0]
        return x * float(len(names))

    check(to_static(function), *[[(n, 2)] for n in (2, 5, 3)], programs=2)


def test_a_size_that_must_be_a_number_leaves_the_others_unknown():
    def function(x):
        return x * float(len([0] * x.shape[1]))

    calls = [[(2, 3)], [(4, 3)], [(4, 5)], [(6, 5)], [(7, 5)], [(8, 3)]]
    check(to_static(function), *calls, programs=3)


def test_a_result_that_shows_the_text_of_a_size_is_made_by_numbers():
    static = to_static(lambda x: (x + 1.0, f"{x.shape[0]} rows"))
    for rows in (2, 3, 4):
        assert static(ones(rows))[1] == f"{rows} rows"


ASKING = {
    "text": lambda x: x * {"3": 2.0, "4": 5.0}.get(f"{x.shape[0]}", 7.0),
    "str": lambda x: x * len(str(x.shape[0])),
    "repr of a list": lambda x: x * len(repr(x.shape)),
    "dict": lambda x: x * {3: 2.0, 4: 5.0}.get(x.shape[0], 7.0),
    "tuple in a dict": lambda x: x * {(3, 2): 4.0}.get(tuple(x.shape), 1.0),
    "set": lambda x: x * len({x.shape[0], 3}),
    "sort": lambda x: x * sorted(x.shape)[0],
    "square root": lambda x: x * math.sqrt(x.shape[0]),
    "count": lambda x: x * list(x.shape).count(3),
    "array": lambda x: x * np.zeros(x.shape[0]).size,
    "power": lambda x: x * 2 ** x.shape[0],
}


# What texts of lists and arrays show is part of a Program: each size has its own.
SHOWN = frozenset({"repr of a list", "array"})


@pytest.mark.parametrize("name", ASKING)
def test_code_that_looks_at_a_size_sees_the_number(name):
    programs = 4 if name in SHOWN else 2
    check(to_static(ASKING[name]), *[[(n, 2)] for n in (2, 3, 13, 4)], programs=programs)


def test_a_size_is_an_int_to_whoever_asks():
    def function(x):
        size = x.shape[0]
        return x * 2.0 if isinstance(size, int) and type(size) is int else x * 3.0

    check(to_static(function), *[[(n, 2)] for n in (2, 3, 13, 4)], programs=2)


def test_a_declared_size_is_looked_up_when_the_program_runs():
    static = to_static(lambda x: x * {3: 2.0}.get(x.shape[0], 7.0), input_spec=[InputSpec(["n"])])
    for rows, factor in ((3, 2.0), (4, 7.0)):
        assert static(ones(rows)).tolist() == [factor] * rows


def test_sizes_can_be_shown_and_looked_up_after_a_trace():
    static = to_static(add_one, input_spec=[InputSpec(["n"])])
    (size,) = static.inputs[0].shape
    assert f"{size}" == "n" and {size: 1}[size] == 1


def test_a_size_that_is_returned_is_a_number():
    static = to_static(lambda x: (x + 1.0, x.shape[0]))
    assert [static(ones(n))[1] for n in (2, 3, 0, 1, 9)] == [2, 3, 0, 1, 9]
    assert len(static.program_cache) == 2


def test_a_size_in_a_set_is_found_as_a_number():
    def function(x):
        return x * 2.0 if x.shape[0] in {2, 4} else x * 3.0

    check(to_static(function), *[[(n,)] for n in (2, 3, 4, 5)], programs=2)


def test_an_error_of_the_function_is_the_one_of_the_trace_with_numbers():
    def function(x):
        if x.shape[0] == 7:
            raise KeyError("seven")
        return x

    static = to_static(function)
    check(static, [(2,)], [(3,)], programs=2)
    with pytest.raises(KeyError, match="seven"):
        static(ones(7))


def test_gradients_flow_through_unknown_sizes():
    layer = dy2st.nn.Linear(3, 2)
    static = to_static(lambda x: (layer(x).reshape([x.shape[0] * 2]) ** 2.0).sum())
    for rows in (2, 4, 5):
        x = dy2st.randn([rows, 3])
        gradients = []
        for function in (static, static.dygraph_function):
            layer.weight.grad = None
            function(x).backward()
            gradients.append(layer.weight.grad.numpy())
        np.testing.assert_allclose(*gradients, rtol=1e-5)
    assert len(static.program_cache) == 2


def test_a_changed_global_is_traced_anew_with_unknown_sizes(monkeypatch):
    def function(x):
        return x * FACTOR, FACTOR

    static = to_static(function)
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        for rows in (2, 3, 4, 5):
            result, constant = static(ones(rows))
            assert result.tolist() == [factor] * rows and constant == factor
    assert len(static.program_cache) == 3
    assert str(static.inputs[0].shape[0]) == "x_axis0"


FACTOR = 1.0


def test_threads_may_call_with_different_sizes():
    static = to_static(lambda x: x.reshape([x.shape[0] * 2, -1]))
    wrong = []

    def work(rows):
        for turn in range(100):
            shape = static(ones(rows + turn % 3, 4)).shape
            wrong.extend([shape] * (shape != [2 * (rows + turn % 3), 2]))

    threads = [threading.Thread(target=work, args=(rows,)) for rows in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_saved_after_calls_takes_the_sizes_that_changed(tmp_path):
    static = to_static(add_one)
    static(ones(2, 3)), static(ones(5, 3))
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    assert loaded(ones(0, 3)).shape == [0, 3] and loaded(ones(7, 3)).shape == [7, 3]
    with pytest.raises(SpecError, match="`x`, axis 1: 4; the Program takes 3"):
        loaded(ones(2, 4))


def test_ints_are_constants_as_before():
    static = to_static(lambda x, n: x * n)
    for n in (1, 2, 3):
        assert static(ones(2), n).tolist() == [n, n]
    assert len(static.program_cache) == 3


@pytest.mark.filterwarnings("ignore:.*has a Program for each of 10 values")
def test_programs_are_forgotten_when_there_are_too_many():
    static = to_static(lambda x, n: x * len(n))
    for n in range(100):
        static(ones(2), "n" * n)
    assert len(static.program_cache) == MOST_PROGRAMS
    last = static.program_cache.last()
    static(ones(2), "n" * 99)
    assert static.program_cache.last() is last


@pytest.mark.filterwarnings("ignore:.*has a Program for each of 10 values")
def test_a_program_in_use_is_not_the_one_forgotten():
    static = to_static(lambda x, n: x * len(n))
    static(ones(2), "used")
    used = static.program_cache.last()
    for n in range(2 * MOST_PROGRAMS):
        static(ones(2), "n" * n)
        static(ones(2), "used")
        assert static.program_cache.last() is used


def test_the_way_back_to_numbers_is_told_when_asked(capsys):
    dy2st.jit.set_verbosity(1)
    try:
        static = to_static(lambda x: x * len(repr(x.shape)))
        static(ones(2)), static(ones(3))
    finally:
        dy2st.jit.set_verbosity(0)
    assert "unknown sizes of `x` axis 0 cannot be: " in capsys.readouterr().err


# -- shown ------------------------------------------------------------------------------------


def rows(static, title):
    """The rows of the part of the table that begins with a title, split at wide gaps."""
    part = next(p for p in str(static.shapes()).split("\n\n") if p.startswith(title))
    return [re.split(r" {2,}", line.strip()) for line in part.split("\n")[2:]]


def joined(x, y):
    z = dy2st.concat([x, y], axis=1)
    if z.sum() > 0:
        z = z[1:] * 2.0
    return z, dy2st.nonzero(z)


def shown():
    specs = [InputSpec([Dim("h", max=64, multiple=8), 2]), InputSpec([None, "w"])]
    return to_static(joined, input_spec=specs)


def test_the_table_shows_every_value_with_operator_shape_and_line():
    static = shown()
    found = rows(static, "value")
    assert found[0] == ["%x", "input", "[h, 2]"]
    assert found[2][:3] == ["%0", "concat", "[h, w + 2]"]
    assert re.fullmatch(r"test_sizes\.py:\d+", found[2][3])
    names = {row[0] for row in found}
    text = str(static.main_program)
    assert {name for name in re.findall(r"(%\w+) = ", text)} <= names


def test_the_table_indents_nested_blocks():
    text = str(shown().shapes())
    assert re.search(
        r"\n  if true:\n    %\d+ +given %0 .*\n    %\d+ +slice +\[h - min\(1, h\), ", text
    )
    assert re.search(r"\n  if false:\n    %\d+ +given %0", text)


def test_the_table_shows_sizes_with_their_places_and_ranges():
    found = rows(shown(), "size")
    assert found[:3] == [
        ["h", "`x` axis 0", "0 to 64"],
        ["y_axis0", "`y` axis 0", "0 or more"],
        ["w", "`y` axis 1", "0 or more"],
    ]
    assert found[-1][0].startswith("nonzero")


def test_the_table_shows_constraints_with_the_text_of_their_line():
    first, second, *_ = rows(shown(), "constraint")
    assert first == ["h % 8 == 0", "declared in InputSpec of `x`, axis 0"]
    assert second[0] == "h == y_axis0" and re.fullmatch(r"test_sizes\.py:\d+", second[1])
    assert second[2] == "z = dy2st.concat([x, y], axis=1)"


def test_the_table_is_the_same_every_time():
    assert str(shown().shapes()) == str(shown().shapes())


def test_a_broken_constraint_names_arguments_axes_sizes_and_source():
    with pytest.raises(ShapeError) as caught:
        shown()(ones(16, 2), ones(8, 1))
    assert re.match(
        r"argument `x`, axis 0: 16; must equal `y` axis 0: 8 \(from .*test_sizes\.py:\d+ "
        r"`z = dy2st\.concat\(\[x, y\], axis=1\)`\)\n  because: concat: ",
        str(caught.value),
    )


def test_training_refuses_in_the_same_words():
    static = to_static(add_one, input_spec=[InputSpec([Dim("h", multiple=16)], name="x")])
    x = ones(30)
    x.stop_gradient = False
    with pytest.raises(ShapeError, match=r"break `h % 16 == 0`: h = 30 \(argument `x`, axis 0\)"):
        static(x)
