"""Functions of a Program at the border of each target: inlined, or refused if they call themselves."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import dy2st
from dy2st_runtime.engine.native.standalone import write
from dy2st_runtime.errors import EngineError
from dy2st_runtime.ir import F
from dy2st_runtime.ops.control_flow import call, function
from tests.recorded import program_of
from tests.runtime.ir.test_functions import factorial


def twice(x):
    operands = function("layer", lambda v: [F.relu(v * 2 - 1)], [x])
    return call("layer", call("layer", operands))


def test_onnx_gets_the_operators_of_functions(tmp_path):
    program = program_of(twice, ("float32", ("n", 3)))
    (name,) = dy2st.onnx.export(program, tmp_path / "net")
    found = dy2st.onnx.load(name)(dy2st.to_tensor(np.ones((2, 3), "float32")))
    assert found.tolist() == [[1.0] * 3] * 2


def test_code_without_python_has_the_operators_of_functions():
    program = program_of(twice, ("float32", (2, 3)))
    assert b"Py_" not in write(program, "net").code()


@pytest.mark.parametrize("run", [lambda p, f: dy2st.onnx.export(p, f), lambda p, _: write(p, "m")])
def test_what_calls_itself_is_refused(run, tmp_path):
    with pytest.raises(EngineError, match="functions that call themselves, as `factorial`"):
        run(factorial(), tmp_path / "net")
    assert not [*tmp_path.iterdir()]


def test_what_a_python_number_lets_call_itself_is_exported_as_the_words_say(tmp_path):
    def times(x, depth):
        return x * 2 * times(x, depth - 1) if depth > 0 else x

    specs = [dy2st.static.InputSpec([2], name="x")]
    count = dy2st.static.InputSpec([], "int64", name="depth")
    with pytest.raises(EngineError, match="where a Python number, no tensor, says how deep"):
        dy2st.onnx.export(times, tmp_path / "net", input_spec=[*specs, count])
    (name,) = dy2st.onnx.export(times, tmp_path / "net", input_spec=[*specs, 3])
    found = dy2st.onnx.load(name)(dy2st.to_tensor([1.0, 2.0]))
    assert found.tolist() == times(dy2st.to_tensor([1.0, 2.0]), 3).tolist()


def test_onnx_has_functions_if_it_is_asked_for_them(tmp_path):
    def record(x, k):
        function("pick", lambda v, i: [v[i], F.nonzero(v > 0)], [x, k])
        first, places = call("pick", [x, k])

        def body(v, w):
            found, _ = call("pick", [v, k])
            return [v * found + w[: v.shape[0]], found]

        operands = function("outer", body, [x, F.concat([x, x])])
        one, two = call("outer", operands)
        return one, two, first, places

    program = program_of(record, ("float32", ("n",)), ("int64", ()))
    (name,) = dy2st.onnx.export(program, tmp_path / "net", functions=True)
    model = onnx.load(name)
    onnx.checker.check_model(model, full_check=True)
    assert sorted(one.name for one in model.functions) == ["outer", "pick"]
    assert [node.op_type for node in model.graph.node].count("outer") == 1
    whole = onnx.load(dy2st.onnx.export(program, tmp_path / "whole")[0])
    assert not whole.functions
