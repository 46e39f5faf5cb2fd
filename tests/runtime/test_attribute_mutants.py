"""Operators with random attributes and sizes; `attribute_mutants.py` tries many more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dy2st_runtime.dims import collect
from dy2st_runtime.engine import compile as compiled
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir import DEFINITIONS, Program, TensorType, Tracer, apply
from dy2st_runtime.ir.tracing.tracer import infer
from tests.effort import effort
from tests.runtime.attribute_mutants import Case


def test_both_engines_give_the_same_or_refuse_and_touch_nothing_else():
    arguments = [sys.executable, "-m", "tests.runtime.attribute_mutants", str(effort(100, 1000))]
    root = Path(__file__).parents[2]
    result = subprocess.run(arguments, capture_output=True, text=True, cwd=root)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "'runs'" in result.stdout and "'refused'" in result.stdout


@pytest.mark.parametrize("block", range(effort(2, 20)))
def test_a_shape_rule_raises_nothing_but_errors_of_ours(block):
    for seed in range(2000 * block, 2000 * (block + 1)):
        case = Case(seed)
        if case.name in ("cond", "while", "call"):
            continue
        try:
            with collect():
                infer(case.record, case.types, case.attributes)
        except Dy2stError:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}: {case.name} {case.attributes}") from error


X = TensorType("float32", (2, 3, 4, 4))
W = TensorType("float32", (2, 3, 2, 2))
GEOMETRY = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 1}
BAD = [
    ("argmax", [X], {"axis": 7, "keepdim": False}, "`axis` is 7"),
    ("concat", [X, X], {"axis": 9}, "`axis` is 9"),
    ("conv", [X, W], {**GEOMETRY, "groups": 0}, "x has 3 channels"),
    ("conv", [X, W], {**GEOMETRY, "strides": (1,)}, "one for each spatial axis"),
    ("slice", [TensorType("int64", (3,))], {"starts": (0,), "stops": (2,), "steps": (0,), "drop": ()}, "`steps` is"),
    ("window_spread", [X], {"sizes": (9, 9), "kernel": (2, 2), "strides": (1, 1), "pads": ((0, 0), (0, 0))}, "8 windows"),
    ("conv_weight", [X, TensorType("float32", (2, 2, 4, 4))], {"kernel": (2, 2), **GEOMETRY}, "4 windows where there are 3"),
    ("conv_weight", [X, TensorType("float32", (3, 2, 3, 3))], {"kernel": (2, 2), **GEOMETRY}, "2 samples of x, and 3"),
    ("conv_transpose", [X, TensorType("float32", (3, 2, 2, 2))], {"sizes": (4, 5), **GEOMETRY}, "4 windows where there are 3"),
    ("index", [X, TensorType("int64", (2,))], {"axes": (0, 1)}, "1 index tensors"),
    ("roll", [X], {"shifts": (1,), "axis": (0, 1)}, "1 shifts for 2 axes"),
    ("split", [TensorType("float32", (2, 0))], {"sections": (), "axis": 1}, "there are no sections"),
    ("arange", [], {"start": 0, "stop": 3, "step": 0, "dtype": np.dtype("int64")}, "no count"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "types", "attributes", "message"), BAD)
def test_what_a_shape_rule_was_not_written_for_is_named(name, types, attributes, message):
    with pytest.raises(Dy2stError, match=message):
        infer(DEFINITIONS[name], types, attributes)


@pytest.mark.parametrize(
    ("name", "attribute"), [("polygamma", "n"), ("bilinear_weights", "points")]
)
@pytest.mark.parametrize("value", [-(2**40), 2**40, 2**62])
def test_numbers_that_say_how_long_a_kernel_works_are_bounded(name, attribute, value):
    assert not DEFINITIONS[name].allowed[attribute].fits(value, [])


def called(name, arrays, engine, **attributes):
    """What an engine gives for an operator."""
    program = Program()
    for array in arrays:
        variable = program.block.add_parameter(TensorType(array.dtype, array.shape), "x")
        program.inputs.append(variable)
    with Tracer(program).tracing():
        program.block.yields = [apply(name, *program.inputs, **attributes)]
    return compiled(program, engine).run(arrays, [])


def test_a_slice_goes_on_by_steps_other_than_0():
    assert not DEFINITIONS["slice_places"].allowed["step"].fits(0, [])


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_an_axis_that_a_tensor_names_is_an_integer(engine):
    for name in ("dynamic_squeeze", "dynamic_unsqueeze"):
        with pytest.raises(Dy2stError, match="an axis is an integer"):
            called(name, [np.ones((1, 3)), np.array([0.5])], engine)


@pytest.mark.parametrize("dtype", ["uint8", "int64"])
def test_sequences_without_steps_may_be_counted_by_unsigned_integers(dtype):
    log_p = np.log(np.full((2, 1, 3), 1 / 3, np.float32))
    labels, counts = np.zeros((1, 1), dtype), np.zeros(1, dtype)
    results = [
        called("ctc_slope", [log_p, labels, counts, counts], engine, blank=0)
        for engine in ("numpy", "native")
    ]
    np.testing.assert_array_equal(*results)
