"""Which values share memory: tables held against the kernels, and what may be written over."""

from __future__ import annotations

from functools import partial

import ml_dtypes
import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import DEFINITIONS, F, TensorType, View
from dy2st_runtime.ir.aliasing import is_elementwise, overwritten, owner
from dy2st_runtime.ops.control_flow import cond, while_loop
from dy2st_runtime.ops.tensor_array import array_of, array_pop, array_read, array_stack
from tests.recorded import program_of

KERNELS = [
    pytest.param(definition, sample, id=f"{name}-{i}")
    for name, definition in sorted(DEFINITIONS.items())
    if definition.kernel is not None and not name.startswith("array_")
    for i, sample in enumerate(definition.samples)
]


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc"])
def test_rounding_gives_integers_back_as_they_are(name):
    array = np.arange(3)
    assert DEFINITIONS[name].kernel(array) is array
    assert DEFINITIONS[name].view(TensorType("int64", (3,))) is View.SAME


def arrays_of(sample):
    rng = np.random.default_rng(0)
    dtypes = sample.dtypes or ("float32",) * len(sample.shapes)
    pairs = zip(sample.shapes, dtypes, strict=True)
    return [np.asarray(rng.uniform(sample.low, sample.high, s)).astype(d) for s, d in pairs]


@pytest.mark.parametrize(("definition", "sample"), KERNELS)
def test_only_views_share_memory_with_an_operand(definition, sample):
    arrays = arrays_of(sample)
    results = definition.kernel(*arrays, **{**definition.attributes, **sample.attributes})
    for result in results if isinstance(results, tuple) else (results,):
        for index, array in enumerate(arrays):
            if isinstance(result, np.ndarray) and np.may_share_memory(result, array):
                assert definition.view is not None and index == 0


ELEMENTWISE = sorted(name for name in DEFINITIONS if is_elementwise(name))
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int64", "uint8", "bool")


def attributes_of(definition):
    return {**definition.attributes, **definition.samples[0].attributes}


def keeps(definition, dtype):
    try:
        types = [TensorType(dtype, (4, 5)) for _ in definition.inputs]
        return definition.infer(*types, **attributes_of(definition)).dtype == dtype
    except (DTypeError, TypeError):
        return False


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_writing_over_an_operand_gives_the_same_bits(name):
    definition = DEFINITIONS[name]
    dtypes = [np.dtype(getattr(ml_dtypes, dtype, dtype)) for dtype in DTYPES]
    for dtype in filter(partial(keeps, definition), dtypes):
        sample, rng = definition.samples[0], np.random.default_rng(1)
        low, high = (1, 2) if dtype.kind in "iu" else (sample.low, sample.high)
        arrays = [rng.uniform(low, high, (4, 5)).astype(dtype) for _ in definition.inputs]
        attributes = attributes_of(definition)
        expected = definition.kernel(*arrays, **attributes)
        for place in range(len(arrays)):
            copies = [array.copy() for array in arrays]
            found = definition.kernel(*copies, **attributes, out=copies[place])
            assert found is copies[place] and found.tobytes() == expected.tobytes()


def block_of(function, *shapes):
    return program_of(function, *[("float32", shape) for shape in shapes]).block


def over(function, *shapes):
    """Name and operand of every operator that writes over one."""
    return [(o.name, i) for o, i in overwritten(block_of(function, *shapes)).items()]


X = (4, 8)


def test_the_inputs_are_never_written_over():
    assert over(lambda x: F.relu(x), X) == []
    assert over(lambda x: F.relu(F.reshape(x, [8, 4])), X) == []


def test_what_dies_is_written_over():
    assert over(lambda x: F.relu(F.exp(x)), X) == [("relu", 0)]
    assert over(lambda x: x + F.exp(x), X) == [("add", 1)]
    assert over(lambda x: F.square(F.exp(x) * 2.0), X) == [("multiply", 0), ("square", 0)]


def test_what_is_read_later_is_kept():
    def later(x):
        y = F.exp(x)
        return F.relu(y) + F.mean(y)

    assert over(later, X) == [("add", 0)]


def test_what_is_yielded_is_kept():
    def both(x):
        y = F.exp(x)
        return y, F.relu(y)

    assert over(both, X) == []


def test_a_view_that_is_read_later_keeps_the_memory():
    def view(x):
        y = F.exp(x)
        row = y[0]
        return F.relu(y) + F.exp(row)

    names = over(view, X)
    assert ("relu", 0) not in names


def test_a_reshaped_value_may_be_written_over_and_a_part_may_not():
    assert over(lambda x: F.relu(F.reshape(F.exp(x), [8, 4])), X) == [("relu", 0)]
    assert over(lambda x: F.relu(F.exp(x)[1:3]), X) == []


def test_a_smaller_operand_cannot_hold_the_result():
    assert over(lambda x, y: F.exp(x) + F.exp(y), (8,), X) == [("add", 1)]


def test_a_result_of_another_dtype_needs_its_own_memory():
    assert over(lambda x: F.less_than(F.exp(x), 1.0), X) == []


def test_a_value_beside_its_transposed_self_is_kept():
    def product(x):
        y = F.exp(x)
        return y * F.transpose(y, [1, 0])

    assert over(product, (4, 4)) == []


def test_what_a_branch_or_loop_takes_in_is_kept():
    def branch(x):
        y = F.exp(x)
        (z,) = cond(F.mean(x) > 0, lambda: [y], lambda: [x])
        return F.relu(y) * z

    assert ("relu", 0) not in over(branch, X)

    def loop(x):
        y = F.exp(x)
        count, z = while_loop(
            lambda i, z: i < 3, lambda i, z: [i + 1, z], [ops.zeros([], "int32"), y]
        )
        return F.relu(y) * z

    assert ("relu", 0) not in over(loop, X)


def test_what_a_list_holds_is_kept():
    def listed(x):
        y = F.exp(x)
        held = array_of([y])
        return F.relu(y) * array_read(held, 0)

    assert ("relu", 0) not in over(listed, X)


def test_what_a_list_gives_back_is_kept():
    """The list holds the very array, which may be an input or be read again."""

    def read(x):
        held = array_of([x])
        return F.relu(array_read(held, 0)), F.exp(array_pop(held)[1])

    assert over(read, X) == []


def test_the_stack_of_a_list_has_memory_of_its_own():
    assert over(lambda x: F.relu(array_stack(array_of([x]))), X) == [("relu", 0)]


def test_views_are_followed_to_their_owner():
    block = block_of(lambda x: F.transpose(F.reshape(F.exp(x), [8, 4]), [1, 0]), X)
    assert owner(block.yields[0]).maker.name == "exp"
