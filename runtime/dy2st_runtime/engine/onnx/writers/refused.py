"""Operators that are not written, each with the reason."""

from __future__ import annotations

from dy2st_runtime.engine.onnx.table import REFUSED

_LINEAR = "ONNX has no decomposition of matrices"
_SPECIAL = "ONNX has no such special function"
_PROCESSES = "it speaks with other processes, and ONNX has one"
_DRAWS = "ONNX draws no such random numbers"
_COMPLEX = "complex numbers: ONNX has hardly any operator on them"
_BOXES = "it is written for the regions of pictures, and ONNX has no such operator"

REFUSED.update(
    {
        **dict.fromkeys(("cholesky", "eig", "eigh", "inverse", "lu", "lu_order"), _LINEAR),
        **dict.fromkeys(("matrix_exp", "pinv", "qr", "slogdet", "solve", "svd"), _LINEAR),
        **dict.fromkeys(("gammainc", "gammaincc", "i0", "i0e", "i1", "i1e"), _SPECIAL),
        **dict.fromkeys(("polygamma", "erfinv"), _SPECIAL),
        "dynamic_upsampling": "how large the result is, a number that is no size decides",
        "nextafter": "ONNX has no bits of floats",
        **dict.fromkeys(("all_gather", "all_reduce", "all_to_all", "broadcast_from"), _PROCESSES),
        "reduce_scatter": _PROCESSES,
        **dict.fromkeys(("binomial", "poisson", "standard_gamma"), _DRAWS),
        **dict.fromkeys(("complex", "imag", "fourier", "fourier_of_real"), _COMPLEX),
        "fourier_to_real": _COMPLEX,
        **dict.fromkeys(("bilinear_weights", "generate_proposals", "matrix_nms", "nms"), _BOXES),
        **dict.fromkeys(("regions", "regions_back", "roi_pool_places"), _BOXES),
        **dict.fromkeys(("ctc", "ctc_slope"), "ONNX has no sums over all alignments"),
        "failure": "ONNX has no exceptions that a model catches",
        **dict.fromkeys(("spend", "spend_result"), "limits are held by dy2st alone"),
        "unique_consecutive": "ONNX compares no elements in a row",
    }
)
