"""What a check's kernel reads to say what is wrong has been written before."""

from __future__ import annotations

import pytest

import dy2st as P
from dy2st.static import InputSpec


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("row", [3, 7])
def test_a_program_of_any_sizes_names_the_row_that_is_none(row, engine):
    spec = [InputSpec([None, 3], "float32"), InputSpec([None], "int64")]
    traced = P.to_static(
        lambda w, i: P.nn.functional.embedding(i, w), engine=engine, input_spec=spec
    )
    with pytest.raises(IndexError, match=f" {row} "):
        traced(P.ones([3, 3]), P.to_tensor([0, 1, row]))
