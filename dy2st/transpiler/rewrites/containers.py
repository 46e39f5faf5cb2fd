"""`x[i] = v` becomes `x = convert_setitem(x, i, v)`; append and pop in control flow likewise.

A traced tensor cannot change in place, so the variable is bound to the changed one. For any other
object the very same object comes back. Only plain local variables that no closure shares are
rewritten: for all others the statement stays.
"""

from __future__ import annotations

import copy

import gast

from dy2st.transpiler.analysis.scopes import NameTable, bound_in
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    CONTROL,
    SCOPES,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    load,
    store,
)

_NOT_IN_THUNK = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)


def transform(tree: Node, context: Context) -> None:
    """Rewrite the statements that change a container held by a local variable."""
    for function in list(functions_in(tree)):
        names = NameTable().inside(function)
        rebindable = bound_in(names, function) - names.captured
        _Containers(context, rebindable).in_blocks(function, in_control=False)


class _Containers:
    def __init__(self, context: Context, rebindable: set[str]):
        self._context = context
        self._rebindable = rebindable

    def in_blocks(self, node: Node, in_control: bool) -> None:
        """Rewrite the blocks inside a statement."""
        for block in blocks(node):
            self._in_block(block, in_control or isinstance(node, CONTROL))

    def _in_block(self, block: Block, in_control: bool) -> None:
        out: Block = []
        for statement in block:
            new = self._rewritten(statement, in_control)
            if not new and not isinstance(statement, SCOPES):
                self.in_blocks(statement, in_control)
            out += [at(statement, node) for node in new] or [statement]
        block[:] = out

    def _rewritten(self, statement: Node, in_control: bool) -> Block:
        if isinstance(statement, gast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if self._is_item_of_local(target):
                return [self._setitem(target, statement.value)]
            if in_control and isinstance(target, gast.Name):
                return self._pop(statement.value, target.id)
        if isinstance(statement, gast.AugAssign) and self._is_item_of_local(statement.target):
            return self._augmented(statement)
        if in_control and isinstance(statement, gast.Expr):
            return self._append(statement.value) or self._pop(statement.value, None)
        return []

    def _is_item_of_local(self, target: Node) -> bool:
        return (
            isinstance(target, gast.Subscript)
            and isinstance(target.value, gast.Name)
            and target.value.id in self._rebindable
            and not _contains(target, (*_NOT_IN_THUNK, gast.Starred))
        )

    def _setitem(self, target: Node, value: Node) -> Node:
        """Python evaluates the value first: keywords keep that order where it can be seen."""
        name, index = target.value.id, self._index(target.slice)
        if self._is_simple(target.slice) and not _contains(value, _NOT_IN_THUNK):
            return assign(name, self._context.call("convert_setitem", load(name), index, value))
        changed = self._context.call("convert_setitem", value=value, target=load(name), index=index)
        return assign(name, changed)

    def _augmented(self, statement: Node) -> Block:
        """`x[i] += v`: index and item are read before `v` is evaluated, as in Python."""
        target = statement.target
        name, index = target.value.id, target.slice
        out: Block = []
        if not self._is_simple(index):
            position = self._context.flag("index")
            out.append(assign(position, self._index(index)))
            index = load(position)
        item = self._context.flag("item")
        out.append(assign(item, gast.Subscript(load(name), index, gast.Load())))
        out.append(gast.AugAssign(store(item), statement.op, statement.value))
        again = self._index(copy.deepcopy(index))
        changed = self._context.call("convert_setitem", load(name), again, load(item))
        return [*out, assign(name, changed)]

    def _append(self, value: Node) -> Block:
        name = self._receiver(value, "append")
        if name is None or len(value.args) != 1:
            return []
        return [assign(name, self._context.call("convert_append", load(name), value.args[0]))]

    def _pop(self, value: Node, target: str | None) -> Block:
        name = self._receiver(value, "pop")
        if name is None or name == target:
            return []
        popped = target or self._context.flag("popped")
        pair = gast.Tuple([store(name), store(popped)], gast.Store())
        call = self._context.call("convert_pop", load(name), *value.args)
        return [gast.Assign([pair], call, None)]

    def _receiver(self, value: Node, method: str) -> str | None:
        """The local variable whose method is called with plain positional arguments."""
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        function = value.func
        if not isinstance(function, gast.Attribute) or function.attr != method:
            return None
        if not isinstance(function.value, gast.Name) or function.value.id not in self._rebindable:
            return None
        if any(isinstance(a, gast.Starred) or _contains(a, _NOT_IN_THUNK) for a in value.args):
            return None
        return str(function.value.id)

    def _index(self, index: Node) -> Node:
        """An index as an expression: slices are written as calls."""
        if isinstance(index, gast.Tuple):
            return gast.Tuple([self._index(part) for part in index.elts], gast.Load())
        if isinstance(index, gast.Slice):
            parts = (index.lower, index.upper, index.step)
            ends = [constant(None) if part is None else part for part in parts]
            return self._context.call("slice", *ends)
        return index

    def _is_simple(self, index: Node) -> bool:
        """Whether evaluating the index has no effect and no way to see one."""
        if isinstance(index, gast.Name):
            return index.id in self._rebindable
        if isinstance(index, gast.Tuple | gast.Slice | gast.UnaryOp):
            inner = [n for n in gast.iter_child_nodes(index) if isinstance(n, gast.expr)]
            return all(self._is_simple(part) for part in inner)
        return isinstance(index, gast.Constant)


def _contains(node: Node, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in gast.walk(node))
