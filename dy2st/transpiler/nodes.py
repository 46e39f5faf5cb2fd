"""Small builders and walks for the tree, and the names that the rewrites of one function make.

Every new node takes the place of the node that it stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any, TypeAlias, TypeVar

import gast
from gast.ast3 import Ast3ToGAst

# gast has no type stubs: its nodes are `Any` here, and the aliases say what is meant.
Node: TypeAlias = Any
Block: TypeAlias = "list[Any]"
Made = TypeVar("Made")

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)


class _Translator(Ast3ToGAst):  # type: ignore[misc]
    """gast's own, which asks the nodes of Python for their fields one by one."""

    def visit(self, node: ast.AST) -> Node:
        """Translate a node."""
        kind = node.__class__
        known = _translated.get(kind)
        if known is None:
            own = getattr(_Translator, f"visit_{kind.__name__}", _Translator.generic_visit)
            known = _translated[kind] = own
        return known(self, node)

    def generic_visit(self, node: ast.AST) -> Node:
        """A node that has the same fields in gast."""
        kind = getattr(gast, node.__class__.__name__)
        made = kind.__new__(kind)
        fields = made.__dict__
        fields.update(vars(node))  # the place, and numbers and texts
        for name in kind._fields:
            value = fields.get(name)
            if value.__class__ is list:
                fields[name] = [*map(self._visit, value)]
            elif isinstance(value, ast.AST):
                fields[name] = self.visit(value)
        if not fields:  # an operator or context, of which one serves all
            _translated[node.__class__] = lambda *_: made
        return made

    def visit_Name(self, node: ast.Name) -> Node:
        """A variable, which may be a parameter in gast."""
        made = self.generic_visit(node)
        made.annotation = made.type_comment = None
        return made


_translated: dict[type, Callable[[_Translator, Any], Node]] = {}


def to_gast(node: ast.AST) -> Node:
    """The same tree in nodes of gast, which are those of every version of Python."""
    return _Translator().visit(node)


SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
LOOPS = (gast.For, gast.While)
CONTROL = (gast.If, gast.For, gast.While)
YIELDS = {gast.Yield, gast.YieldFrom}
TRIES: tuple[Any, ...] = tuple(
    getattr(gast, kind) for kind in ("Try", "TryStar") if hasattr(gast, kind)
)


def at(place: Node, node: Made) -> Made:
    """Give a new node, and all in it that has no place yet, the place of another one."""
    where = {
        "lineno": place.lineno,
        "col_offset": place.col_offset,
        "end_lineno": place.end_lineno,
        "end_col_offset": place.end_col_offset,
    }
    todo: Block = [node]
    for new in todo:
        held = new.__dict__
        # Else the user's own, or placed before with all that is in it.
        if held.get("lineno") is None:
            for value in held.values():
                if value.__class__ is list:
                    todo += [entry for entry in value if isinstance(entry, ast.AST)]
                elif isinstance(value, ast.AST):
                    todo.append(value)
            held.update(where)
    return node


def load(name: str) -> Node:
    """Read a name."""
    return gast.Name(name, gast.Load(), None, None)


def store(name: str) -> Node:
    """Bind a name."""
    return gast.Name(name, gast.Store(), None, None)


def constant(value: object) -> Node:
    """A literal."""
    return gast.Constant(value, None)


def is_own(node: Node) -> bool:
    """Whether a node was made by a rewrite and is not the user's."""
    return getattr(node, "own", False)


def assign(name: str, value: Node) -> Node:
    """`name = value`."""
    return gast.Assign([store(name)], value, None)


def thunk(value: Node) -> Node:
    """`lambda: value`, evaluated at most once and at once, so it counts as no closure."""
    node = gast.Lambda(gast.arguments([], [], None, [], [], None, []), value)
    node.own = True
    return node


def negate(value: Node) -> Node:
    """`not value`."""
    return gast.UnaryOp(gast.Not(), value)


def blocks(node: Node) -> Iterator[Block]:
    """The lists of statements directly inside a statement."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


# Fields that hold no node, or one that says nothing but which operator or context it is.
_BARE = frozenset({"attr", "conversion", "ctx", "id", "is_async", "kind", "op", "ops"})
_BLOCKS = frozenset({"body", "cases", "finalbody", "handlers", "orelse"})


@cache
def _parts_of(kind: type, of_blocks: bool) -> tuple[str, ...]:
    """The fields of a kind of nodes that hold others, or those that hold statements."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    return tuple(one for one in names if (one in _BLOCKS if of_blocks else one not in _BARE))


def children(node: Node) -> Block:
    """The nodes directly inside a node, but for operators and contexts."""
    found: Block = []
    held = node.__dict__
    for part in _parts_of(node.__class__, False):
        value = held.get(part)
        if value.__class__ is list:
            found += [entry for entry in value if isinstance(entry, gast.AST)]
        elif value is not None and isinstance(value, gast.AST):
            found.append(value)
    return found


def walk(node: Node) -> Block:
    """A node and all inside it, outer ones first, but for operators and contexts."""
    found: Block = [node]
    for inner in found:
        found += children(inner)
    return found


def walk_scope(node: Node) -> Iterator[Node]:
    """A node and all inside it, but not what runs in another scope (functions, classes)."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += [c for c in children(node)[::-1] if not isinstance(c, SCOPES)]


def own_statements(block: Block) -> Block:
    """The statements in a block, with handlers and cases, but not what is in functions inside."""
    found = [*block]
    for inner in found:
        found += () if isinstance(inner, SCOPES) else statements_inside(inner)
    return found


def statements_inside(node: Node) -> Block:
    """The statements, handlers and cases directly inside a statement, handler or case."""
    found: Block = []
    for part in _parts_of(node.__class__, True):
        block = getattr(node, part)
        found += block if block.__class__ is list else ()
    return found


def replace_statements(node: Node, kinds: tuple[type, ...], made: Callable[[Node], Block]) -> None:
    """Put what `made` gives in the place of the statements of some kinds, inner ones first."""
    for block in blocks(node):
        out: Block = []
        for statement in block:
            if not isinstance(statement, SCOPES):
                replace_statements(statement, kinds, made)
            out += made(statement) if isinstance(statement, kinds) else [statement]
        block[:] = out


def is_bare_super(node: Node) -> bool:
    """Whether this is `super()`, which looks for its arguments in the frame around."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id == "super"
        and not node.args
        and not node.keywords
    )


def split_docstring(body: Block) -> tuple[Block, Block]:
    """A function's docstring, if it has one, and the rest."""
    first = body[0] if body else None
    if (
        isinstance(first, gast.Expr)
        and isinstance(first.value, gast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[:1], body[1:]
    return [], body


def own_nodes(function: Node) -> Iterator[Node]:
    """All that runs in a function itself, and not in one inside."""
    for statement in function.body:
        if not isinstance(statement, SCOPES):
            yield from walk_scope(statement)


@dataclass(eq=False, repr=False)
class Context:
    """The state of one conversion.

    kinds: those of the nodes in the tree, without `yield` where it becomes a call of `push`.
    """

    function: FunctionType
    taken: set[str]
    helpers: dict[str, str] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    jumps: dict[str, object] = field(default_factory=dict)
    kinds: set[type] = field(default_factory=set)

    def has(self, *kinds: type) -> bool:
        """Whether the tree has nodes of one of these kinds."""
        return not self.kinds.isdisjoint(kinds)

    @property
    def yields(self) -> bool:
        """Whether the tree has a `yield` that stays one."""
        return not self.kinds.isdisjoint(YIELDS)

    def fresh(self, stem: str) -> str:
        """A new name `stem_0`, `stem_1`, ... that the function does not use."""
        while True:
            number = self.counters.get(stem, 0)
            self.counters[stem] = number + 1
            name = f"{stem}_{number}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def flag(self, stem: str) -> str:
        """A fresh name for a variable that no user can see."""
        name = self.fresh(stem)
        self.flags.add(name)
        return name

    def jump(self, stem: str, unset: object = False) -> str:
        """A fresh flag that says that a jump was made; `unset` before."""
        name = self.flag(stem)
        self.jumps[name] = unset
        return name

    def helper(self, name: str) -> str:
        """The name under which one of our functions is called, unlike any of the user's."""
        known = self.helpers.get(name)
        if known is None:
            known = name
            while known in self.taken:
                known += "_"
            self.taken.add(known)
            self.helpers[name] = known
        return known

    def call(self, helper: str, *arguments: Node) -> Node:
        """Call one of our functions, which is lowered as it is."""
        node = gast.Call(load(self.helper(helper)), [*arguments], [])
        node.own = True
        return node
