"""`return` inside `if`, loops, `with` and `match` becomes one `return` at the end.

After an `if` whose branch returns, the rest of the block moves into the other branch; after a `try`
whose handlers all return, into its `else`. Where that is not enough (loops, branches that return
only sometimes, `with`) a flag tells that the function is done, and a loop is left by `break`.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from dy2st.transpiler.nodes import (
    CONTROL,
    LOOPS,
    SCOPES,
    TRIES,
    Block,
    Context,
    Node,
    assign,
    at,
    blocks,
    constant,
    functions_in,
    is_generator,
    load,
    negate,
    split_docstring,
    store,
)
from dy2st.transpiler.rewrites.jumps import (
    always_leaves,
    continues_in_else,
    ends_here,
    forgetting,
    may_fail_later,
    own_jumps,
    parts_of,
)


def transform(tree: Node, context: Context, kinds: tuple[type, ...] = CONTROL) -> None:
    """Give every function with a `return` inside statements of some kinds a single exit."""
    for function in functions_in(tree):
        if not (context.has(gast.Yield, gast.YieldFrom) and is_generator(function)):
            _SingleExit(function, context, kinds).rewrite()


def _returns(block: Block, chain: tuple[Node, ...]) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Every `return` in textual order with the statements around it."""
    for statement in block:
        if isinstance(statement, gast.Return):
            yield statement, chain
        elif not isinstance(statement, SCOPES):
            for inner in blocks(statement):
                yield from _returns(inner, (*chain, statement))


class _SingleExit:
    def __init__(self, function: Node, context: Context, kinds: tuple[type, ...]):
        self._function = function
        self._kinds = kinds
        self._context = context
        self._touched: set[int] = set()
        self._value = self._done = ""
        self._kept = False

    def rewrite(self) -> None:
        """Rewrite the body if some return stands inside control flow."""
        body = self._function.body
        found = list(_returns(body, ()))
        # What follows a statement may move into a branch, where a return that stays would leave
        # the branch only: so only returns after the last that stays are rewritten.
        stays = [
            any(isinstance(one, gast.AsyncFor | gast.AsyncWith) for one in chain)
            for _, chain in found
        ]
        last = max((k for k, stay in enumerate(stays) if stay), default=-1)
        chains = [chain for _, chain in found[last + 1 :]]
        if not any(isinstance(s, self._kinds) for chain in chains for s in chain):
            return
        self._touched = {id(statement) for chain in chains for statement in chain}
        self._value = self._context.flag("return_value")
        docstring, rest = split_docstring(body)
        place = body[-1]
        final = at(place, gast.Return(load(self._value)))
        tail = self._tail(rest, place)
        unset = self._context.call("undefined", constant(self._value))
        start = [at(rest[0], assign(self._value, unset))] if self._kept else []
        self._function.body = [*docstring, *start, *tail, final]

    def _tail(self, block: Block, place: Node) -> Block:
        """A block at the end of the function: every path through it sets the result."""
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Return):
                return [*out, self._result(statement)]
            out.append(statement)
            if isinstance(statement, gast.Raise):
                return out
            if id(statement) in self._touched:
                return out[:-1] + self._split(statement, block[k + 1 :], place)
        return [*out, at(place, assign(self._value, constant(None)))]

    def _split(self, statement: Node, rest: Block, place: Node) -> Block:
        """A statement that may return, and the rest of the function after it."""
        if isinstance(statement, gast.If):
            body, orelse = statement.body, statement.orelse
            if not rest or always_leaves(body) or always_leaves(orelse):
                returns = always_leaves(body)
                statement.body = self._tail(body if returns else body + rest, place)
                statement.orelse = self._tail(orelse + rest if returns else orelse, place)
                return [statement]
        if isinstance(statement, TRIES) and self._ends_in_try(statement, rest, place):
            return [statement]
        with_ = isinstance(statement, gast.With)
        if with_ and not rest and not may_fail_later(statement.body, self._touched):
            statement.body = self._tail(statement.body, place)
            # It may swallow an exception: then the result is None.
            return [at(statement, assign(self._value, constant(None))), statement]
        done = self._flag()
        start = at(statement, assign(done, constant(False)))
        # Asked before its returns become flags, behind which a path goes on.
        ends = isinstance(statement, gast.Try) and ends_here([statement])
        flagged = self._flagged([statement], in_loop=False)
        if ends:
            return [start, *flagged]
        guard = at(statement, gast.If(negate(load(done)), self._tail(rest, place), []))
        return [start, *flagged, guard]

    def _ends_in_try(self, statement: Node, rest: Block, place: Node) -> bool:
        """Make a `try` the last statement of the function, if that needs no flag."""
        if self._returns_in(statement.finalbody):
            return False
        body_returns = self._returns_in(statement.body)
        if rest and (body_returns or not continues_in_else(statement)):
            return False
        if body_returns and statement.orelse:
            return False
        if statement.orelse or rest:
            statement.orelse = self._tail(statement.orelse + rest, place)
        else:
            statement.body = self._tail(statement.body, place)
        for handler in statement.handlers:
            handler.body = self._tail(handler.body, place)
        return True

    def _returns_in(self, block: Block) -> bool:
        return any(isinstance(s, gast.Return) or id(s) in self._touched for s in block)

    def _flagged(self, block: Block, in_loop: bool) -> Block:
        """A block that sets the result and the flag where it returned."""
        out: Block = []
        for k, statement in enumerate(block):
            if isinstance(statement, gast.Return):
                out += [
                    self._result(statement),
                    at(statement, assign(self._flag(), constant(True))),
                ]
                return [*out, at(statement, gast.Break())] if in_loop else out
            out.append(statement)
            if id(statement) not in self._touched:
                continue
            rest = block[k + 1 :]
            # A loop is left by `break` at once: in it nothing has to move.
            if not in_loop and self._fall_through(statement, rest):
                return out
            out[-1] = self._inside(statement, in_loop)
            done = load(self._flag())
            if isinstance(statement, LOOPS) and in_loop:
                out.append(at(statement, gast.If(done, [gast.Break()], [])))
            elif rest and not in_loop:
                guarded = self._flagged(rest, in_loop)
                return [*out, at(statement, gast.If(negate(done), guarded, []))]
        return out

    def _fall_through(self, statement: Node, rest: Block) -> bool:
        """Move the rest into the branch that does not return, if one always does."""
        if not rest:
            return False
        if continues_in_else(statement) and not self._returns_in(statement.body):
            statement.orelse = self._flagged(statement.orelse + rest, in_loop=False)
            for handler in statement.handlers:
                handler.body = self._flagged(handler.body, in_loop=False)
            return True
        if not isinstance(statement, gast.If):
            return False
        if always_leaves(statement.body):
            statement.body = self._flagged(statement.body, in_loop=False)
            statement.orelse = self._flagged(statement.orelse + rest, in_loop=False)
            return True
        if always_leaves(statement.orelse):
            statement.body = self._flagged(statement.body + rest, in_loop=False)
            statement.orelse = self._flagged(statement.orelse, in_loop=False)
            return True
        return False

    def _inside(self, statement: Node, in_loop: bool) -> Node:
        """Flag the returns in the blocks of a statement."""
        if isinstance(statement, LOOPS):
            statement.body = self._flagged(statement.body, in_loop=True)
            statement.orelse = self._flagged(statement.orelse, in_loop)
            return statement
        if isinstance(statement, TRIES):
            return self._inside_try(statement, in_loop)
        late = isinstance(statement, gast.With) and may_fail_later(statement.body, self._touched)
        for part in parts_of(statement):
            if hasattr(part, "body"):
                part.body = self._flagged(part.body, in_loop)
            if getattr(part, "orelse", None):
                part.orelse = self._flagged(part.orelse, in_loop)
        if late:
            statement.body = forgetting(
                statement.body, self._forget(statement), statement, self._context
            )
        return statement

    def _inside_try(self, statement: Node, in_loop: bool) -> Node:
        if not in_loop and self._returns_in(statement.finalbody):
            # A loop of one iteration: what a jump in `finally` does is left to `break`.
            once = gast.Tuple([constant(0)], gast.Load())
            body = self._flagged([statement], in_loop=True)
            return at(statement, gast.For(store(self._context.flag("once")), once, body, [], None))
        body_returns = self._returns_in(statement.body)
        if may_fail_later(statement.body, self._touched):
            for handler in statement.handlers:
                handler.body = [*self._forget(handler.body[0]), *handler.body]
        earlier = [*statement.body, *statement.orelse]
        pending = self._returns_in([*earlier, *(s for h in statement.handlers for s in h.body)])
        jumps = self._returns_in(statement.finalbody) or any(own_jumps(statement.finalbody))
        for part in parts_of(statement):
            part.body = self._flagged(part.body, in_loop)
        orelse = self._flagged(statement.orelse, in_loop)
        if orelse and body_returns and not in_loop:
            orelse = [at(orelse[0], gast.If(negate(load(self._flag())), orelse, []))]
        statement.orelse = orelse
        statement.finalbody = self._flagged(statement.finalbody, in_loop)
        if pending and jumps:
            # A return stands still while `finally` runs, and is forgotten if that jumps itself
            self._kept = True
            final = statement.finalbody
            names = {name: self._context.flag("pending") for name in (self._flag(), self._value)}
            aside = [assign(kept, load(name)) for name, kept in names.items()]
            again = [assign(name, load(kept)) for name, kept in names.items()]
            lower = [assign(self._flag(), constant(False))]
            statement.finalbody = [
                *(at(final[0], node) for node in (*aside, *lower)),
                *final,
                *(at(final[-1], node) for node in again),
            ]
        return statement

    def _forget(self, place: Node) -> Block:
        return [at(place, assign(self._flag(), constant(False)))]

    def _result(self, statement: Node) -> Node:
        value = constant(None) if statement.value is None else statement.value
        return at(statement, assign(self._value, value))

    def _flag(self) -> str:
        self._done = self._done or self._context.flag("returned")
        return self._done
