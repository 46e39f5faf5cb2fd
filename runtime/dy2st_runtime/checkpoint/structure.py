"""Writes containers, numbers and texts as JSON, which refers to the arrays by name.

JSON says lists, texts, numbers, true, false and null as they are. All else is an object with one
key that says what it is: `{"dict": [[key, value], ...]}`, `{"tensor": [stored as, name]}`.
"""

from __future__ import annotations

import base64
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from dy2st_runtime.checkpoint.tree import MAX_DEPTH, is_key
from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]
Write = Callable[[Any], Any]

_LONGEST = 1024  # bits of an integer
_MOST = 10_000_000  # objects in a file
_SEQUENCES = {"tuple": tuple, "set": set, "frozenset": frozenset}
_DICTS = {"dict": dict, "OrderedDict": OrderedDict}
_TAGS: dict[Any, str] = {kind: tag for table in (_SEQUENCES, _DICTS) for tag, kind in table.items()}


# -- writing ----------------------------------------------------------------------------------


class Written:
    """An object taken apart: `tree`, its JSON, and `arrays` by name."""

    def __init__(self, obj: Any):
        """Raises ArgumentError for what is no container, tensor, array, number or text."""
        self.arrays: dict[str, Array] = {}
        self._path: list[str] = []
        self._count = 0
        self.tree = [self._node(obj)]  # never empty

    def _fail(self, what: str) -> NoReturn:
        raise ArgumentError(f"save: {'.'.join(self._path)[:200] or 'the object'} {what}")

    def _node(self, value: Any) -> Any:
        kind = type(value)
        self._count += 1
        if len(self._path) > MAX_DEPTH:
            self._fail(f"is nested more than {MAX_DEPTH} deep, or holds itself")
        if self._count > _MOST:
            self._fail(f"is one of more than {_MOST} objects: make tensors of long lists")
        if kind in (str, bool, type(None)):
            return value
        if kind is int:
            if value.bit_length() > _LONGEST:
                self._fail(f"is an integer of more than {_LONGEST} bits")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind in (list, SizeList):  # a shape comes back as a list
            return self._entries(value)
        if kind in _TAGS:
            return {_TAGS[kind]: self._inside(kind, value)}
        # A leaf that JSON has no form of.
        if isinstance(value, EagerTensor):
            value._refuse_while_traced("saving")
            return {"tensor": [self._stored(value.array), value.name]}
        if isinstance(value, np.generic):
            return {"number": self._stored(np.asarray(value))}
        if type(value) is np.ndarray:
            return {"array": self._stored(value)}
        if type(value) in (bytes, bytearray):
            return {type(value).__name__: base64.b64encode(value).decode("ascii")}
        if type(value) is complex:
            return {"complex": [self._node(value.real), self._node(value.imag)]}
        hint = (
            "and a checkpoint has tensors, arrays, numbers, texts, None, dicts, lists, tuples, sets"
        )
        if hasattr(value, "state_dict"):
            hint = "which is no data: save what its state_dict() gives"
        elif isinstance(value, Tensor):
            hint = "which has no values while a function is traced: save outside of it"
        self._fail(f"is a {type(value).__name__}, {hint}")

    def _inside(self, kind: type, value: Any) -> list[Any]:
        if kind in (set, frozenset):
            ordered = sorted(value, key=lambda entry: (type(entry).__name__, entry))
            return [self._key(entry) for entry in ordered]
        if kind is tuple:
            return self._entries(value)
        return [[self._key(key), self._at(key, entry)] for key, entry in value.items()]

    def _entries(self, values: Iterable[Any]) -> list[Any]:
        return [self._at(index, value) for index, value in enumerate(values)]

    def _at(self, key: Any, value: Any) -> Any:
        self._path.append(str(key))
        node = self._node(value)
        self._path.pop()
        return node

    def _key(self, key: Any) -> Any:
        if not is_key(key):
            self._fail(f"has the key {key!r:.80}: keys, and what sets hold, are texts and numbers")
        return self._node(key)

    def _stored(self, array: Array) -> str:
        """The name under which an array is stored: its path."""
        wanted = ".".join(self._path) or "tensor"
        wanted = wanted.encode("utf-8", "backslashreplace").decode("utf-8")
        name, count = wanted, 1
        while name in self.arrays or name == "__metadata__":
            name, count = f"{wanted}~{count}", count + 1
        self.arrays[name] = array
        return name


# -- reading ----------------------------------------------------------------------------------


def read_tree(source: str, tree: Any, arrays: Mapping[str, Array]) -> Any:
    """The object read back; FormatError if the JSON is not what `Written` makes."""
    try:
        (node,) = tree
        reader = _Reader(arrays)
        found = reader.read(node)
        if reader.used != set(arrays):
            raise ValueError(tree)
        return found
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        raise FormatError(
            f"{source}: what it says of its containers is damaged; copy or save it again"
        ) from None


class _Reader:
    """Makes objects of JSON; what does not fit raises one of Python's errors."""

    def __init__(self, arrays: Mapping[str, Array]):
        self._arrays = arrays
        self.used: set[str] = set()

    def read(self, node: Any) -> Any:
        if type(node) is list:
            return [self.read(entry) for entry in node]
        if type(node) is not dict:
            return node
        ((tag, content),) = node.items()
        if tag in _DICTS:
            return _DICTS[tag]((self._key(key), self.read(value)) for key, value in content)
        if tag in _SEQUENCES:
            read = self.read if tag == "tuple" else self._key
            return _SEQUENCES[tag](read(entry) for entry in content)
        return _LEAVES[tag](self, content, node)

    def _key(self, node: Any) -> Any:
        key = self.read(node)
        if not is_key(key):
            raise ValueError(node)
        return key

    def _tensor(self, content: Any, node: Any) -> EagerTensor:
        stored, name = content
        return EagerTensor(self._array(stored, node), name=str(name))

    def _array(self, name: str, node: Any) -> Array:
        self.used.add(name)
        return self._arrays[name]

    def _bytes(self, text: str, node: Any) -> Any:
        found = base64.b64decode(text, validate=True)
        return bytearray(found) if "bytearray" in node else found

    def _complex(self, parts: Any, node: Any) -> complex:
        real, imag = parts
        return complex(self.read(real), self.read(imag))


_LEAVES: dict[str, Callable[[_Reader, Any, Any], Any]] = {
    "tensor": _Reader._tensor,
    "array": _Reader._array,
    "number": lambda reader, name, node: reader._array(name, node)[()],
    "float": lambda reader, text, node: float({"nan": "nan", "inf": "inf", "-inf": "-inf"}[text]),
    "bytes": _Reader._bytes,
    "bytearray": _Reader._bytes,
    "complex": _Reader._complex,
}

__all__ = ["Written", "read_tree"]
