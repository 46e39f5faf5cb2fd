"""`x[i] = v` becomes `x = convert_setitem(x, i, v)`; append and pop in control flow likewise.

A traced tensor cannot change in place, so the variable is bound to the changed one. For any other
object the very same object comes back. Where several targets stand together, each is assigned in a
statement of its own. Only local variables that no other function assigns are rewritten: for all
others the statement stays.
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
    children,
    constant,
    functions_in,
    load,
    store,
    walk,
)
from dy2st.transpiler.rewrites.announce import assigned_inside

# Methods that change a list, dict or set; append and pop have forms of their own.
_CHANGES = (
    "extend",
    "insert",
    "remove",
    "clear",
    "sort",
    "reverse",
    "update",
    "setdefault",
    "popitem",
    "add",
    "discard",
)
_NOT_IN_THUNK = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)


def transform(tree: Node, context: Context) -> None:
    """Rewrite the statements that change a container held by a local variable."""
    for function in functions_in(tree):
        names = NameTable().inside(function)
        rebindable = bound_in(names, function) - assigned_inside(function)
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
        if isinstance(statement, gast.Assign):
            if self._has_inner_item(statement):
                return self._one_by_one(statement)
            target = statement.targets[0]
            if self._is_item_of_local(target):
                return [self._setitem(target, statement.value)]
            if in_control and isinstance(target, gast.Name) and len(statement.targets) == 1:
                return self._pop(statement.value, target.id)
        if isinstance(statement, gast.AugAssign) and self._is_item_of_local(statement.target):
            return self._augmented(statement)
        if in_control and isinstance(statement, gast.Delete):
            return self._delete(statement)
        if in_control and isinstance(statement, gast.Expr):
            value = statement.value
            return self._append(value) or self._pop(value, None) or self._change(value)
        return []

    def _is_item_of_local(self, target: Node) -> bool:
        return (
            isinstance(target, gast.Subscript)
            and isinstance(target.value, gast.Name)
            and target.value.id in self._rebindable
            and not _contains(target, _NOT_IN_THUNK)
        )

    def _has_inner_item(self, statement: Node) -> bool:
        """Whether `a, x[i] = v` or `a = x[i] = v` changes a container beside other targets."""
        leaves = [leaf for target in statement.targets for leaf in _leaves(target)]
        is_plain = len(leaves) == 1 and leaves[0] is statement.targets[0]
        return not is_plain and any(map(self._is_item_of_local, leaves))

    def _one_by_one(self, statement: Node) -> Block:
        """Assign from left to right, as Python does after it has unpacked the value."""
        value = self._context.flag("value")
        out: Block = [assign(value, statement.value)]
        for target in statement.targets:
            pairs: list[tuple[Node, str]] = []
            unpacked = self._in_parts(target, pairs)
            if pairs:
                out.append(gast.Assign([unpacked], load(value), None))
            for leaf, part in pairs or [(target, value)]:
                is_item = self._is_item_of_local(leaf)
                new = self._setitem(leaf, load(part)) if is_item else None
                out.append(new or gast.Assign([leaf], load(part), None))
        return out

    def _in_parts(self, target: Node, pairs: list[tuple[Node, str]]) -> Node:
        """A nested target with a variable of its own for every leaf; `pairs` gets both."""
        if isinstance(target, gast.Tuple | gast.List):
            parts = [self._part(entry, pairs) for entry in target.elts]
            return gast.Tuple(parts, gast.Store())
        return target

    def _part(self, target: Node, pairs: list[tuple[Node, str]]) -> Node:
        if isinstance(target, gast.Tuple | gast.List):
            return self._in_parts(target, pairs)
        if isinstance(target, gast.Starred):
            return gast.Starred(self._part(target.value, pairs), gast.Store())
        name = self._context.flag("part")
        pairs.append((target, name))
        return store(name)

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

    def _change(self, value: Node) -> Block:
        """`x.extend(y)` and the like, whose result nobody wants."""
        for method in _CHANGES:
            name = self._receiver(value, method, keywords=True)
            if name is not None:
                call = self._context.call("convert_change", load(name), constant(method))
                call.args += value.args
                call.keywords = value.keywords
                return [assign(name, call)]
        return []

    def _delete(self, statement: Node) -> Block:
        """`del x[i]`."""
        if not any(map(self._is_item_of_local, statement.targets)):
            return []
        out: Block = []
        for target in statement.targets:
            if self._is_item_of_local(target):
                name, index = target.value.id, self._index(target.slice)
                call = self._context.call("convert_delitem", load(name), index)
                out.append(assign(name, call))
            else:
                out.append(gast.Delete([target]))
        return out

    def _receiver(self, value: Node, method: str, keywords: bool = False) -> str | None:
        """The local variable whose method is called with plain arguments."""
        if not isinstance(value, gast.Call) or (value.keywords and not keywords):
            return None
        if any(word.arg is None or _contains(word, _NOT_IN_THUNK) for word in value.keywords):
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
            inner = [n for n in children(index) if isinstance(n, gast.expr)]
            return all(self._is_simple(part) for part in inner)
        return isinstance(index, gast.Constant)


def _leaves(target: Node) -> list[Node]:
    """What a target assigns, without the tuples around it."""
    if isinstance(target, gast.Starred):
        return _leaves(target.value)
    if isinstance(target, gast.Tuple | gast.List):
        return [leaf for entry in target.elts for leaf in _leaves(entry)]
    return [target]


def _contains(node: Node, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in walk(node))
