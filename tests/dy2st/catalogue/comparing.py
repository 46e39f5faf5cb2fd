"""What a call gave, as plain data, and the first difference between two such."""

from __future__ import annotations

import contextlib
import io
import re
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import GeneratorType
from typing import Any

import numpy as np

import dy2st
from dy2st import nn
from dy2st.errors import Dy2stError
from dy2st.jit import StaticFunction
from dy2st_runtime.ir import Variable

_OF_LAYERS = set(vars(nn.Layer())) | {"forward"}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
CLOSE = 1e-5


@dataclass(eq=False)
class Seen:
    """A value: its kind, what is inside by name, and what else must be the same."""

    kind: str
    parts: dict[str, Seen] = field(default_factory=dict)
    data: Any = None

    def __eq__(self, other: object) -> bool:
        """Whether there is no difference at all, but for the last digits of floats."""
        return isinstance(other, Seen) and not difference(self, other, {})


def called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """What a call gives or raises (of a generator: the list of its items), and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*arguments)
            result = list(result) if isinstance(result, GeneratorType) else result
        except BaseException as error:
            result = error
    return result, printed.getvalue()


def seen(value: Any, is_chain: bool = False, has_words: bool = True) -> Seen:
    """A value as it is now; later changes of it are not seen.

    is_chain: of an exception also what it came from, and where Python looked for a name.
    has_words: of an exception also its message.
    """
    if isinstance(value, Variable):
        return Seen("a tensor of a trace that is over")
    if isinstance(value, dy2st.Tensor):
        return Seen("tensor", {}, np.array(value.numpy()))
    kind = type(value).__name__
    if kind == "SizeList":  # the shape of a tensor, which is a plain list in a Program
        kind = "list"
    if isinstance(value, (np.ndarray, np.generic)):
        return Seen(kind, {}, np.array(value))
    if isinstance(value, type):
        return Seen(kind, {}, (value.__module__, value.__qualname__))
    if isinstance(value, Enum) or value is None or isinstance(value, (str, bytes, range)):
        return Seen(kind, {}, value)
    if isinstance(value, (bool, int, float, complex)):
        is_large = isinstance(value, int) and abs(value) >= 2**63
        return Seen(kind, {}, value if is_large else np.array(value))
    parts = {name: seen(part, is_chain, has_words) for name, part in _parts(value, is_chain)}
    # What the library says names the place in the code only where it is traced.
    is_users = isinstance(value, BaseException) and not isinstance(value, Dy2stError)
    return Seen(kind, parts, str(value) if is_users and has_words else None)


def _parts(value: Any, is_chain: bool) -> list[tuple[str, Any]]:
    if isinstance(value, BaseException):
        told = [a for a in value.args if not isinstance(a, str)]
        own = [(k, v) for k, v in vars(value).items() if not k.startswith("__")]
        chain = [
            (".cause", value.__cause__),
            (".context", value.__context__),
            (".name", getattr(value, "name", None)),
        ]
        return [*_numbered(told), *own, *(chain if is_chain else [])]
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
    if hasattr(value, "__dict__"):
        return list(vars(value).items())
    slots = [n for kind in type(value).__mro__ for n in vars(kind).get("__slots__", ())]
    if slots:
        return [(name, getattr(value, name)) for name in slots if hasattr(value, name)]
    return [("repr", _ADDRESS.sub("", repr(value)))]


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


def difference(
    wanted: Seen, got: Seen, kinds: dict[str, set[str]], path: str = "", close: float = CLOSE
) -> str:
    """The first difference of what Python gives and what the Program gives, or nothing."""
    if wanted.kind != got.kind and not _is_joined(wanted, got, kinds, path):
        return f"{path}: Python {_short(wanted)}, the Program {_short(got)}"
    if list(wanted.parts) != list(got.parts):
        return f"{path}: Python has {list(wanted.parts)}, the Program {list(got.parts)}"
    for name, part in wanted.parts.items():
        found = difference(part, got.parts[name], kinds, path + name, close)
        if found:
            return found
    is_same = _is_same(wanted, got, close)
    return "" if is_same else f"{path}: Python {_short(wanted)}, the Program {_short(got)}"


def _is_joined(wanted: Seen, got: Seen, kinds: dict[str, set[str]], path: str) -> bool:
    """Whether a number came as the tensor, or float, that it is on another path."""
    there = kinds.get(re.sub(r"\[\d+\]", "[]", path), ())
    if wanted.kind not in ("bool", "int", "float") or got.kind not in there:
        return False
    return got.kind == "float" or (got.kind == "tensor" and got.data.shape == ())


def _is_same(wanted: Seen, got: Seen, close: float) -> bool:
    if not isinstance(wanted.data, np.ndarray) or not isinstance(got.data, np.ndarray):
        return bool(wanted.data == got.data)
    if wanted.data.shape != got.data.shape:
        return False
    if wanted.kind == got.kind and wanted.data.dtype != got.data.dtype:
        return False
    return np.allclose(wanted.data, got.data, rtol=close, atol=close, equal_nan=True)


def _short(value: Seen) -> str:
    if value.kind == "tensor":
        return f"a tensor {value.data.dtype} {value.data.tolist()}"
    return f"{value.kind} {list(value.parts) if value.parts else value.data}"


def _rounded(array: Any) -> Any:
    return (np.round(array, 4) if array.dtype.kind == "f" else array).tolist()


def comparable(value: Any) -> Any:
    """A value as what == compares, with the types of all that is inside."""
    if isinstance(value, dy2st.Tensor):
        return ("tensor", str(value.dtype), value.shape, _rounded(value.numpy()))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [comparable(entry) for entry in value])
    if isinstance(value, dict):
        return ("dict", list(value), [comparable(entry) for entry in value.values()])
    return (type(value).__name__, round(value, 4) if isinstance(value, float) else value)
