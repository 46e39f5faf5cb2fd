"""A Program prints to text and reads back from it: the same Program, the same text."""

from __future__ import annotations

import collections
import subprocess
import sys
import textwrap

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Location, ParseError
from dy2st_runtime.ir import DEFINITIONS, F, Output, Program, TensorType, Tracer, Variable
from dy2st_runtime.ir.checks.verifier import findings
from dy2st_runtime.ir.structure import At, Container, Only, Rows, Tables
from dy2st_runtime.ir.text.attribute_parser import AttributeParser
from dy2st_runtime.ir.text.attribute_text import attribute_text
from dy2st_runtime.ir.text.parser import parse, parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.types import ArrayType
from tests.effort import effort

MANY = settings(
    max_examples=effort(50, 150),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


def read(text):
    parser = AttributeParser(text)
    parser.enter_scope({"n": symbol("n"), "k": symbol("k", 2, 9)})
    value = parser.attribute()
    assert parser.kind == "end"
    return value


def is_same(left, right):
    """Equal in type and bits, looking into containers."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict):
        return is_same([*left.items()], [*right.items()])
    if isinstance(left, (np.ndarray, np.generic)):
        return (left.dtype, left.shape, left.tobytes()) == (
            right.dtype,
            right.shape,
            right.tobytes(),
        )
    if isinstance(left, float):
        return np.float64(left).tobytes() == np.float64(right).tobytes()
    return left == right


def same_programs(left, right):
    """Whether two Programs agree in structure: everything but the identity of their objects."""
    numbers = {}

    def number(variable):
        return numbers.setdefault(variable, len(numbers))

    def of_block(block):
        return (
            [(number(v), v.type) for v in block.parameters],
            [of_operator(operator) for operator in block.operators],
            [number(v) for v in block.yields],
        )

    def of_operator(operator):
        return (
            operator.name,
            [number(v) for v in operator.operands],
            [(number(v), v.type) for v in operator.results],
            sorted(operator.attributes),
            [of_block(block) for block in operator.blocks],
        )

    def facts(program):
        numbers.clear()
        return (
            of_block(program.block),
            [number(v) for v in program.inputs],
            [v.name for v in program.inputs],
            [(name, number(v)) for name, v in program.state.items()],
            list(program.parameters),
            {name: program.trainable.get(name, False) for name in program.state},
            program.name,
            program.updates,
            [(str(c.constraint.condition), c.constraint.reason) for c in program.constraints],
        )

    pairs = zip(left.block.walk(), right.block.walk(), strict=True)
    return (
        facts(left) == facts(right)
        and is_same(left.structure, right.structure)
        and all(is_same(a.attributes[k], b.attributes[k]) for a, b in pairs for k in a.attributes)
    )


# -- Programs ---------------------------------------------------------------------------------


@MANY
@given(data=st.data())
def test_a_random_program_reads_back_as_itself(random_program, data):
    program = random_program(data.draw)
    text = to_text(program)
    again = parse_one(text)
    assert to_text(again) == text
    assert same_programs(program, again)
    assert findings(program) == findings(again) == []


def test_the_text_of_a_small_program(trace):
    batch = symbol("batch", 0, 512)
    program = trace(lambda x: F.reshape(F.relu(x), [batch * 2, 1]), x=("float32", (batch, 2)))
    for operator in program.operators:
        operator.location = Location("/home/me/model.py", 9, 8)
    assert to_text(program) == textwrap.dedent("""\
        "dy2st.model"() <{format = 1 : i64, producer = "dy2st 0.3.0"}> ({
          "dy2st.program"() <{
            name = "lambda",
            symbols = {batch = [0, 512]},
            inputs = ["x"],
            structure = [#dy2st.output<0>]
          }> ({
          ^bb0(%x: tensor<?x2xf32, ["batch"]>):
            %0 = "dy2st.relu"(%x) : (tensor<?x2xf32, ["batch"]>) -> tensor<?x2xf32, ["batch"]> loc("model.py":9:8)
            %1 = "dy2st.reshape"(%0) {shape = [#dy2st.dim<"2*batch">, 1]} : (tensor<?x2xf32, ["batch"]>) -> tensor<?x1xf32, ["2*batch"]> loc("model.py":9:8)
            "dy2st.return"(%1) : (tensor<?x1xf32, ["2*batch"]>) -> ()
          }) : () -> ()
        }) : () -> ()
        """)


def test_str_of_a_program_is_its_text_without_locations(trace):
    program = trace(F.relu, x=("float32", (2,)))
    assert str(program) == to_text(program, locations=False)
    assert "loc(" not in str(program)


def test_several_programs_have_one_text(trace):
    programs = [trace(f, x=("float32", (symbol("n"),))) for f in (F.relu, F.exp)]
    text = to_text(programs)
    assert [program.name for program in parse(text)] == ["relu", "exp"]
    assert to_text(parse(text)) == text


def test_variables_of_one_name_print_apart():
    program = Program()
    for name in ("x", "x", "x_1", "5", "a b", "", "é"):
        program.inputs.append(program.block.add_parameter(TensorType("int8", ()), name))
    text = to_text(program)
    assert "^bb0(%x: tensor<i8>, %x_1: tensor<i8>, %x_1_1: " in text
    assert [v.name for v in parse_one(text).inputs] == ["x", "x", "x_1", "5", "a b", "", "é"]


def test_constraints_keep_reason_and_line(trace):
    n = symbol("n")
    program = trace(lambda x: F.reshape(x, [n, 3]), x=("float32", (symbol("m"),)))
    (located,) = program.constraints
    again = parse_one(to_text(program)).constraints[0]
    assert str(again.constraint.condition) == str(located.constraint.condition)
    assert again.constraint.reason == located.constraint.reason
    assert again.location.line == located.location.line
    assert again.location.file == "test_programs_as_text.py"


def test_lists_of_tensors_have_a_type_of_their_own():
    program = Program()
    types = [ArrayType(None), ArrayType(TensorType("float32", (symbol("n"), 2)))]
    program.inputs = [program.block.add_parameter(type) for type in types]
    text = to_text(program)
    assert '!dy2st.array<none>, %1: !dy2st.array<tensor<?x2xf32, ["n"]>>' in text
    assert [v.type for v in parse_one(text).inputs] == types


def test_blocks_may_be_nested_deeper_than_pythons_stack():
    program = Program()
    block = program.block
    x = block.add_parameter(TensorType("bool", ()), "x")
    program.inputs = [x]
    tracer = Tracer(program)
    for _ in range(3_000):
        with tracer.inside(block):
            inner = [tracer.nested() for _ in range(2)]
            blocks = []
            for context in inner:
                with context as nested:
                    parameter = nested.add_parameter(x.type)
                    nested.yields = [parameter]
                    blocks.append(nested)
            operator = tracer.append("cond", [x, x], {}, [x.type], blocks)
        block.yields = operator.results
        block, x = blocks[0], blocks[0].parameters[0]
    text = to_text(program)
    assert to_text(parse_one(text)) == text


def test_a_program_of_20000_operators_reads_back():
    program = Program()
    x = program.block.add_parameter(TensorType("float32", (symbol("n"), 64)), "x")
    program.inputs = [x]
    with Tracer(program).tracing():
        for _ in range(10_000):
            x = F.add(F.relu(x), x)
    program.block.yields = [x]
    text = to_text(program)
    assert to_text(parse_one(text)) == text


def test_the_text_does_not_depend_on_the_hash_seed():
    code = """
        from dy2st_runtime.dims import symbol
        from dy2st_runtime.ir import F, Program, TensorType, Tracer
        program = Program()
        a, b, c = (symbol(name) for name in ("a", "b", "c"))
        x = program.block.add_parameter(TensorType("float32", (a, b, c * a + b)), "x")
        program.inputs = [x]
        with Tracer(program).tracing():
            program.block.yields = [F.sum(F.reshape(x, [b, a, -1]), axis=1)]
        program.structure = {"one": 1, "two": (b"x", 2.5)}
        print(program)
    """
    texts = {
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1 and b"dy2st.sum" in texts.pop()


def test_an_operator_without_record_is_read_only_on_request():
    assert "unheard_of" not in DEFINITIONS
    program = Program("p")
    program.block.parameters = program.inputs = [Variable(TensorType("int8", ()), program.block)]
    Tracer(program).append("unheard_of", program.inputs, {"a": 1}, [])
    text = to_text(program)
    assert to_text(parse(text, allow_unknown=True)) == text


# -- attributes -------------------------------------------------------------------------------

Point = collections.namedtuple("Point", ["x", "y"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unit"),
        (True, "true"),
        (3, "3 : i64"),
        (-(2**63), "-9223372036854775808 : i64"),
        (2**63, "0x8000000000000000 : i128"),
        (1.5, "1.5 : f64"),
        (-0.0, "-0.0 : f64"),
        (1e-05, "1.0e-05 : f64"),
        (1e22, "1.0e+22 : f64"),
        (float("inf"), "0x7FF0000000000000 : f64"),
        ('say "hi"\n\\', '"say \\"hi\\"\\n\\\\"'),
        ("Größe 大小", '"Größe 大小"'),
        ("\x00\u202e\ud800", '"\\00\\E2\\80\\AE\\ED\\A0\\80"'),
        ((), "[]"),
        ((1, (2.5, None), "a"), '[1, [2.5, unit], "a"]'),
        (np.dtype("float32"), "f32"),
        (np.dtype("bool"), "i1"),
        (np.dtype("uint8"), "ui8"),
        (np.dtype(ml_dtypes.bfloat16), "bf16"),
        (Output(2), "#dy2st.output<2>"),
        (Output(0, True), "#dy2st.output<0, number>"),
        (Rows(Output(1), (Output(1),)), "#dy2st.rows<#dy2st.output<1>, [#dy2st.output<1>]>"),
        (Rows(Output(1), 2, "set"), '#dy2st.rows<#dy2st.output<1>, 2 : i64, "set">'),
        (Only(Output(1)), "#dy2st.only<#dy2st.output<1>>"),
        (Container("deque", [1], 3), '#dy2st.container<"deque", #dy2st.list<[1]>, 3 : i64>'),
        (Container("set", Output(1)), '#dy2st.container<"set", #dy2st.output<1>>'),
        (At(1, Output(2)), "#dy2st.at<1, #dy2st.output<2>>"),
        (
            Tables((Rows(Output(0), [1]),), At(0, 3)),
            "#dy2st.tables<[#dy2st.rows<#dy2st.output<0>, #dy2st.list<[1]>>], #dy2st.at<0, 3 : i64>>",
        ),
        ([1, [2]], "#dy2st.list<[1, #dy2st.list<[2]>]>"),
        ({"a": 1, 2: (3,)}, '#dy2st.dict<[["a", 1], [2, [3]]]>'),
        (b"\x00\xff", '#dy2st.bytes<"00ff">'),
        (np.float32(0.1), "#dy2st.scalar<dense<0.1> : tensor<f32>>"),
        (np.array([1, -2], "int8"), "dense<[1, -2]> : tensor<2xi8>"),
        (np.array([True, False]), "dense<[true, false]> : tensor<2xi1>"),
        (np.array([[1.5, np.inf]], "float16"), 'dense<"0x003E007C"> : tensor<1x2xf16>'),
        (np.full((2, 3), -np.inf, "f4"), 'dense<"0x000080FF"> : tensor<2x3xf32>'),
        (np.zeros((2, 3), "float64"), "dense<0.0> : tensor<2x3xf64>"),
        (np.zeros((0, 3), "float64"), "dense<> : tensor<0x3xf64>"),
        (np.array(7, "uint64"), "dense<7> : tensor<ui64>"),
        (np.array([1.5, -2], ml_dtypes.bfloat16), "dense<[1.5, -2.0]> : tensor<2xbf16>"),
    ],
)
def test_every_kind_of_attribute_has_a_text(value, text):
    assert attribute_text(value) == text
    assert is_same(read(text), value)


def test_sizes_and_conditions_are_attributes():
    n, k = symbol("n"), symbol("k", 2, 9)
    assert (
        attribute_text((2 * n + k, n > k)) == '[#dy2st.dim<"k + 2*n">, #dy2st.condition<"n > k">]'
    )
    size, condition = read('[#dy2st.dim<"k + 2*n">, #dy2st.condition<"n > k">]')
    assert size is 2 * n + k
    assert str(condition) == "n > k"


def test_a_named_tuple_comes_back_with_its_names():
    text = attribute_text(Point(1, Output(0)))
    assert text == '#dy2st.named<"Point", ["x", "y"], [1, #dy2st.output<0>]>'
    value = read(text)
    assert (type(value).__name__, value._fields, value) == ("Point", ("x", "y"), (1, Output(0)))


def test_long_arrays_are_written_as_their_bytes():
    array = np.arange(100, dtype="int16")
    text = attribute_text(array)
    assert text.startswith('dense<"0x0000010002000300')
    assert is_same(read(text), array)
    assert is_same(read(attribute_text(array[::-1])), array[::-1])


def test_elements_may_be_written_as_their_bits():
    array = np.array([1.5, np.inf, -np.inf], "float16")
    assert is_same(read("dense<[1.5, 0x7C00, 0xfc00]> : tensor<3xf16>"), array)


def test_negative_zeros_and_payloads_of_nan_survive():
    bits = np.array([0x8000000000000000, 0x7FF8000000000001, 0xFFF8000000000000, 1], "uint64")
    floats = bits.view("float64")
    assert is_same(read(attribute_text(floats)), floats)
    assert is_same(read(attribute_text(np.array([0.0, -0.0]))), np.array([0.0, -0.0]))


@MANY
@given(st.floats(width=32), st.floats(width=16), st.floats())
def test_floats_are_exact(single, half, double):
    for value in (np.array([single, 1], "f4"), np.array([half, 1], "f2"), double):
        assert is_same(read(attribute_text(value)), value)


def test_arrays_in_foreign_byte_order_are_written_as_ours():
    array = np.array([1.5, 2.5], ">f4")
    assert is_same(read(attribute_text(array)), array.astype("f4"))
    big = np.arange(100, dtype=">i4")
    assert is_same(read(attribute_text(big)), big.astype("i4"))


def test_a_constant_of_one_number_takes_no_memory():
    array = read("dense<0.0> : tensor<1000000x1000000xf64>")
    assert array.shape == (1_000_000, 1_000_000)
    assert attribute_text(array) == "dense<0.0> : tensor<1000000x1000000xf64>"


def test_complex_numbers_stand_as_digits_in_types_as_mlir_has_them():
    array = np.array([1 + 2j, np.inf - 0.0j], "complex64")
    text = attribute_text(array)
    digits = array.astype("<c8").tobytes().hex().upper()
    assert text == f'dense<"0x{digits}"> : tensor<2xcomplex<f32>>'
    assert read(text).tobytes() == array.tobytes()
    for other in (np.array(1j), np.full((2, 3), 1j), np.zeros((0, 2), "complex64")):
        back = read(attribute_text(other))
        assert (back.dtype, back.shape) == (other.dtype, other.shape) and (back == other).all()
    assert read("complex<f64>") == np.dtype("complex128")
    for wrong in (
        "dense<1.0> : tensor<complex<f32>>",
        "complex<f16>",
        'dense<"0x00"> : tensor<complex<f32>>',
    ):
        with pytest.raises(ParseError):
            read(wrong)


def test_what_no_program_holds_prints_but_does_not_parse():
    assert attribute_text({1}) == '#dy2st.invalid<"{1}">'
    assert attribute_text(np.dtype("S3")) == '!dy2st.invalid<"|S3">'


# -- long constants are left out -------------------------------------------------------------------


LONG = np.arange(12, dtype="float32").reshape(3, 4)
Pair = collections.namedtuple("Pair", ["left", "right"])


@pytest.fixture
def program(trace):
    return trace(lambda x: F.matmul(x, LONG), x=("float32", (2, 3)))


def test_a_longer_constant_is_left_out(program):
    text = to_text(program, elide=11)
    assert "{value = dense_resource<__elided__> : tensor<3x4xf32>} : () -> tensor<3x4xf32>" in text
    assert "dense<" not in text


def test_a_constant_of_that_many_elements_stays(program):
    text = to_text(program, elide=12)
    assert text == to_text(program)
    assert "dense<[[0.0, 1.0, 2.0, 3.0]," in text


def test_a_long_constant_of_one_number_stays_for_it_is_short(trace):
    program = trace(lambda x: F.matmul(x, np.ones((3, 4), "float32")), x=("float32", (2, 3)))
    assert to_text(program, elide=0) == to_text(program)


def test_arrays_inside_of_structures_are_left_out(program):
    program.structure = {"a": [LONG, Pair(Output(0), (LONG, 1))], "b": b"x"}
    text = to_text(program, elide=4)
    assert "dense<" not in text and text.count("dense_resource<__elided__>") == 3
    kept = '["a", #dy2st.list<[dense_resource<__elided__> : tensor<3x4xf32>, #dy2st.named<"Pair"'
    assert kept in text


def test_the_program_keeps_its_arrays(program):
    before = to_text(program)
    to_text(program, elide=0)
    assert to_text(parse_one(before)) == before == to_text(program)


def test_such_a_text_is_refused_where_the_array_stood(program):
    text = to_text(program, locations=False, elide=4)
    line = next(i for i, text in enumerate(text.split("\n"), 1) if "__elided__" in text)
    with pytest.raises(ParseError) as caught:
        parse(text)
    column = text.split("\n")[line - 1].index("dense_resource") + 1
    assert str(caught.value) == (
        f"line {line}, column {column}: the array was left out when this was printed"
    )


# -- Layers --------------------------------------------------------------------------------------


def in_layer(program, path):
    for operator in program.block.walk():
        operator.location = Location("model.py", 3, 7, layer=path)
    return program


@pytest.mark.parametrize("path", ["layers.0.conv1", 'of "quotes"\\ and\nlines', "ü", "("])
def test_the_path_of_a_layer_is_kept(trace, path):
    text = to_text(in_layer(trace(lambda x: F.relu(F.exp(x)), x=("float32", (2,))), path))
    (again,) = parse(text)
    assert [one.location.layer for one in again.block.walk()] == [path] * 2
    assert to_text(again) == text


def test_a_text_that_names_layers_has_a_format_that_older_readers_refuse(trace):
    program = in_layer(trace(lambda x: F.exp(x), x=("float32", (2,))), "fc")
    assert "format = 4 : i64" in to_text(program)
    assert "format = 1 : i64" in to_text(program, locations=False)


def test_a_text_with_tables_says_the_format_that_has_them():
    program = Program("f")
    assert "format = 1 " in to_text(program)
    program.structure = Tables(((1, 2),), At(0, 0))
    assert "format = 6 " in to_text(program)
