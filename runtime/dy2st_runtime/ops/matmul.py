"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import require_equal
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import F, Kind, Sample, Shape, TensorType, apply, define, method, public
from dy2st_runtime.ops.rules import broadcast_shapes

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


def _matmul_infer(x: TensorType, y: TensorType) -> TensorType:
    if x.rank == 0 or y.rank == 0:
        raise ShapeError("matmul takes tensors with at least one axis; use multiply for numbers")
    if x.dtype.kind == "b":
        raise DTypeError("matmul takes numbers, not bools: cast first")
    inner_x, inner_y = x.shape[-1], y.shape[-2] if y.rank > 1 else y.shape[0]
    require_equal(
        inner_x, inner_y, f"matmul: {_shown(x.shape)} @ {_shown(y.shape)}: {inner_x} != {inner_y}"
    )
    batch = broadcast_shapes("matmul", x.shape[:-2], y.shape[:-2]) if x.rank + y.rank > 2 else ()
    rows = x.shape[-2:-1]
    columns = y.shape[-1:] if y.rank > 1 else ()
    return x.with_shape((*batch, *rows, *columns))


def _shown(shape: Shape) -> str:
    return str(list(shape))


def _transposed(x: Any) -> Any:
    return F.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _matmul_kernel(x: Any, y: Any) -> Any:
    z = np.matmul(x, y)
    return z if z.dtype == x.dtype else z.astype(x.dtype)  # bfloat16 would give float32


def _matmul_gradient(g: Any, z: Any, x: Any, y: Any) -> Any:
    """With vectors made matrices: g @ y' and x' @ g, summed over what was broadcast."""
    left = F.unsqueeze(x, [0]) if x.ndim == 1 else x
    right = F.unsqueeze(y, [1]) if y.ndim == 1 else y
    full = F.unsqueeze(g, [g.ndim]) if y.ndim == 1 else g
    full = F.unsqueeze(full, [full.ndim - 1]) if x.ndim == 1 else full

    def to_x() -> Any:
        return F.reshape(F.sum_to(F.matmul(full, _transposed(right)), left.shape), x.shape)

    def to_y() -> Any:
        return F.reshape(F.sum_to(F.matmul(_transposed(left), full), right.shape), y.shape)

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
    """(..., n, k) @ (..., k, m) -> (..., n, m); vectors count as a row or a column."""
    if transpose_x and x.ndim > 1:
        x = _transposed(x)
    if transpose_y and y.ndim > 1:
        y = _transposed(y)
    return apply("matmul", x, y)


@method
def mm(input: Any, mat2: Any, name: str | None = None) -> Any:
    """`matmul` under another name."""
    return matmul(input, mat2)


@method
def bmm(x: Any, y: Any, name: str | None = None) -> Any:
    """(b, n, k) @ (b, k, m) -> (b, n, m)."""
    if x.ndim != 3 or y.ndim != 3:
        raise ShapeError(f"bmm takes tensors with three axes, not {x.shape} and {y.shape}")
    return matmul(x, y)


@method
def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """(n, k) @ (k,) -> (n,)."""
    return matmul(x, vec)


@method
def dot(x: Any, y: Any, name: str | None = None) -> Any:
    """The sum of products along the last axis: (..., n), (..., n) -> (...)."""
    return F.sum(x * y, axis=-1)


@method
def outer(x: Any, y: Any, name: str | None = None) -> Any:
    """All products: (n,), (m,) -> (n, m)."""
    return F.unsqueeze(F.flatten(x), [1]) * F.unsqueeze(F.flatten(y), [0])


@method
def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Any:
    """beta * input + alpha * (x @ y)."""
    return input * beta + matmul(x, y) * alpha


@public
def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that an equation names, such as "bij,bjk->bik", for one or two tensors.

    Every letter may stand once in an operand; there is no ellipsis. Without "->" the result has the
    letters that stand once, in alphabetical order.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands) or len(terms) > 2:
        raise ArgumentError(f"einsum {equation!r}: it takes one or two operands")
    if not arrow:
        output = "".join(sorted(c for c in set("".join(terms)) if inputs.count(c) == 1))
    for term, operand in zip(terms, operands, strict=True):
        if len(set(term)) != len(term) or len(term) != operand.ndim or not term.isalpha():
            raise ArgumentError(f"einsum {equation!r}: {term!r} does not fit {operand.shape}")
    letters = list(dict.fromkeys("".join(terms)))
    if len(set(output)) != len(output) or not set(output) <= set(letters):
        raise ArgumentError(f"einsum {equation!r}: the result {output!r} is not made of its inputs")
    if len(terms) == 1:
        return _arranged(operands[0], terms[0], output)
    return _einsum_of_two(terms[0], terms[1], output, *operands)


def _arranged(x: Any, term: str, output: str) -> Any:
    gone = [i for i, letter in enumerate(term) if letter not in output]
    kept = [letter for letter in term if letter in output]
    x = F.sum(x, axis=gone) if gone else x
    return F.transpose(x, [kept.index(letter) for letter in output])


def _einsum_of_two(left: str, right: str, output: str, x: Any, y: Any) -> Any:
    """By one matmul: letters of both and the result are a batch, of both alone the inner axis."""
    x = _arranged(x, left, "".join(c for c in left if c in output or c in right))
    left = "".join(c for c in left if c in output or c in right)
    y = _arranged(y, right, "".join(c for c in right if c in output or c in left))
    right = "".join(c for c in right if c in output or c in left)
    batch = [c for c in left if c in right and c in output]
    inner = [c for c in left if c in right and c not in output]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    size = dict(zip(left, x.shape, strict=True))
    for letter, own in zip(right, y.shape, strict=True):
        require_equal(size.setdefault(letter, own), own, f"einsum: sizes of {letter!r} differ")

    def grouped(value: Any, term: str, *groups: list[str]) -> Any:
        value = F.transpose(value, [term.index(c) for group in groups for c in group])
        sizes = [_product(size[c] for c in group) for group in groups[1:]]
        return F.reshape(value, [*(size[c] for c in groups[0]), *sizes])

    z = matmul(grouped(x, left, batch, rows, inner), grouped(y, right, batch, inner, columns))
    z = F.reshape(z, [size[c] for c in (*batch, *rows, *columns)])
    order = [*batch, *rows, *columns]
    return F.transpose(z, [order.index(c) for c in output])


def _product(sizes: Any) -> Any:
    result: Any = 1
    for size in sizes:
        result = result * size
    return result
