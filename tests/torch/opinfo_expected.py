"""Entries of torch's operator tests that are not right by `from_torch`, with the reason."""

from __future__ import annotations

_NO_OPERATOR = "a rare operator without a counterpart"
_EQUAL = "which of equal elements is torch's own"
_ROUNDED = "float32 is the same to 3e-5 alone"

EXPECTED: dict[str, str] = {
    **dict.fromkeys(
        (
            "geqrf hash_tensor "
            "linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve resize_as_ "
            "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 "
            "special.bessel_y1 special.modified_bessel_k0 special.modified_bessel_k1 "
            "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.zeta"
        ).split(),
        _NO_OPERATOR,
    ),
    **dict.fromkeys("kthvalue median mode nanmedian topk sort argsort".split(), _EQUAL),
    **dict.fromkeys(
        (
            "_upsample_bilinear2d_aa nn.functional.grid_sample "
            "nn.functional.multi_head_attention_forward "
            "nn.functional.scaled_dot_product_attention"
        ).split(),
        _ROUNDED,
    ),
    **dict.fromkeys(
        [f"polygamma.polygamma_n_{n}" for n in range(5)]
        + ["special.polygamma.special_polygamma_n_0"],
        "torch's float32 is exact to 1e-6 alone",
    ),
    "as_strided.partial_views": "what lies beside a view in its memory is not seen",
    "as_strided_scatter": "torch's gradient of elements that are replaced is not 0",
    "linalg.pinv.hermitian": "the samples are not Hermitian, and the rule reads all of them",
    "to_sparse": "there are no sparse tensors",
    "chalf": "there is no complex32",
    "logcumsumexp": "complex numbers are refused",
    "nn.functional.batch_norm": "a batch of nothing without channels",
}
