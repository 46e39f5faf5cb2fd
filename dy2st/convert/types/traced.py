"""What stands for values of the Program while a function is traced."""

from __future__ import annotations

from dy2st.convert.types.row import row
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim, equal
from dy2st_runtime.ir import Tensor

row(Tensor, is_open=True, is_traced=True, is_value=True)
row(Condition, is_open=True, is_traced=True, is_value=True)
row(
    Dim,
    is_open=True,
    is_traced=True,
    is_value=True,
    same=lambda left, right: equal(left, right) is True,
)
row(Union, SymbolicSequence, is_value=True)
