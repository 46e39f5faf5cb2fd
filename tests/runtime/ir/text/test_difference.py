"""Programs are compared up to the names of their values; what differs is listed."""

from __future__ import annotations

import textwrap
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import F
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.text.alignment import aligned
from dy2st_runtime.ir.text.difference import difference, difference_of_models
from tests.effort import effort

SHAPE = ("float32", (2,))


def chain(*names):
    """A function that calls operators one after the other."""

    def f(x):
        for name in names:
            x = getattr(F, name)(x)
        return x

    return f


@settings(
    max_examples=effort(20, 60),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(data=st.data())
def test_a_random_program_equals_its_copy_whatever_values_are_called(random_program, data):
    program = random_program(data.draw)
    copy = clone(program)
    for operator in copy.block.walk():
        operator.location = Location("other.py", 1)
        for result in operator.results:
            result.name = data.draw(st.sampled_from(["x", "a", "", "5"]))
    assert difference(program, copy) == ""


@settings(
    max_examples=effort(20, 60),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(data=st.data())
def test_random_programs_are_equal_only_if_their_texts_are(random_program, data):
    left, right = random_program(data.draw), random_program(data.draw)
    for program in (left, right):
        for variable in (v for o in program.block.walk() for v in o.results):
            variable.name = ""
    assert (difference(left, right) == "") == (str(left) == str(right))


def test_an_added_operator_is_listed_alone(trace):
    left = trace(chain("relu", "exp", "tanh", "sin"), x=SHAPE)
    right = trace(chain("relu", "exp", "abs", "tanh", "sin"), x=SHAPE)
    assert difference(left, right, ("a.mlir", "b.mlir"), context=1) == textwrap.dedent("""\
        added: abs
        --- a.mlir
        +++ b.mlir
        @@ -8,3 +8,4 @@
             %1 = "dy2st.exp"(%0) : (tensor<2xf32>) -> tensor<2xf32>
        -    %2 = "dy2st.tanh"(%1) : (tensor<2xf32>) -> tensor<2xf32>
        +    %new = "dy2st.abs"(%1) : (tensor<2xf32>) -> tensor<2xf32>
        +    %2 = "dy2st.tanh"(%new) : (tensor<2xf32>) -> tensor<2xf32>
             %3 = "dy2st.sin"(%2) : (tensor<2xf32>) -> tensor<2xf32>
        """).replace("     %", "   %").replace("-    ", "-  ").replace("+    ", "+  ")


def test_operands_in_another_order_are_a_difference(trace):
    left = trace(lambda x, y: F.subtract(x, y), x=SHAPE, y=SHAPE)
    right = trace(lambda x, y: F.subtract(y, x), x=SHAPE, y=SHAPE)
    lines = difference(left, right).split("\n")
    assert [line for line in lines if line[:3] in ("-  ", "+  ")] == [
        '-  %0 = "dy2st.subtract"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>',
        '+  %0 = "dy2st.subtract"(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>',
    ]


@pytest.mark.parametrize("change", ["name", "symbol", "attribute", "input"])
def test_what_is_said_of_a_program_is_compared(trace, change):
    size = symbol("n")
    left = trace(lambda x: F.sum(x, axis=[0]), x=("float32", (size, 2)))
    right = clone(left)
    if change == "name":
        right.name = "other"
    elif change == "symbol":
        right = trace(lambda x: F.sum(x, axis=[0]), x=("float32", (symbol("n", 1), 2)))
    elif change == "attribute":
        right.operators[0].attributes["keepdim"] = None
    else:
        right.inputs[0].name = "z"
    assert difference(left, right).count("\n-") >= 1


def test_long_arrays_are_listed_by_a_checksum(trace):
    ones = np.arange(100, dtype="float32")
    left, right = (trace(lambda x: F.add(x, array), x=("float32", ())) for array in (ones, -ones))
    found = difference(left, right)
    for array in (ones, -ones):
        start, checksum = array.tobytes()[:8].hex().upper(), zlib.crc32(array.tobytes())
        assert f'dense<"0x{start}..." (400 bytes, CRC-32 {checksum:08x})>' in found


def test_places_beyond_the_first_are_counted(trace):
    left = trace(chain(*["relu", "exp", "tanh", "sin"] * 20), x=SHAPE)
    right = trace(chain(*["relu", "exp", "tanh", "cos"] * 20), x=SHAPE)
    found = difference(left, right, context=0, most=2)
    assert found.startswith("removed: 20 sin; added: 20 cos\n")
    assert found.count("\n@@ ") == 2 and found.endswith("... and 18 more places\n")


def test_parameters_are_paired_by_name(trace):
    left = trace(lambda x, w, b: F.add(F.exp(w), b), x=SHAPE, w=SHAPE, b=SHAPE)
    right = trace(lambda x, b: F.exp(b), x=SHAPE, b=SHAPE)
    for program, names in ((left, "wb"), (right, "b")):
        program.parameters = {name: program.inputs.pop(1) for name in names}
    added = [line for line in difference(left, right).split("\n") if line.startswith("+  %")]
    assert added == ['+  %0 = "dy2st.exp"(%b) : (tensor<2xf32>) -> tensor<2xf32>']


def test_programs_of_models_are_paired_by_name(trace):
    one, two, three = (trace(chain(name), x=SHAPE) for name in ("relu", "exp", "tanh"))
    one.name, two.name, three.name = "one", "two", "three"
    changed = trace(chain("sin"), x=SHAPE)
    changed.name = "two"
    found = difference_of_models([one, two], [changed, one, three], ("a", "b"))
    assert found.startswith("only in b: 'three'\nin the Program 'two':\nremoved: exp; added: sin\n")
    assert difference_of_models([one, two], [two, one]) == ""


def test_a_replaced_operator_is_listed_without_its_users(trace):
    left = trace(chain("relu", "sin", "tanh"), x=SHAPE)
    right = trace(chain("relu", "cos", "tanh"), x=SHAPE)
    changed = [line for line in difference(left, right).split("\n")[3:] if line[:1] in "+-"]
    assert [line.split('"')[1] for line in changed if line] == ["dy2st.sin", "dy2st.cos"]


def test_places_far_apart_in_a_long_program_are_found(trace):
    left, right = (
        trace(chain(*["relu", first, "tanh", *["exp", "sin"] * 1_000, last, "tanh"]), x=SHAPE)
        for first, last in [("abs", "cos"), ("cos", "abs")]
    )
    found = difference(left, right, context=0).split("\n")
    assert [line for line in found if line.startswith("@@")] == [
        "@@ -8,1 +8,1 @@",
        "@@ -2010,1 +2010,1 @@",
    ]


# -- alignment -------------------------------------------------------------------------------------


SEQUENCES = st.lists(st.integers(0, 2), max_size=12)


def longest(left, right):
    """The length of the longest common subsequence, by the table of all prefixes."""
    row = [0] * (len(right) + 1)
    for a in left:
        before, row = row, [0]
        for j, b in enumerate(right):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


def is_alignment(pairs, left, right):
    rises = all(a < c and b < d for (a, b), (c, d) in zip(pairs, pairs[1:]))
    return rises and all(left[i] == right[j] for i, j in pairs)


@given(SEQUENCES, SEQUENCES)
def test_as_many_entries_are_paired_as_there_can_be(left, right):
    pairs = aligned(left, right)
    assert is_alignment(pairs, left, right)
    assert len(pairs) == longest(left, right)


@given(SEQUENCES, SEQUENCES, st.integers(0, 6))
def test_what_is_paired_is_equal_also_where_the_search_was_cut(left, right, most):
    assert is_alignment(aligned(left, right, most), left, right)


@pytest.mark.parametrize("most", [0, 3])
def test_common_ends_are_paired_however_early_the_search_is_cut(most):
    assert aligned("abxxxxxcd", "abyyyyyyycd", most) == [(0, 0), (1, 1), (7, 9), (8, 10)]
