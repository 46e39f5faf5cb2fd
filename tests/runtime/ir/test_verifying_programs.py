"""The verifier accepts Programs as they are traced, and finds each way in which one is broken."""

import numpy as np
import pytest

from dy2st_runtime.dims import Condition, Constraint, symbol
from dy2st_runtime.errors import VerifyError
from dy2st_runtime.ir import (
    Block,
    F,
    LocatedConstraint,
    Operator,
    Output,
    Program,
    TensorType,
    Variable,
    current_tracer,
)
from dy2st_runtime.ir.checks.verifier import findings, verify
from dy2st_runtime.ir.structure import Only
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.ops.control_flow import while_loop

N = symbol("n")
FLOAT = TensorType("float32", (N, 3))


@pytest.fixture
def program(trace):
    """%1 = relu(%x); %2 = sum(%1, axis 1); %3 = reshape(%1, 3n)."""

    def model(x):
        y = F.relu(x)
        return F.sum(y, axis=1), F.reshape(y, [N * 3])

    return trace(model, x=("float32", (N, 3)))


@pytest.fixture
def loop(trace):
    def model(x):
        return tuple(
            while_loop(
                lambda i, y: [F.less_than(i, 5)],
                lambda i, y: [F.add(i, 1), F.concat([y, x])],
                [F.cast(0, "int64"), x],
            )
        )

    return trace(model, x=("float32", (N, 3)))


@pytest.fixture
def branch(trace):
    return trace(_branch, p=("bool", ()), x=("float32", (N, 3)))


def _branch(p, x):
    tracer = current_tracer()
    blocks = []
    for function in (F.relu, lambda y: F.concat([y, y])):
        with tracer.nested() as block:
            parameter = block.add_parameter(x.type, "x")
            block.yields = [function(parameter)]
            blocks.append(block)
    size = symbol("joined")
    return tracer.append("cond", [p, x], {}, [TensorType("float32", (size, 3))], blocks).results[0]


def rules(program):
    return [finding.rule for finding in findings(program)]


def texts(program):
    return [str(finding) for finding in findings(program)]


def operator(program, name):
    return next(entry for entry in program.block.walk() if entry.name == name)


# -- sound Programs ---------------------------------------------------------------------------


def test_traced_programs_are_sound(program, loop, branch):
    for sound in (program, loop, branch):
        assert texts(sound) == []
        assert verify(sound) is sound


def test_sizes_that_the_data_decides_may_have_any_new_name(trace):
    def model(x):
        first, second = F.nonzero(x), F.nonzero(F.exp(x))
        return F.concat([first, second]), F.reshape(first, [-1])

    assert texts(trace(model, x=("float32", (N,)))) == []


def test_an_empty_program_is_sound():
    assert findings(Program()) == []


# -- operators --------------------------------------------------------------------------------


def test_an_operand_is_made_before_it_is_read(program):
    operators = program.block.operators
    operators[0], operators[1] = operators[1], operators[0]
    (finding,) = findings(program)
    assert finding.rule == "operands are defined"
    assert finding.operator is operators[0]
    assert finding.text == (
        "operand 0 (a value: float32[n, 3]) is not made before it in this Block"
    )


def test_a_nested_block_reads_nothing_from_outside(branch):
    inner = branch.operators[0].blocks[0].operators[0]
    inner.operands = [branch.inputs[1]]
    assert rules(branch) == ["operands are defined"]


def test_an_operator_has_a_record(program):
    program.operators[0].name = "unheard_of"
    assert "record exists" in rules(program)


def test_an_operator_knows_its_block(program, branch):
    program.operators[0].block = Block()
    assert rules(program) == ["operator knows its block"]
    branch.operators[0].blocks[1].parent = None
    assert rules(branch) == ["operator knows its block"]


def test_operands_are_as_many_as_the_record_names(program):
    program.operators[0].operands *= 2
    assert "operands fit record" in rules(program)


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("array_length", TensorType("int64", (3,))),
        ("relu", ArrayType(TensorType("float32", (3,)))),
    ],
)
def test_lists_stand_only_where_the_record_has_them(name, type):
    program = Program("main")
    program.inputs = [program.block.add_parameter(type, "x")]
    made = Operator(name, program.inputs[:], {}, program.block)
    made.results = [Variable(TensorType("int64", ()), made)]
    program.block.operators.append(made)
    assert "lists stand where they may" in rules(program)


def test_promoted_operands_share_a_dtype(trace):
    program = trace(F.add, x=("float32", (3,)), y=("float32", (3,)))
    program.inputs[1].type = TensorType("float64", (3,))
    assert "operands share dtype" in rules(program)


def test_attributes_are_those_of_the_record(program):
    summed = operator(program, "sum")
    del summed.attributes["axis"]
    summed.attributes["colour"] = 1
    assert rules(program) == ["attributes fit record"] * 2


@pytest.mark.parametrize(
    "value",
    [[1], {1}, {"a": 1}, np.float32(1), np.dtype("S3"), (1, (object(),)), np.ones(2)],
)
def test_attributes_are_of_the_kind_that_the_record_names(program, value):
    operator(program, "sum").attributes["axis"] = value
    assert "attributes are of their kind" in rules(program)


def test_attributes_are_not_nested_without_end(program):
    value = ()
    for _ in range(40):
        value = (value,)
    operator(program, "sum").attributes["axis"] = value
    assert "attributes are of their kind" in rules(program)


def test_results_have_the_types_of_the_shape_rule(program):
    operator(program, "sum").results[0].type = TensorType("float32", (3,))
    assert texts(program)[0].endswith(
        "results are typed by rule: its results have (float32[3]); the rule gives (float32[n])"
    )


def test_a_shape_rule_that_refuses_is_a_finding(trace):
    program = trace(F.matmul, x=("float32", (2, 3)), y=("float32", (3, 4)))
    program.inputs[1].type = TensorType("float32", (5, 4))
    assert "results are typed by rule: the shape rule refuses: matmul" in texts(program)[0]


def test_what_a_shape_rule_requires_is_required_by_the_program(trace):
    m = symbol("m")
    program = trace(lambda x, y: F.reshape(x, [m, 3]), x=("float32", (N,)), y=("int8", (m,)))
    assert texts(program) == []
    program.constraints.clear()
    assert "its rule needs " in texts(program)[0]
    assert "which the Program does not require" in texts(program)[0]


def test_a_size_that_the_data_decides_is_no_number(trace):
    program = trace(F.nonzero, x=("float32", (4,)))
    operator(program, "nonzero").results[0].type = TensorType("int64", (2, 1))
    assert rules(program) == ["results are typed by rule"]


def test_blocks_belong_to_control_flow(program, branch):
    program.operators[0].blocks = [Block(parent=program.block)]
    assert "blocks belong to control flow" in rules(program)
    branch.operators[0].blocks.pop()
    assert "blocks belong to control flow" in rules(branch)


# -- control flow -----------------------------------------------------------------------------


def test_the_condition_of_a_cond_is_a_bool(branch):
    branch.inputs[0].type = TensorType("int64", ())
    assert rules(branch) == ["cond is closed"]


def test_the_blocks_of_a_cond_take_its_operands(branch):
    branch.operators[0].blocks[0].parameters[0].type = TensorType("float64", (N, 3))
    assert "cond is closed" in rules(branch)


def test_the_blocks_of_a_cond_yield_its_results(branch):
    branch.operators[0].blocks[1].yields = []
    assert rules(branch) == ["block yields the results"]


def test_a_cond_of_two_sizes_has_a_result_of_neither(branch):
    branch.operators[0].results[0].type = FLOAT
    assert rules(branch) == ["block yields the results"]


def test_the_condition_of_a_while_yields_one_bool(loop):
    condition = operator(loop, "while").blocks[0]
    condition.yields = [condition.parameters[0]]
    assert rules(loop) == ["while is closed"]


def test_the_body_of_a_while_yields_the_loop_variables(loop):
    operator(loop, "while").blocks[1].yields.reverse()
    assert set(rules(loop)) == {"block yields the results"}


def test_a_while_takes_its_loop_variables(loop):
    operator(loop, "while").operands.reverse()
    assert set(rules(loop)) == {"while is closed"}


def test_a_loop_variable_that_grows_has_a_size_of_its_own(loop):
    for block in operator(loop, "while").blocks:
        block.parameters[1].type = FLOAT
    assert "block yields the results" in rules(loop)


# -- Variables, symbols, types ----------------------------------------------------------------


def test_a_variable_is_made_once(program):
    program.operators[1].results = list(program.operators[0].results)
    assert "results are made once" in rules(program)


def test_a_variable_knows_its_maker(program):
    program.operators[0].results[0].maker = program.block
    assert rules(program) == ["results are made once"]


def test_a_symbol_of_an_attribute_is_bound_before(program):
    operator(program, "reshape").attributes["shape"] = (symbol("stranger"),)
    assert "attribute symbols are bound" in rules(program)


def test_a_symbol_of_a_type_is_bound_before_or_there():
    program = Program()
    program.inputs = [
        program.block.add_parameter(TensorType("int8", (symbol("q") * symbol("q"),)), "x")
    ]
    assert texts(program) == [
        "block parameters: the type of %x: int8[q*q] has the size q, which nothing has bound before"
    ]
    program.inputs.append(program.block.add_parameter(TensorType("int8", (symbol("q"),)), "y"))
    assert texts(program) == []


def test_a_symbol_of_a_nested_block_is_not_seen_outside(branch):
    inner = branch.operators[0].blocks[1]
    inside = symbol("inside")
    inner.yields[0].type = TensorType("float32", (inside, 3))
    branch.operators[0].results[0].type = TensorType("float32", (inside * 2, 3))
    assert "result symbols are bound" in rules(branch)


def test_symbols_of_one_name_have_one_range():
    program = Program()
    for most in (4, 5):
        type = TensorType("int8", (symbol("n", 0, most),))
        program.inputs.append(program.block.add_parameter(type, f"x{most}"))
    assert texts(program) == ["symbols have one range: `n` ranges over 0 to 4 and over 0 to 5"]


def test_sizes_are_not_negative_and_elements_are_known():
    program = Program()
    types = [TensorType("int8", (-1,)), TensorType("S3", ()), "a type", ArrayType(None)]
    program.inputs = [program.block.add_parameter(type) for type in types]
    assert rules(program) == ["block parameters"] * 3


def test_a_block_yields_what_it_has(program):
    program.block.yields[0] = Variable(FLOAT, Block())
    assert rules(program) == ["block yields"]


# -- the Program itself -----------------------------------------------------------------------


def test_the_block_takes_inputs_parameters_buffers(program):
    program.parameters["w"] = Variable(TensorType("float32", (2,)), program.block, "w")
    assert texts(program) == [
        "program takes inputs and state: the Block takes (x), not (x, w)",
    ]


def test_parameters_have_known_sizes(program):
    program.parameters["w"] = program.block.add_parameter(FLOAT, "w")
    assert "parameters and buffers are tensors of known sizes" in texts(program)[0]


def test_updates_name_buffers_and_keep_their_types(program):
    program.updates = ["b"]
    assert rules(program) == ["updates are last yields", "structure can be kept"]
    program.structure = None
    program.buffers["b"] = program.block.add_parameter(TensorType("float32", (2,)), "b")
    assert "the update of `b` has type" in texts(program)[0]


@pytest.mark.parametrize(
    "structure",
    [Output(9), Output(0, True), Only(Output(0)), object(), {object(): 1}, np.bytes_("a"), {1}],
)
def test_the_structure_names_outputs_and_constants(program, structure):
    program.structure = (None, [structure])
    assert rules(program) == ["structure can be kept"]


def test_a_structure_nested_without_end_is_found(program):
    program.structure = []
    for _ in range(2_000):
        program.structure = [program.structure]
    assert rules(program) == ["structure can be kept"]


def test_constraints_are_about_sizes_of_the_program(program):
    condition = Condition(">", symbol("stranger"), 3)
    program.constraints.append(LocatedConstraint(Constraint(condition, "because")))
    assert rules(program) == ["constraints are bound"]


def test_blocks_nested_without_end_are_found(trace):
    program = trace(_branch, p=("bool", ()), x=("float32", (N, 3)))
    inner = program.operators[0]
    for _ in range(400):
        block = Block(parent=program.block)
        wrapped = [block, Block(parent=program.block)]
        inner = type(inner)("cond", [], {}, program.block, wrapped, [])
        block.operators = program.block.operators
        program.block.operators = [inner]
    assert "blocks belong to control flow" in rules(program)


# -- how it is shown --------------------------------------------------------------------------


def test_findings_stand_in_the_text_at_their_line(program):
    operator(program, "sum").attributes["axis"] = (7,)
    with pytest.raises(VerifyError) as caught:
        verify(program)
    lines = str(caught.value).splitlines()
    assert lines[0] == "1 finding in the Program 'model':"
    marked = next(index for index, line in enumerate(lines) if line.startswith(">>"))
    assert '"dy2st.sum"' in lines[marked]
    assert lines[marked + 1].lstrip().startswith("^ attributes are of their kind: `axis`")
    assert caught.value.findings == texts(program)


def test_of_a_long_text_only_the_lines_around_findings_are_shown(trace):
    def model(x):
        for _ in range(200):
            x = F.relu(x)
        return x

    program = trace(model, x=("float32", (N,)))
    program.operators[100].operands *= 2
    with pytest.raises(VerifyError) as caught:
        verify(program)
    assert len(str(caught.value).splitlines()) < 20
    assert str(caught.value).count(">>") == 1


def test_a_finding_names_operator_and_line(program):
    operator(program, "sum").attributes["axis"] = (7,)
    location = operator(program, "sum").location
    assert texts(program)[0].startswith(f"sum ({location}): attributes are of their kind: ")


def test_a_window_over_all_but_the_last_column_is_required_for_good(trace):
    def model(x):
        y = F.conv1d(x[:, :, :-1], np.ones((2, 2, 1), "float32"))
        return y, x[0]  # says that x has rows, and so how y is written

    verify(trace(model, x=("float32", (N, 2, N))))
