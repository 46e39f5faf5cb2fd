"""Takes nested lists, tuples and dicts apart: gives their leaves, or the same with other leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.tracing.tracer import converted


def is_sequence(seq: Any) -> bool:
    """Whether it is a list, tuple or dict: what has leaves of its own.

    >>> is_sequence([1]), is_sequence("text")
    (True, False)
    """
    return isinstance(seq, (Mapping, Sequence)) and not isinstance(seq, (str, bytes))


def to_sequence(nest: Any) -> Any:
    """The structure, or a list of the one leaf.

    >>> dy2st.utils.to_sequence(3), dy2st.utils.to_sequence([1, 2])
    ([3], [1, 2])
    """
    return nest if is_sequence(nest) else [nest]


def flatten(nest: Any) -> list[Any]:
    """The leaves in order; those of a dict by its keys in order.

    >>> flatten([1, (2, {"b": 4, "a": 3})])
    [1, 2, 3, 4]
    """
    return list(_leaves(nest))


def _leaves(nest: Any) -> Iterator[Any]:
    if not is_sequence(nest):
        yield nest
        return
    for entry in _entries(nest):
        yield from _leaves(entry)


def _entries(nest: Any) -> list[Any]:
    return [nest[key] for key in sorted(nest)] if isinstance(nest, Mapping) else list(nest)


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """The structure with other leaves, given in the order of `flatten`.

    >>> pack_sequence_as({"b": 0, "a": [0, 0]}, [1, 2, 3])
    {'b': 3, 'a': [1, 2]}
    """
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ArgumentError(f"the structure has {count} leaves, and {len(flat_sequence)} are given")
    leaves = iter(flat_sequence)
    return _packed(structure, leaves)


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(leaves)
    packed = [_packed(entry, leaves) for entry in _entries(structure)]
    if isinstance(structure, Mapping):
        found = dict(zip(sorted(structure), packed, strict=True))
        return type(structure)((key, found[key]) for key in structure)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):  # a namedtuple
        return type(structure)(*packed)
    return type(structure)(packed)


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """The structure with `func(leaf, ...)` in place of its leaves; others go beside it.

    >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=False)
    call = converted(func)
    groups = zip(*map(flatten, structure), strict=True)
    return pack_sequence_as(structure[0], [call(*group) for group in groups])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, skip_if: Any = None
) -> None:
    """Raise ArgumentError unless both are nested alike, with `check_types` in the same types.

    >>> dy2st.utils.assert_same_structure([1, (2, 3)], [4, (5, 6)])
    """
    if is_sequence(nest1) != is_sequence(nest2):
        raise ArgumentError(f"{nest1!r} and {nest2!r} are not nested alike")
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise ArgumentError(f"{nest1!r} and {nest2!r} are of different types")
    if len(nest1) != len(nest2) or _keys(nest1) != _keys(nest2):
        raise ArgumentError(f"{nest1!r} and {nest2!r} have different entries")
    for one, other in zip(_entries(nest1), _entries(nest2), strict=True):
        assert_same_structure(one, other, check_types)


def _keys(nest: Any) -> list[Any] | None:
    return sorted(nest) if isinstance(nest, Mapping) else None
