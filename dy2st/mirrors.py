"""Name spaces of PaddlePaddle that hold nothing of their own: what they show stands elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

_MISSING = object()
_DICT: Any = vars(ModuleType)["__dict__"]


def names_of(space: str, sources: Sequence[str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that shows the names of other modules, looked up when asked.

    >>> names_of("somewhere", ["math", "cmath"])("gcd")(4, 6)
    2
    """

    def find(name: str) -> Any:
        value = _MISSING
        if name == "__all__":
            value = [entry for source in sources for entry in _public(import_module(source))]
        elif not name.startswith("__"):
            modules = map(import_module, sources)
            found = (getattr(module, name, _MISSING) for module in modules)
            value = next((entry for entry in found if entry is not _MISSING), _MISSING)
        if value is _MISSING:
            raise AttributeError(f"module {space!r} has no attribute {name!r}")
        if space in sys.modules:
            setattr(sys.modules[space], name, value)
        return value

    return find


def _public(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    late = getattr(vars(module).get("__getattr__"), "places", ())
    return [*dict.fromkeys([*names, *late])]


class Mirror(ModuleType):
    """A module that shows names of others; who asks for its dict gets those of the first."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """The names: models look classes up in `vars(nn.layer.activation)`."""
        own: dict[str, Any] = _dict_of(self)
        for name in _public(import_module(own["__sources__"][0])):
            if name not in own:
                own["__getattr__"](name)
        return own


def _dict_of(module: ModuleType) -> dict[str, Any]:
    own: dict[str, Any] = _DICT.__get__(module)
    return own


def mirrors(package: str, parts: str, sources: Sequence[str], hidden: bool = False) -> None:
    """Modules `package.part` that show the names of the sources; made at once, filled when asked.

    Python finds them among the loaded modules, so `import dy2st.tensor.math` needs no file.
    Hidden ones are found so alone: the package shows a function of the name.

    >>> mirrors("mirrored", "one two", ["math"])
    >>> sys.modules["mirrored.two"].gcd(4, 6)
    2
    """
    for part in parts.split():
        space = f"{package}.{part}"
        module = Mirror(space, f"The part of {', '.join(sources)} that goes by this name.")
        own = {"__getattr__": names_of(space, sources), "__sources__": sources}
        _dict_of(module).update(own)
        sys.modules[space] = module
        if package in sys.modules and not hidden:
            setattr(sys.modules[package], part, module)
