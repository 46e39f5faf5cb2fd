"""Every sample of every operator as a model of ONNX, against the NumPy engine."""

from __future__ import annotations

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="ONNX needs onnx: pip install 'dy2st[onnx]'")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX needs the extra onnx")

from onnx.reference import ReferenceEvaluator  # noqa: E402

from dy2st_runtime import engine  # noqa: E402
from dy2st_runtime.engine.onnx.model import write_model  # noqa: E402
from dy2st_runtime.engine.onnx.table import LEFT_OUT, MADE_OF, REFUSED, WRITERS  # noqa: E402
from dy2st_runtime.engine.onnx.writer import refusal  # noqa: E402
from dy2st_runtime.errors import ArgumentError  # noqa: E402
from dy2st_runtime.ir import DEFINITIONS, Effect, F, TensorType, Tracer, apply  # noqa: E402
from dy2st_runtime.ir.checks.verifier import verify  # noqa: E402
from dy2st_runtime.ops import seed  # noqa: E402
from tests.runtime.engine.xla.near import assert_near  # noqa: E402
from tests.runtime.ops.test_every_operator import CASES, arrays_of  # noqa: E402

# onnxruntime 1.23 is the last one of Python 3.10: what it has wrong, later ones have right.
IS_OLD = tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 24)
WRONG_IN_OLD = ("dynamic_one_hot", "gcd", "lcm")
BY_FLOAT32 = {"erf", "gelu"}  # in float64 onnx.reference computes them in float32


def program_of(name, arrays, attributes):
    """A Program of one call; one without results gives a number."""
    tracer = Tracer()
    program = tracer.program
    for number, array in enumerate(arrays):
        type = TensorType(array.dtype, array.shape)
        program.inputs.append(program.block.add_parameter(type, f"x{number}"))
    with tracer.tracing():
        results = apply(name, *program.inputs, **attributes)
        results = results if isinstance(results, tuple) else (results,)
        results = results or [F.full([2], 1.5)]
        program.block.yields = [tracer.variable(result) for result in results]
    return verify(program)


def in_reference(model, feeds):
    return ReferenceEvaluator(model.proto).run(None, feeds)


def in_onnxruntime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def check(definition, program, arrays):
    """Both runtimes give what the kernel gives, or fail where it raises."""
    try:
        seed(3)
        wanted = engine.compile(program, "numpy").run(arrays, [])
    except Exception as error:
        wanted = error
    model = write_model(program, {})
    onnx.checker.check_model(model.proto, full_check=True)
    feeds = dict(zip(model.inputs, map(np.asarray, arrays)))
    for run in (in_reference, in_onnxruntime):
        if isinstance(wanted, Exception):
            with pytest.raises(Exception):
                run(model, feeds)
            continue
        try:
            found = run(model, feeds)
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            assert any(array.dtype == np.float64 for array in arrays)  # it has no such kernels
            continue
        if definition.effect is Effect.RANDOM:
            pairs = zip(found, wanted)
            assert all((a.dtype, a.shape) == (b.dtype, np.shape(b)) for a, b in pairs)
            continue
        factor = 1e5 if definition.name in BY_FLOAT32 else 1
        assert_near(found, wanted, factor)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("definition", "sample"), CASES)
def test_a_sample_gives_what_the_kernel_gives(definition, sample, dtype, capsys):
    if IS_OLD and definition.name in WRONG_IN_OLD:
        pytest.skip("onnxruntime before 1.24 computes it wrongly, or refuses it")
    arrays = arrays_of(definition, sample)
    if dtype == "float32":
        if not any(array.dtype == np.float64 for array in arrays):
            return
        arrays = [a.astype("float32") if a.dtype == np.float64 else a for a in arrays]
    program = program_of(definition.name, arrays, sample.attributes)
    if any(refusal(one, 20) for one in program.operators):
        with pytest.raises(ArgumentError, match=f"\n  {definition.name}: "):
            write_model(program, {})
        return
    check(definition, program, arrays)


def test_each_operator_is_written_made_of_others_or_listed_with_its_reason():
    for name, definition in DEFINITIONS.items():
        if name in ("cond", "while", "call"):
            continue
        ways = [name in table for table in (WRITERS, MADE_OF, REFUSED, LEFT_OUT)]
        assert sum(ways) == 1 or (not any(ways) and definition.decompose is not None), name
    assert set(WRITERS) | set(MADE_OF) | set(REFUSED) | LEFT_OUT <= set(DEFINITIONS)
