"""Gives modules two names: `dy2st.vision`, `dy2st.paddle.vision`; `dy2st.nn`, `dy2st.paddle.nn`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from dy2st.paddle.spaces import SPACES, home, space_of


class Alias(InspectLoader):
    """Gives a module under another name, and leaves it as it was."""

    def __init__(self, own: str) -> None:
        """Take the name that the module has itself."""
        self.own = own
        self._spec: Any = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module; what stands in it has the other name, too."""
        module = import_module(self.own)
        self._spec = getattr(module, "__spec__", None)
        for inner in [name for name in sys.modules if name.startswith(f"{self.own}.")]:
            sys.modules.setdefault(spec.name + inner.removeprefix(self.own), sys.modules[inner])
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is to be run; the module keeps the spec of its own name."""
        module.__spec__ = self._spec

    def get_source(self, fullname: str) -> str | None:
        """The source of the module, which is run by `python -m` and its other name."""
        return self._loader().get_source(self.own)

    def get_code(self, fullname: str) -> CodeType | None:
        """Its code."""
        return self._loader().get_code(self.own)

    def _loader(self) -> InspectLoader:
        spec = getattr(import_module(self.own), "__spec__", None)
        loader: InspectLoader = getattr(spec, "loader", None) or self
        return loader


class _Finder(MetaPathFinder):
    """Finds what stands in `dy2st.paddle` in `dy2st`, and the other way round."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How a module is loaded that stands in the other folder."""
        if not fullname.startswith("dy2st."):
            return None
        space = space_of(fullname)
        own = home(space)
        is_known = space.partition(".")[0] in SPACES
        return ModuleSpec(fullname, Alias(own)) if is_known and own != fullname else None


def install() -> None:
    """Know these names from now on.

    Before Python looks for files: what stands in the folder of such a module would be loaded twice.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
