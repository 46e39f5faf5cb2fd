"""Run a script of PaddlePaddle as it is: in its process, `paddle` means `dy2st.paddle`.

    python -m dy2st.paddle train.py --epochs 3
    python -m dy2st.paddle -m tools.train --epochs 3

`paddle.nn` and `dy2st.nn` are the same module. `paddle.__version__` is that of `dy2st.version`, the
release whose names these are; types are promoted as PaddlePaddle promotes them.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from dy2st.paddle.aliases import Alias
from dy2st.paddle.porting.names import why_not
from dy2st.paddle.spaces import home
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.promotion import set_promotion
from dy2st_runtime.lazy import public_dir

_USAGE = "usage: python -m dy2st.paddle [-m MODULE | SCRIPT] [ARGUMENT ...]"


class _Space(Alias):
    """Gives a name space of ours as PaddlePaddle's."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module; ModuleNotFoundError, with advice, if there is none."""
        try:
            return super().create_module(spec)
        except ModuleNotFoundError as error:
            if error.name != self.own:
                raise
            why = why_not(spec.name.removeprefix("paddle."))
            raise ModuleNotFoundError(
                f"dy2st has no {spec.name!r}{why and f': {why}'}", name=spec.name
            ) from None


class _Finder(MetaPathFinder):
    """Finds `paddle` and all under it."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """How the module is loaded, None if it is none of paddle's."""
        top, _, space = fullname.partition(".")
        if top != "paddle":
            return None
        return ModuleSpec(fullname, _Space(home(space) if space else "dy2st.paddle"))


def install() -> None:
    """Let `import paddle` mean dy2st from now on; ArgumentError if another paddle is loaded.

    >>> install()  # doctest: +SKIP
    >>> import paddle  # doctest: +SKIP
    >>> paddle.nn is dy2st.nn  # doctest: +SKIP
    True
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "paddle" in sys.modules:
        raise ArgumentError("paddle is imported already: install() must come before")
    sys.meta_path.insert(0, _Finder())
    set_promotion("paddle")


def main(arguments: Sequence[str]) -> int:
    """Run a script or a module with its arguments; the exit status.

    >>> main([])
    usage: python -m dy2st.paddle [-m MODULE | SCRIPT] [ARGUMENT ...]
    2
    """
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

__dir__ = public_dir(__name__)
