"""xDSL, a reader of MLIR's syntax that is not ours, takes the texts and gives the same Programs."""

from __future__ import annotations

import io

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, DenseIntOrFPElementsAttr
from xdsl.parser import Parser
from xdsl.printer import Printer

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import F
from dy2st_runtime.ir.text.parser import parse, parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops.control_flow import call, function, while_loop
from tests.effort import effort

N = symbol("n", 0, 64)
DTYPES = [
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "bool"),
    ml_dtypes.bfloat16,
]
SHAPES = [(), (0, 3), (3,), (2, 2), (9, 9)]


def as_read(text):
    """What xDSL makes of a text; it knows no operator of ours."""
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def printed(module, **options):
    """The text of what stands in xDSL's module."""
    stream = io.StringIO()
    for operation in module.ops:
        Printer(stream, print_generic_format=True, **options).print_op(operation)
    return stream.getvalue()


def names(module):
    """The names of our operators, nested ones too."""
    unknown = [o for o in module.walk() if o.name == "builtin.unregistered"]
    return [operation.op_name.data for operation in unknown]


@pytest.fixture
def programs(trace):
    """Programs with unknown sizes, constraints and a loop, by name."""
    return {
        "sizes": trace(lambda x: F.reshape(x, [N * 2, -1]), x=("float32", (N, 6))),
        "constraints": trace(lambda x: F.reshape(x, [N, 3]), x=("int8", (symbol("m", 1),))),
        "loop": trace(lambda x: tuple(loop(x)), x=("float32", (N, 4))),
        "functions": trace(lambda x: tuple(called(x)), x=("float32", (N, 4))),
    }


def loop(x):
    start = [F.cast(0, "int64"), x]
    return while_loop(lambda i, y: [F.less_than(i, 3)], lambda i, y: [F.add(i, 1), F.exp(y)], start)


def called(x):
    operands = function("double", lambda v: [v * 2], [x])
    return call("double", call("double", operands))


@pytest.mark.parametrize("name", ["sizes", "constraints", "loop", "functions"])
@pytest.mark.parametrize("locations", [True, False])
def test_a_program_comes_back_through_xdsl(programs, name, locations):
    text = to_text(programs[name], locations)
    again = printed(as_read(text), print_debuginfo=locations)
    assert to_text(parse_one(again), locations) == text


def test_xdsl_sees_every_operator(programs):
    program = programs["loop"]
    wanted = sorted(f"dy2st.{operator.name}" for operator in program.block.walk())
    ends = ["dy2st.model", "dy2st.program", "dy2st.return", "dy2st.yield", "dy2st.yield"]
    assert sorted(names(as_read(to_text(program)))) == sorted([*wanted, *ends])


def test_locations_survive_xdsl(trace):
    program = trace(lambda x: F.relu(F.exp(x)), x=("float32", (2,)))
    program.operators[0].location = Location("model.py", 9, 8, layer="layers.0")
    program.operators[1].location = None
    again = parse_one(printed(as_read(to_text(program)), print_debuginfo=True))
    assert [o.location for o in again.operators] == [Location("model.py", 9, 8), None]
    assert again.operators[0].location.layer == "layers.0"


@settings(
    max_examples=effort(20, 60),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(data=st.data())
def test_a_random_program_comes_back_through_xdsl(random_program, data):
    text = to_text(random_program(data.draw), locations=False)
    assert to_text(parse(printed(as_read(text))), locations=False) == text


def constant_in(module):
    """The only array in xDSL's module."""
    attributes = [value for operation in module.walk() for value in operation.attributes.values()]
    (found,) = [value for value in attributes if isinstance(value, DenseIntOrFPElementsAttr)]
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_comes_back_through_xdsl(trace, dtype, shape):
    array = numbers(np.dtype(dtype), shape)
    text = to_text(trace(lambda x: F.cast(array, array.dtype), x=("int8", ())), locations=False)
    module = as_read(text)
    assert constant_in(module).type.get_shape() == shape
    assert to_text(parse_one(printed(module)), locations=False) == text


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES[:-1])  # xDSL does not unpack bfloat16
def test_xdsl_reads_the_numbers_that_were_written(trace, dtype, shape):
    array = numbers(np.dtype(dtype), shape)
    program = trace(lambda x: F.cast(array, array.dtype), x=("int8", ()))
    read = list(constant_in(as_read(to_text(program))).get_values())
    assert np.array_equal(np.array(read, array.dtype), array.ravel(), array.dtype.kind == "f")


def test_xdsl_reads_an_infinity_that_fills_an_array(trace):
    program = trace(lambda x: F.add(x, np.full((2, 3), -np.inf, "float32")), x=("float32", ()))
    assert set(constant_in(as_read(to_text(program))).get_values()) == {-np.inf}


def numbers(dtype, shape):
    """Different numbers of a dtype; of floats, also those that are not finite."""
    array = (np.arange(np.prod(shape, dtype=int)) * 37 % 11).astype(dtype)
    if dtype.kind not in "biu":
        array = array / dtype.type(3)
        array[:2] = [-np.inf, np.nan][: array.size]
    return array.reshape(shape)
