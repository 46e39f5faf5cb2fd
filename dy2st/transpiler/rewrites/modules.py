"""A function says which variable of a module it is about to set.

    convert_module_variable(settings, "scale")
    settings.scale = 2

So a traced branch knows what to put back, as with `global`. The same holds for the entries of a
namespace, `globals()["scale"] = 2`.
"""

from __future__ import annotations

import copy
import os
from types import CellType, ModuleType
from typing import Any

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    SCOPES,
    Block,
    Node,
    at,
    blocks,
    constant,
    functions_in,
    walk,
)
from dy2st.transpiler.source import mangle

_NAMESPACES = ("globals", "vars")


def transform(tree: Node, context: Context) -> None:
    """Insert the calls before all statements that set a variable of what may be a module."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in walk(tree)
        if isinstance(node, gast.Import | gast.ImportFrom)
        for alias in node.names
    }
    for function in functions_in(tree):
        _Modules(function.owner, context, imported).in_blocks(function)


class _Modules:
    def __init__(self, owner: str, context: Context, imported: set[str]):
        self._owner = owner
        self._context = context
        self._imported = imported

    def in_blocks(self, node: Node) -> None:
        """Insert the calls in the blocks of a statement."""
        for block in blocks(node):
            out: Block = []
            for statement in block:
                if not isinstance(statement, SCOPES):
                    self.in_blocks(statement)
                    calls = filter(None, map(self._call, _targets(statement)))
                    out += [at(statement, gast.Expr(call)) for call in calls]
                out.append(statement)
            block[:] = out

    def _call(self, target: Node) -> Node | None:
        """The call for one target, if it needs one."""
        if not isinstance(target, gast.Attribute | gast.Subscript):
            return None
        if not self._may_be_namespace(target.value):
            return None
        owner = copy.deepcopy(target.value)
        if isinstance(target, gast.Attribute):
            name = constant(mangle(target.attr, self._owner))
            return self._context.call("convert_module_variable", owner, name)
        is_simple = isinstance(target.slice, gast.Name | gast.Constant)
        names = [copy.deepcopy(target.slice)] if is_simple else []
        return self._context.call("convert_module_variable", owner, *names)

    def _may_be_namespace(self, node: Node) -> bool:
        """Whether this is a module, an attribute of one, or its variables."""
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            if node.func.id not in _NAMESPACES or node.func.id in self._context.bound:
                return False
            return not node.keywords and all(map(self._may_be_namespace, node.args))
        while isinstance(node, gast.Attribute):
            node = node.value
        return isinstance(node, gast.Name) and self._may_be_module(node.id)

    def _may_be_module(self, name: str) -> bool:
        """Whether a name is imported in the function, or means a module, or nothing yet."""
        if name in self._imported:
            return True
        function = self._context.function
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if name in closure:
            return _is_module(closure[name])
        if name in self._context.bound:
            return False
        return name in function.__globals__ and _is_module(function.__globals__[name])


def _is_module(value: Any) -> bool:
    if isinstance(value, CellType):
        try:
            value = value.cell_contents
        except ValueError:  # not assigned yet
            return False
    return isinstance(value, ModuleType) or value is os.environ


def _targets(statement: Node) -> Block:
    """All that a statement sets or deletes itself."""
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    targets += [item.optional_vars for item in getattr(statement, "items", ())]
    found = [node for target in targets if target is not None for node in walk(target)]
    return [node for node in found if isinstance(getattr(node, "ctx", None), gast.Store | gast.Del)]
