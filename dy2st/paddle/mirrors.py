"""Mirrors name spaces of PaddlePaddle that hold nothing of their own, but show what others have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from dy2st.paddle.spaces import space_of
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import Lazy

_absent = Lazy("dy2st.paddle.porting.absent")

_MISSING = object()
_DICT: Any = vars(ModuleType)["__dict__"]


def names_of(space: str, sources: Sequence[str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that shows the names of other modules, looked up when asked.

    Names that PaddlePaddle has there and that are refused are there to be imported.

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
            value = refused(f"{space_of(space)}.{name}")
            if value is None:
                raise AttributeError(f"module {space!r} has no attribute {name!r}")
        if space in sys.modules:
            setattr(sys.modules[space], name, value)
        return value

    find.sources = sources  # type: ignore[attr-defined]  # for who looks for names
    return find


def refused(name: str) -> Any:
    """What stands for a name of PaddlePaddle's that is here to be imported alone, or None.

    A call says why there is no more of it; classes may be made of one that is a class.

    >>> refused("nn.quant.weight_quantize").__name__, refused("nn.quant.Stub")
    ('weight_quantize', None)
    """
    why = _absent.REFUSED.get(name)
    if why is None:
        return None
    last = name.rpartition(".")[2]

    def refuse(*_: object, **__: object) -> NoReturn:
        raise ArgumentError(f"paddle.{name} is not here: {why}")

    if last[0].isupper():
        return type(last, (), {"__init__": refuse, "__doc__": f"Not here: {why}."})
    refuse.__name__ = last
    return refuse


def _public(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    late = getattr(_dict_of(module).get("__getattr__"), "places", ())
    return [*dict.fromkeys([*names, *late])]


class Mirror(ModuleType):
    """A module that shows names of others; who asks for its dict gets those of the first."""

    def __dir__(self) -> list[str]:
        """The public names of the modules that it shows."""
        own: list[str] = self.__all__
        return sorted(name for name in {*own} if not name.startswith("_"))

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


def mirrors(package: str, parts: str, sources: Sequence[str]) -> None:
    """Modules `package.part` that show the names of the sources; made at once, filled when asked.

    Python finds them among the loaded modules, so `import dy2st.paddle.tensor.math` needs no file.
    Where the package has a function of the name, that is what its attribute stays.

    >>> mirrors("mirrored", "one two two.three", ["math"])
    >>> sys.modules["mirrored.two"].three.gcd(4, 6)
    2
    """
    for part in parts.split():
        space = f"{package}.{part}"
        module = Mirror(space, f"The part of {', '.join(sources)} that goes by this name.")
        own = {"__getattr__": names_of(space, sources), "__sources__": sources, "__path__": []}
        _dict_of(module).update(own)
        sys.modules[space] = module
        outer, _, name = space.rpartition(".")
        if outer in sys.modules and not _has(sys.modules[outer], name):
            setattr(sys.modules[outer], name, module)


def _has(module: ModuleType, name: str) -> bool:
    """Whether a module has something of the name, perhaps late, that is no module."""
    own = _dict_of(module)
    if name in own:
        return not isinstance(own[name], ModuleType)
    find = own.get("__getattr__")
    if ":" in getattr(find, "places", {}).get(name, ""):
        return True
    shown = (sys.modules.get(source, module) for source in getattr(find, "sources", ()))
    return any(source is not module and _has(source, name) for source in shown)
