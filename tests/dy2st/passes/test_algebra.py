"""SimplifyAlgebra: what goes, to the bit for NaN, infinities and -0.0, and what stays."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.passes import SimplifyAlgebra
from dy2st_runtime.ir import F, apply
from dy2st_runtime.ops.control_flow import cond

PASS = SimplifyAlgebra()
SPECIAL = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1 / 3]
EDGES = {
    "int8": [-128, -1, 0, 1, 127],
    "int64": [-(2**63), -1, 0, 7, 2**63 - 1],
    "uint8": [0, 1, 255],
}


def edges(dtype):
    if np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            return np.array(SPECIAL, dtype)
    return np.array(EDGES.get(dtype, [False, True]), dtype)


def bits(array):
    """The numbers as integers, every NaN alike."""
    if array.dtype.kind != "f":
        return array
    kept = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return kept.view(f"u{array.dtype.itemsize}")


def exact(t, program, dtypes):
    """The Program after the pass, which gives the same bits for all edges."""
    after = PASS(program)
    inputs = [edges(dtype) for dtype in dtypes]
    with np.errstate(all="ignore"):
        pairs = zip(t.run(program, inputs), t.run(after, inputs), strict=True)
    for left, right in pairs:
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(bits(left), bits(right))
    assert str(PASS(after)) == str(after)
    return after


def one(t, function, dtype="float32", count=1):
    types = [t.floats("n", dtype=dtype)] * count
    return t.names(exact(t, t.program_of(function, *types), [dtype] * count))


def full(value, dtype, *shape):
    return np.full(shape, value, dtype)


# -- what does nothing ----------------------------------------------------------------------------

NOTHING = {
    "x * 1": (lambda x, d: x * full(1, d), "float32 float64 float16 int8 uint8 int64"),
    "1 * x": (lambda x, d: full(1, d) * x, "float32 int64"),
    "x * ones": (lambda x, d: x * full(1, d, 1), "float32 int64"),
    "x / 1": (lambda x, d: x / full(1, d), "float32 float64"),
    "x ** 1": (lambda x, d: x ** full(1, d), "int8 uint8 int64"),
    "x - 0": (lambda x, d: x - full(0, d), "float32 float64 int8 int64"),
    "x + -0.0": (lambda x, d: x + full(-0.0, d), "float32 float64 float16"),
    "-0.0 + x": (lambda x, d: full(-0.0, d) + x, "float32"),
    "x + 0": (lambda x, d: x + full(0, d), "int8 uint8 int64"),
    "max(x, x)": (lambda x, d: F.maximum(x, x), "float32 int64 uint8"),
    "min(x, x)": (lambda x, d: F.minimum(x, x), "float32 int64"),
    "-(-x)": (lambda x, d: -(-x), "float32 float16 int8 int64"),
    "not not x": (lambda x, d: F.logical_not(F.logical_not(x)), "bool"),
    "x and x": (lambda x, d: F.logical_and(x, x), "bool"),
    "x or x": (lambda x, d: F.logical_or(x, x), "bool"),
    "x and True": (lambda x, d: F.logical_and(x, full(True, d)), "bool"),
    "True and x": (lambda x, d: F.logical_and(full(True, d), x), "bool"),
    "x or False": (lambda x, d: F.logical_or(x, full(False, d)), "bool"),
    "one of the same": (lambda x, d: F.where(x > full(0, d), x, x), "float32 int64"),
    "a choice of all": (lambda x, d: F.where(full(True, "bool"), x, -x), "float32 int8"),
    "a choice of none": (lambda x, d: F.where(full(False, "bool", 1), x * x, x), "float32"),
}
CASES = [(kind, dtype) for kind, (_, dtypes) in NOTHING.items() for dtype in dtypes.split()]


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_what_does_nothing_goes(t, kind, dtype):
    assert one(t, lambda x: NOTHING[kind][0](x, dtype), dtype) == []


CHEAPER = {
    "x * x": (lambda x, d: x * x, "float32 float64 float16", ["square"]),
    "x ** 2": (lambda x, d: x ** full(2, d), "int8 uint8 int64", ["square"]),
    "x - x": (lambda x, d: x - x, "int8 uint8 int64", ["full"]),
    "relu(relu(x))": (lambda x, d: F.relu(F.relu(x)), "float32 int64", ["relu"]),
    "abs(abs(x))": (lambda x, d: F.abs(F.abs(x)), "float32 int8", ["abs"]),
    "leaky": (
        lambda x, d: F.where(x > full(0, d), x, x * full(0.1, d)),
        "float32 float64 float16",
        ["leaky_relu"],
    ),
    "leaky transposed": (
        lambda x, d: F.where(x > full(0, d), x, full(-1.5, d, 1) * x),
        "float32 float16",
        ["leaky_relu"],
    ),
    "x and False": (lambda x, d: F.logical_and(x, full(False, d)), "bool", ["full"]),
    "x or True": (lambda x, d: F.logical_or(full(True, d), x), "bool", ["full"]),
}
CHEAPER_CASES = [(kind, d) for kind, (_, dtypes, _) in CHEAPER.items() for d in dtypes.split()]


@pytest.mark.parametrize(("kind", "dtype"), CHEAPER_CASES)
def test_what_a_cheaper_operator_does_becomes_that(t, kind, dtype):
    function, _, names = CHEAPER[kind]
    assert one(t, lambda x: function(x, dtype), dtype) == names


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize(("first", "second"), [((), ()), ((3,), ()), ((2, 1), (3,))], ids=str)
def test_two_limits_of_one_kind_become_one(t, name, first, second):
    def build(x):
        return apply(name, t.array(*second, seed=1), apply(name, x, t.array(*first)))

    program = t.program_of(build, t.floats(2, 3))
    after = t.check(PASS, program, rtol=0)
    (last,) = after.outputs
    assert last.maker.name == name and last.type == program.outputs[0].type
    assert any(v is after.inputs[0] for v in last.maker.operands)


@pytest.mark.parametrize("limits", [(0.0, -0.0), (-1.0, 0.0), (np.nan, 1.0), (0.0, 0.0)], ids=str)
def test_two_limits_stay_where_their_order_decides_on_a_zero_or_nan(t, limits):
    first, second = np.array(limits, np.float32)
    program = t.program_of(lambda x: F.maximum(second, F.maximum(first, x)), t.floats("n"))
    t.untouched(PASS, program, "of two zeros or NaNs the order of operands decides")


def test_a_chain_goes_as_a_whole(t):
    assert one(t, lambda x: -(-F.relu(F.relu(-(-(x * np.float32(1) - np.float32(0))))))) == ["relu"]


# -- joins of parts -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 5, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_all_parts_joined_in_order_are_the_whole(t, axis, count):
    program = t.program_of(
        lambda x: F.concat(F.split(x, count, axis=axis), axis=axis), t.floats(count * 2, count)
    )
    after = t.settled(PASS, program, rtol=0)
    assert after.outputs[0] is after.inputs[0]


JOINS = {
    "another order": lambda x: F.concat(F.split(x, 2, axis=0)[::-1], axis=0),
    "another axis": lambda x: F.concat(F.split(x, 2, axis=0), axis=1),
    "one part left out": lambda x: F.concat(F.split(x, 4, axis=0)[:3], axis=0),
    "one part twice": lambda x: F.concat([F.split(x, 2, axis=0)[0]] * 2, axis=0),
    "parts of two": lambda x: F.concat([F.split(x, 2)[0], F.split(F.exp(x), 2)[1]]),
    "more parts": lambda x: F.concat([*F.split(x, 2), x]),
}


@pytest.mark.parametrize("kind", JOINS)
def test_other_joins_of_parts_stay(t, kind):
    t.untouched(PASS, t.program_of(JOINS[kind], t.floats(4, 4)))


# -- what stays -----------------------------------------------------------------------------------

KEPT = {
    "x * 0": (lambda x, d: x * full(0, d), "float32"),
    "x + 0.0": (lambda x, d: x + full(0, d), "float32"),
    "x - -0.0": (lambda x, d: x - full(-0.0, d), "float32"),
    "x - x": (lambda x, d: x - x, "float32"),
    "x / x": (lambda x, d: x / x, "float32"),
    "x ** 0": (lambda x, d: x ** full(0, d), "float32"),
    "x ** 2": (lambda x, d: x ** full(2, d), "float32 float64"),
    "x * x": (lambda x, d: x * x, "int8 int64"),
    "x ** 1": (lambda x, d: x ** full(1, d), "float32 float16"),
    "x * -1": (lambda x, d: x * full(-1, d), "float32 int64"),
    "0 - x": (lambda x, d: full(0, d) - x, "float32 int64"),
    "1 / x": (lambda x, d: full(1, d) / x, "float32"),
    "1 ** x": (lambda x, d: full(1, d) ** x, "float32"),
    "x * 255": (lambda x, d: x * full(255, d), "uint8"),
    "a leak above 1": (lambda x, d: F.where(x > full(1, d), x, x * full(0.1, d)), "float32"),
    "max and min": (lambda x, d: F.minimum(F.maximum(x, full(0, d)), full(6, d)), "float32 int64"),
    "x * nearly 1": (lambda x, d: x * np.array([1.0, 1.0000001], d), "float32"),
    "not x": (lambda x, d: F.logical_not(x), "bool"),
    "x xor x": (lambda x, d: F.logical_xor(x, x), "bool"),
    "abs of neg": (lambda x, d: F.abs(-x), "int8"),
}
KEPT_CASES = [(kind, dtype) for kind, (_, dtypes) in KEPT.items() for dtype in dtypes.split()]


@pytest.mark.parametrize(("kind", "dtype"), KEPT_CASES)
def test_what_does_something_for_some_value_stays(t, kind, dtype):
    sizes = 2 if kind == "x * nearly 1" else "n"
    program = t.program_of(lambda x: KEPT[kind][0](x, dtype), t.floats(sizes, dtype=dtype))
    assert str(PASS(program)) == str(program)


LARGER = {
    "x * ones": lambda x: x * np.ones((2, 3), "f4"),
    "x - zeros": lambda x: x - np.zeros((2, 3), "f4"),
    "x / ones": lambda x: x / np.ones((2, 3), "f4"),
    "a condition": lambda x: F.where(np.ones((2, 3), bool), x, x),
    "the other one": lambda x: F.where(np.ones(3, bool), x, np.zeros((2, 3), "f4")),
    "a truth": lambda x: F.logical_and(x > 0, np.ones((2, 3), bool)),
    "a falsehood": lambda x: F.logical_or(np.zeros((2, 3), bool), x > 0),
}


@pytest.mark.parametrize("kind", LARGER)
def test_a_constant_that_makes_the_result_larger_stays(t, kind):
    program = t.program_of(LARGER[kind], t.floats(3))
    after = t.settled(PASS, program)
    assert after.outputs[0].type == program.outputs[0].type
    assert len(t.names(after)) == len(t.names(program))


def test_division_of_integers_by_one_gives_floats_still(t):
    program = t.program_of(lambda x: x / 1, t.floats("n", dtype="int64"))
    assert t.settled(PASS, program).outputs[0].dtype == program.outputs[0].dtype


def test_empty_constants_decide_nothing(t):
    def build(x):
        return [x * np.ones(0, "f4"), F.where(np.ones(0, bool), x, -x)]

    t.check(PASS, t.program_of(build, t.floats(1)))


def test_values_with_other_users_are_simplified_too(t):
    def build(x):
        y = F.relu(x)
        z = -x
        return [y, F.relu(y), z, -z, *cond(F.sum(y) > 0, lambda: [z], lambda: [y])]

    after = t.settled(PASS, t.program_of(build, t.floats("n")))
    assert t.names(after).count("relu") == t.names(after).count("neg") == 1
    assert after.outputs[3] is after.inputs[0]


def test_it_works_inside_branches_and_loops(t):
    def inner(x):
        return F.relu(F.relu(x * 1.0)) - (-(-x))

    program = t.program_of(lambda x: t.nested(inner, x, *x.shape), t.floats("n", 3))
    found = t.names(t.settled(PASS, program))
    assert "multiply" not in found and "neg" not in found and found.count("relu") == 1


def test_numbers_of_python_keep_their_64_bits():
    def squared(x):
        total = float(x.sum())
        return total * total

    static = dy2st.to_static(squared, build_strategy="inference")
    assert static(dy2st.to_tensor([0.1, 0.2])) == squared(dy2st.to_tensor([0.1, 0.2]))
