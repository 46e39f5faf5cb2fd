"""Sums of products by Einstein's notation, made of sums, transposes and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st_runtime.dims import Size, product, require_equal
from dy2st_runtime.errors import ArgumentError, ShapeError
from dy2st_runtime.ir import F, public
from dy2st_runtime.ir.arguments import rank_of, shape_of
from dy2st_runtime.ir.dispatch import as_copy
from dy2st_runtime.ops.rules import broadcast_shapes

Labels = list[str]
"""One name an axis: a letter, or a number that counts the axes of "..." from the last."""


@public
def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products that an equation names, such as "bij,bjk->bik".

    A letter that stands twice in one operand takes its diagonal, in the result it is what the
    result has on its diagonal, with zeros elsewhere; "..." stands for any axes, which
    broadcast; an operand without letters is a number. Without "->" the result has the axes of "..."
    and then the letters that stand once, in alphabetical order. Raises ArgumentError for equations
    that say nothing, ShapeError for operands that do not fit.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> dy2st.einsum("ij,jk->ik", x, x).tolist(), dy2st.einsum("ii", x).item()
    ([[7.0, 10.0], [15.0, 22.0]], 5.0)
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise ArgumentError(f"einsum {equation!r}: {len(terms)} operands, not {len(operands)}")
    labels = [_labels(equation, t, rank_of(x)) for t, x in zip(terms, operands, strict=True)]
    wanted = _labels_of_result(equation, output if arrow else None, labels)
    x, own = _diagonal(operands[0], labels[0])
    for index, other in enumerate(operands[1:], 1):
        later = [*wanted, *(label for term in labels[index + 1 :] for label in term)]
        x, own = _joined(x, own, *_diagonal(other, labels[index]), later)
    # x with one axis for each label; where a label is repeated x lies on the diagonal.
    x = _arranged(x, own, [*dict.fromkeys(wanted)])
    for axis, label in enumerate(wanted):
        first = wanted.index(label)
        if first < axis:
            x = F.unsqueeze(x, [axis])
            is_diagonal = F.equal(_places(x, first, first), _places(x, first, axis))
            x = F.where(is_diagonal, x, F.zeros_like(x))
    return as_copy(x)


# -- the equation -----------------------------------------------------------------------------


def _labels(equation: str, term: str, rank: int) -> Labels:
    before, dots, behind = term.partition("...")
    letters = before + behind
    if letters and not (letters.isalpha() and letters.isascii()):
        raise ArgumentError(f"einsum {equation!r}: {term!r} is not made of letters and one '...'")
    spread = rank - len(letters)
    if spread < 0 or (spread and not dots):
        raise ShapeError(f"einsum {equation!r}: {term!r} does not fit a tensor of {rank} axes")
    return [*before, *map(str, range(spread - 1, -1, -1)), *behind]


def _labels_of_result(equation: str, output: str | None, labels: list[Labels]) -> Labels:
    every = [label for term in labels for label in term]
    spread = sorted({label for label in every if label.isdigit()}, key=int, reverse=True)
    if output is None:
        return spread + sorted(x for x in set(every) if x.isalpha() and every.count(x) == 1)
    has_dots = "..." in output
    if spread and not has_dots:
        raise ArgumentError(f"einsum {equation!r}: the result {output!r} has no '...'")
    rank = len(output.replace("...", "")) + len(spread) * has_dots
    wanted = _labels(equation, output, rank)
    if not set(wanted) <= set(every):
        raise ArgumentError(f"einsum {equation!r}: the result {output!r} is not made of its inputs")
    return wanted


# -- its parts --------------------------------------------------------------------------------


def _diagonal(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """x with one axis for each of its labels."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            size, other = x.shape[first], x.shape[second]
            require_equal(size, other, f"einsum: a diagonal of {size} x {other}")
            shape: list[Size] = [1] * x.ndim
            shape[first] = size
            places = F.reshape(F.arange(size), shape)
            x = F.squeeze(F.take_along_axis(x, places, second), [second])
            labels = [*labels[:second], *labels[second + 1 :]]
    return x, labels


def _places(x: Any, along: int, axis: int) -> Any:
    """The places along one axis of x, as an axis of the same rank."""
    sizes: list[Size] = [1] * x.ndim
    sizes[axis] = shape_of(x)[along]
    return F.reshape(F.arange(sizes[axis]), sizes)


def _arranged(x: Any, labels: Labels, wanted: Sequence[str]) -> Any:
    """x summed over what is not wanted, the rest in order."""
    gone = [axis for axis, label in enumerate(labels) if label not in wanted]
    kept = [label for label in labels if label in wanted]
    x = F.sum(x, axis=gone) if gone else x
    perm = [kept.index(label) for label in wanted]
    return x if perm == list(range(len(perm))) else F.transpose(x, perm)


def _joined(x: Any, left: Labels, y: Any, right: Labels, later: Labels) -> tuple[Any, Labels]:
    """One product of matrices: what both have and is read later is a batch, else summed over."""
    left, right, x, y = (
        [label for label in left if label in later or label in right],
        [label for label in right if label in later or label in left],
        _only(x, left, [*later, *right]),
        _only(y, right, [*later, *left]),
    )
    batch = [label for label in left if label in right and label in later]
    inner = [label for label in left if label in right and label not in later]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]
    # The sizes of all labels in the product; those of "..." broadcast, letters are equal.
    sizes = dict(zip(left, shape_of(x), strict=True))
    for letter, own in zip(right, shape_of(y), strict=True):
        known = sizes.setdefault(letter, own)
        if letter.isdigit():
            (sizes[letter],) = broadcast_shapes("einsum", (known,), (own,))
        else:
            require_equal(known, own, f"einsum: sizes of {letter!r} differ")

    def grouped(value: Any, labels: Labels, *groups: Labels) -> Any:
        own = dict(zip(labels, shape_of(value), strict=True))
        value = _arranged(value, labels, [*batch, *(c for group in groups for c in group)])
        wide = [product(own[label] for label in group) for group in groups]
        return F.reshape(value, [*(own[label] for label in batch), *wide])

    z = F.matmul(grouped(x, left, rows, inner), grouped(y, right, inner, columns))
    order = [*batch, *rows, *columns]
    return F.reshape(z, [sizes[label] for label in order]), order


def _only(x: Any, labels: Labels, wanted: Labels) -> Any:
    return _arranged(x, labels, [label for label in labels if label in wanted])
