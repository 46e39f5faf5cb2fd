"""What a Program asserts costs no call of Python where it holds, and is raised where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.ir import apply
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.side_effects import assert_, raise_
from tests.runtime.engine.native.machine_code import native


def outcome(run):
    try:
        return [result.tolist() for result in run()], None
    except Exception as error:
        return type(error), str(error)


def assert_alike(executable, *arrays):
    found = outcome(lambda: executable.run([*arrays], []))
    assert found == outcome(lambda: executable.reference.run([*arrays], []))
    return found


def counted(x, is_wrong):
    """A loop that looks at each iteration whether it may go on."""

    def iteration(i, v):
        is_wrong(i, v)
        return [i + 1, v * 2]

    return while_loop(lambda i, v: i < 9, iteration, [ops.full([], 0, "int64"), x])[1]


@pytest.mark.parametrize("limit", [0.0, 7.0, 1e9])
def test_an_assertion_in_a_loop_is_raised_in_its_iteration(limit):
    executable = native(
        lambda x, y: counted(x, lambda i, v: assert_(v.sum() < y, "too large")),
        ("float32", ("n",)),
        ("float32", ()),
    )
    (error, _) = assert_alike(executable, np.ones(3, np.float32), np.array(limit, np.float32))
    assert (error is AssertionError) == (limit < 1e9)


@pytest.mark.parametrize("limit", [0.0, 1e9])
def test_an_exception_is_raised_in_a_branch_of_a_loop(limit):
    def stop():
        raise_("ValueError", "enough")
        return []

    executable = native(
        lambda x, y: counted(x, lambda i, v: cond(v.sum() > y, stop, lambda: [])),
        ("float32", ("n",)),
        ("float64", ()),
    )
    found = assert_alike(executable, np.ones(3, np.float32), np.array(limit))
    assert (found == (ValueError, "enough")) == (limit == 0.0)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
def test_ints_of_more_than_64_bits_are_refused(operation, dtype):
    def function(x, y):
        apply("check_int", x, y, operation=operation)
        return x + y

    executable = native(function, ("int64", ()), (dtype, ()))
    for left in (0, 1, -1, 2**62, 2**63 - 1, -(2**63)):
        for right in (0, 1) if dtype == "bool" else (0, 1, -1, 2, 2**31 - 1, -(2**31)):
            assert_alike(executable, np.array(left), np.array(right, dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_the_whole_part_of_a_number_has_64_bits(dtype):
    def function(x):
        apply("check_int", x, operation="int")
        return x * 1

    executable = native(function, (dtype, ()))
    numbers = [0.0, -1.5, 9.2e18, -(2.0**63)]
    if dtype.startswith("float"):
        numbers += [2.0**63, -9.3e18, np.inf, -np.inf, np.nan]
    for number in numbers:
        assert_alike(executable, np.array(number).astype(dtype))
