"""Products of matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import F, Kind, Sample, TensorType, apply, define, method
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ops.rules import broadcast_shapes, holomorphic

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


def _matmul_infer(x: TensorType, y: TensorType) -> TensorType:
    if x.rank == 0 or y.rank == 0:
        raise ShapeError("matmul takes tensors with at least one axis; use multiply for numbers")
    inner_x, inner_y = x.shape[-1], y.shape[-2] if y.rank > 1 else y.shape[0]
    if inner_x is not inner_y:
        shapes = f"{list(x.shape)} @ {list(y.shape)}"
        require_equal(inner_x, inner_y, f"matmul: {shapes}: {inner_x} != {inner_y}")
    batch = broadcast_shapes("matmul", x.shape[:-2], y.shape[:-2]) if x.rank + y.rank > 2 else ()
    rows = x.shape[-2:-1]
    columns = y.shape[-1:] if y.rank > 1 else ()
    return x.with_shape((*batch, *rows, *columns))


def _transposed(x: Any) -> Any:
    return F.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _rows(x: Any) -> Any:
    """All rows of a batch of matrices as those of one."""
    return F.flatten(x, 0, x.ndim - 2)


def _matmul_kernel(x: Any, y: Any) -> Any:
    if x.ndim > 2 and y.ndim == 2 and x.flags.c_contiguous:  # one product, not one for each matrix
        rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
        z = np.matmul(rows, y).reshape(*x.shape[:-1], y.shape[1])
    else:
        z = np.matmul(x, y)
    return z if z.dtype == x.dtype else z.astype(x.dtype)  # bfloat16 would give float32


@holomorphic
def _matmul_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    """With vectors made matrices: g @ y' and x' @ g, summed over what was broadcast."""
    left = F.unsqueeze(x, [0]) if x.ndim == 1 else x
    right = F.unsqueeze(y, [1]) if y.ndim == 1 else y
    full = F.unsqueeze(g, [g.ndim]) if y.ndim == 1 else g
    full = F.unsqueeze(full, [full.ndim - 1]) if x.ndim == 1 else full

    def to_x() -> Any:
        made = F.sum_to(F.matmul(full, _transposed(right)), left.shape)
        return made if left is x else F.reshape(made, x.shape)

    def to_y() -> Any:
        if x.ndim > 1 and y.ndim == 2:  # the product sums up what the batch has
            rows = (_rows(x), _rows(g)) if x.ndim > 2 else (x, g)
            # Whether the columns of a matrix are neighbours in memory: so will be those of its
            # gradient. Nobody then has to move the elements of the gradient, which is
            # transposed once more.
            if isinstance(y, Variable):
                is_transposed = isinstance(y.maker, Operator) and y.maker.name == "transpose"
            else:
                flags = y.array.flags
                is_transposed = bool(flags.f_contiguous and not flags.c_contiguous)
            if is_transposed:
                return _transposed(F.matmul(_transposed(rows[1]), rows[0]))
            return F.matmul(_transposed(rows[0]), rows[1])
        made = F.sum_to(F.matmul(_transposed(left), full), right.shape)
        return made if right is y else F.reshape(made, y.shape)

    return to_x, to_y


def _matmul_padding(site: Site) -> list[int]:
    """Rows of x, columns of y, and matrices of a batch are each for themselves."""
    left, right = len(site.shape(0)), len(site.shape(1))
    site.keep_off([left - 1], 0)
    site.keep_off([max(right - 2, 0)], 1)
    rank = max(left, right, 2)
    found = site.joined((0, 1), rank, behind=2)
    found |= {rank - 2 for axis in site.longer[0] if axis == left - 2}
    found |= {rank - 1 for axis in site.longer[1] if axis == right - 1}
    return [axis - (left == 1 and axis == rank - 1) for axis in found]


define(
    "matmul",
    takes_complex=True,
    doc="The product of matrices, of all in a batch; vectors count as a row or a column.",
    inputs="x, y",
    padding=_matmul_padding,
    kind=Kind.CONTRACTION,
    promote=True,
    infer=_matmul_infer,
    kernel=_matmul_kernel,
    gradient=_matmul_gradient,
    samples=(
        Sample(((2, 3), (3, 4))),
        Sample(((5, 2, 3), (3, 4))),
        Sample(((2, 1, 2, 3), (4, 3, 2))),
        Sample(((3,), (3,))),
        Sample(((2, 3), (3,))),
        Sample(((3,), (2, 3, 2))),
        Sample(((0, 3), (3, 2))),
    ),
)


@method
def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """x @ y, batches broadcast: (..., n, k) @ (..., k, m) -> (..., n, m).

    A vector counts as a row on the left, a column on the right: (k,) @ (k, m) -> (m,), and
    (n, k) @ (k,) -> (n,). `transpose_x` and `transpose_y` exchange the last two axes first.
    Raises ShapeError if the sizes k differ.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> dy2st.matmul(x, dy2st.to_tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    >>> dy2st.matmul(x, x, transpose_y=True).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """
    if transpose_x and x.ndim > 1:
        x = _transposed(x)
    if transpose_y and y.ndim > 1:
        y = _transposed(y)
    return apply("matmul", x, y)


@method
def mm(input: Any, mat2: Any, name: str | None = None) -> Any:
    """(n, k) @ (k, m) -> (n, m): `matmul` under another name.

    >>> dy2st.mm(dy2st.to_tensor([[1, 2]]), dy2st.to_tensor([[10], [20]])).tolist()
    [[50]]
    """
    return matmul(input, mat2)


@method
def bmm(x: Any, y: Any, name: str | None = None) -> Any:
    """The matrix products of a batch: (b, n, k) @ (b, k, m) -> (b, n, m).

    Raises ShapeError for tensors of other ranks.

    >>> x = dy2st.to_tensor([[[1.0, 2.0]], [[3.0, 4.0]]])
    >>> dy2st.bmm(x, x.mT).tolist()
    [[[5.0]], [[25.0]]]
    """
    if x.ndim != 3 or y.ndim != 3:
        raise ShapeError(f"bmm takes tensors with three axes, not {x.shape} and {y.shape}")
    return matmul(x, y)


@method
def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """A matrix times a vector: (n, k) @ (k,) -> (n,).

    >>> dy2st.mv(dy2st.to_tensor([[1, 2], [3, 4]]), dy2st.to_tensor([1, 10])).tolist()
    [21, 43]
    """
    return matmul(x, vec)


@method
def dot(x: Any, y: Any, name: str | None = None) -> Any:
    """The sum of products along the last axis: (..., n), (..., n) -> (...).

    >>> dy2st.dot(dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([3.0, 4.0])).item()
    11.0
    """
    return F.sum(x * y, axis=-1)


@method
def outer(x: Any, y: Any, name: str | None = None) -> Any:
    """All products: (n,), (m,) -> (n, m).

    >>> dy2st.outer(dy2st.to_tensor([1, 2]), dy2st.to_tensor([10, 20])).tolist()
    [[10, 20], [20, 40]]
    """
    return F.unsqueeze(F.flatten(x), [1]) * F.unsqueeze(F.flatten(y), [0])


@method
def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Any:
    """beta * input + alpha * (x @ y): (n, m), (n, k), (k, m) -> (n, m).

    The input broadcasts; with beta = 0 it does not count, be it NaN.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> dy2st.addmm(dy2st.to_tensor([[100.0]]), x, dy2st.eye(2), beta=0.5).tolist()
    [[51.0, 52.0], [53.0, 54.0]]
    """
    product = matmul(x, y) * alpha
    return input * beta + product if beta else product
