"""What the rewrites of `if`, `while` and `for` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from dy2st.transpiler.analysis.scopes import NameTable
from dy2st.transpiler.context import Context, StatementInfo
from dy2st.transpiler.nodes import (
    CONTROL,
    Block,
    Node,
    assign,
    at,
    blocks,
    children,
    constant,
    define,
    load,
    store,
    tuple_of,
    with_fields,
)
from dy2st.transpiler.rewrites.bindings import undefined_start
from dy2st.transpiler.source import mangle

Lowering = Callable[[Node, Context], Block]


@dataclass
class Group:
    """The statements that together stand for one `if` or loop; the first one carries this.

    statement: the `if` or loop as it was. Its parts live on in the functions among `nodes`.
    """

    statement: Node
    nodes: Block

    @property
    def functions(self) -> Block:
        """The functions made of its parts, in order."""
        return [node for node in self.nodes if isinstance(node, gast.FunctionDef)]

    @property
    def starts(self) -> Block:
        """The variables that start undefined."""
        return self.nodes[: len(self.statement.facts.before)]

    @property
    def binding(self) -> Node:
        """The statement that calls, inside the `try` that keeps changes if there is one."""
        last = self.nodes[-1]
        return last.body[0] if isinstance(last, gast.Try) else last

    @property
    def call(self) -> Node:
        """The call that decides."""
        return self.binding.value

    def with_call(self, call: Node) -> Block:
        """The functions, and another call bound in the same way."""
        binding = with_fields(self.binding, {"value": call})
        last = self.nodes[-1]
        if isinstance(last, gast.Try):
            binding = with_fields(last, {"body": [binding]})
        return [*self.functions, binding]


def lower_all(tree: Node, kind: type, lowering: Lowering, context: Context) -> None:
    """Replace every statement of one kind that can be rewritten, outer ones first."""
    for block in blocks(tree):
        out: Block = []
        for statement in block:
            facts = getattr(statement, "facts", None)
            if isinstance(statement, kind) and facts is not None and facts.left is None:
                new = [at(statement, node) for node in lowering(statement, context)]
                new[0].group = Group(statement, new)
            else:
                new = [statement]
            for node in new:
                lower_all(node, kind, lowering, context)
            out += new
        block[:] = out


def starts(statement: Node, context: Context) -> Block:
    """Variables that the statement is the first to bind start undefined."""
    return [undefined_start(name, context) for name in statement.facts.before]


def branch(
    name: str, parameters: list[str], body: Block, results: list[str], statement: Node
) -> Node:
    """`def name(parameters): body; return results`."""
    body = [*declarations(statement, body), *body]
    if results:
        value = load(results[0]) if len(results) == 1 else tuple_of(results)
        body = [*body, gast.Return(value)]
    return at(statement, define(name, parameters, body or [gast.Pass()]))


def declarations(statement: Node, block: Block) -> Block:
    """`nonlocal` and `global` for what a block of the statement assigns, to begin it with."""
    facts = statement.facts
    if not (facts.own or facts.nonlocals or facts.globals):
        return []
    names = NameTable().of_all(block)
    bound = names.writes | names.deletes
    shared = [name for name in (*facts.own, *facts.nonlocals) if name in bound]
    outside = [name for name in facts.globals if name in bound]
    made = [gast.Nonlocal(shared)] if shared else []
    return made + ([gast.Global(outside)] if outside else [])


def undeclared(function: Node) -> Block:
    """The body of a generated function without its declarations."""
    kinds = (gast.Nonlocal, gast.Global)
    return [node for node in function.body if not isinstance(node, kinds)]


def bind_results(names: list[str], call: Node) -> Node:
    """Bind the results of a call to names; a single one is not wrapped."""
    if not names:
        return gast.Expr(call)
    if len(names) == 1:
        return gast.Assign([store(names[0])], call, None)
    target = gast.Tuple([store(name) for name in names], gast.Store())
    return gast.Assign([target], call, None)


def bind_list(names: list[str], call: Node) -> Node:
    """`[a, b] = call`."""
    if not names:
        return gast.Expr(call)
    return gast.Assign([gast.List([store(name) for name in names], gast.Store())], call, None)


def keep_changes(
    binding: Node, functions: tuple[str, ...], statement: Node, context: Context
) -> Node:
    """Where code after an exception reads what the statement changed so far, hand that out."""
    keeps = statement.facts.keeps
    if not keeps:
        return binding
    error = context.flag("error")
    made = tuple_of(functions)
    handed = [
        assign(n, context.call("convert_kept", load(error), made, constant(n), load(n)))
        for n in keeps
    ]
    anything = load(context.helper("BaseException"))
    handler = gast.ExceptHandler(anything, store(error), [*handed, gast.Raise(None, None)])
    return gast.Try([binding], [handler], [], [])


def describe(kind: str, statement: Node, names: list[str], context: Context) -> StatementInfo:
    """What the runtime may ask about the statement."""
    facts = statement.facts
    own, nonlocals, globals_, inner = (
        _private(names, facts.owner)
        for names in (facts.own, facts.nonlocals, facts.globals, facts.inner)
    )
    return StatementInfo(
        kind,
        tuple(names),
        frozenset(name for name in names if name in context.flags),
        tuple(sorted(_attributes(statement))),
        statement.lineno,
        statement.col_offset + 1,
        own,
        nonlocals,
        globals_,
        frozenset(inner),
        statement.facts.reread,
    )


def _private(names: list[str], owner: str) -> tuple[str, ...]:
    return tuple(mangle(name, owner) for name in names)


def _attributes(statement: Node) -> set[tuple[str, ...]]:
    """The attributes of plain names that a statement assigns; noted for those inside it too."""
    paths = getattr(statement, "assigned", None)
    if paths is None:
        paths = _note_assigned(statement)
    return {_private([*path], statement.facts.owner) for path in paths}


def _note_assigned(node: Node) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for child in children(node):
        found |= _note_assigned(child)
    if isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store):
        path: list[str] = []
        while isinstance(node, gast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if isinstance(node, gast.Name):
            found.add((node.id, *path))
    elif isinstance(node, CONTROL):
        node.assigned = found
    return found
