"""Attributes of a Program that nobody should trust: refused by kind before any rule sees them."""

import numpy as np
import pytest

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import DEFINITIONS, Output
from dy2st_runtime.ir.attribute_kinds import REQUIRED, kind_of
from dy2st_runtime.ir.checks.invariants import attributes_are_of_their_kind
from dy2st_runtime.ir.checks.verifier import findings
from dy2st_runtime.ir.choice import Choice, Hole, Text
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.text.parser import parse
from dy2st_runtime.ir.types import ArrayType, TensorType

N = symbol("n")
HUGE = np.broadcast_to(np.float32(0), (10**11,))
VALUES = [
    None, True, 0, 1, -1, 63, 64, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, float("nan"), "", "a",
    "stdout", "add", "constant", b"a", N, N > 2, N // 2, (), (0,), (0, 1), (1, 0, 2), (-1,), (N, 3),
    (2**63,), (True,), (0.5,), ("a",), (None,), (None, N), ((0, 1),), ((1, 0), (0, -1)), ((N, 1),),
    ((0, 1, 2),), (((0,),),), (0,) * 65, [1], {"a": 1}, {1}, object(), np.dtype("int64"),
    np.dtype("complex64"), np.dtype("U3"), np.float32(1), np.ones(2), HUGE, np.array("a"),
    Output(0), Output(9), (Output(0, True), "a"), Choice(Output(0), ("a", None)), Choice(3, (1,)),
    Text(("a", Hole(Output(0), "", ".2f"))), Text(("a", Hole(Output(0), "", "2000000000.2f"))),
]  # fmt: skip


def operator_of(name, types, attributes):
    block = Block()
    operands = [block.add_parameter(type, f"x{place}") for place, type in enumerate(types)]
    return Operator(name, operands, attributes, block)


def operand_types(definition):
    """Types that the first sample has, of integers for operators without one."""
    if definition.name.startswith("array_"):
        types = [ArrayType(TensorType("float32", (2, 3))), *[TensorType("int64", ())] * 3]
        return types[: len(definition.inputs)]
    if not definition.samples:
        return [TensorType("int64", ())]
    sample = definition.samples[0]
    dtypes = sample.dtypes or ("float64",) * len(sample.shapes)
    return [TensorType(dtype, shape) for dtype, shape in zip(dtypes, sample.shapes)]


@pytest.mark.parametrize("name", sorted(n for n, d in DEFINITIONS.items() if d.attributes))
def test_every_attribute_has_a_kind_that_the_samples_are_of(name):
    definition = DEFINITIONS[name]
    assert list(definition.allowed) == list(definition.attributes)
    for sample in definition.samples:
        dtypes = sample.dtypes or ("float64",) * len(sample.shapes)
        types = [TensorType(dtype, shape) for dtype, shape in zip(dtypes, sample.shapes)]
        operator = operator_of(name, types, {**definition.attributes, **sample.attributes})
        assert list(attributes_are_of_their_kind(operator, None)) == []


@pytest.mark.parametrize(
    "name", sorted(n for n, d in DEFINITIONS.items() if d.infer and d.allowed and n != "call")
)
def test_values_of_the_kind_are_all_that_a_shape_rule_sees(name):
    """It answers, or refuses what does not fit the operands; nothing is of a wrong type."""
    definition = DEFINITIONS[name]
    sample = definition.samples[0].attributes if definition.samples else {}
    seen = 0
    for attribute in definition.allowed:
        for value in VALUES:
            attributes = {**definition.attributes, **sample, attribute: value}
            if any(entry is REQUIRED for entry in attributes.values()):
                continue
            operator = operator_of(name, operand_types(definition), attributes)
            if list(attributes_are_of_their_kind(operator, None)):
                continue
            seen += 1
            types = [operand.type for operand in operator.operands]
            try:
                definition.infer(*types, **attributes)
            except (Dy2stError, ArithmeticError, LookupError, ValueError):
                pass
    assert seen or not sample


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_no_value_costs_time_or_memory_to_look_at(value):
    for kind in {
        kind for definition in DEFINITIONS.values() for kind in definition.allowed.values()
    }:
        assert kind.fits(value, [TensorType("int64", ())]) in (True, False)


def test_a_default_tells_its_kind():
    assert kind_of(False).fits(True, [])
    assert not kind_of(False).fits(1, [])
    assert kind_of(np.dtype("int64")).fits(np.dtype("float32"), [])
    assert kind_of(1.0).default == 1.0


HEAD = '"dy2st.model"() <{format = 1 : i64, producer = "p"}> ({\n'
TAIL = '"dy2st.return"(%x) : (tensor<i64>) -> ()\n}) : () -> ()\n}) : () -> ()'


def program_with(line):
    start = '"dy2st.program"() <{name = "f", inputs = ["x"]}> ({\n^bb0(%x: tensor<i64>):\n'
    return HEAD + start + line + "\n" + TAIL


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '%0 = "dy2st.full"() {shape = dense<0.0> : tensor<100000000000xf32>, value = 0, dtype = '
            "f32} : () -> tensor<2xf32>",
            "not a list of sizes",
        ),
        (
            '%0 = "dy2st.sum"(%x) {axis = dense<0.0> : tensor<100000000000xf32>, keepdim = false} : '
            "(tensor<i64>) -> tensor<i64>",
            "not different axes of the first operand",
        ),
        (
            '"dy2st.write"(%x) {text = ["a"], stream = "modules", flush = false} : (tensor<i64>) -> ()',
            "`stream` is 'modules', not one of stdout, stderr",
        ),
        (
            '"dy2st.raise"(%x) {kind = 5, message = unit, state = unit} : (tensor<i64>) -> ()',
            "`kind` is 5, not a name",
        ),
        (
            '"dy2st.write"(%x) {text = [#dy2st.text<[[#dy2st.output<0, number>, "", "2000000000.2f"]]>], '
            'stream = "stdout", flush = false} : (tensor<i64>) -> ()',
            "not a nest of constants and operands in a tuple",
        ),
        (
            '"dy2st.print"(%x) {pieces = [1]} : (tensor<i64>) -> ()',
            "not texts and numbers of operands",
        ),
    ],
)  # fmt: skip
def test_a_hostile_attribute_is_named(line, message):
    (program,) = parse(program_with(line))
    assert any(message in str(finding) for finding in findings(program))


def test_a_number_of_an_operator_is_no_kind_of_another():
    operator = operator_of("sum", [TensorType("float32", (2, 3))], {"axis": (2,), "keepdim": 0})
    assert list(attributes_are_of_their_kind(operator, None)) == [
        "`axis` is (2,), not different axes of the first operand",
        "`keepdim` is 0, not true or false",
    ]
    assert isinstance(operator.operands[0], Variable)
