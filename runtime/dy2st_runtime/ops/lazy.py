"""Operators that few models use: what each family has, so that it is loaded when it is needed."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.ir.operator_families import Family
from dy2st_runtime.lazy import load_module

IN_PLACE = (
    "abs acos acosh add asin asinh atan atanh bernoulli bitwise_and bitwise_not bitwise_or "
    "bitwise_xor cast cauchy ceil clip copy cos cosh cumprod cumsum divide elu equal erf exp expm1 "
    "exponential fill fill_diagonal floor floor_divide geometric greater_equal greater_than "
    "hardtanh index_add index_fill index_put leaky_relu lerp less_equal less_than log log10 log1p "
    "log2 log_normal logical_and logical_not logical_or logical_xor masked_fill multiply neg "
    "normal not_equal pow put_along_axis reciprocal relu remainder round rsqrt scale scatter "
    "sigmoid sin sinh softmax sqrt square subtract tan tanh tril triu trunc uniform zero addmm "
    "bitwise_left_shift bitwise_right_shift copysign fill_diagonal_tensor frac gcd hypot lcm ldexp "
    "baddbmm digamma erfinv gammainc gammaincc i0 lgamma logit masked_scatter multigammaln "
    "polygamma nan_to_num renorm scatter_add sinc"
)
IN_PLACE_RESHAPING = "flatten reshape set squeeze t transpose unsqueeze"
_CHANGING = " ".join(f"{name}_" for name in f"{IN_PLACE} {IN_PLACE_RESHAPING} where".split())

FAMILIES = (
    Family(
        "dy2st_runtime.ops.counting",
        functions="bincount bucketize histogram histogram_bin_edges unique_consecutive",
        methods="bincount bucketize histogram histogram_bin_edges unique_consecutive",
        operators="bincount unique_consecutive",
    ),
    Family(
        "dy2st_runtime.ops.messages",
        functions="emit_log emit_warning",
        operators="log_message warn",
    ),
    Family(
        "dy2st_runtime.ops.collectives",
        operators="all_gather all_reduce all_to_all broadcast_from reduce_scatter",
    ),
    Family(
        "dy2st_runtime.ops.failure",
        operators="failure",
    ),
    Family(
        "dy2st_runtime.ops.diagonals",
        functions="diag diag_embed diagflat diagonal diagonal_scatter fill_diagonal_tensor "
        "masked_scatter scatter_add scatter_reduce select_scatter slice_scatter trace "
        "tril_indices triu_indices",
        methods="diag diag_embed diagflat diagonal diagonal_scatter fill_diagonal_tensor "
        "masked_scatter scatter_add scatter_reduce select_scatter slice_scatter trace",
    ),
    Family(
        "dy2st_runtime.ops.distances",
        functions="cdist corrcoef cov dist pdist renorm",
        methods="cdist corrcoef cov dist pdist renorm",
    ),
    Family("dy2st_runtime.ops.metering", operators="spend spend_result"),
    Family("dy2st_runtime.ops.placement", operators="reshard"),
    Family(
        "dy2st_runtime.ops.bessel",
        functions="i0 i0e i1 i1e",
        methods="i0 i0e i1 i1e",
        operators="i0 i0e i1 i1e",
    ),
    Family(
        "dy2st_runtime.ops.distributions",
        functions="binomial log_normal logspace poisson rand_like randint_like randn_like random_ "
        "standard_gamma standard_normal",
        methods="random_",
        operators="binomial poisson standard_gamma",
    ),
    Family(
        "dy2st_runtime.ops.gamma",
        functions="digamma erfinv gammainc gammaincc lgamma multigammaln polygamma",
        methods="digamma erfinv gammainc gammaincc lgamma multigammaln polygamma",
        operators="erfinv gammainc gammaincc lgamma polygamma",
    ),
    Family(
        "dy2st_runtime.ops.linalg",
        functions="baddbmm cholesky_inverse cholesky_solve condition_number cross eigvalsh "
        "householder_product lstsq lu lu_solve lu_unpack matrix_norm "
        "matrix_power matrix_rank multi_dot ormqr pca_lowrank pinv svd_lowrank svdvals "
        "triangular_solve vecdot",
        methods="baddbmm cholesky_inverse cholesky_solve cross eigvalsh "
        "householder_product lstsq lu lu_unpack matrix_power matrix_rank multi_dot ormqr "
        "pca_lowrank pinv svd_lowrank triangular_solve vecdot",
        operators="pinv",
    ),
    Family(
        "dy2st_runtime.ops.matrices",
        functions="cholesky det eig eigh eigvals inverse matrix_exp qr slogdet solve svd",
        methods="cholesky det eig eigh eigvals inverse qr slogdet solve svd",
        operators="cholesky det eig eigh inverse lu lu_order matrix_exp qr slogdet solve svd",
    ),
    Family(
        "dy2st_runtime.ops.numeric",
        functions="add_n bitwise_left_shift bitwise_right_shift broadcast_shape broadcast_shapes "
        "copysign deg2rad equal_all fmax fmin frac frexp gcd heaviside hypot is_complex "
        "is_empty is_floating_point is_integer isin isneginf isposinf isreal lcm ldexp "
        "logaddexp logit multiplex nan_to_num nextafter positive rad2deg reduce_as sgn shard_index "
        "signbit sinc stanh",
        methods="add_n bitwise_left_shift bitwise_right_shift copysign deg2rad equal_all fmax "
        "fmin frac frexp gcd heaviside hypot is_complex is_empty is_floating_point "
        "is_integer isin isneginf isposinf isreal lcm ldexp logaddexp logit multiplex "
        "nan_to_num nextafter positive rad2deg reduce_as sgn shard_index signbit sinc stanh",
        operators="frexp gcd lcm left_shift logaddexp nextafter right_shift signbit",
    ),
    Family("dy2st_runtime.ops.overlaps", operators="matrix_nms nms"),
    Family("dy2st_runtime.ops.proposals", operators="generate_proposals"),
    Family(
        "dy2st_runtime.ops.quantiles",
        functions="kthvalue median mode nanmean nanmedian nanquantile nansum quantile",
        methods="kthvalue median mode nanmean nanmedian nanquantile nansum quantile",
    ),
    Family(
        "dy2st_runtime.ops.complex_numbers",
        functions="angle as_complex as_real complex conj imag polar real",
        methods="angle as_complex as_real conj imag polar real",
        operators="angle complex conj imag real",
    ),
    Family(
        "dy2st_runtime.ops.cumulative",
        functions="cummax cummin cumulative_trapezoid diff logcumsumexp trapezoid",
        methods="cummax cummin cumulative_trapezoid diff logcumsumexp trapezoid",
        operators="cummax cummin logcumsumexp",
    ),
    Family(
        "dy2st_runtime.ops.roi",
        operators="bilinear_weights regions regions_back roi_pool_places",
    ),
    Family("dy2st_runtime.ops.joined_scatter", functions="put_reduced", operators="scatter_reduce"),
    Family(
        "dy2st_runtime.ops.stacking",
        functions="argwhere as_strided atleast_1d atleast_2d atleast_3d block_diag cartesian_prod "
        "column_stack combinations crop dsplit dstack hsplit inner kron matrix_transpose "
        "msort narrow permute ravel tensor_split tensordot unfold vander view view_as "
        "vsplit",
        methods="argwhere as_strided atleast_1d atleast_2d atleast_3d block_diag combinations "
        "crop dsplit hsplit inner kron matrix_transpose msort narrow permute ravel "
        "tensor_split tensordot unfold vander view view_as vsplit",
    ),
    Family(
        "dy2st_runtime.ops.list_changes",
        functions="array_delete array_empty array_extend array_gather array_insert array_repeat "
        "array_reverse array_slice",
        operators="array_delete array_empty array_extend array_gather array_insert array_repeat "
        "array_slice",
    ),
    Family(
        "dy2st_runtime.ops.fourier_along",
        functions="fourier fourier_of_real fourier_to_real",
        operators="fourier fourier_of_real fourier_to_real",
    ),
    Family("dy2st_runtime.ops.inplace", functions=_CHANGING, methods=_CHANGING),
    Family("dy2st_runtime.ops.alignment", operators="ctc ctc_slope"),
    Family("dy2st_runtime.ops.user_gradients", operators="hooked sealed sealed_results"),
    Family(
        "dy2st_runtime.ops.volumes",
        functions="adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d conv3d_transpose max_pool3d",
    ),
)

# Methods that are not functions of the package, or are functions that others do not load late.
ALONE = (
    "apply apply_ bfloat16 bool byte cdouble cfloat char complex128 complex64 cond contiguous cpu "
    "cuda data_ptr detach_ device dim double "
    "element_size float float16 float32 float64 get_device get_strides get_tensor half int int16 "
    "int32 int64 int8 is_contiguous is_cuda is_dense is_dist is_same_shape is_selected_rows "
    "is_sparse is_sparse_coo is_sparse_csr is_tensor itemsize long nbytes ndimension new_empty "
    "new_full new_ones new_zeros pin_memory place repeat requires_grad_ resize_ short "
    "split_with_sizes stride strides to to_dense to_device type_as uint8 value"
)
METHODS_TOO = "broadcast_tensors concat multinomial scatter_nd slice stack strided_slice"

# Second names: of methods, too, where the first one is.
ALIASES = {
    "bitwise_invert": "bitwise_not",
    "cat": "concat",
    "concatenate": "concat",
    "clamp": "clip",
    "div": "divide",
    "eq": "equal",
    "floor_mod": "remainder",
    "ge": "greater_equal",
    "greater": "greater_than",
    "gt": "greater_than",
    "le": "less_equal",
    "less": "less_than",
    "lt": "less_than",
    "mul": "multiply",
    "ne": "not_equal",
    "negative": "neg",
    "row_stack": "vstack",
    "sub": "subtract",
    "gammaln": "lgamma",
    "gammaln_": "lgamma_",
    "ger": "outer",
    "inv": "inverse",
    "reverse": "flip",
    "swapdims": "transpose",
    "take_along_dim": "take_along_axis",
    "true_divide": "divide",
    "view_as_complex": "as_complex",
    "view_as_real": "as_real",
}
ALIASES.update(
    {
        f"{alias}_": f"{ALIASES[alias]}_"
        for alias in ["bitwise_invert", "clamp", "div", "floor_mod", "less", "mul", "sub"]
    }
)
ALIASES["mod_"] = "remainder_"
NOT_METHODS = ("cat", "concatenate", "ger", "inv", "row_stack")


def alone(name: str) -> Any:
    """A method that is no function."""
    return load_module("dy2st_runtime.ops.tensor_methods").ALONE[name]


def load_all() -> None:
    """Load every family, for whoever asks about all operators at once."""
    for family in FAMILIES:
        load_module(family.module)
