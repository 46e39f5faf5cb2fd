"""`raise` under an `if` in a `try` with handlers: in a branch of the Program it becomes a flag.

    try:
        if x.sum() > 0:
            if convert_in_branch(place_0): raised_0 = convert_raised(place_0, 0, ValueError("..."))
            else: raise ValueError("...")
        if not raised_0: ...
    except ValueError: ...
    else:
        if raised_0:                                # the handler once more, as a branch
            error_0 = convert_caught_error(place_0, 0)
            if convert_catches(error_0, ValueError): ...
            else: raise error_0

Where no tensor decides, Python itself raises and catches.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    CONTROL,
    LOOPS,
    SCOPES,
    Block,
    Node,
    assign,
    at,
    blocks,
    children,
    constant,
    functions_in,
    is_own,
    load,
    negate,
    walk,
    walk_scope,
)
from dy2st.transpiler.rewrites.jumps import ends_here

_MOST = 8
_CATCHING_ASSERT = frozenset({"AssertionError", "Exception", "BaseException"})
_WAITS = (gast.Yield, gast.YieldFrom, gast.Await, *SCOPES)


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `try` whose handlers may catch what a branch in it raises, inner ones first."""
    for function in functions_in(tree):
        if isinstance(function, gast.FunctionDef):
            _in_blocks(function, context)


def _in_blocks(node: Node, context: Context) -> None:
    for block in blocks(node):
        out: Block = []
        for statement in block:
            if not isinstance(statement, SCOPES):
                _in_blocks(statement, context)
            if __debug__ and isinstance(statement, gast.Try) and _catches_assert(statement):
                statement.body = open_asserts(statement.body, context)
            out += _Caught(statement, context).rewrite() if _fits(statement) else [statement]
        block[:] = out


def _fits(statement: Node) -> bool:
    if not isinstance(statement, gast.Try) or not statement.handlers:
        return False
    parts = [inner for handler in statement.handlers for inner in walk_scope(handler)]
    if any(isinstance(child, _WAITS) for part in parts for child in children(part)):
        return False
    sites = list(_sites(statement.body, False))
    # The raises of relayed exceptions cost little: most of them are known never to come.
    return bool(sites) and sum(not is_own(site.exc) for site in sites) <= _MOST


def _catches_assert(statement: Node) -> bool:
    kinds = [handler.type for handler in statement.handlers]
    named = [n for kind in kinds if kind is not None for n in walk(kind)]
    return None in kinds or any(getattr(n, "id", "") in _CATCHING_ASSERT for n in named)


def open_asserts(block: Block, context: Context) -> Block:
    """`assert test` on a tensor becomes `if not test: raise AssertionError`."""
    out: Block = []
    for statement in block:
        for inner in _passages(statement):
            inner[:] = open_asserts(inner, context)
        if not isinstance(statement, gast.Assert) or _walrus_in(statement):
            out.append(statement)
            continue
        test = context.flag("test")
        message = [] if statement.msg is None else [copy.deepcopy(statement.msg)]
        failure = gast.Raise(context.call("AssertionError", *message), None)
        failed = gast.If(negate(load(test)), [failure], [])
        kept = at(statement.test, assign(test, statement.test))
        statement.test = at(statement.test, load(test))
        is_traced = context.call("convert_is_traced", load(test))
        out += [kept, at(statement, gast.If(is_traced, [failed], [statement]))]
    return out


def _walrus_in(statement: Node) -> bool:
    return any(isinstance(node, gast.NamedExpr) for node in walk(statement))


def _sites(block: Block, is_inside: bool) -> Iterator[Node]:
    """The `raise` statements that stand in an `if` or loop, with nothing else between."""
    for statement in block:
        if isinstance(statement, gast.Raise) and is_inside:
            if statement.exc is not None and statement.cause is None:
                yield statement
        else:
            for inner in _passages(statement):
                yield from _sites(inner, True)


def _passages(statement: Node) -> list[Block]:
    """The blocks out of which an exception comes as it was raised."""
    if isinstance(statement, CONTROL):
        return [statement.body, statement.orelse]
    if not isinstance(statement, gast.Try):
        return []
    own = [handler.body for handler in statement.handlers] or [statement.body]
    return [*own, statement.orelse]


class _Caught:
    """One `try`; each `raise` has a flag, and a variable for its exception."""

    def __init__(self, statement: Node, context: Context):
        self._statement = statement
        self._context = context
        self._place = ""
        self._raised: dict[int, tuple[str, str]] = {}

    def rewrite(self) -> Block:
        """The statements that stand for the `try`."""
        statement, context = self._statement, self._context
        statement.ends = ends_here([statement])  # which flags hide from then on
        self._place = context.flag("place")
        for site in _sites(statement.body, False):
            self._raised[id(site)] = context.flag("raised"), context.flag("error")
        flags = [flag for flag, _ in self._raised.values()]
        for names in reversed(self._raised.values()):
            statement.orelse = [self._chosen(*names, statement.orelse)]
        statement.body = self._block(statement.body, in_loop=False)
        starts = [assign(flag, constant(False)) for flag in flags]
        starts.append(assign(self._place, context.call("convert_place")))
        return [*(at(statement, node) for node in starts), statement]

    def _flags_in(self, statement: Node) -> list[str]:
        return [self._raised[id(site)][0] for site in _sites([statement], False)]

    def _block(self, block: Block, in_loop: bool) -> Block:
        out: Block = []
        for k, statement in enumerate(block):
            if id(statement) in self._raised:
                return [*out, self._raise(statement, in_loop)]
            out.append(statement)
            flags = self._flags_in(statement)
            if not flags:
                continue
            is_loop = isinstance(statement, LOOPS)
            for inner in _passages(statement):
                inner[:] = self._block(inner, in_loop or (is_loop and inner is statement.body))
            if in_loop and is_loop:
                leave = gast.If(negate(_none_of(flags)), [gast.Break()], [])
                out.append(at(statement, leave))
            elif not in_loop and block[k + 1 :]:
                rest = self._block(block[k + 1 :], in_loop)
                return [*out, at(statement, gast.If(_none_of(flags), rest, []))]
        return out

    def _raise(self, statement: Node, in_loop: bool) -> Node:
        flag, _ = self._raised[id(statement)]
        made = copy.deepcopy(statement.exc)
        raised = self._context.call("convert_raised", load(self._place), constant(flag), made)
        flagged = [assign(flag, raised), *([gast.Break()] if in_loop else [])]
        test = self._context.call("convert_in_branch", load(self._place))
        return at(statement, gast.If(test, flagged, [statement]))

    def _chosen(self, flag: str, error: str, orelse: Block) -> Node:
        """`if raised: ...`: the handlers as branches, chosen by the class of the exception."""
        unmatched = getattr(self._statement, "unmatched", _raises)
        chosen: Block = [unmatched(error)]
        for handler in reversed(self._statement.handlers):
            body = self._body(handler, error)
            if handler.type is None:
                chosen = body
                continue
            kinds = copy.deepcopy(handler.type)
            test = self._context.call("convert_catches", load(error), kinds)
            chosen = [at(handler.body[0], gast.If(test, body, chosen))]
        held = self._context.call("convert_caught_error", load(self._place), constant(flag))
        return at(self._statement, gast.If(load(flag), [assign(error, held), *chosen], orelse))

    def _body(self, handler: Node, error: str) -> Block:
        """The statements of a handler for an exception in a variable."""
        body = copy.deepcopy(handler.body)
        for statement in body:
            for again in _raised_again(statement):
                again.exc = at(again, load(error))
        if handler.name is None:
            return list(body)
        own = self._context.flag("caught")
        for node in (inner for statement in body for inner in walk_scope(statement)):
            if isinstance(node, gast.Name) and node.id == handler.name.id:
                node.id = own
        return [at(body[0], assign(own, load(error))), *body]


def _raises(error: str) -> Node:
    return gast.Raise(load(error), None)


def _raised_again(node: Node) -> Iterator[Node]:
    """Every bare `raise` of the exception that the handler around has caught."""
    if isinstance(node, gast.Raise) and node.exc is None:
        yield node
    elif not isinstance(node, (gast.ExceptHandler, *SCOPES)):
        for inner in children(node):
            yield from _raised_again(inner)


def _none_of(flags: list[str]) -> Node:
    tests = [negate(load(flag)) for flag in flags]
    return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
