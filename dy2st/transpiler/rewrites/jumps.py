"""Shares what the rewrites of `return`, `break` and `continue` need.

A jump becomes a flag. Python forgets a jump when an exception comes between it and its target, and
when a `finally` on the way jumps itself: so does the flag.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from dy2st.transpiler.nodes import (
    LOOPS,
    SCOPES,
    Block,
    Context,
    Node,
    assign,
    at,
    blocks,
    constant,
    load,
    store,
)


def own_jumps(block: Block) -> Iterator[Node]:
    """The jumps of the loop around a block."""
    for statement in block:
        if isinstance(statement, gast.Break | gast.Continue):
            yield statement
        elif isinstance(statement, LOOPS):
            # Jumps in its body are its own, those in its `else` belong to the loop around.
            yield from own_jumps(statement.orelse)
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                yield from own_jumps(inner)


def always_leaves(block: Block) -> bool:
    """Whether every path through a block ends in return, raise, break or continue."""
    for statement in block:
        if isinstance(statement, gast.Return | gast.Raise | gast.Break | gast.Continue):
            return True
        if (
            isinstance(statement, gast.If)
            and always_leaves(statement.body)
            and always_leaves(statement.orelse)
        ):
            return True
    return False


def ends_here(block: Block) -> bool:
    """Whether no path reaches what follows a block, through `try` statements too."""
    return any(map(_ends, block))


def _ends(statement: Node) -> bool:
    if isinstance(statement, gast.If):
        return ends_here(statement.body) and ends_here(statement.orelse)
    if not isinstance(statement, gast.Try):
        return always_leaves([statement])
    if getattr(statement, "ends", False) or ends_here(statement.finalbody):
        return True
    # What follows is reached behind the body and its `else`, or behind a handler.
    ways = [[*statement.body, *statement.orelse], *(h.body for h in statement.handlers)]
    return all(map(ends_here, ways))


def continues_in_else(statement: Node) -> bool:
    """Whether what follows a `try` is run right after its body, and only then.

    So it is where all handlers leave: the rest may move into the `else`, where nothing is caught.
    """
    handlers: Block = getattr(statement, "handlers", [])
    leaving = [always_leaves(handler.body) for handler in handlers]
    return bool(leaving) and all(leaving) and not statement.finalbody


def parts_of(statement: Node) -> list[Node]:
    """A statement, its handlers and its cases: all that has a block which may jump."""
    return [statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]


def may_fail_later(block: Block, jumping: set[int]) -> bool:
    """Whether an exception may follow a jump out of a block: from `finally` or `__exit__`."""
    for statement in block:
        if isinstance(statement, SCOPES) or id(statement) not in jumping:
            continue
        if isinstance(statement, gast.With) or getattr(statement, "finalbody", None):
            return True
        if any(may_fail_later(inner, jumping) for inner in blocks(statement)):
            return True
    return False


def forgetting(block: Block, forget: Block, place: Node, context: Context) -> Block:
    """A block that forgets its jumps when it ends with an exception."""
    anything = load(context.helper("BaseException"))
    handler = gast.ExceptHandler(anything, None, [*forget, gast.Raise(None, None)])
    handler.own = True
    return [at(place, gast.Try(block, [handler], [], []))]


def swallowing(statement: Node, jumped: Node, forget: Block, context: Context) -> Block:
    """A `try` whose `finally` may jump, with flags: the jump swallows an exception in flight.

    for once in (0,):
        try:
            try: ...
            failed = False
        finally:
            ...
            if convert_swallowed(jumped, failed): break
    """
    failed = context.flag("failed")
    final, statement.finalbody = statement.finalbody, []
    inner = [statement] if statement.handlers else statement.body
    inner = forgetting(inner, forget, statement, context) if forget else inner
    last = at(statement, assign(failed, constant(False)))
    call = context.call("convert_swallowed", jumped, load(failed))
    leave = gast.If(call, [gast.Break()], [])
    outer = gast.Try([*inner, last], [], [], [*final, leave])
    # A loop of one iteration: only a jump out of `finally` drops an exception in flight.
    once = gast.Tuple([constant(0)], gast.Load())
    loop = gast.For(store(context.flag("once")), once, [outer], [], None)
    return [at(statement, assign(failed, constant(True))), at(statement, loop)]
