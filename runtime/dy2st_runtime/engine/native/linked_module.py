"""Links a compiled module: what Python calls, and where its data is."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from weakref import finalize

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor, library_of
from dy2st_runtime.engine.native.machine.module import Module
from dy2st_runtime.engine.native.machine.pool import keep_freed_memory
from dy2st_runtime.engine.native.program.prepacked import Keeper


class Linked:
    """The code of a module with the functions `run` and `drop`; gone when nobody holds this.

    function    `run` as a function of Python.
    addresses   those of `exports`.
    """

    def __init__(self, module: Module, exports: Iterable[str] = ()) -> None:
        """Compile and link; what the code refers to is kept."""
        keep_freed_memory()
        self.source = module.text()
        symbols = {**abi.symbols(), **module.symbols, **module.links}
        names = ["run", "drop", *exports]
        library = library_of(self.source, Processor.host(), names, symbols)
        self.addresses = library.addresses
        self._held = module.kept
        self._keepers = [one for one in module.kept if isinstance(one, Keeper)]
        # The memory that code keeps is freed while the code is still there: with its library.
        drop = ctypes.CFUNCTYPE(None)(self.addresses["drop"])
        finalize(self, lambda function, library: function(), drop, library)
        self.function = abi.function_object(self.addresses["run"], self._held)

    @property
    def kept_bytes(self) -> int:
        """How large is what it keeps that was made of parameters."""
        return sum(keeper.bytes for keeper in self._keepers)


__all__ = ["Linked"]
