"""CancelMoves: transposes, reshapes, casts, slices and copies that undo or repeat each other."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from dy2st.passes import CancelMoves
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, apply

PASS = CancelMoves()


def settled(t, function, *types):
    return t.settled(PASS, t.program_of(function, *types), rtol=0)


# -- transposes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("second", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("first", list(permutations(range(3))), ids=str)
def test_two_transposes_become_one_or_none(t, first, second):
    after = settled(t, lambda x: F.transpose(F.transpose(x, first), second), t.floats("n", 3, 4))
    whole = tuple(first[axis] for axis in second)
    found = [o.attributes["perm"] for o in after.operators]
    assert found == ([] if whole == (0, 1, 2) else [whole])


def test_a_row_of_transposes_becomes_one(t):
    def build(x):
        for _ in range(4):
            x = F.transpose(x, [1, 2, 0])
        return F.exp(x)

    after = settled(t, build, t.floats(2, 3, 4))
    assert [o.attributes.get("perm") for o in after.operators] == [(1, 2, 0), None]


def test_other_users_of_the_first_transpose_keep_it(t):
    def build(x):
        y = F.transpose(x, [1, 0])
        return [y, F.transpose(y, [1, 0])]

    after = settled(t, build, t.floats("n", 3))
    assert t.names(after) == ["transpose"] and after.outputs[1] is after.inputs[0]


ONES = {
    "first to last": ((1, 3, 4), (1, 2, 0), "reshape"),
    "a channel": (("n", 1, 4, 5), (0, 2, 3, 1), "reshape"),
    "two ones": ((1, 1, 3), (2, 0, 1), "reshape"),
    "ones that change places": ((1, 3, 1), (2, 1, 0), None),
    "nothing but ones": ((1, 1, 1), (2, 0, 1), None),
    "two wide axes": ((1, 3, 4), (0, 2, 1), "transpose"),
    "a size not known": (("n", 3), (1, 0), "transpose"),
    "a wide axis over a one": ((2, 1, 4), (2, 1, 0), "transpose"),
}


@pytest.mark.parametrize("kind", ONES)
def test_a_transpose_that_moves_ones_only_is_a_reshape(t, kind):
    shape, perm, name = ONES[kind]
    after = settled(t, lambda x: F.transpose(x, perm), t.floats(*shape))
    assert t.names(after) == [name] * (name is not None)


# -- reshapes -------------------------------------------------------------------------------------

RESHAPES = {
    "two": (lambda x: F.reshape(F.reshape(x, [6]), [3, 2]), 1),
    "there and back": (lambda x: F.reshape(F.reshape(x, [6]), [2, 3]), 0),
    "a row": (lambda x: F.reshape(F.reshape(F.reshape(x, [6]), [1, 6]), [3, 1, 2]), 1),
    "to what is there": (lambda x: F.reshape(x, [2, 3]), 0),
    "flatten and unsqueeze": (lambda x: F.unsqueeze(F.flatten(x), 0), 1),
}


@pytest.mark.parametrize("kind", RESHAPES)
def test_reshapes_become_one_or_none(t, kind):
    function, count = RESHAPES[kind]
    assert t.names(settled(t, function, t.floats(2, 3))) == ["reshape"] * count


def test_reshapes_of_symbolic_sizes_become_one_or_none(t):
    def build(x):
        return [F.reshape(F.reshape(x, [-1]), x.shape), F.reshape(F.reshape(x, [-1]), [-1, 2])]

    after = settled(t, build, t.floats("n", "m", 4))
    assert t.names(after) == ["reshape"] and after.outputs[0] is after.inputs[0]


def test_a_reshape_with_other_users_stays_for_them(t):
    def build(x):
        y = F.reshape(x, [6])
        return [F.exp(y), F.reshape(y, [2, 3])]

    assert t.names(settled(t, build, t.floats(2, 3))) == ["reshape", "exp"]


# -- casts ----------------------------------------------------------------------------------------

INTEGERS = ["int8", "int16", "int32", "int64", "uint8"]
FLOATS = ["float16", "float32", "float64"]
EDGES = [0, 1, -1, 127, 128, 255, 256, 2**15, 2**24 + 1, 2**31 - 1, 2**53 + 1, 2**63 - 1, -(2**63)]


def cast_there(first, second):
    return lambda x: F.cast(F.cast(x, first), second)


def edges_of(dtype):
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind == "f":
        values = [0.0, -0.0, 1.5, -2.75, 1e-3, 65504, 3e4, 1 / 3]
        return np.array(values, dtype)
    limits = np.iinfo(kind)
    return np.array([v for v in EDGES if limits.min <= v <= limits.max], dtype)


@pytest.mark.parametrize(
    ("source", "first", "second"), list(product(["bool", *INTEGERS, *FLOATS], repeat=3))
)
def test_two_casts_give_what_they_gave_for_every_edge(t, source, first, second):
    program = t.program_of(cast_there(first, second), t.floats("n", dtype=source))
    after = PASS(program)
    values = edges_of(source)
    with np.errstate(all="ignore"):
        if np.dtype(first).kind == "f" and np.dtype(second).kind in "iu":
            found = values.astype(first).astype(np.float64)
            limits = np.iinfo(second)
            values = values[(found >= limits.min) & (found < float(limits.max))]
        t.compare(t.run(program, [values]), t.run(after, [values]), rtol=0)


CASTS = {
    ("float32", "float64", "float32"): 0,
    ("float16", "float32", "float64"): 1,
    ("float32", "float64", "float16"): 1,
    ("int8", "int32", "int8"): 0,
    ("int8", "int32", "int16"): 1,
    ("uint8", "int16", "float32"): 1,
    ("int32", "float64", "int32"): 0,
    ("int16", "float32", "int16"): 0,
    ("float32", "float32", "float32"): 0,
    ("bool", "bool", "int32"): 1,
    ("float64", "float32", "float64"): 2,
    ("int32", "float32", "int32"): 2,
    ("int32", "int8", "int32"): 2,
    ("int64", "float64", "int64"): 2,
    ("int64", "float64", "float32"): 2,
    ("float32", "int32", "float32"): 2,
    ("float32", "bool", "float32"): 2,
    ("int8", "uint8", "int32"): 2,
}


@pytest.mark.parametrize("dtypes", CASTS, ids=" ".join)
def test_a_cast_that_loses_nothing_goes(t, dtypes):
    source, first, second = dtypes
    after = PASS(t.program_of(cast_there(first, second), t.floats("n", dtype=source)))
    assert t.names(after) == ["cast"] * CASTS[dtypes]


# -- copies, slices and joins ---------------------------------------------------------------------

GONE = {
    "assign": F.assign,
    "concat of one": lambda x: apply("concat", x, axis=0),
    "broadcast to what is there": lambda x: F.broadcast_to(x, x.shape),
    "a whole slice": lambda x: x[:, :],
    "a slice to beyond the end": lambda x: x[:, 0:99],
}


@pytest.mark.parametrize("kind", GONE)
def test_what_moves_nothing_goes(t, kind):
    after = settled(t, lambda x: F.exp(GONE[kind](x)), t.floats("n", 3))
    assert t.names(after) == ["exp"]


STAYS = {
    "a slice that turns": lambda x: x[::-1],
    "a slice that turns the last axis": lambda x: x[:, ::-1],
    "a slice that drops an axis": lambda x: x[0],
    "a shorter slice": lambda x: x[1:],
    "every second element": lambda x: x[::2],
    "a broadcast": lambda x: F.broadcast_to(x, [2, 4, 3]),
    "concat of two": lambda x: F.concat([x, x]),
    "a transpose": lambda x: F.transpose(x, [1, 0]),
    "a flip": lambda x: F.flip(F.flip(x, axis=[0]), axis=[1]),
    "an operator between": lambda x: F.transpose(F.exp(F.transpose(x, [1, 0])), [1, 0]),
    "detach": F.detach,
}


@pytest.mark.parametrize("kind", STAYS)
def test_what_moves_something_stays(t, kind):
    t.untouched(PASS, t.program_of(STAYS[kind], t.floats(4, 3)))


def test_a_slice_of_one_turned_element_goes_or_stays_with_the_same_numbers(t):
    t.check(PASS, t.program_of(lambda x: x[::-1], t.floats(1, 3)))


def test_slices_of_symbolic_sizes_stay_unless_they_are_whole(t):
    n = symbol("n")

    def build(x):
        return [x[:n], x[: n - 1], x[:4]]

    after = t.check(PASS, t.program_of(build, t.floats("n", 3)), rtol=0)
    assert t.names(after) == ["slice", "slice"]


def test_it_works_inside_branches_and_loops(t):
    def inner(x):
        y = F.transpose(F.exp(F.transpose(F.transpose(x, [1, 0]), [1, 0])), [0, 1])
        return F.reshape(F.reshape(y, [-1]), x.shape)

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3))
    after = t.settled(PASS, program, rtol=0)
    assert not {"transpose", "reshape"} & set(t.names(after))


def test_an_output_that_is_an_input_is_allowed(t):
    after = settled(t, lambda x: F.assign(x), t.floats("n"))
    assert after.outputs[0] is after.inputs[0]
