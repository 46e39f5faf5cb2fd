"""A padded axis passes through lists, and lists of lists, as through their tensors."""

from __future__ import annotations

import pytest

from dy2st.static.padding import NotIndifferent, proof_of
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import ArrayType, F, TensorType
from tests.runtime.ops.test_tensor_array import program_of

N = symbol("n", 1)
ROWS = TensorType("float32", (N, 2))

PASS = {
    "read": lambda x: F.array_of([[x], [x * 2.0]])[1][0],
    "empty": lambda x: F.array_append(F.array_empty(ArrayType(ArrayType(ROWS))), [x])[0][0],
    "slice": lambda x: F.array_slice(F.array_of([x, x]), 1)[0],
    "gather": lambda x: F.array_gather(F.array_of([x, x]), [1])[0],
    "insert": lambda x: F.array_delete(F.array_insert(F.array_of([x]), 0, x), 0)[0],
    "extend": lambda x: F.array_repeat(F.array_extend(F.array_of([x]), [x]), 2)[0],
}


@pytest.mark.parametrize("name", PASS)
def test_the_axis_of_an_element_is_that_of_the_list(name):
    (axes,) = proof_of(program_of(lambda x: [PASS[name](x)], ROWS), N).outputs
    assert axes == {0}


REFUSED = {
    "a list that is returned holds it": lambda x: F.array_of([[x]]),
    "works along it": lambda x: F.array_of([[x]])[0][0].sum(0),
    "an element for each of its places": lambda x: F.array_length(
        F.array_gather(F.array_of([x, x]), F.cast(x[:, 0], "int64"))
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_needs_the_real_elements_is_refused(reason):
    with pytest.raises(NotIndifferent, match=reason):
        proof_of(program_of(lambda x: [REFUSED[reason](x)], ROWS), N)
