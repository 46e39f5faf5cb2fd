"""Every function of a module in traced form as soon as its body has run, by the plain protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from dy2st.transpiler.lower import traced_form
from tests.dy2st.transpiler.plain_protocol import PLAIN

# What a class does not let itself be given anew.
_FIXED = frozenset(
    f"__{name}__" for name in ("bases", "class", "dict", "doc", "module", "name", "weakref")
)


class Conversion:
    """The functions of some modules, each replaced by its converted form where it is found."""

    def __init__(self, names: Iterable[str]):
        """Name the modules; with a package come the modules inside it that are named too."""
        self.names = frozenset(names)
        self.converted: set[str] = set()
        self.refused: dict[str, str] = {}
        self._known: dict[int, tuple[FunctionType, FunctionType]] = {}
        self._classes: list[type] = []
        self._waiting: list[ModuleType] = []
        self._depth = 0

    def run(self, loader: Loader, module: ModuleType) -> None:
        """Run a module's body; convert at the end of the outermost, when none is half made."""
        self._depth += 1
        try:
            loader.exec_module(module)
        finally:
            self._depth -= 1
        self._waiting.append(module)
        while self._waiting and not self._depth:
            with _originals():
                self.module(self._waiting.pop(0))

    def module(self, module: ModuleType) -> None:
        """Convert what the module's own names and classes hold."""
        self._file = getattr(module, "__file__", None)
        self._module = module.__name__
        for name, value in list(vars(module).items()):
            new = self._value(value)
            if new is not value:
                setattr(module, name, new)

    def _value(self, value: Any) -> Any:
        """The converted form of a function, or the same object with its parts converted."""
        kind = type(value)
        if kind is FunctionType:
            return self._function(value)
        if kind in (staticmethod, classmethod):
            inner = self._value(value.__func__)
            return value if inner is value.__func__ else kind(inner)
        if kind is property:
            return self._property(value)
        if isinstance(value, type):
            self._class(value)
        elif kind is dict:
            self._dictionary(value)
        elif kind is list:
            value[:] = map(self._item, value)
        elif hasattr(kind, "__set_name__") or kind.__name__ == "cached_property":
            self._parts(value)
        return value

    def _function(self, function: FunctionType) -> FunctionType:
        known = self._known.get(id(function))
        if known is not None:
            return known[1]
        new = function
        if function.__code__.co_filename == self._file:
            new = self._convert(function)
        self._known[id(function)] = (function, new)
        self._known[id(new)] = (new, new)
        self._cells(function)
        return new

    def _convert(self, function: FunctionType) -> FunctionType:
        if function.__name__ == "load_tests":  # it looks at the frame that calls it
            return function
        name = f"{self._module}.{function.__qualname__}:{function.__code__.co_firstlineno}"
        try:
            new = traced_form(function).bind(PLAIN, function)
        except Exception as error:
            self.refused[name] = f"{type(error).__name__}: {error}"
            return function
        if new is not function:
            self.converted.add(name)
        return new

    def _cells(self, function: FunctionType) -> None:
        """The functions that a decorator's wrapper holds."""
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if type(value) is FunctionType:
                cell.cell_contents = self._function(value)
            elif isinstance(value, type):
                self._class(value)

    def _property(self, value: property) -> property:
        old = (value.fget, value.fset, value.fdel)
        new = tuple(self._value(part) for part in old)
        same = all(one is other for one, other in zip(old, new))
        return value if same else property(*new, value.__doc__)

    def _parts(self, descriptor: Any) -> None:
        """A descriptor written in Python: its functions are its attributes."""
        for name in ("fget", "fset", "fdel", "func"):
            part = getattr(descriptor, name, None)
            if type(part) is FunctionType:
                setattr(descriptor, name, self._function(part))

    def _dictionary(self, value: MutableMapping[Any, Any]) -> None:
        """A table of functions, alone or in lists or tuples of them, or under functions."""
        for key, item in list(value.items()):
            new = self._item(item)
            # Under the old function, too: an object out of sight may hold it.
            for name in (key, self._item(key)):
                if name not in value or value[name] is not new:
                    value[name] = new

    def _item(self, value: Any) -> Any:
        if type(value) is FunctionType:
            return self._function(value)
        if type(value) in (list, tuple):
            new = [self._item(item) for item in value]
            same = all(one is other for one, other in zip(value, new))
            return value if same else type(value)(new)
        return value

    def _class(self, cls: type) -> None:
        if any(cls is seen for seen in self._classes) or cls.__module__ not in self.names:
            return
        self._classes.append(cls)
        for name, value in list(vars(cls).items()):
            if name in _FIXED:
                continue
            new = self._value(value)
            if new is not value:
                type.__setattr__(cls, name, new)


@contextmanager
def _originals() -> Iterator[None]:
    """What the conversion itself imports meanwhile is none of the tests' copies."""
    known = {name: sys.modules[name] for name in _ORIGINALS if name in sys.modules}
    sys.modules.update(_ORIGINALS)
    try:
        yield
    finally:
        for name in _ORIGINALS:
            del sys.modules[name]
        sys.modules.update(known)


_ORIGINALS: dict[str, ModuleType] = {}


class _Loader(Loader):
    def __init__(self, loader: Any, conversion: Conversion):
        self._loader = loader
        self._conversion = conversion

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._conversion.run(self._loader, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(MetaPathFinder):
    def __init__(self, conversion: Conversion):
        self._conversion = conversion

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._conversion.names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None and spec.origin not in (None, "built-in"):
            spec.loader = _Loader(spec.loader, self._conversion)
        return spec


def convert_on_import(names: Iterable[str]) -> Conversion:
    """From now on convert these modules at each import, and what is called from them."""
    conversion = Conversion(names)
    sys.meta_path.insert(0, _Finder(conversion))
    return conversion


def forget(names: Iterable[str]) -> None:
    """Let the next import make fresh copies; dy2st itself keeps the ones it has."""
    for name in names:
        for known in list(sys.modules):
            if known == name or known.startswith(name + "."):
                _ORIGINALS[known] = sys.modules.pop(known)
