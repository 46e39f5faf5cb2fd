"""Facts about operators that several passes need, as tables of names."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


UNARY = names(
    "abs acos acosh asin asinh assign atan atanh bitwise_not cast ceil cos cosh detach erf exp "
    "expm1 floor gelu isfinite isinf isnan log log10 log1p log2 logical_not neg reciprocal relu "
    "round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh trunc"
)
"""One operand; every element of the result is made of the element at its place."""

BROADCAST = names(
    "add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide greater_equal "
    "greater_than less_equal less_than logical_and logical_or logical_xor maximum minimum multiply "
    "not_equal pow remainder subtract where"
)
"""Element by element, after the operands are brought to one shape."""

INJECTIVE = names("broadcast_to concat flip pad reshape roll slice split stack transpose tril triu")
"""Every element of the result is one element of an operand, or a constant."""

REDUCTION = names("all any argmax argmin max mean min prod sum sum_to")
"""Elements along axes become one."""

COMPLEX = names("conv conv_transpose matmul")
"""Much arithmetic for every element; elementwise operators are computed on their results."""

MAY_RAISE = names(
    "array_append array_concat array_create array_length array_pop array_read array_stack "
    "array_write floor_divide index index_put multinomial nonzero one_hot remainder searchsorted "
    "slice_places slice_update unique dynamic_arange dynamic_broadcast_to dynamic_full "
    "dynamic_one_hot dynamic_pad dynamic_reshape dynamic_resize dynamic_scatter_nd dynamic_squeeze "
    "dynamic_strided_slice dynamic_tile dynamic_topk dynamic_unsqueeze dynamic_upsampling"
)
"""Pure, but an error for some data: they are never computed where the user's code would not."""

COMMUTATIVE = names(
    "add multiply maximum minimum equal not_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor"
)
"""Two operands, which may be exchanged: the results are equal numbers."""

SAME_BITS_EXCHANGED = COMMUTATIVE - {"maximum", "minimum"}
"""... and equal bits: of 0.0 and -0.0 the larger is the first or the second operand."""

ELEMENTWISE = UNARY | BROADCAST

__all__ = [
    "BROADCAST",
    "COMMUTATIVE",
    "COMPLEX",
    "ELEMENTWISE",
    "INJECTIVE",
    "MAY_RAISE",
    "REDUCTION",
    "SAME_BITS_EXCHANGED",
    "UNARY",
    "names",
]
