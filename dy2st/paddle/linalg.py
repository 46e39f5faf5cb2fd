"""Gives linear algebra under PaddlePaddle's names: functions of `dy2st`."""

from typing import TYPE_CHECKING

from dy2st_runtime.lazy import lazy_names, public_dir

_NAMES = (
    "cholesky cholesky_inverse cholesky_solve corrcoef cov cross det diagonal eig eigh eigvals "
    "eigvalsh householder_product inv lstsq lu lu_solve lu_unpack matmul matrix_exp matrix_norm "
    "matrix_power matrix_rank matrix_transpose multi_dot norm ormqr pca_lowrank pinv qr slogdet "
    "solve svd svd_lowrank svdvals triangular_solve vecdot vector_norm"
)

if not TYPE_CHECKING:
    _PLACES = {name: f"dy2st:{name}" for name in _NAMES.split()}
    # `dy2st.cond` is the branch.
    _PLACES["cond"] = "dy2st:condition_number"
    __getattr__ = lazy_names(__name__, _PLACES)

__dir__ = public_dir(__name__)
