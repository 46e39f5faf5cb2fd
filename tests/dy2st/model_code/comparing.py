"""What a call gave, as plain data, and the first difference between two such."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

import dy2st
from dy2st import nn
from dy2st.jit import StaticFunction
from dy2st_runtime.ir import Variable

_OF_LAYERS = set(vars(nn.Layer())) | {"forward"}


class Seen(NamedTuple):
    """A value: its kind, what is inside by name, and what else must be the same."""

    kind: str
    parts: dict[str, Seen]
    data: Any = None


def seen(value: Any) -> Seen:
    """A value as it is now; later changes of it are not seen."""
    if isinstance(value, Variable):
        return Seen("a tensor of a trace that is over", {})
    if isinstance(value, dy2st.Tensor):
        return Seen("tensor", {}, np.array(value.numpy()))
    if isinstance(value, (np.ndarray, np.generic)):
        return Seen(type(value).__name__, {}, np.array(value))
    if isinstance(value, Enum) or value is None or isinstance(value, (str, bytes, range, type)):
        return Seen(type(value).__name__, {}, value)
    if isinstance(value, (bool, int, float, complex)):
        return Seen(type(value).__name__, {}, np.array(value))
    return Seen(type(value).__name__, {k: seen(v) for k, v in _parts(value)})


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, BaseException):
        told = [a for a in value.args if not isinstance(a, str)]
        own = [(k, v) for k, v in vars(value).items() if not k.startswith("__")]
        return [*_numbered(told), *own]
    if isinstance(value, nn.Layer):
        own = [(k, v) for k, v in vars(value).items() if k not in _OF_LAYERS]
        return [
            *own,
            *value._parameters.items(),
            *value._buffers.items(),
            *value._sub_layers.items(),
        ]
    if isinstance(value, (set, frozenset)):
        return _numbered(sorted(value, key=repr))
    if isinstance(value, dict):
        return [(f".keys[{i}]", k) for i, k in enumerate(value)] + [
            (f"[{k!r}]", v) for k, v in value.items()
        ]
    if isinstance(value, (list, tuple, deque)):
        return _numbered(value)
    if isinstance(value, StaticFunction) or callable(value):
        return []
    return list(vars(value).items())


def _numbered(values: Any) -> list[tuple[str, Any]]:
    return [(f"[{i}]", value) for i, value in enumerate(values)]


def leaves(value: Seen, path: str = "") -> list[tuple[str, Seen]]:
    """All values inside that have no parts, each with where it stands."""
    if not value.parts:
        return [(path, value)]
    return [leaf for name, part in value.parts.items() for leaf in leaves(part, path + name)]


def kinds_of(values: list[Seen]) -> dict[str, set[str]]:
    """Which kinds stand at one place, whatever the position in a list, on any input."""
    found = defaultdict(set)
    for value in values:
        for path, leaf in leaves(value):
            found[re.sub(r"\[\d+\]", "[]", path)].add(leaf.kind)
    return found


def difference(wanted: Seen, got: Seen, kinds: dict[str, set[str]], path: str = "") -> str:
    """The first difference of what Python gives and what the Program gives, or nothing."""
    if wanted.kind != got.kind and not _is_joined(wanted, got, kinds, path):
        return f"{path}: Python {_short(wanted)}, the Program {_short(got)}"
    if list(wanted.parts) != list(got.parts):
        return f"{path}: Python has {list(wanted.parts)}, the Program {list(got.parts)}"
    for name, part in wanted.parts.items():
        found = difference(part, got.parts[name], kinds, path + name)
        if found:
            return found
    return (
        "" if _same(wanted, got) else f"{path}: Python {_short(wanted)}, the Program {_short(got)}"
    )


def _is_joined(wanted: Seen, got: Seen, kinds: dict[str, set[str]], path: str) -> bool:
    """Whether a number came as the tensor, or float, that it is on another path."""
    there = kinds[re.sub(r"\[\d+\]", "[]", path)]
    if wanted.kind not in ("bool", "int", "float") or got.kind not in there:
        return False
    return got.kind == "float" or (got.kind == "tensor" and got.data.shape == ())


def _same(wanted: Seen, got: Seen) -> bool:
    if not isinstance(wanted.data, np.ndarray) or not isinstance(got.data, np.ndarray):
        return bool(wanted.data == got.data)
    if wanted.data.shape != got.data.shape:
        return False
    if wanted.kind == got.kind and wanted.data.dtype != got.data.dtype:
        return False
    return np.allclose(wanted.data, got.data, rtol=1e-5, atol=1e-5, equal_nan=True)


def _short(value: Seen) -> str:
    if value.kind == "tensor":
        return f"a tensor {value.data.dtype} {value.data.tolist()}"
    return f"{value.kind} {list(value.parts) if value.parts else value.data}"
