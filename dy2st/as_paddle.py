"""Run a script of PaddlePaddle as it is: in its process, `paddle` means dy2st.

    python -m dy2st.as_paddle train.py --epochs 3
    python -m dy2st.as_paddle -m tools.train --epochs 3

`paddle.nn` and `dy2st.nn` are the same module. `paddle.__version__` is that of `dy2st.version`, the
release whose names these are; types are promoted as PaddlePaddle promotes them.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import dy2st
from dy2st.porting.names import why_not
from dy2st.version import commit, full_version
from dy2st_runtime.errors import ArgumentError

_USAGE = "usage: python -m dy2st.as_paddle [-m MODULE | SCRIPT] [ARGUMENT ...]"


class _Same(Loader):
    """Gives the module of dy2st under its other name, and leaves it as it was."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: Any = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of dy2st; ModuleNotFoundError, with advice, if there is none."""
        own = f"dy2st{self._name}"
        try:
            module = import_module(own)
        except ModuleNotFoundError as error:
            if error.name != own:
                raise
            why = why_not(self._name[1:])
            raise ModuleNotFoundError(
                f"dy2st has no {spec.name!r}{why and f': {why}'}", name=spec.name
            ) from None
        self._spec = getattr(module, "__spec__", None)
        for inner in [name for name in sys.modules if name.startswith(f"{own}.")]:
            sys.modules.setdefault(f"paddle{inner.removeprefix('dy2st')}", sys.modules[inner])
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is to be run; the module keeps the spec of its own name."""
        module.__spec__ = self._spec


class _Finder(MetaPathFinder):
    """Finds `paddle` and all under it."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How the module is loaded, None if it is none of paddle's."""
        top, dot, rest = fullname.partition(".")
        return ModuleSpec(fullname, _Same(dot + rest)) if top == "paddle" else None


def install() -> None:
    """Let `import paddle` mean dy2st from now on; ArgumentError if another paddle is loaded."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "paddle" in sys.modules:
        raise ArgumentError("paddle is imported already: install() must come before")
    sys.meta_path.insert(0, _Finder())
    dy2st.__version__ = full_version
    dy2st.__git_commit__ = commit
    promote = getattr(dy2st, "set_promotion", None)
    if promote is not None:
        promote("paddle")


def main(arguments: Sequence[str]) -> int:
    """Run a script or a module with its arguments; the exit status."""
    if not arguments or arguments[0] in ("-h", "--help") or list(arguments) == ["-m"]:
        print(__doc__ if arguments[:1] in (["-h"], ["--help"]) else _USAGE)
        return 0 if arguments and arguments[0] != "-m" else 2
    install()
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
