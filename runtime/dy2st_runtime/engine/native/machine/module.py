"""Collects one piece of object code: functions, and names of objects that they refer to."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.kernels import Functions
from dy2st_runtime.engine.native.machine.pool import drop, pool
from dy2st_runtime.ir.types import own_dtype


class Module:
    """Texts of functions, each once, and addresses that are filled in when the code is linked.

    No address stands in the text, so equal Programs have equal texts, in every process.
    """

    def __init__(self, functions: Functions | None = None) -> None:
        """Begin with nothing; `functions` are what calls of the Program call."""
        self.functions = functions
        self.texts: dict[str, str] = {}
        self.symbols: dict[str, int] = {}
        self.kept: list[Any] = []
        self.links: dict[str, int] = {}
        self.pools: dict[str, None] = {}
        self._names: dict[int, str] = {}

    def add(self, name: str, text: str) -> None:
        """A function, or several that belong together, once under a name."""
        self.texts.setdefault(name, text)

    def shared(self, text: str, stem: str) -> str:
        """The name of a function, whose text says `@NAME`; of equal ones there is one."""
        name = f"{stem}_{sha256(text.encode()).hexdigest()[:16]}"
        self.add(name, text.replace("@NAME", f"@{name}"))
        return name

    def pool(self, name: str) -> None:
        """The functions of a pool of memory."""
        self.add(f"{name}_pool", pool(name))
        self.pools[name] = None

    def link(self, name: str, address: int, owner: Any) -> None:
        """Tell where a function is that a text declares; the module keeps its owner."""
        if name not in self.links:
            self.links[name] = address
            self.kept.append(owner)

    def object(self, value: Any, stem: str) -> str:
        """The name of an object of Python; the module keeps the object."""
        value = own_dtype(value) if isinstance(value, np.dtype) else value
        return self._symbol(id(value), value, stem)

    def array(self, value: np.ndarray[Any, Any]) -> str:
        """The name of the elements of an array."""
        value = np.array(value, order="C", copy=None)
        return self._symbol(value.ctypes.data, value, "constant")

    def text(self) -> str:
        """The whole module."""
        declared = [f"@{name} = external global i8" for name in self.symbols]
        texts = [*self.texts.values(), drop(self.pools)]
        return "\n".join([abi.DECLARED, *declared, *texts]) + "\n"

    def _symbol(self, address: int, value: Any, stem: str) -> str:
        name = self._names.get(address)
        if name is None:
            name = self._names[address] = f"{stem}_{len(self._names)}"
            self.symbols[name] = address
            self.kept.append(value)
        return f"@{name}"


__all__ = ["Module"]
