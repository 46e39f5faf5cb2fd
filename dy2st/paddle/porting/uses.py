"""Finds which of PaddlePaddle's names sources use, and where: from their syntax, never imported."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dy2st.paddle.porting.names import names_of_paddle

# Methods that lists, texts, files, arrays and the like have too say nothing of tensors.
PLAIN = {
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, complex, object, type)
    for name in dir(kind)
} | {"close", "read", "write", "seek", "flush", "apply", "save", "load", "start", "run", "get"}


@dataclass(frozen=True, slots=True)
class Use:
    """One place that uses a name: `nn.Linear` for `paddle.nn.Linear`; a line from 1."""

    name: str
    file: str
    line: int


@dataclass(slots=True)
class Source:
    """A file, or why it cannot be read; `uses` of names, `methods` that tensors have."""

    path: Path
    uses: list[Use]
    methods: list[Use]
    error: str = ""


def sources_of(folder: Path) -> Iterator[Path]:
    """The Python files in a folder, in order, or the one file."""
    if folder.is_file():
        yield folder
        return
    for path in sorted(folder.rglob("*.py")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not is_hidden and path.is_file():
            yield path


def read(path: Path) -> Source:
    """What a file uses."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        return Source(path, [], [], str(error))
    reader = Reader(str(path), "paddle", _methods())
    reader.visit(tree)
    return Source(path, reader.uses, reader.methods)


class Reader(ast.NodeVisitor):
    """Follows the names that imports of a library bind, wherever in the file they stand."""

    def __init__(self, file: str, library: str, methods: Collection[str]) -> None:
        """Names under `library`, and calls of `methods` of whatever it is."""
        self.uses: list[Use] = []
        self.methods: list[Use] = []
        self.bound: dict[str, str] = {}
        self._file, self._library, self._known_methods = file, library, methods
        self._modules: set[str] = set()

    def is_inside(self, module: str) -> bool:
        """Whether a module is the library, or under it."""
        return module == self._library or module.startswith(f"{self._library}.")

    def visit_Module(self, node: ast.Module) -> None:
        """Imports first: a function may stand before the import that it uses."""
        for entry in ast.walk(node):
            if isinstance(entry, ast.Import):
                for alias in entry.names:
                    self._modules.add(alias.asname or alias.name.partition(".")[0])
                    if self.is_inside(alias.name):
                        name = alias.name.partition(".")[2] if alias.asname else ""
                        self.bound[alias.asname or self._library] = name
                        if alias.name != self._library:
                            self.use(alias.name.partition(".")[2], alias)
            elif isinstance(entry, ast.ImportFrom):
                if entry.level or entry.module is None or not self.is_inside(entry.module):
                    continue
                space = entry.module.partition(".")[2]
                for alias in entry.names:
                    if alias.name == "*":
                        self.use(space, alias)
                        continue
                    name = f"{space}.{alias.name}" if space else alias.name
                    self.bound[alias.asname or alias.name] = name
                    self.use(name, alias)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`paddle.nn.Linear` as one use; what is written to `paddle` is not its own."""
        name = self.dotted(node)
        if name is None:
            self.visit(node.value)
        elif isinstance(node.ctx, ast.Load):
            self.use(name, node)

    def visit_Call(self, node: ast.Call) -> None:
        """`x.reshape(...)` as a method, where nothing but tensors has it."""
        function = node.func
        if isinstance(function, ast.Attribute) and self.dotted(function) is None:
            line = function.end_lineno or function.lineno
            owner = function.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            is_module = isinstance(owner, ast.Name) and owner.id in self._modules
            if function.attr in self._known_methods and not is_module:
                self.use_method(function.attr, node, line)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name that `from paddle... import` has bound."""
        if self.bound.get(node.id) and isinstance(node.ctx, ast.Load):
            self.use(self.bound[node.id], node)

    def dotted(self, node: ast.expr) -> str | None:
        """The name under the library that an expression stands for; None for any other one."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.bound:
            return None
        return ".".join([*filter(None, [self.bound[node.id]]), *parts[::-1]])

    def use(self, name: str, node: ast.expr | ast.alias) -> None:
        """Note a name."""
        self.uses.append(Use(name, self._file, node.lineno))

    def use_method(self, name: str, node: ast.Call, line: int) -> None:
        """Note a call of a method."""
        self.methods.append(Use(f"Tensor.{name}", self._file, line))


@cache
def _methods() -> frozenset[str]:
    names = names_of_paddle()
    others = {*names["nn.Layer"], *names["optimizer.Optimizer"]}
    return frozenset(names["Tensor"]) - PLAIN - others
