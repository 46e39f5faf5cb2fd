"""`dy2st.compare` finds each of these faults at its operator, on its line.

A fault is a function that plants it, a call, and the operator with a part of its line.
"""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.passes import Module
from dy2st.passes.core.base import FunctionPass
from dy2st.passes.core.info import PassInfo
from dy2st_runtime import engine as engines
from dy2st_runtime.engine.numpy import codegen
from dy2st_runtime.engine.numpy import executable as numpy_engine
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.tracing.tracer import current_tracer

FAULTS = {}
X = np.linspace(-1.0, 2.0, 12, dtype="float32").reshape(3, 4)
HAS_NATIVE = engines.is_installed("native")
HAS_ONNX = engines.is_installed("onnxruntime")


def fault(operator, line, needs=True):
    def enter(make):
        FAULTS[make.__name__] = make, operator, line, needs
        return make

    return enter


def chain(x):
    y = x * 2.0
    y = y.tanh()
    y = y + 0.5
    y = y.exp()
    return y.sum()


def branches(x):
    if x.sum() > 0:
        y = x.sin()
        y = y * 3.0
    else:
        y = x - 1.0
    return y + 1.0


def loops(x):
    i = dy2st.zeros([], "int64")
    while i < 4:
        x = x.cos()
        x = x * 1.25
        i = i + 1
    return x.sum(axis=0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1D(8)
        self.last = nn.Linear(8, 2)

    def forward(self, x):
        h = self.first(x)
        h = self.norm(h)
        h = nn.functional.relu(h)
        return self.last(h)


# -- what plants them --------------------------------------------------------------------------


class Changing(FunctionPass):
    """A pass that changes the first operator of a name, wherever it stands."""

    info = PassInfo("Changing", 0)

    def __init__(self, name, change):
        self.name, self.change = name, change

    def transform_function(self, program, module, context):
        self.change(next(one for one in program.block.walk() if one.name == self.name))
        return program


def renamed(name):
    def change(operator):
        operator.name = name

    return change


def with_attribute(**changed):
    def change(operator):
        operator.attributes.update(changed)

    return change


def constant_plus(amount):
    def change(operator):
        constant = operator.operands[1].maker
        value = constant.attributes["value"]
        constant.attributes["value"] = np.asarray(value + amount, value.dtype)

    return change


def exchanged(operator):
    operator.operands.reverse()


def other_branch(operator):
    operator.blocks.reverse()


def faulty_engine(monkeypatch, name, change):
    """The engine `faulty`: NumPy's, of a copy in which an operator is another one."""

    def compile_program(program):
        made = clone(program)
        for operator in made.block.walk():
            if operator.name == name:
                change(operator)
        executable = numpy_engine.compile_program(made)
        executable.program = program
        return executable

    monkeypatch.setitem(engines.ENGINES, "faulty", compile_program)
    return "faulty"


def wrong_kernel(monkeypatch, name, make=lambda result: result * 1.01):
    definition = lookup(name)
    kernel = definition.kernel
    monkeypatch.setattr(definition, "kernel", lambda *a, **k: make(kernel(*a, **k)))


def wrong_in_programs(monkeypatch, name, make=lambda one: one * 1.5):
    """A gradient rule that is wrong where it is recorded into a Program."""
    definition = lookup(name)
    rule = definition.gradient

    def gradient(*args, **kwargs):
        found = rule(*args, **kwargs)
        if current_tracer() is None:
            return found
        entries = found if isinstance(found, (tuple, list)) else (found,)
        first = entries[0]
        return (lambda: make(first() if callable(first) else first), *entries[1:])

    monkeypatch.setattr(definition, "gradient", gradient)


# -- engines -----------------------------------------------------------------------------------


@fault("sum", "return y.sum()")
def a_short_form_of_numpy_engine(monkeypatch):
    form = lambda operator, operands: (np.add.reduce, f"1 + {{}}({operands[0]}, None)")  # noqa: E731
    monkeypatch.setitem(codegen._FORMS, "sum", form)
    return dy2st.compare(chain, dy2st.to_tensor(X), engine="numpy")


@fault("tanh", "y = y.tanh()", HAS_NATIVE)
def a_kernel_of_numpy_beside_machine_code(monkeypatch):
    wrong_kernel(monkeypatch, "tanh")
    return dy2st.compare(chain, dy2st.to_tensor(X), engine="native")


@fault("exp", "y = y.exp()", HAS_NATIVE)
def a_row_of_machine_code(monkeypatch):
    from dy2st_runtime.engine.native.rows import ROWS

    monkeypatch.setitem(ROWS, "exp", ROWS["sin"])
    return dy2st.compare(chain, dy2st.to_tensor(X), engine="native")


@fault("sin", "y = x.sin()")
def an_operator_in_a_branch(monkeypatch):
    engine = faulty_engine(monkeypatch, "sin", renamed("cos"))
    return dy2st.compare(branches, dy2st.to_tensor(X), engine=engine)


@fault("cos", "x = x.cos()")
def an_operator_in_a_loop(monkeypatch):
    engine = faulty_engine(monkeypatch, "cos", renamed("sin"))
    return dy2st.compare(loops, dy2st.to_tensor(X), engine=engine)


@fault("argsort", "return x.sort()")
def an_engine_that_sorts_the_other_way(monkeypatch):
    def ordered(x):
        return x.sort()

    engine = faulty_engine(monkeypatch, "argsort", with_attribute(descending=True))
    return dy2st.compare(ordered, dy2st.to_tensor(X), engine=engine)


@fault("cond", "if x.sum() > 0:")
def an_engine_that_takes_the_other_branch(monkeypatch):
    engine = faulty_engine(monkeypatch, "cond", other_branch)
    return dy2st.compare(branches, dy2st.to_tensor(X), engine=engine)


@fault("tanh", "y = y.tanh()", HAS_ONNX)
def a_node_of_onnx(monkeypatch):
    from dy2st_runtime.engine.onnx.writer import WRITERS

    monkeypatch.setitem(WRITERS, "tanh", WRITERS["sin"])
    return dy2st.compare(chain, dy2st.to_tensor(X), engine="onnxruntime")


@fault("cos", "x = x.cos()")
def the_engine_of_the_first_of_two(monkeypatch):
    engine = faulty_engine(monkeypatch, "cos", renamed("sin"))
    first, second = dy2st.to_static(loops, engine=engine), dy2st.to_static(loops, engine="numpy")
    return dy2st.compare(first, dy2st.to_tensor(X), other=second)


# -- passes ------------------------------------------------------------------------------------


@fault("multiply", "y = x * 2.0")
def a_pass_that_changes_a_constant(monkeypatch):
    return dy2st.compare(
        chain, dy2st.to_tensor(X), pipeline=Changing("multiply", constant_plus(0.25))
    )


@fault("subtract", "y = y + 0.5")
def a_pass_that_takes_another_operator(monkeypatch):
    return dy2st.compare(chain, dy2st.to_tensor(X), pipeline=Changing("add", renamed("subtract")))


@fault("subtract", "y = x - 1.0")
def a_pass_that_exchanges_operands_in_a_branch(monkeypatch):
    return dy2st.compare(branches, dy2st.to_tensor(-X), pipeline=Changing("subtract", exchanged))


@fault("softmax", "return nn.functional.softmax(y)")
def a_pass_that_changes_an_attribute(monkeypatch):
    def scores(x):
        y = x * 3.0
        return nn.functional.softmax(y)

    changed = Changing("softmax", with_attribute(axis=0))
    return dy2st.compare(scores, dy2st.to_tensor(X), pipeline=changed)


@fault("multiply", "x = x * 1.25")
def a_pass_that_changes_a_constant_of_a_loop(monkeypatch):
    def change(operator):
        body = operator.blocks[1]
        one = next(one for one in body.operators if one.name == "multiply")
        constant_of(one, operator, body).attributes["value"] = np.asarray(1.5, "float32")

    def constant_of(one, operator, block):
        value = one.operands[1]
        if value.maker is block:
            place = block.parameters.index(value)
            value = operator.operands[place]
        return value.maker

    return dy2st.compare(loops, dy2st.to_tensor(X), pipeline=Changing("while", change))


@fault("relu6", "h = nn.functional.relu(h)")
def a_pass_that_limits(monkeypatch):
    net = Net()
    x = dy2st.to_tensor(X * 40)
    net.eval()
    return dy2st.compare(net, x, pipeline=Changing("relu", renamed("relu6")))


# -- weights -----------------------------------------------------------------------------------


@fault("matmul", "return self.last(h)")
def a_changed_weight(monkeypatch):
    net = Net()
    net.eval()
    other = Net()
    other.eval()
    other.set_state_dict(net.state_dict())
    other.last.weight.set_value(other.last.weight.numpy() * 1.1)
    return dy2st.compare(net, dy2st.to_tensor(X), other=dy2st.to_static(other))


@fault("add", "h = self.first(x)")
def a_changed_array_of_a_module(monkeypatch):
    net = Net()
    net.eval()
    converted = dy2st.to_static(net, input_spec=[dy2st.static.InputSpec([None, 4])])
    program = converted.forward.main_program
    arrays = {name: one.array for name, one in converted.forward.concrete_program.state.items()}
    changed = {**arrays, "first.bias": arrays["first.bias"] + np.float32(1)}
    module, other = Module({"f": program}, arrays), Module({"f": program}, changed)
    return dy2st.compare(module, dy2st.to_tensor(X), other=other)


@fault("multiply", "return x * scale")
def a_number_that_was_other_when_it_was_traced(monkeypatch):
    scale = 2.0

    def scaled(x):
        return x * scale

    @dy2st.to_static(input_spec=[dy2st.static.InputSpec([3, 4])])
    def first(x):
        return scaled(x)

    program = first.main_program
    scale = 3.0
    return dy2st.compare(scaled, dy2st.to_tensor(X), other=program)


# -- gradients ---------------------------------------------------------------------------------


@fault("multiply", "y = y.tanh()")
def a_gradient_rule_that_is_recorded_wrong(monkeypatch):
    wrong_in_programs(monkeypatch, "tanh")
    return dy2st.compare(chain, dy2st.to_tensor(X), gradients=True)


@fault("multiply", "return self.last(h)")
def a_gradient_of_a_product(monkeypatch):
    wrong_in_programs(monkeypatch, "matmul")
    return dy2st.compare(Net(), dy2st.to_tensor(X), gradients=True)


@fault("multiply", "x = x.cos()")
def a_gradient_in_a_loop(monkeypatch):
    wrong_in_programs(monkeypatch, "cos")
    return dy2st.compare(loops, dy2st.to_tensor(X), gradients=True)


@fault("exp", "y = y.exp()")
def a_gradient_rule_that_is_wrong_everywhere(monkeypatch):
    definition = lookup("exp")
    monkeypatch.setattr(definition, "gradient", lambda g, y, x: g * y * 1.1)
    return dy2st.compare(chain, dy2st.to_tensor(X), gradients=True)


@fault("multiply", "y = y.tanh()")
def an_engine_in_the_way_back(monkeypatch):
    """Of the gradient alone: the way forth has no product after tanh."""

    def squashed(x):
        y = x + 1.0
        y = y.tanh()
        return y

    engine = faulty_engine(monkeypatch, "multiply", renamed("add"))
    return dy2st.compare(squashed, dy2st.to_tensor(X), engine=engine, gradients=True)


# -- state -------------------------------------------------------------------------------------


@fault("subtract", "h = self.norm(h)")
def a_buffer_that_gets_another_value(monkeypatch):
    net = Net()
    net.train()

    class Updating(Changing):
        def transform_function(self, program, module, context):
            program.block.yields[-1].maker.name = "subtract"
            return program

    return dy2st.compare(net, dy2st.to_tensor(X), pipeline=Updating("", None))


@pytest.mark.parametrize("name", FAULTS)
def test_compare_finds_the_operator_and_its_line(name, monkeypatch):
    make, operator, line, needs = FAULTS[name]
    if not needs:
        pytest.skip("an extra is missing")
    dy2st.seed(1)
    found = make(monkeypatch)
    assert not found.is_equal
    print(found)
    assert found.operator == operator
    assert found.place.file == __file__
    assert linecache.getline(__file__, found.place.line).strip() == line
