"""Entries of torch's operator tests that are not right by `from_torch`, with the reason."""

from __future__ import annotations

_NO_OPERATOR = "a rare operator without a counterpart"
_EQUAL = "which of equal elements is torch's own"
_SIGN = "vectors of any sign and order are right"
_TRIANGLE = "no gradient of a matrix that is not square"
_FLAT = "no gradient with full_matrices"

EXPECTED: dict[str, str] = {
    **dict.fromkeys(
        (
            "_segment_reduce.lengths _segment_reduce.offsets geqrf hash_tensor histogramdd "
            "linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve resize_as_ "
            "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 "
            "special.bessel_y1 special.modified_bessel_k0 special.modified_bessel_k1 "
            "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.zeta "
            "histogram"
        ).split(),
        _NO_OPERATOR,
    ),
    "nn.functional.multi_head_attention_forward": "it draws at random in training mode",
    **dict.fromkeys("kthvalue median nanmedian topk sort argsort".split(), _EQUAL),
    **dict.fromkeys("linalg.eig linalg.eigh linalg.svd".split(), _SIGN),
    **dict.fromkeys("lu linalg.lu linalg.lu_factor linalg.lu_factor_ex".split(), _TRIANGLE),
    **dict.fromkeys(
        [f"polygamma.polygamma_n_{n}" for n in range(5)]
        + ["special.polygamma.special_polygamma_n_0"],
        "float32 is exact to 1e-5 alone",
    ),
    "as_strided_scatter": "torch's gradient of elements that are replaced is not 0",
    "linalg.norm.subgradients_at_zero": "for orders below 0 the gradient at 0 is NaN",
    "linalg.pinv.hermitian": "the samples are not Hermitian, and the rule reads all of them",
    "chalf": "there is no complex32",
    "logcumsumexp": "complex numbers are refused",
    "nn.functional.batch_norm": "a batch of nothing without channels",
}
