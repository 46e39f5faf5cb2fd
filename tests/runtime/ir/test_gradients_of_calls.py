"""Gradients through functions of a Program: as through the operators of what is called."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dy2st_runtime.autodiff.traced_gradients import gradients
from dy2st_runtime.errors import NoGradientRule
from dy2st_runtime.ir import F, TensorType, current_tracer
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ops.control_flow import call, cond, function
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.trained_program import TrainedProgram
from tests.recorded import program_of

ROWS = ("float32", ("n", 3))
X = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
W = np.linspace(0.5, -0.5, 9, dtype="float32").reshape(3, 3)


def layers(x, w):
    """A layer of the same weight twice, in a function that calls another one."""
    function("half", lambda v: [v * 0.5, F.detach(v)], [x])
    operands = function("layer", lambda v, u: [F.tanh(call("half", [v])[0] @ u)], [x, w])
    (y,) = call("layer", operands)
    return call("layer", [y, w])


def power():
    """x**n by a function that calls itself."""

    def record(x, n):
        def body(v, k):
            def more():
                less = current_tracer().variable(k - 1)
                attributes = {"function": "power"}
                made = current_tracer().append("call", [F.assign(v), less], attributes, [v.type])
                return [v * made.results[0]]

            return cond(k > 1, more, lambda: [v * 1])

        return call("power", function("power", body, [x, n]))

    return program_of(record, TensorType("float32", ()), TensorType("int64", ()))


def begin(inputs):
    """Let gradients flow through these inputs of a trace."""
    wanted = [SimpleNamespace(stop_gradient=False)] * len(inputs)
    current_tracer().flags.begin(inputs, wanted, None)


def held(*arrays):
    return [EagerTensor(np.asarray(one), stop_gradient=False) for one in arrays]


def trained(program, *arrays):
    """The gradients of the sum of the first output, by two compiled halves."""
    tensors = held(*arrays)
    made = TrainedProgram(program, "numpy")
    parts = made.parts(tensors)
    assert parts is not None, made.why_not
    outputs, _ = parts.run(tensors, {})
    outputs[0].sum().backward()
    return [one.grad.numpy() for one in tensors]


def test_halves_are_those_of_the_operators_that_are_called():
    program = program_of(layers, ROWS, ("float32", (3, 3)))
    found, wanted = trained(program, X, W), trained(inlined(program), X, W)
    tensors = held(X, W)
    interpret(program, tensors, {})[0][0].sum().backward()
    for one, two, eager in zip(found, wanted, tensors, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, eager.grad.numpy(), rtol=1e-5)


def test_gradients_are_taken_in_the_program_where_only_the_path_is_written_out():
    def record(x, w):
        begin([x, w])
        (y,) = layers(x, w)
        (z,) = call("layer", [x, w])
        one = current_tracer().variable(np.float32(1))
        return [*gradients(current_tracer(), [F.sum(y)], [one], [x, w]), z]

    program = program_of(record, ROWS, ("float32", (3, 3)))
    assert [one.name for one in program.operators].count("call") == 1
    outputs, _ = interpret(program, held(X, W), {})
    wanted = trained(program_of(layers, ROWS, ("float32", (3, 3))), X, W)
    for one, other in zip(outputs, wanted, strict=False):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-5)


def test_a_function_that_calls_itself_is_differentiated_operator_by_operator():
    program = power()
    x, n = EagerTensor(np.float32(3), stop_gradient=False), EagerTensor(np.int64(4))
    made = TrainedProgram(program)
    assert made.parts([x, n]) is None and "`power`, which calls itself" in made.why_not
    interpret(program, [x, n], {})[0][0].backward()
    assert x.grad.item() == 4 * 3**3


def test_a_program_that_takes_its_gradient_is_refused():
    def record(x, n):
        begin([x])
        block = power().functions["power"]
        tracer = current_tracer()
        block.program, tracer.program.functions["power"] = tracer.program, block
        (y,) = call("power", [x, n])
        return gradients(tracer, [y], [tracer.variable(np.float32(1))], [x])

    with pytest.raises(NoGradientRule, match="`power`, which calls itself"):
        program_of(record, TensorType("float32", ()), TensorType("int64", ()))
