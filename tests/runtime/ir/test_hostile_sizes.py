"""Size formulas of a file that nobody should trust: refused or verified in time, whatever they say."""

import time

import pytest

from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir.checks.verifier import findings
from dy2st_runtime.ir.text.parser import parse
from tests.effort import effort

NAMES = "abcdefghij"
TEN = f"({'+'.join(NAMES)})"


def product(count):
    return "*".join([TEN] * count)


def text(constraints=(), types=()):
    symbols = ", ".join(f"{name} = [0]" for name in NAMES)
    entries = ", ".join(
        f'{{condition = #dy2st.condition<"{condition}">, reason = "so"}}'
        for condition in constraints
    )
    inputs = ", ".join(f'"{name}"' for name in [*NAMES, *(f"x{i}" for i, _ in enumerate(types))])
    parameters = [f'%{name}: tensor<?xf32, ["{name}"]>' for name in NAMES]
    parameters += [f'%x{i}: tensor<?xf32, ["{size}"]>' for i, size in enumerate(types)]
    return (
        '"dy2st.model"() <{format = 1 : i64, producer = "p"}> ({\n"dy2st.program"() <{name = "f", '
        f"symbols = {{{symbols}}}, inputs = [{inputs}], constraints = [{entries}]}}> ({{\n"
        f'^bb0({", ".join(parameters)}):\n"dy2st.return"() : () -> ()\n'
        "}) : () -> ()\n}) : () -> ()\n"
    )


def in_time(source):
    """What is wrong with a text; ten seconds of the processor are far too many."""
    start = time.process_time()
    try:
        (program,) = parse(source)
        found = [str(finding) for finding in findings(program)]
    except Dy2stError as error:
        found = [str(error)]
    assert time.process_time() - start < 10
    return found


@pytest.mark.parametrize("count", [2, 6, 12, 40])
def test_a_product_of_sums_is_read_in_time(count):
    in_time(text(types=[product(count)]))


@pytest.mark.parametrize("count", [2, effort(4, 12)])
def test_equalities_of_products_are_read_in_time(count):
    in_time(text([f"{product(count)} == {k}*{name}*{TEN}" for k, name in enumerate(NAMES * 4)]))


@pytest.mark.parametrize(
    "size",
    [
        "(" * 55 + "a" + ")" * 55,
        "max(" * 50 + "a" + ", b)" * 50,
        "((" * 25 + "a" + "//2)*b)" * 25,
        "-" * 100 + "a",
        "+".join(f"{k}*a*b" for k in range(200)),
        "9" * 29 + "*a",
        "*".join(["99999999999999999999999999999"] * 60) + "*a",
        "broadcast(" + ", ".join(f"{a}*{b}" for a in NAMES for b in NAMES) + ")",
        "a % (b % (c % (d % (e % f))))",
        "(a*b*c) // (d*e*f) // (g*h*i)",
    ],
    ids=range(10),
)
def test_a_deep_or_long_formula_is_read_in_time(size):
    in_time(text(types=[size]))
    in_time(text([f"{size} >= {k}" for k in range(30)]))


def test_more_constraints_than_can_be_looked_through_are_refused():
    many = [
        f"{'+'.join(f'{k + j}*{name}' for j, name in enumerate(NAMES))} >= 1" for k in range(1_001)
    ]
    assert any(
        "there are 1001 constraints, more than 1000" in found for found in in_time(text(many))
    )
