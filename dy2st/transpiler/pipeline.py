"""The rewrites in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

import gast

from dy2st.transpiler.analysis.facts import StatementFacts
from dy2st.transpiler.analysis.obstacles import Left
from dy2st.transpiler.analysis.scopes import NameTable, bound_in
from dy2st.transpiler.context import Context, identifiers
from dy2st.transpiler.nodes import (
    COMPREHENSIONS,
    CONTROL,
    FUNCTIONS,
    SCOPES,
    TRIES,
    Node,
    functions_in,
    kinds_in,
    statements_inside,
    walk,
    walk_scope,
)
from dy2st.transpiler.rewrites import (
    assertion,
    bindings,
    break_continue,
    calls,
    caught_raises,
    comprehensions,
    containers,
    early_return,
    for_loop,
    generators,
    handlers,
    if_else,
    if_expression,
    left_conditions,
    logical,
    match,
    modules,
    super_calls,
    text,
    turns,
    walrus,
    while_loop,
)
from dy2st.transpiler.rewrites import (
    relays as relay_exceptions,
)
from dy2st.transpiler.rewrites.relays import Relays
from dy2st.transpiler.rewrites.turns import NO_LINES, Lines

Rewrite = Callable[[Node, Context], None]

PIPELINE: tuple[tuple[str, Rewrite], ...] = (
    # Statements first, in Python's own terms: a single exit, no jumps, no change in place, nothing
    # that must run in the function's own frame.
    ("match", match.transform),
    ("caught_raises", caught_raises.transform),
    ("early_return", early_return.transform),
    ("break_continue", break_continue.transform),
    ("modules", modules.transform),
    ("containers", containers.transform),
    ("handlers", handlers.transform),
    ("super_calls", super_calls.transform),
    ("walrus", walrus.transform),
    # Then each function is analysed once, and control flow becomes calls.
    ("bindings", bindings.transform),
    ("for_loop", for_loop.transform),
    ("while_loop", while_loop.transform),
    ("if_else", if_else.transform),
    ("left_conditions", left_conditions.transform),
    ("generators", generators.transform),
    # Expressions last, so that they see what the statements became.
    ("comprehensions", comprehensions.transform),
    ("if_expression", if_expression.transform),
    ("logical", logical.transform),
    ("text", text.transform),
    ("assertion", assertion.transform),
    ("calls", calls.transform),
)

_COMPOUND = (gast.Match, *TRIES, *CONTROL)
# A rewrite runs only if the tree has nodes of one of these kinds; those not named always run.
_NEEDS: dict[str, tuple[type, ...]] = {
    "match": (gast.Match,),
    "caught_raises": (gast.Try,),
    "early_return": _COMPOUND,
    "break_continue": _COMPOUND,
    "modules": (gast.Attribute, gast.Subscript),
    "containers": (gast.Subscript, *_COMPOUND),
    "handlers": _COMPOUND,
    "walrus": (gast.NamedExpr,),
    "for_loop": (gast.For,),
    "while_loop": (gast.While,),
    "if_else": (gast.If,),
    "left_conditions": CONTROL,
    "generators": (gast.Yield, gast.YieldFrom),
    "comprehensions": COMPREHENSIONS,
    "if_expression": (gast.IfExp,),
    "logical": (gast.BoolOp, gast.Not, gast.Compare),
    "text": (gast.JoinedStr, gast.Mod),
    "assertion": (gast.Assert,),
    "calls": (gast.Call, gast.Attribute),
}
# Before these the kinds are looked up again, since those before make new nodes.
_ANEW = frozenset({"match", "bindings", "comprehensions"})

# Functions that see the variables of their caller: rewriting would show in them.
_NAMESPACE = frozenset({"locals", "vars", "dir", "eval", "exec"})


def rewrite(
    tree: Node,
    function: FunctionType,
    steps: int = len(PIPELINE),
    owner: str | None = None,
    by_turns: Lines = NO_LINES,
    relays: Relays | None = None,
) -> Context:
    """Run the first `steps` rewrites over the tree of a function of the class `owner`.

    `by_turns`: the generators that begin at these lines run their consumers.
    `relays`: where functions relay exceptions to their callers.
    """
    taken = identifiers(tree) | set(function.__code__.co_freevars)
    context = Context(function, taken)
    if by_turns:
        turns.transform(tree, context, by_turns)
    _note_owners(tree, owner or "")
    _prepare(tree, context)
    for name, transform in PIPELINE[:steps]:
        if name in _ANEW:
            context.kinds = kinds_in(tree)
        if name not in _NEEDS or context.has(*_NEEDS[name]):
            transform(tree, context)
        if name == "match" and relays is not None:
            relay_exceptions.transform(tree, context, relays)
            context.kinds = kinds_in(tree)
    return context


def _prepare(tree: Node, context: Context) -> None:
    """Note the variables of each function as Python sees them, before anything changes."""
    context.bound.update(context.function.__code__.co_freevars)
    for function in functions_in(tree):
        names = NameTable().inside(function)
        function.local_names = bound_in(names, function)
        context.bound |= function.local_names
        is_named = not context.taken.isdisjoint(_NAMESPACE)
        looks = _looks_at_namespace(function) if is_named else ""
        if looks:
            _leave(function, looks)


def _note_owners(node: Node, owner: str) -> None:
    """Tell each function the class in whose text it stands."""
    if isinstance(node, FUNCTIONS):
        node.owner = owner
    inner = node.name if isinstance(node, gast.ClassDef) else owner
    for statement in statements_inside(node):
        _note_owners(statement, inner)


def _looks_at_namespace(function: Node) -> str:
    """The builtin by which a function itself looks at its variables, if any."""
    for statement in function.body:
        for node in () if isinstance(statement, SCOPES) else walk_scope(statement):
            name = node.func.id if _is_call_of_name(node) else ""
            if name in ("locals", "eval", "exec") or (name in _NAMESPACE and not node.args):
                return str(name)
    return ""


def _is_call_of_name(node: Node) -> bool:
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Name)


def _leave(function: Node, looks: str) -> None:
    for node in walk(function):
        if isinstance(node, FUNCTIONS):
            node.untouched = True
        elif isinstance(node, CONTROL):
            node.facts = StatementFacts(Left("namespace", looks))
