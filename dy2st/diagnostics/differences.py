"""Says whether two values are equal within what their dtypes allow, and how they differ if not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dy2st_runtime.tensor import EagerTensor

TOLERANCES = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 1e-4, "float64": 1e-9}
"""What part of the largest element results may differ by: other orders of sums, fused products."""
_SMALLEST = 1e-3
"""Of tensors whose elements are all smaller, the part is one of this number."""
_SPREADS = 20
"""How many times as far as some other roundings of it a result may be apart."""


@dataclass(frozen=True)
class Difference:
    """How two values differ; `text` says it, and shows both at the worst place."""

    text: str
    left: Any = None
    right: Any = None


def tolerance_of(left: Any, right: Any, wanted: float | None = None) -> float:
    """What two arrays may differ by, as a part: of the coarser dtype of the two."""
    if wanted is not None:
        return wanted
    names = (_name(left.dtype), _name(right.dtype))
    return max(TOLERANCES.get(name, 0.0) for name in names)


def _name(dtype: np.dtype[Any]) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)


def difference(
    left: Any, right: Any, tolerance: float | None = None, spread: Any = None
) -> Difference | None:
    """How an array differs from another one; None if it does not.

    `spread` is how far other roundings of it are apart: by some times that it may differ, too.
    """
    if left is right:
        return None
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        return Difference(f"sizes {list(left.shape)} and {list(right.shape)}", left, right)
    kinds = _kind(left.dtype), _kind(right.dtype)
    if kinds[0] != kinds[1]:
        return Difference(f"dtypes {left.dtype} and {right.dtype}", left, right)
    if kinds[0] not in "fc":
        wrong = left != right
        return _at_worst(left, right, wrong, wrong) if np.any(wrong) else None
    part = tolerance_of(left, right, tolerance)
    wide = np.complex128 if kinds[0] == "c" else np.float64
    one, other = left.astype(wide), right.astype(wide)
    with np.errstate(all="ignore"):
        finite = np.abs(one[np.isfinite(one)])
        limit: Any = part * max(_SMALLEST, float(finite.max(initial=0.0)))
        limit = limit if spread is None else np.maximum(limit, _SPREADS * spread)
        apart = np.abs(one - other)
        is_same = (one == other) | (np.isnan(one) & np.isnan(other)) | (apart <= limit)
    if is_same.all():
        return None
    return _at_worst(left, right, ~is_same, np.where(np.isnan(apart), np.inf, apart))


def _kind(dtype: np.dtype[Any]) -> str:
    return "f" if dtype.name == "bfloat16" else dtype.kind


def _at_worst(left: Any, right: Any, wrong: Any, apart: Any) -> Difference:
    worst = np.unravel_index(int(np.argmax(np.where(wrong, apart, -1))), wrong.shape)
    said = f"{int(np.sum(wrong))} of {wrong.size} elements differ"
    if left.dtype.kind not in "b" and np.isfinite(apart[worst]):
        said += f", at most by {float(apart[worst]):.3g}" if left.dtype.kind not in "iu" else ""
    place = "" if not wrong.shape else f" at {[int(one) for one in worst]}"
    both = [
        f"{float(one[worst]):.7g}" if _kind(one.dtype) == "f" else one[worst]
        for one in (left, right)
    ]
    said += f": {both[0]} and {both[1]}{place}"
    for name, ask in (("NaN", np.isnan), ("infinite", np.isinf)):
        if _kind(left.dtype) in "fc":
            counts = [int(np.sum(ask(one.astype(np.complex128)))) for one in (left, right)]
            if any(counts):
                said += f"; {name}: {counts[0]} and {counts[1]}"
    return Difference(said, left, right)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors, arrays and numbers in nested containers, with the ways to them."""
    if isinstance(value, EagerTensor):
        yield name, value.array
    elif isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)):
        yield name, np.asarray(value)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from leaves(entry, f"{name}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for place, entry in enumerate(value):
            yield from leaves(entry, f"{name}[{place}]")
    else:
        yield name, value


def first_difference(
    left: dict[str, Any],
    right: dict[str, Any],
    tolerance: float | None = None,
    spreads: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[str, Difference] | None:
    """The first of two tables of values that differs, by name."""
    for name in left:
        if name not in right:
            return name, Difference("only the first has it", left[name])
        one, other = left[name], right[name]
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
            found = difference(one, other, tolerance, spreads.get(name))
        else:
            # Objects that say nothing of equality count as equal.
            named = {key for kind in type(one).__mro__[:-1] for key in vars(kind)}
            is_same = type(one) is type(other) and ("__eq__" not in named or one == other)
            found = None if is_same else Difference(f"{one!r:.60} and {other!r:.60}", one, other)
        if found is not None:
            return name, found
    for name in right:
        if name not in left:
            return name, Difference("only the second has it", None, right[name])
    return None


__all__ = ["TOLERANCES", "Difference", "difference", "first_difference", "leaves"]
